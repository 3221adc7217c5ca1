import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PostgresServer, postgresPrograms } from '../../../test/support/process/postgres.js'
import { chainOfDids, topOf } from '../chain-of-dids.js'
import { didSizes } from '../did-rows.js'
import { following, reach, runNode } from '../processes.js'
import { processorTime } from '../processor-time.js'
import { type Row, row } from '../report.js'
import { withDirectory } from '../workshop.js'

/** DIDs of the chain, unless `--dids` says otherwise. */
const usualDids = [10_000]
/** Seconds until a chain is synced, and its rows are in the shard. */
const patience = 3600

/** Processor time of a node that ships its rows while it syncs a chain, and of the server that takes them; nothing where PostgreSQL is not. */
export async function suite(): Promise<Row[]> {
  if (postgresPrograms() === undefined) {
    console.error('ship: left out, it needs PostgreSQL 15 or newer, or its programs named by POSTGRES_BIN')
    return []
  }
  const rows: Row[] = []
  for (const dids of didSizes(usualDids)) rows.push(...(await withDirectory((directory) => shipRows(directory, dids))))
  return rows
}

async function shipRows(directory: string, count: number): Promise<Row[]> {
  const source = join(directory, 'source')
  const { file } = await chainOfDids(directory, source, { dids: count })
  const server = await PostgresServer.create()
  const peer = await runNode(following(file, source))
  try {
    /** Milliseconds of processor time until all blocks are there, and in the shard where they are shipped. */
    const sync = async (name: string, ships: boolean) => {
      const more = ships ? ['--ship', server.url] : []
      const node = await runNode([...following(file, join(directory, name), peer.p2p), ...more])
      await reach(topOf({ dids: count }), node, patience)
      while (ships && Number(server.sql('SELECT height FROM didledger.shard')) < topOf({ dids: count }))
        await pause(100)
      const spent = processorTime([node.process.pid])
      const atServer = ships ? processorTime(server.pids()) : 0
      await node.stop()
      return { spent, atServer }
    }
    const alone = await sync('alone', false)
    const shipping = await sync('shipping', true)
    return [
      row(`processor time of a node that ships while it syncs ${count} DIDs`, shipping.spent / 1000, 's', {
        ratio: [shipping.spent / alone.spent, 'syncing alone'],
        most: 1.25,
      }),
      row('  of the server', (shipping.atServer * 1000) / count, 'µs a create', { most: 600 }),
    ]
  } finally {
    await peer.stop()
    server.close()
  }
}
