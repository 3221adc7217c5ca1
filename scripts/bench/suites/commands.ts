import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { byTurns, median, timeOf } from '../measure.js'
import { commandFile } from '../compiled.js'
import { runNode } from '../processes.js'
import { type Row, row } from '../report.js'

const runs = { warmUp: 2, measured: 11 }
const recipient = 'ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD'

/** Commands that people wait for, as processes from their start to their end, against a process of Node that does nothing. */
export async function suite(): Promise<Row[]> {
  const node = await runNode(['devnet', '--log-level', 'error'])
  try {
    const account = ['--devnet-account', '0', '--rest', node.rest]
    const { did } = JSON.parse(await output(['did', 'create', ...account, '--json'])) as { readonly did: string }
    const program =
      (...args: string[]) =>
      () =>
      () =>
        output(args)
    const times = await byTurns(runs, timeOf, {
      bare: () => () => ended(['-e', '0']),
      version: program('--version'),
      help: program('--help'),
      resolve: program('did', 'resolve', did, '--rest', node.rest),
      send: program('wallet', 'send', '--to', recipient, '--amount', '1', ...account),
    })
    const bare = median(times.bare)
    const against = (name: string, of: readonly number[], most?: number) =>
      row(name, median(of), 'ms', { ratio: [median(of) / bare, 'an empty node process'], most })
    return [
      row('an empty node process, start to end', bare, 'ms'),
      against('--version', times.version, 1.3),
      against('--help', times.help),
      against('did resolve', times.resolve, 2.3),
      against('wallet send, until the block', times.send, 3.3),
    ]
  } finally {
    await node.stop()
  }
}

/** Standard output of a command of the program. */
function output(args: readonly string[]): Promise<string> {
  return ended([commandFile, ...args])
}

/** Runs node to its end; rejects if it fails. */
export async function ended(args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, args)).stdout
}
