import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Codec } from '../../../src/network/wire/exchange.js'
import { concat } from '../../../src/base/primitives/bytes.js'
import { Header } from '../../../src/base/primitives/header.js'
import { hash, runs, u32 } from '../builders/arbitraries.js'
import { codeOf } from './code-of.js'

export const header = fc
  .record({
    version: u32,
    previous: hash,
    merkleRoot: hash,
    time: u32,
    bits: u32,
    nonce: u32,
    height: u32,
  })
  .map((fields) => new Header(fields))

/** Tests of every codec: values come back, bytes have one form, and anything else is refused by its code. */
export function codecTests<T>(name: string, codec: Codec<T>, value: fc.Arbitrary<T>, least = 1): void {
  describe(name, () => {
    it('comes back from its bytes', () => {
      fc.assert(
        fc.property(value, (one) => {
          const bytes = codec.encode(one)
          const back = codec.decode(bytes)
          expect(plain(back)).toEqual(plain(one))
          expect(Buffer.from(codec.encode(back)).equals(bytes)).toBe(true)
        }),
        runs,
      )
    })

    it('refuses bytes that are cut off or go on', () => {
      fc.assert(
        fc.property(value, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 9 }), (one, at, more) => {
          const bytes = codec.encode(one)
          if (bytes.length >= least) {
            expect(codeOf(() => codec.decode(bytes.subarray(0, at % bytes.length)))).toBe('peer-message')
          }
          expect(codeOf(() => codec.decode(concat(bytes, more)))).toBe('peer-message')
        }),
        runs,
      )
    })

    it('has one form for each value, whatever the bytes', () => {
      const changed = fc.record({ one: value, at: fc.nat(), to: fc.nat(255) }).map(({ one, at, to }) => {
        const bytes = Uint8Array.from(codec.encode(one))
        if (bytes.length > 0) bytes[at % bytes.length] = to
        return bytes
      })
      fc.assert(
        fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 300 })), (bytes) => {
          let decoded: T
          try {
            decoded = codec.decode(bytes)
          } catch (error) {
            expect(error).toMatchObject({ code: 'peer-message' })
            return
          }
          expect(Buffer.from(codec.encode(decoded)).equals(bytes)).toBe(true)
        }),
        runs,
      )
    })
  })
}

/** Comparable, whether bytes are Buffers or not. */
function plain(value: unknown): unknown {
  if (value instanceof Header) return { header: Buffer.from(value.bytes).toString('hex') }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}
