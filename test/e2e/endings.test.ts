import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { CommandProcess, Directories } from '../support/process/spawn.js'

/** Whatever ends a command early, standard error says so. */

const directories = new Directories()
afterAll(() => directories.remove())

/** Variables with which Node runs a script before the program. */
function beforehand(script: string): Record<string, string> {
  const directory = directories.fresh()
  mkdirSync(directory)
  const file = join(directory, 'before.cjs')
  writeFileSync(file, script)
  return { NODE_OPTIONS: `--require ${file}` }
}

const resolve = ['did', 'resolve', 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', '--rest', 'http://192.0.2.1:1']
/** fetch does something else. */
const fetching = (body: string) => `globalThis.fetch = () => { ${body} }`

it.each<[string, string, RegExp]>([
  [
    'waits for what can no longer happen',
    `const { setTimeout } = globalThis
     globalThis.setTimeout = (...all) => setTimeout(...all).unref()
     ${fetching('return new Promise(() => {})')}`,
    /should not have: the command waits for what can no longer happen\n/,
  ],
  [
    'leaves a rejection to no one',
    fetching(`Promise.reject(new Error('left alone')); return new Promise(() => {})`),
    /should not have: left alone\n/,
  ],
  ['throws outside of every call', fetching(`setImmediate(() => { throw 'a text' })`), /should not have: a text\n/],
])('a command that %s ends with code 1 and says so', async (_, script, said) => {
  const { code, out, err } = await new CommandProcess(resolve, { env: beforehand(script) }).finished
  expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(said) })
})

it.runIf(existsSync('/dev/full'))(
  'a failure arrives at a reader of standard error that takes it late, and waits for none that takes nothing',
  async () => {
    // A pipe holds 64 KiB, which are there already. Standard output is full too, which ends the program: then the reader begins.
    const ended = join(directories.fresh(), 'ended')
    mkdirSync(dirname(ended))
    const env = beforehand(`process.stdout.on('error', () => require('node:fs').writeFileSync('${ended}', ''))`)
    const script = (reader: string) =>
      `(head -c 65536 /dev/zero; "$@" 2>&1 >/dev/full; echo "code $?" >&3) 3>&2 2>/dev/null |
     (until [ -e ${ended} ]; do sleep 0.1; done; ${reader})`
    const run = (reader: string) =>
      new CommandProcess(['genesis', 'show', 'pow'], { through: ['sh', '-c', script(reader), 'sh'], env }).finished
    const never = await run('sleep 8; echo gone >&2')
    expect(never).toMatchObject({ out: '', err: 'code 1\ngone\n' })
    rmSync(ended)
    const late = await run("sleep 0.3; tr -d '\\0'")
    expect(late).toMatchObject({ out: expect.stringContaining('standard output cannot be written'), err: 'code 1\n' })
  },
)
