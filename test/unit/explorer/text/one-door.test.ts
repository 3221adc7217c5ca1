import { describe, expect, it } from 'vitest'
import { guard } from '../../../../src/explorer/text/one-door.js'

/** Characters that a terminal or a page would obey, and not show. */
const obeyed = ['\u0000', '\u0007', '\u001b', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029', '\u202a', '\u202e']
const unseen = [
  '\u2066',
  '\u2069',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u00ad',
  '\u061c',
  '\u180e',
  '\u{1d173}',
  '\u{e0041}',
]

/** Properties of a node of Preact once it has passed. */
function guarded(type: unknown, props: unknown): unknown {
  const node = { type, props }
  guard(node)
  return node.props
}

describe('the door of all texts', () => {
  it.each([...obeyed, ...unseen])('writes out %j in a text and in attributes that are shown', (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    const text = `a${character}b`
    expect(guarded(null, text)).toBe(`a‹U+${code}›b`)
    expect(guarded('a', { title: text, 'aria-label': text, href: text })).toEqual({
      title: `a‹U+${code}›b`,
      'aria-label': `a‹U+${code}›b`,
      href: text,
    })
  })

  it('leaves white space, numbers, what a reader types, and components', () => {
    expect(guarded(null, 'a\n\tb')).toBe('a\n\tb')
    expect(guarded(null, 7)).toBe(7)
    expect(guarded('input', { value: 'a\u202eb' })).toEqual({ value: 'a\u202eb' })
    expect(guarded(() => null, { title: '\u202e' })).toEqual({ title: '\u202e' })
  })
})
