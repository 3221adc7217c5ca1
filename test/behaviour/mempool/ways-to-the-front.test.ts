import { describe, expect, it } from 'vitest'
import { policyOf } from '../../../src/ledger/mempool/types/all-policies.js'
import { type Payload, txType } from '../../../src/base/primitives/payload.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { memoryStore, TestChain } from '../../support/builders/chain.js'
import { holder, issueCredential } from '../../support/builders/did.js'

const order = (test: TestChain) =>
  [...test.mempool.byFeeRate()].flatMap((one) => one?.entries.map(({ transaction }) => transaction.txid) ?? [])
const ids = (transactions: readonly Transaction[]) => transactions.map(({ txid }) => txid)

/** Coins of person 11. */
async function purse(test: TestChain, count: number) {
  const outputs = Array.from({ length: count }, () => ({ to: 11, value: 10_000_000n }))
  const fan = craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11])
  await test.accept(craftBlock(test.chain, { transactions: [fan] }))
  let next = 0
  return () => outputOf(fan, next++)
}

describe('before what pays more comes', () => {
  it('no type of transaction but a side-chain proof of work', () => {
    const types = [...Object.values(txType), 0, 1, 2, 3, 5, 6, 7, 8, 10].filter((type) => typeof type === 'number')
    const first = types.filter((type) => policyOf({ payload: { type } as Payload }).first)
    expect(new Set(first)).toEqual(new Set([txType.sideChainPow]))
  })

  it('nothing that a client of the node sent, or that came first, also after a restart', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    const coin = await purse(test, 4)
    const pay = (fee: bigint) => craft(test.spec, [coin()], [{ to: 30, value: 10_000_000n - fee }], [11])
    const [own, low, high, highest] = [pay(10_000n), pay(10_000n), pay(20_000n), pay(30_000n)]
    await test.send(own)
    for (const one of [low, high]) {
      test.clock.time++
      await test.mempool.accept(one.bytes, { local: false })
    }
    test.clock.time++
    await test.send(highest)
    expect(order(test)).toEqual(ids([highest, high, own, low]))
    await test.close()
    const again = await TestChain.open(undefined, { store })
    expect(order(again)).toEqual(ids([highest, high, own, low]))
    await again.close()
  })

  it('nothing that is evaluated again: at the same rate it comes after those that stayed', async () => {
    const test = await TestChain.open()
    const coin = await purse(test, 8)
    const carry = (operation: ReturnType<ReturnType<typeof holder>['create']>, fee: bigint) =>
      craft(test.spec, [coin()], [{ to: 30, value: 10_000_000n - fee }], [11], { payload: { type: 10, operation } })
    const [own, other] = [holder(), holder()]
    const created = carry(own.create(), 50_000n)
    await test.accept(craftBlock(test.chain, { transactions: [created, carry(other.create(), 50_000n)] }))
    const declare = (by: typeof own, fee: bigint) =>
      carry(by.declare(issueCredential(by.did, by.primary, by.did, {}, '#primary')), fee)
    const first = await test.send(declare(own, 50_000n))
    const stays = await test.send(declare(other, 50_000n))
    const rich = await test.send(carry(holder().create(), 5_000_000n))
    const before = test.mempool.reevaluations
    await test.accept(craftBlock(test.chain, { transactions: [carry(own.update(created.txid), 50_000n)] }))
    expect(test.mempool.reevaluations).toBe(before + 1)
    expect(stays.bytes.length).toBe(first.bytes.length)
    expect(order(test)).toEqual(ids([rich, stays, first]))
    await test.close()
  })
})
