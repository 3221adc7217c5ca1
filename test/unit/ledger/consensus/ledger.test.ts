import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Coin, CoinChanges, StateOverlay, type StateView } from '../../../../src/ledger/consensus/ledger.js'
import { finish } from '../../../../src/base/primitives/steps.js'
import { outpointKey } from '../../../../src/base/primitives/input.js'
import type { Outpoint } from '../../../../src/base/primitives/transaction-fields.js'
import { runs } from '../../../support/builders/arbitraries.js'

const outpoint = (number: number): Outpoint => ({ txid: new Uint8Array(32).fill(number), index: number })
const coin = (value: bigint): Coin => {
  return { height: 1, coinbase: false, value, outputLock: 0, owner: '\0'.repeat(21) }
}

function view(coins: ReadonlyMap<string, Coin>): StateView {
  return {
    time: 0,
    coin: (at) => coins.get(outpointKey(at)),
    did: () => undefined,
    issuer: () => undefined,
    credential: () => undefined,
    otherCredential: () => undefined,
    provedHeight: () => undefined,
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
            overlay.coins.spend(key, held)
            model.delete(key)
          } else if (!spend && held === undefined && !below.has(key) && !created.has(number)) {
            // An outpoint comes into being once.
            created.add(number)
            overlay.coins.create(key, coin(BigInt(100 + i)))
            model.set(key, coin(BigInt(100 + i)))
          }
        }
        for (let number = 0; number < 8; number++) {
          expect(overlay.coin(outpoint(number))).toEqual(model.get(outpointKey(outpoint(number))))
        }
        const after = new Map(below)
        for (const key of overlay.coins.spent.keys()) expect(after.delete(key)).toBe(true)
        for (const [key, made] of overlay.coins.created) after.set(key, made)
        expect(after).toEqual(model)
      }),
      runs,
    )
  })

  it('keeps apart what it spends of the view below and what it made itself', () => {
    const overlay = new StateOverlay(view(new Map([[outpointKey(outpoint(1)), coin(1n)]])))
    overlay.coins.spend(outpointKey(outpoint(1)), coin(1n))
    overlay.coins.create(outpointKey(outpoint(2)), coin(2n))
    overlay.coins.spend(outpointKey(outpoint(2)), coin(2n))
    expect([...overlay.coins.spent].map(([, { value }]) => value)).toEqual([1n])
    expect([...overlay.coins.created]).toEqual([])
    expect([1, 2, 3].map((number) => overlay.coins.get(outpointKey(outpoint(number))) === null)).toEqual([
      true,
      true,
      false,
    ])
  })

  it('takes in what was changed on top of it', () => {
    const step = fc.record({ number: fc.integer({ min: 0, max: 5 }), merge: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const [apart, whole] = [new CoinChanges(), new CoinChanges()]
        let later = new CoinChanges()
        // Some are coins of the state below.
        const made = new Map([0, 1, 2].map((number) => [number, coin(BigInt(100 + number))]))
        for (const [i, { number, merge }] of steps.entries()) {
          const held = made.get(number)
          for (const changes of [whole, later]) {
            if (held === undefined) changes.create(outpointKey(outpoint(number)), coin(BigInt(i)))
            else changes.spend(outpointKey(outpoint(number)), held)
          }
          if (held === undefined) made.set(number, coin(BigInt(i)))
          else made.delete(number)
          if (!merge) continue
          finish(apart.addSteps(later))
          later = new CoinChanges()
        }
        finish(apart.addSteps(later))
        for (let number = 0; number < 6; number++) {
          expect(apart.get(outpointKey(outpoint(number)))).toEqual(whole.get(outpointKey(outpoint(number))))
        }
        expect([...apart.spent]).toEqual([...whole.spent])
        expect(apart.size).toBe(whole.size)
      }),
      runs,
    )
  })

  it('has the last height of each side chain, of its own or of what is below', () => {
    const genesis = (number: number) => new Uint8Array(32).fill(number)
    const below = { ...view(new Map()), provedHeight: (hash: Uint8Array) => (hash[0] === 1 ? 5 : undefined) }
    const lower = new StateOverlay(below)
    const upper = new StateOverlay(lower)
    const heights = (state: StateView) => [1, 2, 3].map((number) => state.provedHeight(genesis(number)))
    expect(heights(upper)).toEqual([5, undefined, undefined])
    lower.setProved({ genesis: genesis(2), height: 0, before: undefined })
    upper.setProved({ genesis: genesis(1), height: 6, before: 5 })
    upper.setProved({ genesis: genesis(2), height: 7, before: 0 })
    expect(heights(upper)).toEqual([6, 7, undefined])
    expect(heights(lower)).toEqual([5, 0, undefined])
    expect(heights(below)).toEqual([5, undefined, undefined])
  })

  it('stacks', () => {
    const lower = new StateOverlay(view(new Map()))
    lower.coins.create(outpointKey(outpoint(1)), coin(1n))
    const upper = new StateOverlay(lower)
    upper.coins.spend(outpointKey(outpoint(1)), coin(1n))
    expect(upper.coin(outpoint(1))).toBe(undefined)
    expect(lower.coin(outpoint(1))).toEqual(coin(1n))
    expect([...upper.coins.spent]).toHaveLength(1)
  })
})
