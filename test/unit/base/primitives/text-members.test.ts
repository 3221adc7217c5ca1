import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textMembers } from '../../../../src/base/primitives/text-members.js'
import { runs } from '../../../support/builders/arbitraries.js'

const names = ['id', 'issuer', '', 'a"b', 'back\\slash', 'é']

/** What JSON.parse makes of it. */
function expected(json: string): Record<string, string> {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const members = Object.entries(value as Record<string, unknown>)
  return Object.fromEntries(
    members.filter(([name, member]) => names.includes(name) && typeof member === 'string'),
  ) as Record<string, string>
}

const read = (json: string) => Object.fromEntries(textMembers(Buffer.from(json), new Set(names)))

describe('textMembers', () => {
  it('reads what a parser reads, of any JSON, however it is written', () => {
    const name = fc.oneof(fc.constantFrom(...names), fc.string({ unit: 'grapheme' }))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('{"id":"x"}', 'a\\', '\\"', '}', ',"id":"'),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(null, true, false),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(name, tie('value'), { maxKeys: 5 }),
      ),
    }))
    const indent = fc.constantFrom('', ' ', '\t', '  ')
    const escape = fc.boolean()
    fc.assert(
      fc.property(value, indent, escape, (of, space, escaped) => {
        const text = JSON.stringify(of, null, space)
        const json = escaped ? text.replaceAll('i', '\\u0069').replaceAll('/', '\\/') : text
        expect(read(json)).toEqual(expected(json))
      }),
      runs,
    )
  })

  it.each(['', 'x', '"id"', '{', '{"id', '{"id":"x', '[{"id":"x"}]', '{"id"', '}{', '{"a":{"id":"x"}}'])(
    'ends, and finds nothing, in %s',
    (text) => expect(read(text)).toEqual(text === '{"id":"x' ? { id: 'x' } : {}),
  )
})
