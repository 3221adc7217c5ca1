import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { contextIn, type EvaluationContext } from '../../../../src/program/cli/cli-context.js'
import { createProgram, runCommand } from '../../../../src/program/cli/cli-program.js'
import { shellWord } from '../../../../src/program/cli/print-output.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

let printed = ''
const context: EvaluationContext = {
  clock: { now: () => 0 },
  random: seededRandom('help'),
  env: {},
  out: (text) => void (printed += text),
  err: (text) => void (printed += text),
  prompt: undefined,
}

const leaves = (command: Command, path: string[]): { path: string[]; command: Command }[] =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((child) => leaves(child, [...path, child.name()]))
const commands = leaves(await createProgram(contextIn(context)), [])

async function help(path: readonly string[]): Promise<{ code: number; text: string }> {
  printed = ''
  const code = await runCommand([...path, '--help'], context)
  return { code, text: printed }
}

describe('every command', () => {
  it('is there', () => {
    expect(commands.map(({ path }) => path.join(' '))).toEqual(
      expect.arrayContaining(['wallet create', 'wallet send', 'did create', 'did publish', 'did history']),
    )
  })

  it.each(commands.map(({ path }) => path))('%s %s has help with an example of itself, and --json', async (...path) => {
    const { code, text } = await help(path)
    expect(code).toBe(0)
    expect(text).toContain(`$ npx didledger ${path.join(' ')}`)
    expect(text).toContain('--json')
  })

  it.each(commands.map(({ path, command }) => ({ path, command })))('describes itself: $path', ({ command }) => {
    expect(command.description()).not.toBe('')
    for (const option of command.options) expect(option.description, option.flags).not.toBe('')
  })
})

describe('the URL of a node', () => {
  const asked = ['did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', '--trust', 'devnet', '--webhook', 'http://127.0.0.1']
  const doors = [
    ['driver', '--rpc'],
    ['light', '--trust', 'devnet', '--rest'],
    ['watch', ...asked, '--node'],
    ['mirror', '--to', '/nowhere', '--node'],
    ['did', 'resolve', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', '--rest'],
  ]

  it.each(doors.map((door) => [door[0], door] as const))(
    'of %s is no port alone, and has no password',
    async (_, door) => {
      for (const [url, fault] of [
        ['20334', 'not a URL of the form http://host:port: 20334'],
        ['http://ada:s3cret@127.0.0.1:1', 'neither a user name nor a password'],
      ] as const) {
        printed = ''
        expect(await runCommand([...door, url], context)).toBe(2)
        expect(printed).toContain(fault)
        expect(printed).not.toContain('s3cret')
      }
    },
  )
})

describe('a wrong call with --json', () => {
  const wrong = async (...args: string[]) => {
    let [out, err] = ['', '']
    const code = await runCommand(args, {
      ...context,
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    })
    return { code, out, error: (JSON.parse(err) as { error: unknown }).error }
  }

  it.each([
    [['wallet', 'send', '--json', '--amout', '1'], "unknown option '--amout' (Did you mean --amount?)"],
    [['wallet', 'balence', '--json'], "unknown command 'balence' (Did you mean balance?)"],
    [['nonsense', '--json'], "unknown command 'nonsense'"],
    [['did', 'resolve', '--json'], '<did> is missing'],
    [['chain', 'info', 'x', '--json'], 'info takes options alone'],
    [['wallet', 'address', '--json', '--account', '-1'], '--account -1: Not a whole number from 0 on.'],
    [
      ['genesis', 'create', 'Corp', '--json', '--pay', 'EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG'],
      'name Corp: A name has up to 32 small letters',
    ],
    [['wallet', 'send', '--json', '--to'], '--to needs a value: --to'],
    [['did', 'create', '--json', '--expires', '1\u001b[2J\n'], '--expires 1\\u001b[2J\\u000a: '],
    [['wallet', '--json'], "unknown option '--json'"],
  ])('is a failure in JSON as others are: %j', async (args, message) => {
    const { code, out, error } = await wrong(...args)
    expect({ code, out, error }).toEqual({ code: 2, out: '', error: { message: expect.stringContaining(message) } })
  })

  it('shows the help where that is asked for', async () => {
    expect(await help(['wallet', '--json'])).toMatchObject({ code: 0, text: expect.stringContaining('Usage: ') })
  })
})

describe('words of a shell command', () => {
  it.each([
    ['wallet.json', 'wallet.json'],
    ['/tmp/my wallet.json', "'/tmp/my wallet.json'"],
    ["it's", "'it'\\''s'"],
    ['', "''"],
  ])('%s', (text, word) => {
    expect(shellWord(text)).toBe(word)
  })
})
