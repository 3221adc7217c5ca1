import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Coin, StateOverlay, type StateView } from '../../../src/consensus/ledger.js'
import { outpointKey } from '../../../src/primitives/transaction.js'
import type { Outpoint } from '../../../src/primitives/transaction-fields.js'
import { runs } from '../../support/builders/arbitraries.js'

const outpoint = (number: number): Outpoint => ({ txid: new Uint8Array(32).fill(number), index: number })
const coin = (value: bigint): Coin => {
  return { height: 1, coinbase: false, value, outputLock: 0, programHash: new Uint8Array(21) }
}

function view(coins: ReadonlyMap<string, Coin>): StateView {
  return {
    coin: (at) => coins.get(outpointKey(at)),
    did: () => undefined,
    issuer: () => undefined,
    credential: () => undefined,
    otherCredential: () => undefined,
  }
}

describe('an overlay of the ledger', () => {
  it('is the view below with its own changes, however they come', () => {
    const step = fc.record({ number: fc.integer({ min: 0, max: 7 }), spend: fc.boolean() })
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 7 })), fc.array(step), (start, steps) => {
        const below = new Map(start.map((number) => [outpointKey(outpoint(number)), coin(BigInt(number))]))
        const model = new Map(below)
        const overlay = new StateOverlay(view(below))
        const created = new Set<number>()
        for (const [i, { number, spend }] of steps.entries()) {
          const at = outpoint(number)
          const key = outpointKey(at)
          const held = model.get(key)
          if (spend && held !== undefined) {
            overlay.spend(at, held)
            model.delete(key)
          } else if (!spend && held === undefined && !below.has(key) && !created.has(number)) {
            // An outpoint comes into being once.
            created.add(number)
            overlay.create(at, coin(BigInt(100 + i)))
            model.set(key, coin(BigInt(100 + i)))
          }
        }
        for (let number = 0; number < 8; number++) {
          expect(overlay.coin(outpoint(number))).toEqual(model.get(outpointKey(outpoint(number))))
        }
        const after = new Map(below)
        for (const { outpoint: at } of overlay.spent) expect(after.delete(outpointKey(at))).toBe(true)
        for (const { outpoint: at, coin: made } of overlay.created) after.set(outpointKey(at), made)
        expect(after).toEqual(model)
      }),
      runs,
    )
  })

  it('keeps apart what it spends of the view below and what it made itself', () => {
    const overlay = new StateOverlay(view(new Map([[outpointKey(outpoint(1)), coin(1n)]])))
    overlay.spend(outpoint(1), coin(1n))
    overlay.create(outpoint(2), coin(2n))
    overlay.spend(outpoint(2), coin(2n))
    expect([...overlay.spent].map(({ coin: { value } }) => value)).toEqual([1n])
    expect([...overlay.created]).toEqual([])
    expect([1, 2, 3].map((number) => overlay.isSpent(outpoint(number)))).toEqual([true, true, false])
  })

  it('stacks', () => {
    const lower = new StateOverlay(view(new Map()))
    lower.create(outpoint(1), coin(1n))
    const upper = new StateOverlay(lower)
    upper.spend(outpoint(1), coin(1n))
    expect(upper.coin(outpoint(1))).toBe(undefined)
    expect(lower.coin(outpoint(1))).toEqual(coin(1n))
    expect([...upper.spent]).toHaveLength(1)
  })
})
