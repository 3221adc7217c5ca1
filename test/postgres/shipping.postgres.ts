import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rangeOf } from '../../src/ledger/storage/rows/tables.js'
import { PostgresEngine } from '../../src/ledger/engine/postgres-engine.js'
import type { EngineRow } from '../../src/ledger/engine/row-engine.js'
import { Database } from '../../src/ledger/storage/database.js'
import { DataDirectory } from '../../src/ledger/storage/directory.js'
import { shippedTables } from '../../src/ledger/storage/rows/shipped-rows.js'
import { expectSameRows, hasAll } from '../support/assert/shard-rows.js'
import { ShippedChain } from '../support/builders/shipped-chain.js'
import { PostgresServer } from '../support/process/postgres.js'
import { CommandProcess, NodeProcess } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

const servers: PostgresServer[] = []
let engine: PostgresEngine

beforeAll(async () => {
  for (let i = 0; i < 3; i++) servers.push(await PostgresServer.create())
  engine = await PostgresEngine.open(servers.map(({ url }) => url))
})
// The rows of another chain are left alone.
beforeEach(() => servers.forEach((server) => server.empty()))
afterAll(async () => {
  await engine.close()
  for (const server of servers) server.close()
})

/** All rows of a shard, in order of keys. */
async function rowsOf(shard: number, of = engine): Promise<EngineRow[]> {
  const ranges = shippedTables.map((table) => ({ ...rangeOf(table), limit: 1_000_000, bytes: 1e9 }))
  return (await of.read(shard, { keys: [], ranges })).ranges.flat()
}

describe('three shards', () => {
  it('have the rows of a node through reorganisations, restarts and servers that are killed', async () => {
    const node = await ShippedChain.over(engine, 4721)
    await node.expectSame(rowsOf)
    const blocks = rounds(100, 1000)
    for (let i = 0; i < blocks; i++) {
      await node.advance(i % 50 === 49 ? 60 : 8)
      if (i % 20 === 7) servers[((i / 20) % 3) | 0]?.kill()
      if (i % 20 === 11) servers[((i / 20) % 3) | 0]?.start()
      if (i % 10 === 9) {
        await node.stop()
        await node.start()
      }
      if (i % 20 === 19) await node.expectSame(rowsOf)
    }
    await node.expectSame(rowsOf)
    await node.close()
  })

  it('are divided over six while blocks come and servers are killed, and each has its own rows alone', async () => {
    const more = await Promise.all([0, 1, 2].map(() => PostgresServer.create()))
    const wide = await PostgresEngine.open(servers.flatMap(({ url }, i) => [url, more[i]?.url ?? '']))
    const node = await ShippedChain.over(engine, 4722)
    for (let i = 0; i < 20; i++) await node.advance(8)
    await node.expectSame((shard) => rowsOf(shard))
    await node.stop()
    node.engine = wide
    await node.start()
    for (let i = 0; i < 20; i++) {
      await node.advance(8)
      if (i === 4) more[1]?.kill()
      if (i === 8) more[1]?.start()
      if (i === 12) servers[0]?.kill()
      if (i === 16) servers[0]?.start()
    }
    await node.expectSame((shard) => rowsOf(shard, wide))
    expect((await node.states()).map((state) => [state?.number, state?.shards, state?.epoch])).toEqual(
      [0, 1, 2, 3, 4, 5].map((number) => [number, 6, 1]),
    )
    await node.close()
    await wide.close()
    for (const server of more) server.close()
  })

  it('have the rows of a node that is killed again and again while it makes blocks', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'didledger-shipping-'))
    const args = ['devnet', '--data-dir', dataDir, '--ship-take-over', '--ship', ...servers.map(({ url }) => url)]
    for (let i = 0; i < 4; i++) {
      const node = await NodeProcess.start(...args)
      for (let block = 0; block < 10 + i; block++) await node.admin('dev_mine', { blocks: 3 })
      await node.stop('SIGKILL')
    }
    const node = await NodeProcess.start(...args)
    await node.admin('dev_mine', { blocks: 3 })
    const { body } = await node.get('block/height')
    await expect
      .poll(async () =>
        (await Promise.all([0, 1, 2].map((shard) => engine.state(shard)))).map((state) => state?.height),
      )
      .toEqual([body.Result, body.Result, body.Result])
    expect((await node.stop()).code).toBe(0)
    const directory = await DataDirectory.existing(dataDir)
    const database = await Database.open(directory.database, undefined, { ships: { backlog: 2 ** 30 } })
    for (const shard of [0, 1, 2]) expect(hasAll(database, await engine.state(shard))).toBe(true)
    await expectSameRows(database, rowsOf, 3)
    await database.close()
    await directory.close()
    rmSync(dataDir, { recursive: true })
  })

  it('are filled and described by commands', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'didledger-shipping-'))
    const node = await NodeProcess.start('devnet', '--data-dir', dataDir, '--seed-dids', '50')
    await node.stop()
    const urls = servers.map(({ url }) => url)
    const load = await new CommandProcess(['ship', 'load', ...urls, '--data-dir', dataDir, '--json']).finished
    expect({ ...load, out: JSON.parse(load.out) as object }).toMatchObject({ code: 0, out: { shards: 3 } })
    const status = await new CommandProcess(['ship', 'status', ...urls, '--json']).finished
    const { shards } = JSON.parse(status.out) as { shards: { height: number; stream: string }[] }
    expect(new Set(shards.map(({ height, stream }) => `${height} ${stream}`)).size).toBe(1)
    const again = await NodeProcess.start('devnet', '--data-dir', dataDir, '--ship', ...urls)
    await again.admin('dev_mine', { blocks: 2 })
    const { body } = await again.get('block/height')
    await expect.poll(async () => (await engine.state(2))?.height).toBe(body.Result)
    await again.stop()
    rmSync(dataDir, { recursive: true })
  })
})
