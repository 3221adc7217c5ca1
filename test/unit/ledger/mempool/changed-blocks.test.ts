import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldBlock } from '../../../../src/ledger/chain/chain-change.js'
import { changedBy, returnedBy, transactionsOf } from '../../../../src/ledger/mempool/changed-blocks.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { craft, craftBlock, genesisCoin } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

let test: TestChain
let transfers: readonly Transaction[]
beforeAll(async () => {
  test = await TestChain.open()
  transfers = [1n, 2n, 3n].map((value) => craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value }], [10]))
})
afterAll(() => test.close())

const block = (...at: readonly number[]) =>
  heldBlock(craftBlock(test.chain, { transactions: at.map((i) => transfers[i] as Transaction) }))
const txids = (transactions: readonly Transaction[]) => transactions.map(({ txid }) => txid)
const named = (...at: readonly number[]) => at.map((i) => transfers[i]?.txid)

describe('the transactions of changed blocks', () => {
  it('are those of all, without coinbases', () => {
    expect(txids(transactionsOf([block(0, 2), block(), block(1)]))).toEqual(named(0, 2, 1))
    const { header, read } = block(0)
    expect(transactionsOf([{ header, dids: [], credentials: [], read }])).toEqual([])
  })

  it('return when their block leaves, oldest first, unless they are mined again', () => {
    const disconnected = [block(2), block(0, 1)]
    expect(txids(returnedBy(disconnected, []))).toEqual(named(0, 1, 2))
    expect(txids(returnedBy(disconnected, [block(1)]))).toEqual(named(0, 2))
    expect(returnedBy(disconnected, [block(0), block(1, 2)])).toEqual([])
    expect(returnedBy([], [block(0)])).toEqual([])
  })
})

describe('what changed blocks changed', () => {
  it('has each DID and each credential once', () => {
    const ada = { dids: ['ada', 'bob'], credentials: ['bob#member'] }
    const bob = { dids: ['bob'], credentials: ['bob#member', 'ada#member'] }
    expect(changedBy([ada, { dids: [], credentials: [] }, bob])).toEqual({
      dids: ['ada', 'bob'],
      credentials: ['bob#member', 'ada#member'],
    })
    expect(changedBy([])).toEqual({ dids: [], credentials: [] })
  })
})
