import { Command } from 'commander'
import { afterAll, expect, it } from 'vitest'
import { restOf } from '../../../../src/program/cli/owner-token.js'
import { DataDirectory } from '../../../../src/ledger/storage/directory.js'
import { Workbench } from '../../../support/process/workbench.js'

const bench = new Workbench()
afterAll(() => bench.close())

const usual = 'http://127.0.0.1:20334'

/** The address that a command with these arguments asks. */
async function asked(...args: string[]): Promise<string> {
  const command = new Command().option('--rest <url>', '', usual).option('--data-dir <directory>')
  command.parse(args, { from: 'user' })
  return restOf(command, command.opts())
}

it.each([
  ['http://127.0.0.1:24104', 'http://127.0.0.1:24104'],
  ['http://[::1]:24104', 'http://[::1]:24104'],
  ['http://192.0.2.7:20334', usual],
  [undefined, usual],
])('a node that serves at %s is asked at %s', async (served, expected) => {
  const directory = await DataDirectory.open(bench.path('data'))
  await directory.noteServed(served)
  expect(await asked('--data-dir', directory.path)).toBe(expected)
  expect(await asked('--data-dir', directory.path, '--rest', 'http://127.0.0.1:1')).toBe('http://127.0.0.1:1')
  expect(await asked()).toBe(usual)
})
