import { describe, expect, it } from 'vitest'
import type { KnownHeader } from '../../../../src/ledger/chain/header-index.js'
import { type PreparedBlock, PreparedBlocks } from '../../../../src/ledger/chain/prepared-blocks.js'

const tipOf = (height: number) => ({ header: { height } }) as KnownHeader
const prepared = (number: number, tip: KnownHeader) =>
  ({ bytes: Uint8Array.of(number), tip }) as unknown as PreparedBlock

describe('a block that was checked before its confirm came', () => {
  it('counts for the same bytes on the same tip', () => {
    const blocks = new PreparedBlocks()
    const [tip, again] = [tipOf(1), tipOf(1)]
    const [one, two] = [prepared(1, tip), prepared(2, tip)]
    blocks.add(one)
    blocks.add(two)
    expect([1, 2, 3].map((number) => blocks.find(Uint8Array.of(number), tip))).toEqual([one, two, undefined])
    // A tip of the same block after a rewind is another one.
    expect(blocks.find(Uint8Array.of(1), again)).toBe(undefined)
    expect(blocks.find(Uint8Array.of(1), tip)).toBe(undefined)
  })

  it('gives way to the last ones, and to those on another tip', () => {
    const blocks = new PreparedBlocks()
    const [tip, next] = [tipOf(1), tipOf(2)]
    for (let number = 0; number < 20; number++) blocks.add(prepared(number, tip))
    const kept = Array.from({ length: 20 }, (_, number) => blocks.find(Uint8Array.of(number), tip) !== undefined)
    expect(kept.lastIndexOf(false)).toBe(20 - kept.filter((one) => one).length - 1)
    expect([kept[0], kept[19]]).toEqual([false, true])
    blocks.add(prepared(1, next))
    expect(blocks.find(Uint8Array.of(19), tip)).toBe(undefined)
  })
})
