import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isShipped, shardOf, slots } from '../../../../src/ledger/engine/slots.js'
import { meta, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { hash, programHash, runs, u16, u32 } from '../../../support/builders/arbitraries.js'

const shardCounts = fc.integer({ min: 1, max: slots })

describe('shardOf', () => {
  it('names every shard for rows that each needs, and refuses rows that are not shipped', () => {
    for (const key of [tables.header.key(Buffer.alloc(32)), tables.active.key(7), tables.day.key(1), meta.tip.key]) {
      expect(isShipped(key)).toBe(true)
      expect(shardOf(key, 3)).toBe('every')
    }
    for (const key of [tables.journal.key(1), tables.pool.key(Buffer.alloc(32)), meta.events.key]) {
      expect(isShipped(key)).toBe(false)
      expect(() => shardOf(key, 3)).toThrow('is on no shard')
    }
    expect(() => isShipped(Buffer.from([0xee, 1]))).toThrow('no table has a row ee01')
  })

  it('keeps ranges of one height, address, DID, map page or token unit together', () => {
    fc.assert(
      fc.property(shardCounts, u32, programHash, hash, u16, u32, (shards, height, owner, page, index, other) => {
        const same = (...keys: Buffer[]) => new Set(keys.map((key) => shardOf(key, shards))).size
        expect(same(tables.transaction.key(height, index), tables.transaction.range(height).gte)).toBe(1)
        expect(
          same(tables.didDocument.key({ height, index }), tables.undo.key(height), tables.mapRoot.key(height)),
        ).toBe(1)
        const address = [
          tables.balance.key(owner),
          tables.history.key(owner, height, index),
          tables.history.range(owner).gte,
        ]
        expect(same(...address, tables.addressCoin.range(owner).gte)).toBe(1)
        const did = [
          tables.didHead.key(owner),
          tables.didOperation.key(owner, other),
          tables.declared.key(owner, other),
        ]
        expect(same(...did, tables.declaredCount.key(owner))).toBe(1)
        const at = { depth: (index % 64) * 4, key: page } as never
        expect(same(tables.mapPage.key(at), tables.mapPage.key(at))).toBe(1)
        const before = tables.mapPage.key(at)
        expect(same(before, tables.mapPageBefore.key(before, height), tables.mapPageBefore.range(before).gte)).toBe(1)
        const ordinal = other & 0xffffff
        const tokens = [page.subarray(0, 17), page.subarray(0, 11)]
        const postings = tokens.map((token) => tables.posting.key(token, ordinal >> 8))
        expect(same(tables.ordinal.key(ordinal), ...postings)).toBe(1)
      }),
      runs,
    )
  })

  it('divides slots evenly, and splits each shard in two when their number doubles', () => {
    const counts = Array.from({ length: 3 }, () => 0)
    for (let height = 0; height < 30_000; height++) counts[shardOf(tables.undo.key(height), 3) as number]!++
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(600)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: slots / 2 }), u32, (shards, height) => {
        const key = tables.undo.key(height)
        expect((shardOf(key, 2 * shards) as number) >> 1).toBe(shardOf(key, shards))
      }),
      runs,
    )
  })
})
