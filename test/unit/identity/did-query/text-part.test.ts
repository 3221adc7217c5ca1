import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textPart } from '../../../../src/identity/did-query/text-part.js'

/** Functions that write a text as an expression which finds it, as in the libraries of languages. */
const literals: Readonly<Record<string, (text: string) => string>> = {
  'escape-string-regexp': (text) => text.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&').replace(/-/g, '\\x2d'),
  'Python, re.escape': (text) => text.replace(/[\t\n\v\f\r #$&()*+.?[\\\]^{|}~-]/g, '\\$&'),
  'Python before 3.7': (text) => text.replace(/[^A-Za-z0-9_]/g, '\\$&'),
  'PHP, preg_quote': (text) => text.replace(/[-.\\+*?[^\]$(){}=!<>|:#/]/g, '\\$&'),
  'C#, Regex.Escape': (text) => text.replace(/[ #$()*+.?[\\^{|]/g, '\\$&').replace(/[\]}]/g, '\\$&'),
  'C# and Ruby, with line ends': (text) =>
    text
      .replace(/[ #$()*+.?[\\^{|\]}-]/g, '\\$&')
      .replace(/[\n\r\t\f]/g, (found) => JSON.stringify(found).slice(1, -1)),
  'Java, Pattern.quote': (text) => `\\Q${text.replaceAll('\\E', '\\E\\\\E\\Q')}\\E`,
  'RegExp.escape': (text) =>
    text
      .replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&')
      .replace(/[,\-=<>#&!%:;@~'`" ]/g, (found) => `\\x${found.charCodeAt(0).toString(16)}`)
      .replace(/^[A-Za-z0-9]/, (found) => `\\x${found.charCodeAt(0).toString(16)}`),
}

describe('a text that is written as a literal', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aZ09_é😀 \\^$.*+?()[]{}|-/@#&~:;=!<>\'"`,%QE\n\r\t\f') })
  it.each(Object.entries(literals))('by %s is that text', (_, literal) => {
    fc.assert(
      fc.property(text, fc.constantFrom('', '^'), fc.constantFrom('', '$'), (wanted, start, end) => {
        const found = textPart(`${start}${literal(wanted)}${end}`, 'a')
        expect(found).toEqual({ text: wanted, fromStart: start !== '', toEnd: end !== '' })
      }),
    )
  })
})

it('has the characters that \\ names, as an expression has them, and no class', () => {
  for (let code = 0x20; code < 0x7f; code++) {
    const [character, number] = [String.fromCharCode(code), code.toString(16)]
    expect(textPart(`\\x${number}`, 'a').text).toBe(character)
    if ('nrtf'.includes(character)) continue
    const isLetter = /[A-Za-z0-9]/.test(character)
    if (isLetter) expect(() => textPart(`\\${character}`, 'a'), character).toThrow(/\\ cannot stand/)
    else
      expect([textPart(`\\${character}`, 'a').text, new RegExp(`^\\${character}$`).test(character)]).toEqual([
        character,
        true,
      ])
  }
  for (const [name, character] of Object.entries({ n: '\n', r: '\r', t: '\t', f: '\f' })) {
    expect(textPart(`\\${name}`, 'a').text).toBe(character)
  }
  expect(() => textPart('\\Qa\\E*', 'a')).toThrow(/\* cannot stand/)
  expect(textPart('\\\\Qa', 'a').text).toBe('\\Qa')
  for (const cut of ['\\Qa', '\\x', '\\x2', '\\x2g', '\\xg2'])
    expect(() => textPart(cut, 'a'), cut).toThrow(/\\ cannot stand/)
})

it('reads a text of many literals without end once, not once for each', () => {
  const timed = (count: number) => {
    const began = performance.now()
    expect(() => textPart('\\Q'.repeat(count), 'a')).toThrow()
    return performance.now() - began
  }
  const least = (count: number) => Math.min(...Array.from({ length: 5 }, () => timed(count)))
  least(1000)
  // By squares it would be 400 times as long.
  expect(least(100_000)).toBeLessThan(Math.max(1, least(5000)) * 100)
})
