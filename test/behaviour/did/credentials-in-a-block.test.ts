import { describe, expect, it } from 'vitest'
import type { RuleError } from '../../../src/base/errors/rule-error.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { faultOf } from '../../support/assert/row-invariants.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { type Holder, holder, issueCredential } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'

/** Each operation is paid by a person of its own, from `first` on; not by person 20, who has the coinbases. */
const payers = (count: number, first = 10) => {
  return Array.from({ length: count }, (_, i) => ({ address: testAddress(first + i), amount: '100000000000' }))
}

/** A holder, an issuer, a stranger, and one without a DID yet. */
const [ada, bob, eve, noa] = [holder(), holder(), holder(), holder()] as const
const id = `${ada.did}#profile`

type Operation = readonly [by: Holder, operation: DidOperation]

const declare: Operation = [ada, ada.declare(bob.issue(ada.did))]
const deactivate = (one: Holder): Operation => [one, one.deactivate()]
const revoke = (one: Holder): Operation => [one, one.revoke(id)]
const declareByNew: Operation = [noa, noa.declare(bob.issue(noa.did))]
/** Signed with the key of the issuer that an update takes out of its document. */
const declareByRecovery: Operation = [
  ada,
  ada.declare(issueCredential(bob.did, bob.recovery, ada.did, {}, `${bob.did}#recovery`)),
]
const dropKey = (created: string): Operation => [bob, bob.update(created, { keys: bob.plan.keys.slice(0, 1) })]

type Case = readonly [what: string, operations: (created: string) => readonly Operation[]]

const refused: readonly (readonly [code: string, ...Case])[] = [
  ['credential-issuer-deactivated', 'a declare after its issuer is deactivated', () => [deactivate(bob), declare]],
  ['credential-key', 'a declare after its issuer drops the key', (bobs) => [dropKey(bobs), declareByRecovery]],
  ['credential-revoked', 'a declare after its issuer revokes', () => [revoke(bob), declare]],
  ['credential-revoker', 'a revoke of a stranger after the declare', () => [declare, revoke(eve)]],
  ['did-deactivated', 'a revoke of the holder once deactivated', () => [declare, deactivate(ada), revoke(ada)]],
  ['did-unknown', 'a declare before the create of its holder', () => [declareByNew, [noa, noa.create()]]],
  ['credential-declared', 'a second declare', () => [declare, declare]],
]
const accepted: readonly Case[] = [
  ['a declare, then the deactivation of its issuer', () => [declare, deactivate(bob)]],
  ['a declare, then the issuer drops the key', (bobs) => [declareByRecovery, dropKey(bobs)]],
  [
    'a revoke of a stranger, then a declare and the revokes of both',
    () => [eve, ada, bob].map(revoke).toSpliced(1, 0, declare),
  ],
  [
    'a declare, the deactivation of its holder, the revoke of the issuer',
    () => [declare, deactivate(ada), revoke(bob)],
  ],
  ['the create of a holder, then a declare', () => [[noa, noa.create()], declareByNew]],
]

/** A chain on which all but the last exist, and what a block of these operations is. */
async function opened(operations: Case[1]): Promise<{ test: TestChain; transactions: Transaction[] }> {
  const test = await TestChain.open({ ...withoutValidators, allocations: payers(8) })
  const created = await test.publish(bob.create(), bob.did)
  for (const one of [ada, eve]) await test.publish(one.create(), one.did)
  const transactions: Transaction[] = []
  for (const [i, [by, operation]] of operations(created).entries()) {
    transactions.push(await test.carry(operation, by.did, 11 + i))
  }
  return { test, transactions }
}

const codeOf = (tried: Promise<unknown>) =>
  tried.then(
    () => undefined,
    (error: RuleError) => error.code,
  )

describe('operations on credentials in one block', () => {
  it.each(refused)('are refused, %s: %s', async (code, _, operations) => {
    const { test, transactions } = await opened(operations)
    expect(await codeOf(test.accept(craftBlock(test.chain, { transactions })))).toBe(code)
    const valid = craftBlock(test.chain, { transactions: transactions.slice(0, 1) })
    if (code !== 'did-unknown') expect(await test.accept(valid)).toBe('connected')
    await test.close()
  })

  it.each(accepted)('are accepted: %s', async (_, operations) => {
    const { test, transactions } = await opened(operations)
    expect(await test.accept(craftBlock(test.chain, { transactions }))).toBe('connected')
    expect(await faultOf(test)).toBeUndefined()
    await test.close()
  })

  it('are signed by DIDs that have expired as by others', async () => {
    const test = await TestChain.open({ ...withoutValidators, allocations: payers(4) })
    for (const one of [ada, bob]) await test.publish(one.create({ expires: '2020-01-01T00:00:00Z' }), one.did)
    for (const [by, operation] of [declare, revoke(bob), revoke(ada)]) {
      await test.send(await test.carry(operation, by.did))
    }
    await test.mine()
    expect(test.mempool.size).toBe(0)
    expect(test.chain.state.credential(id, ada.did)).toMatchObject({ revoked: true })
    expect(test.chain.state.credential(id, bob.did)).toEqual({ revoked: true })
    await test.close()
  })

  it('are as many as the documents of their signers are at most 16 MiB', async () => {
    const services = [{ id: '#x', type: 'X', serviceEndpoint: 'https://x.example', text: 'x'.repeat(125_000) }]
    const size = Buffer.from(holder().create({ services }).payload, 'base64url').length
    const signers = Array.from({ length: Math.floor((16 * 1024 * 1024) / size) + 1 }, holder)
    const test = await TestChain.open({ ...withoutValidators, allocations: payers(signers.length, 30) })
    for (let first = 0; first < signers.length; first += 40) {
      const creates = signers.slice(first, first + 40).map((one, i) => {
        return test.carry(one.create({ services }), one.did, 30 + first + i)
      })
      await test.accept(craftBlock(test.chain, { transactions: await Promise.all(creates) }))
    }
    const revokes = await Promise.all(signers.map((one, i) => test.carry(one.revoke(id), one.did, 30 + i)))
    const block = (transactions: Transaction[]) => test.accept(craftBlock(test.chain, { transactions }))
    expect(await codeOf(block(revokes))).toBe('block-issuer-documents')
    expect(await block(revokes.slice(1))).toBe('connected')
    await test.close()
  })
})
