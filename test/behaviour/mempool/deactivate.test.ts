import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildDeactivate } from '../../../src/identity/did/build.js'
import type { PoolLimits } from '../../../src/ledger/mempool/policy.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { faultOf } from '../../support/assert/row-invariants.js'
import { craft, outputOf } from '../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { authorizationKey, type Holder, holder, signer, specification } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'
import { rounds } from '../../support/process/thorough.js'

/** Those whose DIDs exist: the first is to be deactivated, the second is its delegate. */
const [ada, bob] = [holder(), holder()]
/** Persons 11 to 14 pay what waits, person 15 pays the deactivate. */
const payers = [11, 12, 13, 14] as const
const owner = 15
const allocations = [10, ...payers, owner].map((person) => ({ address: testAddress(person), amount: '100000000000' }))
const spec = { ...withoutValidators, allocations }

async function opened(limits: Partial<PoolLimits> = {}) {
  const store = memoryStore()
  const test = await TestChain.open(spec, { limits, store })
  const keys = [...ada.plan.keys, authorizationKey('delegate', bob.primary, bob.did)]
  await test.publish(bob.create(), bob.did)
  const create = await test.publish(ada.create({ keys }), ada.did)
  return { test, store, create }
}

async function send(test: TestChain, by: Holder, operation: DidOperation, from: number): Promise<Transaction> {
  return sendLater(test, await test.carry(operation, by.did, from))
}

/** Sends a transaction a millisecond after the one before, so that a restart has them in this order. */
function sendLater(test: TestChain, transaction: Transaction): Promise<Transaction> {
  test.clock.time++
  return test.send(transaction)
}

const transfer = async (test: TestChain, from: number) =>
  sendLater(test, await test.transfer(testAddress(from + 10), 1000n, from))

const byDelegate = () =>
  buildDeactivate(ada.did, { specification, verificationMethod: `${ada.did}#delegate` }, signer(bob.primary))

const pooled = (test: TestChain) => [...test.mempool.entries()].map(({ transaction }) => transaction.txid)

/** Ids of the transactions whose rows are on disk. */
async function rowsOf({ mempool, database }: TestChain): Promise<string[]> {
  await mempool.settled()
  await mempool.close()
  const rows = await database.rows(tables.pool.range())
  return rows.map(([, value]) => Transaction.fromBytes(tables.pool.decode(value).bytes).txid)
}

/** The pool has these, and so have its rows; a restart brings the same. */
async function expectLasting(test: TestChain, store: ReturnType<typeof memoryStore>, limits: Partial<PoolLimits> = {}) {
  const held = pooled(test).sort()
  expect((await rowsOf(test)).sort()).toEqual(held)
  await test.database.close()
  const again = await TestChain.open(spec, { limits, store })
  expect(pooled(again).sort()).toEqual(held)
  return again
}

/** Each spends the change of what its payer sent before. */
const step = fc.record({
  kind: fc.constantFrom('transfer', 'transfer', 'revoke', 'revoke', 'declare', 'update'),
  from: fc.constantFrom(...payers),
})

describe('a deactivate', () => {
  it('enters the pool, whatever of its DID waits there, and what leaves for it is named', async () => {
    const limits = { ancestors: 6, didOperations: 4 }
    const steps = fc.array(step, { minLength: 1, maxLength: 24 })
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, delegated) => {
        const { test, store, create } = await opened(limits)
        const sent: Transaction[] = []
        let last = create
        for (const [i, { kind, from }] of all.entries()) {
          const id = `${ada.did}#${i}`
          const made = () => {
            if (kind === 'transfer') return transfer(test, from)
            if (kind === 'update') return send(test, ada, ada.update(last), from)
            const declare = () => ada.declare(bob.issue(ada.did, { id }))
            return send(test, ada, kind === 'revoke' ? ada.revoke(id) : declare(), from)
          }
          const accepted = await made().catch(() => undefined)
          if (accepted !== undefined) sent.push(accepted)
          if (accepted !== undefined && kind === 'update') last = accepted.txid
        }
        const deactivate = await send(test, ada, delegated ? byDelegate() : ada.deactivate(), owner)
        const held = new Set(pooled(test))
        expect(held.has(deactivate.txid)).toBe(true)
        for (const { hash, txid } of sent) {
          const reason = test.mempool.droppedReason(hash)
          if (held.has(txid)) expect(reason).toBeUndefined()
          else expect(reason).toBe(`${deactivate.txid} deactivates the DID`)
        }
        const again = await expectLasting(test, store, limits)
        const [block] = await again.mine()
        expect(block?.transactions).toHaveLength(held.size + 1)
        expect(again.chain.state.did(ada.did)?.status).toBe('deactivated')
        expect(await faultOf(again)).toBeUndefined()
        await again.close()
      }),
      { numRuns: rounds(8, 200) },
    )
  })

  it('has a ninth place after eight declares and revokes, which stay', async () => {
    const { test, store } = await opened()
    const all = []
    for (let i = 0; i < 8; i++) all.push(await send(test, ada, ada.revoke(`${ada.did}#${i}`), 12))
    await expect(send(test, ada, ada.revoke(`${ada.did}#8`), 12)).rejects.toMatchObject({ code: 'pool-did-pending' })
    all.push(await send(test, ada, ada.deactivate(), owner))
    expect(pooled(test)).toEqual(all.map(({ txid }) => txid))
    await expect(send(test, ada, ada.revoke(`${ada.did}#9`), 12)).rejects.toMatchObject({ code: 'did-deactivated' })
    const again = await expectLasting(test, store)
    await again.mine()
    expect(again.chain.state.did(ada.did)?.status).toBe('deactivated')
  })

  it.each([
    ['the owner', () => ada.deactivate()],
    ['a delegate', byDelegate],
  ])(
    'of %s replaces a revoke with too many ancestors and what spends its change, and nothing else',
    async (_, made) => {
      const { test, store } = await opened()
      const stay = [await send(test, ada, ada.revoke(`${ada.did}#before`), 12)]
      for (let i = 0; i < 23; i++) stay.push(await transfer(test, 11))
      const crowding = await send(test, ada, ada.revoke(`${ada.did}#crowding`), 11)
      const child = await sendLater(test, craft(test.spec, [outputOf(crowding, 1)], [{ to: 30, value: 1n }], [11]))
      stay.push(await send(test, ada, ada.revoke(`${ada.did}#after`), 13))
      stay.push(await transfer(test, owner))
      const deactivate = await send(test, ada, made(), owner)
      expect(pooled(test).sort()).toEqual([...stay, deactivate].map(({ txid }) => txid).sort())
      for (const { hash } of [crowding, child]) {
        expect(test.mempool.droppedReason(hash)).toBe(`${deactivate.txid} deactivates the DID`)
      }
      await expectLasting(test, store)
    },
  )

  it('leaves a revoke of another DID that spends the change of one that stays', async () => {
    const { test, store, create } = await opened({ ancestors: 3 })
    const update = await send(test, ada, ada.update(create), 11)
    const stay = [
      await send(test, ada, ada.revoke(`${ada.did}#own`), 12),
      await send(test, bob, bob.revoke(`${bob.did}#other`), 12),
      await transfer(test, owner),
      await transfer(test, owner),
    ]
    const deactivate = await send(test, ada, ada.deactivate(), owner)
    expect(pooled(test).sort()).toEqual([...stay, deactivate].map(({ txid }) => txid).sort())
    expect(test.mempool.droppedReason(update.hash)).toBe(`${deactivate.txid} deactivates the DID`)
    await expectLasting(test, store, { ancestors: 3 })
  })
})
