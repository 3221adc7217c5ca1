import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { countIn, headOf, numberIn, scriptArguments } from '../../../scripts/script-arguments.js'

/** Scripts whose arguments are read. */
const scripts = ['bench/main', 'damage', 'miner', 'mutants', 'pools', 'requests', 'sim', 'soak']
const fileOf = (script: string) => `scripts/${script}.ts`

let said: string[]
beforeEach(() => {
  said = []
  const say = (text: string) => void said.push(text)
  vi.spyOn(console, 'error').mockImplementation(say)
  vi.spyOn(console, 'log').mockImplementation(say)
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`ended with ${code}`)
  })
})
afterEach(() => vi.restoreAllMocks())

const read = (...args: string[]) =>
  scriptArguments(pathToFileURL(fileOf('sim')).href, { args, options: { seeds: { type: 'string', default: '5' } } })

describe('arguments of a script', () => {
  it('are read', () => {
    expect(read().values).toEqual({ seeds: '5' })
    expect(read('--seeds', '7').values).toEqual({ seeds: '7' })
  })

  it('are explained by the head of the script', () => {
    for (const flag of ['--help', '-h']) expect(() => read('--nope', flag)).toThrow('ended with 0')
    expect(said[0]).toMatch(/^npm run sim -- \[--seeds N\].*\n.*\n\n/)
  })

  it.each([[['--nope']], [['--seeds']], [['seven']]])('are refused in a line: %j', (args) => {
    expect(() => read(...args)).toThrow('ended with 2')
    expect(said).toEqual([expect.stringMatching(/^\S.*\n--help prints what it takes\.$/)])
  })

  it('are numbers where one is needed', () => {
    expect([numberIn('n', '0'), numberIn('n', '1', 1), numberIn('n', '0.5'), numberIn('n', 'Infinity', 1)]).toEqual([
      0,
      1,
      0.5,
      Infinity,
    ])
    for (const text of ['x', '', ' ', '-1', '7s', 'NaN']) expect(() => numberIn('n', text)).toThrow('ended with 2')
    expect(() => numberIn('seeds', '0', 1)).toThrow('ended with 2')
    expect([countIn('n', '0'), countIn('n', '7', 7)]).toEqual([0, 7])
    for (const text of ['1.5', 'Infinity', '9007199254740992', '-1', 'x'])
      expect(() => countIn('n', text)).toThrow('ended with 2')
    expect(() => countIn('n', '6', 7)).toThrow('ended with 2')
    expect(said).toContain('--seeds takes a number of at least 1, and not "0"\n--help prints what it takes.')
  })
})

it.each(scripts)('the head of %s says how it is run, in text alone', (script) => {
  const head = headOf(readFileSync(fileOf(script), 'utf8'))
  expect(head).toMatch(/npm run [a-z]+/)
  expect(head).not.toMatch(/\*\/|\/\*\*|^ ?\*/m)
})
