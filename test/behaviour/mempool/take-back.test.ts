import { describe, expect, it } from 'vitest'
import type { LeftBranch, LeftBranches } from '../../../src/ledger/chain/left-branches.js'
import type { PoolEntry } from '../../../src/ledger/mempool/pool-entry.js'
import { policy } from '../../../src/ledger/mempool/policy.js'
import { Reevaluation, type ReevaluationOptions } from '../../../src/ledger/mempool/reevaluation.js'
import type { PoolStore } from '../../../src/ledger/mempool/store.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { bareEntry, recordEntry } from '../../support/builders/pool-entries.js'

const unknown = () => Promise.reject(new RuleError('tx-input-unknown', 'its coin is not there'))

/** A branch that was left, of these blocks, and what is told while it is taken back; a block that is undefined is gone. */
function scene(blocks: readonly (readonly Transaction[] | undefined)[], admit: ReevaluationOptions['admit']) {
  let first: LeftBranch | undefined = { number: 1, blocks: blocks.map((_, number) => Uint8Array.of(number)) }
  const told: string[] = []
  const tell = (what: string) => {
    told.push(what)
    return Promise.resolve()
  }
  const nothing = () => {}
  const at = { flushed: nothing }
  const left = {
    get first() {
      return first
    },
    read: ([number = 0]: Uint8Array) => {
      const transactions = blocks[number]
      // The coinbase does not return.
      return Promise.resolve(transactions && { transactions: [recordEntry(999, [], 0n).transaction, ...transactions] })
    },
    settle: () => (first = undefined),
  } as unknown as LeftBranches
  const store = {
    put: (hash: Uint8Array) => tell(`row ${hash.length}`),
    remove: () => tell('no row'),
    flushed: () => (at.flushed(), tell('flushed')),
    settle: (stage: (overlay: unknown) => void) => (stage(undefined), tell('settled')),
  } as unknown as PoolStore
  const log = { debug: nothing, info: nothing, error: nothing, warn: (_: object, text: string) => void tell(text) }
  const reevaluation = new Reevaluation({
    ...{ left, store, log, admit, pooled: () => false, evaluated: nothing, now: () => 7 },
    forget: (_, { code }) => void tell(code),
    makeRoom: () => tell('room'),
  })
  return { reevaluation, told, at }
}

describe('the transactions of a branch that was left', () => {
  it('come back block by block; of a block that is gone a warning is left', async () => {
    const [one, two] = [1, 2].map((number) => recordEntry(number, [], 1n).transaction) as [Transaction, Transaction]
    const admitted: [string, number][] = []
    const { reevaluation, told } = scene(
      [[one], undefined, [two]],
      async ({ transaction, arrival }, { added } = {}) => {
        added?.()
        admitted.push([transaction.txid, arrival])
      },
    )
    await reevaluation.run()
    expect(admitted).toEqual([
      [one.txid, 7],
      [two.txid, 7],
    ])
    const gone = 'a block that was left is gone with its transactions'
    const each = ['row 32', 'room', 'flushed']
    expect(told).toEqual([...each, gone, 'flushed', ...each, 'settled'])
  })

  it('are all looked at again when everything starts over meanwhile', async () => {
    const [one, two] = [1, 2].map((number) => recordEntry(number, [], 1n).transaction) as [Transaction, Transaction]
    const looked: string[] = []
    const { reevaluation, told } = scene([[one, two]], async ({ transaction }) => {
      looked.push(transaction === one || transaction.txid === one.txid ? 'one' : 'two')
      if (looked.length === 1) reevaluation.startOver([])
    })
    await reevaluation.run()
    expect(looked).toEqual(['one', 'one', 'two'])
    expect(told.filter((what) => what === 'settled')).toHaveLength(1)
  })

  it('wait for what they may build on, as long as that fits into a pool', async () => {
    for (const [more, waits] of [
      [0, true],
      [1, false],
    ] as const) {
      const size = policy.poolSize / 4
      const waiting = [0, 1, 2, 3].map((number) => bareEntry(number, [], 1n, size + (number === 0 ? more : 0)))
      const child = recordEntry(9, [waiting[3] as PoolEntry], 1n).transaction
      const { reevaluation, told, at } = scene([[child]], unknown)
      for (const entry of waiting) reevaluation.add({ transaction: entry.transaction, arrival: 0, entry })
      let waited: boolean | undefined
      at.flushed = () => (waited = reevaluation.has(child.hash))
      await reevaluation.run()
      expect(waited).toBe(waits)
      expect(told[0]).toBe(waits ? 'row 32' : 'tx-input-unknown')
    }
  })

  it('are looked at once if the chain has them again', async () => {
    const test = await TestChain.open()
    const [ada, bob] = [holder(), holder()]
    const both = await test.send(await test.carry(ada.create(), ada.did))
    await test.mine()
    const pooled = await test.send(await test.carry(bob.create(), bob.did, 11))
    const before = test.mempool.reevaluations
    const rival = await TestChain.open()
    await rival.accept(craftBlock(rival.chain, { transactions: [both] }))
    await rival.mine()
    for (const height of [1, 2]) await test.accept(await rival.reader.block(rival.activeHeader(height)))
    expect(test.chain.tip.header.id).toBe(rival.chain.tip.header.id)
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([pooled.txid])
    expect(test.mempool.reevaluations - before).toBe(2)
    await test.close()
  })
})
