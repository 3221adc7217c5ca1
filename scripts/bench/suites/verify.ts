import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandFile } from '../compiled.js'
import { didSizes } from '../did-rows.js'
import { timeOf } from '../measure.js'
import { runNode } from '../processes.js'
import { type Row, row, shown } from '../report.js'
import { withDirectory } from '../workshop.js'

/** `chain verify` of a devnet's directory with registered DIDs: every rule of every block again, and every row compared, the map's too. */
export async function suite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of didSizes([10_000])) {
    const seconds = await withDirectory(async (directory) => {
      const at = ['--data-dir', join(directory, 'data')]
      const devnet = await runNode([
        'devnet',
        ...at,
        '--seed-dids',
        String(count),
        '--no-automine',
        '--log-level',
        'error',
      ])
      await devnet.stop()
      const verify = () => promisify(execFile)(process.execPath, [commandFile, 'chain', 'verify', ...at])
      return (await timeOf(verify)) / 1000
    })
    rows.push(row(`chain verify of ${shown(count)} DIDs`, seconds, 's'), row('  operations', count / seconds, '/s'))
  }
  return rows
}
