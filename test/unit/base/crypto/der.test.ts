import fc from 'fast-check'
import { expect, it } from 'vitest'
import { derElement, derElements } from '../../../../src/base/crypto/der.js'
import { hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { bytes, runs } from '../../../support/builders/arbitraries.js'

it('elements are read as they were written, of any length', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 0xbf }), bytes(0, 300)), { maxLength: 4 }), (parts) => {
      const written = Buffer.concat(parts.map(([tag, content]) => derElement(tag, content)))
      const read = derElements(written)?.map(({ tag, content }) => [tag, toHex(content)])
      expect(read).toEqual(parts.map(([tag, content]) => [tag, toHex(content)]))
    }),
    runs,
  )
})

it.each([
  ['a tag alone', '04'],
  ['contents cut off', '0403aabb'],
  ['a length without an end', '0480aabb'],
  ['a length of three bytes', '0483000001aa'],
  ['a length cut off', '0482aa'],
  ['a longer form than needed', '048101aa'],
  ['two bytes where one does', `048200ff${'aa'.repeat(255)}`],
])('refuses %s', (_, text) => {
  expect(derElements(hex(text))).toBeUndefined()
})

it('never throws', () => {
  fc.assert(
    fc.property(bytes(0, 80), (data) => {
      derElements(data)
    }),
    runs,
  )
})
