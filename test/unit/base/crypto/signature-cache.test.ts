import { describe, expect, it } from 'vitest'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { processorTime } from '../../../support/process/patience.js'
import { checkOf } from '../../../support/builders/signatures.js'

const key = (byte: number) => new Uint8Array(33).fill(byte)
const signature = (byte: number) => new Uint8Array(64).fill(byte)
const text = fromUtf8('message')
const numbered = (index: number) => checkOf(fromUtf8(`message ${index}`), [key(2)], [signature(1)])

describe('SignatureCache', () => {
  it('leaves out what it remembers, in order, whoever built the equal check', () => {
    const cache = new SignatureCache()
    cache.add([numbered(1), numbered(3)])
    const asked = [0, 1, 2, 3, 4].map(numbered)
    expect(cache.unknown(asked)).toEqual([asked[0], asked[2], asked[4]])
    expect(cache.unknown(asked)[0]).toBe(asked[0])
  })

  const base = checkOf(text, [key(2), key(3)], [signature(1), signature(2)])
  it.each([
    ['message', checkOf(fromUtf8('Message'), base.keys, base.signatures)],
    ['key', checkOf(text, [key(2), key(4)], base.signatures)],
    ['order of keys', checkOf(text, [key(3), key(2)], base.signatures)],
    ['number of keys', checkOf(text, [key(2)], base.signatures)],
    ['signature', checkOf(text, base.keys, [signature(1), signature(3)])],
    ['order of signatures', checkOf(text, base.keys, [signature(2), signature(1)])],
    ['number of signatures', checkOf(text, base.keys, [signature(1)])],
  ])('tells checks apart by %s', (_, other) => {
    const cache = new SignatureCache()
    cache.add([base])
    expect(cache.unknown([base])).toEqual([])
    expect(cache.unknown([other])).toEqual([other])
  })

  it('does not take keys for signatures: 64 keys are as long as 33 signatures', () => {
    const cache = new SignatureCache()
    const keys = Array.from({ length: 65 }, () => key(2))
    const signatures = Array.from({ length: 33 }, () => signature(2))
    cache.add([checkOf(text, keys, [])])
    const other = checkOf(text, keys.slice(64), signatures)
    expect(cache.unknown([other])).toEqual([other])
  })

  it('knows a check by its own name, and by nothing else where it has one', () => {
    const cache = new SignatureCache()
    const named = (identity: string) => ({ ...numbered(1), identity })
    cache.add([named('a name of a check that is long enough')])
    expect(cache.unknown([named('a name of a check that is long enough')])).toEqual([])
    const others = [named('another name'), numbered(1)]
    expect(cache.unknown(others)).toEqual(others)
  })

  it('tells messages apart that lie in the same bytes at another time', () => {
    const cache = new SignatureCache()
    const bytes = Uint8Array.of(1)
    cache.add([checkOf(bytes, [key(2)], [signature(1)])])
    bytes[0] = 2
    expect(cache.unknown([checkOf(bytes, [key(2)], [signature(1)])])).toHaveLength(1)
  })

  it('never remembers keys or signatures of another length', () => {
    const cache = new SignatureCache()
    const odd = [checkOf(text, [new Uint8Array(34)], [signature(1)]), checkOf(text, [key(2)], [new Uint8Array(63)])]
    cache.add(odd)
    expect(cache.size).toBe(0)
    expect(cache.unknown(odd)).toEqual(odd)
  })

  it('holds no more than its capacity; the oldest goes first', () => {
    const cache = new SignatureCache(10)
    for (let index = 0; index < 25; index++) cache.add([numbered(index)])
    expect(cache.size).toBe(10)
    const all = Array.from({ length: 25 }, (_, index) => numbered(index))
    expect(cache.unknown(all)).toEqual(all.slice(0, 15))
  })

  it('takes a check as fast when it is full as when it is not', () => {
    const capacity = 131_072
    const cache = new SignatureCache(capacity)
    let count = 0
    const next = () => {
      const signed = new Uint8Array(64)
      new DataView(signed.buffer).setUint32(0, count++)
      return checkOf(text, [key(2)], [signed])
    }
    const fastest = () => {
      const times = Array.from({ length: 8 }, () => {
        const checks = Array.from({ length: 500 }, next)
        const start = processorTime()
        cache.add(checks)
        return processorTime() - start
      })
      return Math.min(...times)
    }
    cache.add(Array.from({ length: 20_000 }, next))
    const roomy = fastest()
    // The places of 60,000 that went are still there.
    cache.add(Array.from({ length: capacity + 40_000 }, next))
    expect(cache.size).toBe(capacity)
    expect(fastest()).toBeLessThan(4 * roomy)
  })
})
