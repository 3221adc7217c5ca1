import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changedChunk,
  chunkOf,
  chunkPosting,
  decodeChunk,
  encodeChunk,
} from '../../../../src/identity/did-index/posting-chunk.js'
import { CodecError } from '../../../../src/base/primitives/codec.js'

const postings = fc.uniqueArray(fc.nat(0xffff), { maxLength: 600 }).map((all) => Uint16Array.from(all).sort())

describe('the postings of a chunk', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(postings, (all) => {
        expect(decodeChunk(encodeChunk(all))).toEqual(all)
      }),
    )
  })

  it('have one form in bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        let all: Uint16Array
        try {
          all = decodeChunk(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError)
          return
        }
        expect(encodeChunk(all)).toEqual(bytes)
        expect([...all]).toEqual([...new Set(all)].sort((a, b) => a - b))
      }),
    )
  })

  it.each<readonly [postings: number[], bytes: number[]]>([
    [[], []],
    [[0], [0]],
    [
      [0, 1, 2],
      [0, 0, 0],
    ],
    [
      [chunkPosting(3, 2), chunkPosting(4, 0)],
      [0x82, 0x06, 0xfd, 0x01],
    ],
    [[0xffff], [0xff, 0xff, 0x03]],
  ])('%j are %j', (all, bytes) => {
    expect([...encodeChunk(all)]).toEqual(bytes)
    expect([...decodeChunk(Uint8Array.from(bytes))]).toEqual(all)
  })

  it.each<readonly [what: string, bytes: number[]]>([
    ['a distance that does not end', [0x80]],
    ['a distance of four bytes', [0x80, 0x80, 0x80, 0x01]],
    ['a distance with a byte too many', [0x81, 0x00]],
    ['a posting above the chunk', [0xff, 0xff, 0x03, 0x00]],
  ])('refuse %s', (_, bytes) => {
    expect(() => decodeChunk(Uint8Array.from(bytes))).toThrow(CodecError)
  })

  it('change by what is taken out and put in', () => {
    fc.assert(
      fc.property(postings, fc.array(fc.nat(0xffff)), fc.array(fc.nat(0xffff)), (all, out, into) => {
        const removed = new Set([...out, ...all.slice(0, 3)])
        const added = new Set(into)
        const expected = [...new Set([...[...all].filter((one) => !removed.has(one)), ...added])].sort((a, b) => a - b)
        expect([...changedChunk(all, [...[...removed].map((one) => ~one), ...into])]).toEqual(expected)
      }),
    )
  })

  it('are made in their order, and follow what is there where they are above it', () => {
    const held = Uint16Array.of(3, 9)
    expect([...changedChunk(held, [12, 700])]).toEqual([3, 9, 12, 700])
    expect([...changedChunk(held, [12, ~12])]).toEqual([3, 9])
    expect([...changedChunk(held, [~9, 9, 12])]).toEqual([3, 9, 12])
    expect([...changedChunk(held, [12, 12])]).toEqual([3, 9, 12])
  })

  it('belong to 256 ordinals', () => {
    expect([0, 255, 256, 2 ** 32 - 1].map(chunkOf)).toEqual([0, 0, 1, 2 ** 24 - 1])
    expect(chunkPosting(2 ** 32 - 1, 255)).toBe(0xffff)
  })
})
