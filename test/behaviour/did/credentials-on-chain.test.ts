import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CredentialList, CredentialResult } from '../../../src/identity/did/resolution.js'
import type { RuleError } from '../../../src/base/errors/rule-error.js'
import type { Code } from '../../../src/base/errors/error-codes.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { faultOf } from '../../support/assert/row-invariants.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { type Holder, holder } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'
import { contextOf } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'
import { rounds } from '../../support/process/thorough.js'

/** Every pair of these signs something of credentials that the first holds: issued by itself, and by the second. */
const people = [holder(), holder(), holder()] as const
const [ada, bob] = people
const issuers = { own: ada, given: bob } as const
type Name = keyof typeof issuers
const names = ['own', 'given'] as const satisfies readonly Name[]

interface Deed {
  readonly action: 'declare' | 'revoke'
  readonly name: Name
  readonly who: 0 | 1 | 2
}

const deed: fc.Arbitrary<Deed> = fc.record({
  action: fc.constantFrom('declare' as const, 'revoke' as const),
  name: fc.constantFrom<Name>(...names),
  who: fc.constantFrom(0 as const, 0 as const, 1 as const, 2 as const),
})
const idOf = (name: Name) => `${ada.did}#${name}`

function operationOf({ action, name, who }: Deed): DidOperation {
  if (action === 'revoke') return people[who].revoke(idOf(name))
  return people[who].declare(issuers[name].issue(ada.did, { id: idOf(name) }))
}

/** What was said of the credentials, in order, and what follows from that: the rules once more, over a list. */
class Said {
  constructor(readonly all: readonly (Deed & { readonly txid: string })[] = []) {}

  has(action: Deed['action'], name: Name, who: Holder): boolean {
    return this.all.some((one) => one.action === action && one.name === name && people[one.who] === who)
  }

  refusal({ action, name, who }: Deed): Code | undefined {
    const by = people[who]
    const issuer = issuers[name]
    if (action === 'declare') {
      if (by !== ada) return 'did-signer'
      if (this.has('declare', name, ada)) return 'credential-declared'
      return this.has('revoke', name, ada) || this.has('revoke', name, issuer) ? 'credential-revoked' : undefined
    }
    if (this.has('revoke', name, by)) return 'credential-revoked'
    return this.has('declare', name, ada) && by !== ada && by !== issuer ? 'credential-revoker' : undefined
  }

  /** Status, and the txids of the answer. */
  answer(name: Name, asked?: Holder): { status: number; txids: string[] } {
    const of = this.all.filter((one) => one.name === name)
    const declare = of.find(({ action }) => action === 'declare')
    const count = new Set([ada, asked, ...(declare === undefined ? [] : [issuers[name]])])
    const revoke = of.find(({ action, who }) => action === 'revoke' && count.has(people[who]))
    const txids = [revoke, declare].flatMap((one) => (one === undefined ? [] : [one.txid]))
    return { status: revoke !== undefined ? 2 : declare === undefined ? 3 : 0, txids }
  }

  get listed(): string[] {
    return this.all.flatMap(({ action, name }) => (action === 'declare' ? [idOf(name)] : []))
  }
}

/** Money for four that pay. */
const allocations = [10, 11, 12, 13].map((person) => ({ address: testAddress(person), amount: '100000000000' }))
const spec = { ...withoutValidators, allocations }

/** A chain with the DIDs of all in its first block. */
async function opened(): Promise<{ test: TestChain; first: Block }> {
  const test = await TestChain.open(spec)
  for (const [i, { create, did }] of people.entries()) await test.send(await test.carry(create(), did, 10 + i))
  const [first] = await test.mine()
  return { test, first: first as Block }
}

async function expectAnswers(test: TestChain, said: Said): Promise<void> {
  const rpc = new RpcClient(contextOf(test))
  for (const name of names) {
    for (const asked of [undefined, ...people]) {
      const params = { id: idOf(name), ...(asked && { issuer: asked.did }) }
      const result = await rpc.call<CredentialResult>('did_resolveCredential', params)
      const txids = (result.transaction ?? []).map(({ txid }) => txid)
      expect([params, { status: result.status, txids }]).toEqual([params, said.answer(name, asked)])
    }
  }
  const { credentials } = await rpc.call<CredentialList>('did_listCredentials', { did: ada.did })
  expect(credentials).toEqual(said.listed)
}

const step = fc.oneof({ weight: 3, arbitrary: deed }, { weight: 2, arbitrary: fc.constant('mine' as const) })

it('the chain takes what the rules permit, answers follow, and a reorganisation takes it back', async () => {
  const steps = fc.array(step, { minLength: 4, maxLength: 16 })
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), fc.infiniteStream(fc.nat(3)), async (all, place, payers) => {
      const { test, first } = await opened()
      const blocks: Block[] = []
      const sent = new Map<string, Deed>()
      const saidIn = (transactions: readonly Transaction[]) => {
        return transactions.flatMap(({ txid }) => (sent.has(txid) ? [{ ...(sent.get(txid) as Deed), txid }] : []))
      }
      const mined = () => blocks.flatMap(({ transactions }) => saidIn(transactions))
      for (const one of [...all, 'mine' as const]) {
        if (one === 'mine') {
          const before = new Said(mined())
          const [block] = await test.mine()
          blocks.push(block as Block)
          // In the order of the block, each stands on those before it.
          saidIn((block as Block).transactions).reduce((said, next) => {
            expect(said.refusal(next)).toBeUndefined()
            return new Said([...said.all, next])
          }, before)
          await expectAnswers(test, new Said(mined()))
          continue
        }
        const waiting = saidIn([...test.mempool.entries()].map(({ transaction }) => transaction))
        // The pool sees what waits of the same signer, and of the others what is mined.
        const seen = new Said([...mined(), ...waiting.filter(({ who }) => who === one.who)])
        const payer = 10 + (payers.next().value as number)
        const transaction = await test.carry(operationOf(one), people[one.who].did, payer)
        const refused = await test.send(transaction).then(
          () => undefined,
          (error: unknown) => (error as RuleError).code,
        )
        expect([one, refused]).toEqual([one, seen.refusal(one)])
        if (refused === undefined) sent.set(transaction.txid, one)
      }
      expect(await faultOf(test)).toBeUndefined()

      const kept = place % (blocks.length + 1)
      const rival = await TestChain.open(spec)
      for (const block of [first, ...blocks.slice(0, kept)]) await rival.accept(block)
      for (const block of await rival.mine(blocks.length - kept + 1)) await test.accept(block)
      blocks.splice(kept)
      await expectAnswers(test, new Said(mined()))
      expect(await faultOf(test)).toBeUndefined()
      await Promise.all([test.close(), rival.close()])
    }),
    { numRuns: rounds(8, 200) },
  )
})
