import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { didSizes } from './did-sizes.js'
import { commandFile } from './dist.js'
import { withDirectory } from './load.js'
import { runNode } from './processes.js'
import type { Row } from './report.js'

/** `chain verify` of a devnet's directory with registered DIDs: every rule of every block again, and every row compared, the map's too. */
export async function verifySuite(): Promise<Row[]> {
  const rows: Row[] = []
  for (const count of didSizes([10_000])) {
    const seconds = await withDirectory((directory) => secondsOf(count, join(directory, 'data')))
    const name = `chain verify of ${count.toLocaleString('en')} DIDs`
    rows.push({ name, value: seconds, unit: 's' }, { name: '  operations', value: count / seconds, unit: '/s' })
  }
  return rows
}

async function secondsOf(count: number, dataDir: string): Promise<number> {
  const command = ['devnet', '--data-dir', dataDir, '--seed-dids', String(count), '--no-automine']
  const devnet = await runNode([...command, '--log-level', 'error'])
  await devnet.stop()
  const start = performance.now()
  await promisify(execFile)(process.execPath, [commandFile, 'chain', 'verify', '--data-dir', dataDir])
  return (performance.now() - start) / 1000
}
