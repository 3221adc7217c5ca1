import { describe, expect, test } from 'vitest'
import { splitOutsideQuotes } from '../../../../src/base/primitives/quoted-parts.js'

describe('splitOutsideQuotes', () => {
  test.each([
    ['', ['']],
    ['a', ['a']],
    ['a, b', ['a', ' b']],
    [',a,,', ['', 'a', '', '']],
    ['"a,b",c', ['"a,b"', 'c']],
    ['a="x\\",y",b', ['a="x\\",y"', 'b']],
    ['a="x\\\\",y', ['a="x\\\\"', 'y']],
    // A quote that is left open takes nothing of what follows.
    ['a="x, b="y,z"', ['a="x', ' b="y,z"']],
    ['"a, b', ['"a', ' b']],
  ])('%s', (text, parts) => {
    expect(splitOutsideQuotes(text, ',')).toEqual(parts)
  })
})
