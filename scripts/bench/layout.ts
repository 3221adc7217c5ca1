import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { toOlderLayout } from '../../test/support/builders/older-layout.js'
import { commandFile, Database, keys, rangeOf, table } from './dist.js'
import { runNode } from './processes.js'
import type { Row } from './report.js'

/** Tables that the change of the layout makes. */
const made = [table.didHead, table.ordinal, table.posting, table.tokenCount, table.didOperation]

/**
 * The change of a directory of the oldest layout, by starts of a node of which the first is killed about halfway. Fails unless its
 * rows are those that the blocks had written. `start`: arguments of a node on `dataDir`, which is stopped; `expected`:
 * milliseconds that the change is expected to take.
 */
export async function layoutChange(
  dataDir: string,
  start: readonly string[],
  { size, expected }: { readonly size: number; readonly expected: number },
): Promise<Row> {
  const before = await within(dataDir, digestOf)
  await within(dataDir, (database) => toOlderLayout(database, 2))
  const began = performance.now()
  const child = spawn(process.execPath, [commandFile, ...start, '--port-base', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  // Its log says that the change begins.
  await once(child.stderr, 'data')
  child.stderr.resume()
  await setTimeout(expected / 2)
  child.kill('SIGKILL')
  await ended
  const first = performance.now() - began
  const done = await within(dataDir, (database) => Promise.resolve(doneOf(database)))
  if (done === undefined) throw new Error('the change of the layout was not under way when it was killed')
  const again = performance.now()
  const node = await runNode(start)
  const value = (first + performance.now() - again) / 1000
  await node.stop()
  if ((await within(dataDir, digestOf)) !== before) throw new Error('the change of the layout gives other rows')
  const killed = Math.round((100 * done) / size)
  return { name: `change of the layout of ${size.toLocaleString('en')} DIDs, killed at ${killed} %`, value, unit: 's' }
}

async function within<T>(dataDir: string, use: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.open(join(dataDir, 'chain'))
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}

/** Hash of all rows of the tables. */
async function digestOf(database: Database): Promise<string> {
  const hash = createHash('sha256')
  for (const number of made) {
    for await (const [key, value] of database.scan(rangeOf(number))) {
      hash.update(`${key.toString('hex')} ${value.toString('hex')}\n`)
    }
  }
  return hash.digest('hex')
}

/** DIDs that are done, while the change is under way. */
function doneOf(database: Database): number | undefined {
  return database.get(keys.meta('migration'))?.readUInt32LE(0)
}
