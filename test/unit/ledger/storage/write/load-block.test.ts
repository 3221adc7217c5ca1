import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadDids, LoadingRows } from '../../../../../src/ledger/storage/write/load-block.js'
import { Overlay } from '../../../../../src/ledger/storage/write/overlay.js'
import { StoredState } from '../../../../../src/ledger/storage/stored-state.js'
import { runs } from '../../../../support/builders/arbitraries.js'
import { craftBlock } from '../../../../support/builders/blocks.js'
import { TestChain } from '../../../../support/builders/chain.js'
import { holder } from '../../../../support/builders/did.js'

/** Waits until what a transaction needs is there, in no more than so many turns. */
async function wait<T>(rows: LoadingRows<T>, transaction: number): Promise<void> {
  for (let turn = 0; turn < 200; turn++) {
    const more = rows.before(transaction)
    if (more === undefined) return
    await more
  }
  expect.unreachable('it never ends')
}

describe('Rows that are loaded for a block', () => {
  it('are those of the DIDs that its operations show', async () => {
    const test = await TestChain.open()
    const [ada, bob, eve] = [holder(), holder(), holder()]
    const created = await test.publish(ada.create(), ada.did)
    const ofBob = await test.publish(bob.create(), bob.did)
    const second = await test.publish(bob.update(ofBob), bob.did)
    const absolute = { ...bob.update(second), verificationMethod: `${bob.did}#primary` }
    const odd = [{ payload: 'x'.repeat(500) }, { payload: '' }, { verificationMethod: 'did:ledger:nobody#primary' }]
    const operations = [
      ada.update(created),
      absolute,
      eve.create(),
      ...odd.map((changes) => ({ ...ada.update(created), ...changes })),
    ]
    const transactions = await Promise.all(operations.map((one) => test.carry(one, ada.did)))
    const block = craftBlock(test.chain, { transactions })
    const overlay = new Overlay(test.database)
    await wait(await loadDids(overlay, block), transactions.length)
    const { get } = test.database
    test.database.get = () => {
      throw new Error('a row is read by itself')
    }
    const rows = new StoredState(overlay, { time: () => 0 })
    expect(rows.did(ada.did)).toMatchObject({ operationCount: 1, lastTxid: created })
    expect(rows.did(bob.did)).toMatchObject({ operationCount: 2, lastTxid: second })
    expect(rows.did(eve.did)).toBeUndefined()
    test.database.get = get
    expect(overlay.changes.size).toBe(0)
  })
})

describe('Rows on their way', () => {
  it('are there when their transaction is connected, and read ahead by a few calls', async () => {
    const parts = fc.array(fc.nat(20), { maxLength: 30 }).map((firsts) => {
      return firsts.sort((a, b) => a - b).map((first, i) => ({ first, wanted: [`${i}`] }))
    })
    await fc.assert(
      fc.asyncProperty(parts, fc.array(fc.nat(4), { minLength: 1 }), async (wanted, delays) => {
        const there = new Set<string>()
        let [begun, most] = [0, 0]
        const load = async (some: readonly string[]) => {
          most = Math.max(most, ++begun - there.size)
          for (let turns = delays[begun % delays.length] as number; turns > 0; turns--) await Promise.resolve()
          some.forEach((one) => there.add(one))
        }
        const rows = new LoadingRows(wanted, load)
        for (let transaction = 0; transaction <= 20; transaction++) {
          await wait(rows, transaction)
          const needed = wanted.filter(({ first }) => first <= transaction).flatMap((part) => part.wanted)
          expect(needed.filter((one) => !there.has(one))).toEqual([])
        }
        expect(there.size).toBe(wanted.length)
        expect(most).toBeLessThanOrEqual(4)
      }),
      runs,
    )
  })

  it('report what fails where it is needed, and nowhere else', async () => {
    const load = ([one]: readonly string[]) =>
      one === 'c' ? Promise.reject(new Error('the disk reports an error')) : Promise.resolve()
    const parts = ['a', 'b', 'c'].map((one, i) => ({ first: 10 * i, wanted: [one] }))
    const rows = new LoadingRows(parts, load)
    await wait(rows, 19)
    await expect(wait(rows, 20)).rejects.toThrow('the disk reports an error')
  })
})
