import { afterEach, expect, it } from 'vitest'
import { EngineDown } from '../../../../src/ledger/engine/engine-down.js'
import { HostConnections, loadPostgres } from '../../../../src/ledger/engine/postgres-host.js'
import { PostgresLoad } from '../../../../src/ledger/engine/postgres-load.js'
import type { EngineRow } from '../../../../src/ledger/engine/row-engine.js'
import { MutePostgres } from '../../../support/fakes/mute-postgres.js'

const limits = { answer: 300, work: (bytes: number) => 300 + bytes / 1e6 }
const closing: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

/** A filling of a server that does not answer some statements. */
async function loadOf(mute: RegExp): Promise<readonly [MutePostgres, PostgresLoad]> {
  const server = await MutePostgres.create(mute)
  const host = new HostConnections(await loadPostgres(), 0, { url: server.url, name: 'db1' })
  const load = await PostgresLoad.begin(host, limits)
  closing.push(load, host, server)
  return [server, load]
}

const rows: readonly EngineRow[] = Array.from({ length: 16 }, (_, n) => [Buffer.of(4, n), Buffer.alloc(65_536)])
const at = { stream: '', sequence: 1, digest: Buffer.alloc(32), height: 1, hash: Buffer.alloc(32), time: 1 }
const shard = { ...at, epoch: 1, layout: 4, chain: Buffer.alloc(32), number: 0, shards: 1 }

/** Fills a shard with some megabytes, more than sockets keep. */
async function fill(load: PostgresLoad): Promise<void> {
  for (let i = 0; i < 32; i++) await load.put(rows)
  await load.ready()
  await load.finish(shard)
}

it('a server that answers everything is filled', async () => {
  const [server, load] = await loadOf(/^never/)
  await fill(load)
  expect(server.statements.at(-1)).toContain('COMMIT')
})

it.each([
  ['rows', /^CopyData/],
  ['the end of the rows', /^CopyDone/],
  ['the index', /^ALTER TABLE .* PRIMARY KEY/],
  ['the statistics', /^ANALYZE/],
  ['the change of tables', /^\nDROP TABLE/],
  ['the state', /^\nINSERT/],
  ['the end of the transaction', /COMMIT/],
])('a server that is silent upon %s is given up, and its connection closed', async (_, mute) => {
  const [server, load] = await loadOf(mute)
  await expect(fill(load)).rejects.toThrow(/^shard 0: db1: no answer within/)
  await expect(load.ready()).rejects.toThrow(EngineDown)
  await load.close()
  server.resume()
  await expect.poll(() => server.connections).toBe(0)
})
