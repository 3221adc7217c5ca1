import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunkCoins, CoinHasher, coinRoot, coinRowSize, treeRoot } from '../../../../src/ledger/consensus/coin-root.js'
import { runs } from '../../../support/builders/arbitraries.js'

const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const hash = (n: number) => sha(Uint8Array.of(n))

/** The tree as RFC 6962 words it: split at the largest power of two below the number of leaves. */
function plainRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length < 2) return leaves[0] ?? sha()
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return sha(Uint8Array.of(1), plainRoot(leaves.slice(0, split)), plainRoot(leaves.slice(split)))
}

function rowOf(value: bigint, filling = 7): Buffer {
  const row = Buffer.alloc(coinRowSize, filling)
  row.writeBigInt64LE(value, 40)
  return row
}

describe('the root of all coins', () => {
  it('is that of RFC 6962 over the chunks', () => {
    for (let count = 0; count < 20; count++) {
      const leaves = Array.from({ length: count }, (_, i) => hash(i))
      expect(Buffer.from(treeRoot(leaves))).toEqual(Buffer.from(plainRoot(leaves)))
    }
  })

  it('binds chain, height, number and sum', () => {
    const set = { leaves: [hash(1)], count: 3, sum: 2n ** 40n, sideChains: new Uint8Array(0) }
    const root = coinRoot(hash(2), 5, set)
    const numbers = Buffer.from('050000000300000000000000' + '0000000000010000', 'hex')
    expect(Buffer.from(root)).toEqual(sha(Uint8Array.of(4), hash(2), numbers, hash(1)))
    const proved = coinRoot(hash(2), 5, { ...set, sideChains: Uint8Array.of(1, 2) })
    expect(Buffer.from(proved)).toEqual(sha(Uint8Array.of(4), hash(2), numbers, hash(1), sha(Uint8Array.of(1, 2))))
  })

  it('has a chunk for each 57 456 coins, in whatever pieces they come', () => {
    expect(chunkCoins).toBe(57_456)
    expect(chunkCoins * coinRowSize).toBeLessThanOrEqual(4 * 1024 * 1024)
    const biggest = 2n ** 63n - 1n
    const rows = Buffer.alloc((chunkCoins + 1) * coinRowSize, rowOf(biggest))
    for (const cut of [1, chunkCoins, chunkCoins + 1]) {
      const hasher = new CoinHasher()
      hasher.add(rows.subarray(0, cut * coinRowSize))
      hasher.add(rows.subarray(cut * coinRowSize))
      const { leaves, count, sum } = hasher.finish()
      expect(count).toBe(chunkCoins + 1)
      expect(sum).toBe(biggest * BigInt(chunkCoins + 1))
      const chunks = [rows.subarray(0, chunkCoins * coinRowSize), rows.subarray(-coinRowSize)]
      expect(leaves.map((leaf) => Buffer.from(leaf))).toEqual(chunks.map((chunk) => sha(Uint8Array.of(0), chunk)))
    }
    const hasher = new CoinHasher()
    hasher.add(rows.subarray(coinRowSize))
    expect(hasher.finish().leaves).toHaveLength(1)
    expect(new CoinHasher().finish()).toEqual({ leaves: [], count: 0, sum: 0n })
  })

  it('does not depend on the pieces', () => {
    const pieces = fc.array(fc.array(fc.bigInt({ min: 1n, max: 2n ** 62n }), { maxLength: 5 }), { maxLength: 8 })
    fc.assert(
      fc.property(pieces, (groups) => {
        const whole = new CoinHasher()
        whole.add(Buffer.concat(groups.flat().map((value) => rowOf(value))))
        const parts = new CoinHasher()
        for (const group of groups) parts.add(Buffer.concat(group.map((value) => rowOf(value))))
        const set = parts.finish()
        expect(whole.finish()).toEqual(set)
        expect(set.sum).toBe(groups.flat().reduce((sum, value) => sum + value, 0n))
      }),
      runs,
    )
  })
})
