import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heldBlock } from '../../../src/chain/chain-change.js'
import { returnedBy, type Touchable, touchedBy, transactionsOf } from '../../../src/mempool/changed-blocks.js'
import type { Transaction } from '../../../src/primitives/transaction.js'
import { craft, craftBlock, genesisCoin } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'

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

describe('the entries that changed blocks touch', () => {
  const entries: Readonly<Record<string, Touchable>> = {
    transfer: {},
    ada: { did: { id: 'ada', issuers: [] } },
    bob: { did: { id: 'bob', issuers: ['club', 'ada'] } },
    revoke: { did: { id: 'club', issuers: [], credential: { id: 'bob#member' } } },
  }
  const touched = (dids: readonly string[], credentials: readonly string[] = []) => {
    const found = touchedBy(
      [
        { dids: [], credentials: [] },
        { dids, credentials },
      ],
      Object.values(entries),
    )
    return Object.keys(entries).filter((name) => found.includes(entries[name] as Touchable))
  }

  it('have the DID of an operation, or an issuer, or the credential', () => {
    expect(touched(['ada'])).toEqual(['ada', 'bob'])
    expect(touched(['bob'])).toEqual(['bob'])
    expect(touched(['club'])).toEqual(['bob', 'revoke'])
    expect(touched(['club', 'ada'])).toEqual(['ada', 'bob', 'revoke'])
    expect(touched([], ['bob#member'])).toEqual(['revoke'])
    expect(touched(['eve'], ['eve#member'])).toEqual([])
  })

  it('are none, and not looked at, where no DID and no credential changed', () => {
    const entriesLookedAt: Iterable<Touchable> = {
      [Symbol.iterator]: () => {
        throw new Error('looked at')
      },
    }
    expect(touchedBy([{ dids: [], credentials: [] }], entriesLookedAt)).toEqual([])
    expect(touchedBy([], entriesLookedAt)).toEqual([])
  })
})
