import { expect, it } from 'vitest'
import { formatDate } from '../../../src/identity/did/date.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { type Holder, Registry, txid } from '../../support/builders/did.js'
import { named, namedRules } from '../../support/builders/named-did.js'
import {
  type ModelPlan,
  modelPeople,
  NamedModel,
  operationOfPlan,
  planOfName,
} from '../../support/builders/named-model.js'
import { random } from '../../support/builders/random-chain.js'
import { rounds } from '../../support/process/thorough.js'

/** The rules of DIDs with names, without blocks, against a model. */

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)

it(
  `a chain takes what the model takes, and has then the same state (DIDLEDGER_SEED=${seed})`,
  { timeout: 600_000 },
  () => {
    const verdicts = { taken: 0, refused: 0 }
    for (let history = 0; history < rounds(30, 2000); history++) {
      const roll = random(seed + history)
      const [model, chain] = [new NamedModel(), new Registry(namedRules)]
      chain.time = Date.parse('2026-01-01T00:00:00Z') / 1000
      let count = 0
      const apply = (operation: DidOperation) => {
        try {
          chain.apply(operation)
          count++
          return true
        } catch (error) {
          if (error instanceof RuleError) return false
          throw error
        }
      }
      const attempt = (plan: ModelPlan, step: number) => {
        const taken = model.take(plan, txid(count + 1), chain.time)
        expect(apply(operationOfPlan(plan)), `history ${history}, step ${step}: ${JSON.stringify(plan)}`).toBe(taken)
        return taken
      }
      for (const who of modelPeople.keys()) attempt({ kind: 'join', who, previous: '' }, 0)
      for (let step = 0; step < 20; step++) {
        if (roll(15) === 0) {
          attempt({ kind: 'leave', who: roll(modelPeople.length), previous: '' }, step)
          continue
        }
        if (roll(4) === 0) {
          const who = roll(modelPeople.length)
          const expires = formatDate(chain.time + roll(3))
          attempt({ kind: 'renew', who, previous: model.people.get(who)?.last ?? '', expires }, step)
        }
        chain.time += roll(2)
        verdicts[attempt(planOfName(roll, model), step) ? 'taken' : 'refused']++
        for (const [name, { by, needed, ended, last, count: operationCount }] of model.names) {
          const state = chain.states.get(named(name))
          expect(state).toMatchObject({ status: ended ? 'deactivated' : 'valid', lastTxid: last, operationCount })
          const controllers = by.map((one) => (modelPeople[one] as Holder).did).toSorted()
          if (!ended) expect(state?.document.control).toEqual({ controllers, needed })
        }
      }
    }
    // It is a test of both.
    expect(Math.min(verdicts.taken, verdicts.refused) * 4).toBeGreaterThan(Math.max(verdicts.taken, verdicts.refused))
  },
)
