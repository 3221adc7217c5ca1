import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonScan, scanText } from '../../../../src/clients/light/json-scan.js'
import { runs } from '../../../support/builders/arbitraries.js'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

const texts = fc.oneof(fc.string({ unit: fc.constantFrom(...'[]{},:"\\ a\nü😀') }), fc.string())
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    ...[fc.constantFrom(null, true, 1.5, -2e9), texts],
    ...[fc.array(tie('value')), fc.dictionary(texts, tie('value'))],
  ),
})).value

/** Brackets, commas and colons outside of texts. */
function tokensOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value) as Json[]
  const own = 2 + Math.max(0, inner.length - 1) + (Array.isArray(value) ? 0 : inner.length)
  return inner.reduce((sum: number, one) => sum + tokensOf(one), own)
}

function accepts(text: string, tokens: number, size: number): boolean {
  const bytes = new TextEncoder().encode(text)
  const scan = new JsonScan({ bytes: bytes.length, tokens })
  try {
    for (let at = 0; at < bytes.length; at += size) scan.add(bytes.subarray(at, at + size))
    return true
  } catch {
    return false
  }
}

describe('a scan of JSON', () => {
  it('counts what has a cost, outside of texts, however it comes in parts', () => {
    const spaces = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(values, spaces, fc.integer({ min: 1, max: 9 }), (value, space, size) => {
        const [text, tokens] = [JSON.stringify(value, null, space), tokensOf(value)]
        expect([accepts(text, tokens, size), accepts(text, tokens - 1, size)]).toEqual([true, tokens === 0])
      }),
      runs,
    )
  })

  it('bounds how deep lists and objects lie in each other, not how many there are', () => {
    const nested = (levels: number) => '[{"a":'.repeat(levels / 2) + '0' + '}]'.repeat(levels / 2)
    const many = `[${Array(100).fill(nested(30)).join()}]`
    expect([accepts(nested(32), 1e6, 5), accepts(nested(34), 1e6, 5), accepts(many, 1e6, 5)]).toEqual([
      true,
      false,
      true,
    ])
  })
})

describe('a text that is given', () => {
  it.each([1023, 1024, 200_000])(
    'has 256 brackets, commas and colons, and one for each 8 of %i characters',
    (length) => {
      const most = 256 + Math.floor(length / 8)
      const scan = (tokens: number) => () => scanText(`[${','.repeat(tokens - 2)}]`.padEnd(length))
      expect(scan(most)).not.toThrow()
      expect(scan(most + 1)).toThrow(`more than ${most} values`)
    },
  )
})
