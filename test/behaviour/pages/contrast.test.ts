import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Contrast of the colours of the pages by WCAG 2.2, 1.4.3 and 1.4.11. */

const css = readFileSync(new URL('../../../src/explorer/style/base.css', import.meta.url), 'utf8')
const schemes = ['light', 'dark'] as const

function colour(name: string, scheme: (typeof schemes)[number]): string {
  const value = new RegExp(`^ {2}--${name}: (.*);$`, 'm').exec(css)?.[1] ?? ''
  const both = /^light-dark\((#\w{6}), (#\w{6})\)$/.exec(value)
  return both?.[schemes.indexOf(scheme) + 1] ?? value
}

/** Relative luminance of `#rrggbb`. */
function luminance(text: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(text.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

describe.each(schemes)('in the %s scheme', (scheme) => {
  const between = (front: string, ground: string) => contrast(colour(front, scheme), colour(ground, scheme))

  it.each([
    ...['ground', 'panel', 'raised', 'fresh'].flatMap((ground) => ['text', 'link'].map((text) => [text, ground])),
    ...['ground', 'panel'].flatMap((ground) => ['quiet', 'good'].map((text) => [text, ground])),
    ...['good', 'warn', 'bad'].flatMap((tone) => [
      [tone, `${tone}-ground`],
      [tone, 'panel'],
    ]),
    ['link', 'accent-ground'],
    ['on-accent', 'accent'],
    ['curve-1', 'panel'],
    ['curve-2', 'panel'],
  ] as [string, string][])('text of the colour %s can be read on %s', (text, ground) => {
    expect(between(text, ground)).toBeGreaterThanOrEqual(4.5)
  })

  it.each(['ground', 'panel', 'raised'])('what has the focus is seen on %s', (ground) => {
    expect(between('focus', ground)).toBeGreaterThanOrEqual(3)
  })
})

it('a contrast is that of the definition', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})
