import { expect, it } from 'vitest'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { type Holder, holder, Registry, txid } from '../../support/builders/did.js'
import {
  createNamed,
  deactivateNamed,
  named,
  namedDocument,
  namedRules,
  ticketOf,
  transferNamed,
  updateNamed,
} from '../../support/builders/named-did.js'
import { random } from '../../support/builders/random-chain.js'
import { rounds } from '../../support/process/thorough.js'

/** DIDs with names against a model that knows people and names, and no document, key or signature. */

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const crowd = Array.from({ length: 5 }, holder)
const names = ['a', 'club']

/** A DID with a name, by the numbers of the people who control it. */
interface Name {
  by: readonly number[]
  needed: number
  ended: boolean
  last: string
  count: number
}

/** An operation, as people would say it. */
interface Plan {
  readonly kind: 'create' | 'update' | 'transfer' | 'deactivate'
  readonly name: string
  readonly by: readonly number[]
  readonly needed: number
  readonly signers: readonly number[]
  readonly sender: number
  readonly previous: string
  readonly ticket: { readonly name: string; readonly to: number; readonly signers: readonly number[] }
}

class Model {
  readonly names = new Map<string, Name>()
  readonly people = new Set(crowd.keys())

  /** Whether a chain takes an operation, which then has happened. */
  take(plan: Plan, id: string): boolean {
    const { kind, by, needed, signers, sender, ticket } = plan
    const old = this.names.get(plan.name)
    const alive = (all: readonly number[]) => all.every((one) => this.people.has(one))
    const sign = (who: readonly number[], of: readonly number[], count: number) =>
      who.length === count && new Set(who).size === count && who.every((one) => of.includes(one)) && alive(who)
    const signed = sign(signers, by, needed) && by.includes(sender) && alive([sender])
    const exists = old !== undefined && !old.ended
    const follows = exists && old.last === plan.previous
    const may = {
      create: () => old === undefined && alive(by) && signed,
      update: () => follows && `${old.by} ${old.needed}` === `${by} ${needed}` && signed,
      transfer: () => {
        const isGiven = follows && ticket.name === plan.name && sign(ticket.signers, old.by, old.needed)
        return isGiven && by.includes(ticket.to) && signers.includes(ticket.to) && alive(by) && signed
      },
      deactivate: () => exists && old.by.includes(sender) && alive([sender]),
    }
    if (!may[kind]()) return false
    const next = kind === 'deactivate' ? { ...(old as Name), ended: true } : { by, needed, ended: false }
    this.names.set(plan.name, { ...next, last: id, count: (old?.count ?? 0) + 1 })
    return true
  }
}

function planned(roll: (sides: number) => number, model: Model): Plan {
  const pick = <T>(values: readonly T[]) => values[roll(values.length)] as T
  const some = (of: readonly number[], count: number) => {
    const left = [...of]
    return Array.from({ length: Math.min(count, of.length) }, () => left.splice(roll(left.length), 1)[0] as number)
  }
  /** Mostly the right thing. */
  const or = <T>(right: T, wrong: () => T) => (roll(12) === 0 ? wrong() : right)
  const everyone = [...crowd.keys()]
  const name = pick(names)
  const old = model.names.get(name)
  const fresh = some(everyone, 1 + roll(3)).toSorted((a, b) => a - b)
  const kind: Plan['kind'] =
    old === undefined
      ? or<Plan['kind']>('create', () => 'update')
      : pick(['update', 'update', 'transfer', 'deactivate', 'create'] as const)
  const isUpdate = kind === 'update' && old !== undefined
  const by = isUpdate ? or(old.by, () => fresh) : fresh
  const needed = isUpdate && old.by === by ? or(old.needed, () => 1 + roll(by.length)) : 1 + roll(by.length)
  const signers = or(some(by, needed), () => some(everyone, 1 + roll(3)))
  const before = old ?? { by: fresh, needed: 1, last: txid(7) }
  return {
    kind,
    name,
    by,
    needed,
    signers,
    sender: or(pick(kind === 'deactivate' ? before.by : by), () => pick(everyone)),
    previous: or(before.last, () => txid(999)),
    ticket: {
      name: or(name, () => pick(names)),
      to: or(pick(signers), () => pick(everyone)),
      signers: or(some(before.by, before.needed), () => some(everyone, 1 + roll(3))),
    },
  }
}

function operationOf({ kind, name, by, needed, signers, sender, previous, ticket }: Plan): DidOperation {
  const people = (all: readonly number[]) => all.map((one) => crowd[one] as Holder)
  const one = crowd[sender] as Holder
  if (kind === 'deactivate') return deactivateNamed(name, one)
  const document = namedDocument(name, { by: people(by), needed, signers: people(signers) })
  if (kind === 'create') return createNamed(document, one)
  if (kind === 'update') return updateNamed(document, previous, one)
  const to = crowd[ticket.to] as Holder
  return transferNamed(document, ticketOf(ticket.name, { to, txid: previous, signers: people(ticket.signers) }), one)
}

it(
  `a chain takes what the model takes, and has then the same state (DIDLEDGER_SEED=${seed})`,
  { timeout: 600_000 },
  () => {
    const verdicts = { taken: 0, refused: 0 }
    for (let history = 0; history < rounds(60, 2000); history++) {
      const roll = random(seed + history)
      const [model, chain] = [new Model(), new Registry(namedRules)]
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
      for (const one of crowd) apply(one.create())
      for (let step = 0; step < 20; step++) {
        if (roll(15) === 0) {
          const gone = roll(crowd.length)
          expect(apply((crowd[gone] as Holder).deactivate())).toBe(model.people.delete(gone))
          continue
        }
        const plan = planned(roll, model)
        const taken = model.take(plan, txid(count + 1))
        expect(apply(operationOf(plan)), `history ${history}, step ${step}: ${JSON.stringify(plan)}`).toBe(taken)
        verdicts[taken ? 'taken' : 'refused']++
        const { names: known } = model
        for (const [name, { by, needed, ended, last, count: operationCount }] of known) {
          const state = chain.states.get(named(name))
          expect(state).toMatchObject({ status: ended ? 'deactivated' : 'valid', lastTxid: last, operationCount })
          const controllers = by.map((one) => (crowd[one] as Holder).did).toSorted()
          if (!ended) expect(state?.document.control).toEqual({ controllers, needed })
        }
      }
    }
    // It is a test of both.
    expect(Math.min(verdicts.taken, verdicts.refused) * 4).toBeGreaterThan(Math.max(verdicts.taken, verdicts.refused))
  },
)
