import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EngineDown } from '../../src/ledger/engine/engine-down.js'
import { HostConnections } from '../../src/ledger/engine/postgres-host.js'
import { PostgresLoad } from '../../src/ledger/engine/postgres-load.js'
import { PostgresEngine } from '../../src/ledger/engine/postgres-engine.js'
import type { EngineRow, EngineStep, LoadedShard, ShardState } from '../../src/ledger/engine/row-engine.js'
import { hasRow } from '../../src/ledger/engine/slots.js'
import { PostgresServer } from '../support/process/postgres.js'

const stream = '00000000-0000-4000-8000-000000000001'
const [chain, hash] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
const digest = (sequence: number) => Buffer.alloc(32, sequence)
const key = (n: number) => Buffer.from([4, n >> 8, n & 255])
const row = (n: number, value = `value ${n}`): EngineRow => [key(n), Buffer.from(value)]
const at = (sequence: number) => ({
  stream,
  sequence,
  digest: digest(sequence),
  height: sequence,
  hash,
  time: 1000 + sequence,
})
const loaded: LoadedShard = { ...at(1), layout: 4, chain, number: 0, shards: 1, epoch: 3 }
const step = (from: number, puts: readonly EngineRow[] = [], dels: readonly Buffer[] = []): EngineStep => ({
  epoch: 3,
  from: at(from),
  to: { ...at(from + 1), number: 0, shards: 1 },
  puts,
  dels,
})
const values = (rows: readonly EngineRow[]) => rows.map(([, value]) => value.toString())

let primary: PostgresServer
let replica: PostgresServer
let engine: PostgresEngine

beforeAll(async () => {
  primary = await PostgresServer.create()
  engine = await PostgresEngine.open([primary.url])
  const load = await engine.load(0)
  await load.put(Array.from({ length: 1000 }, (_, n) => row(n)))
  await load.ready()
  await load.finish(loaded)
  await load.close()
  replica = await PostgresServer.replicaOf(primary)
})
afterAll(async () => {
  await engine.close()
  for (const server of [replica, primary]) server.close()
})

describe('a shard', () => {
  it('says what it is', async () => {
    const { written, now, ...state } = (await engine.state(0)) ?? {}
    expect(state).toMatchObject(loaded)
    expect(Math.abs(Number(now) - Number(written))).toBeLessThan(60_000)
  })

  it('is read in a database that writes bytes in the older form', async () => {
    primary.sql("ALTER ROLE postgres SET bytea_output = 'escape'")
    const other = await PostgresEngine.open([primary.url])
    const range = { gte: key(0), lt: key(9999), limit: 1, bytes: 1e6 }
    const { at: state, rows, ranges } = await other.read(0, { keys: [key(7)], ranges: [range] })
    primary.sql('ALTER ROLE postgres RESET bytea_output')
    await other.close()
    expect(state).toMatchObject(loaded)
    expect(rows).toEqual([row(7)])
    expect(ranges).toEqual([[row(0)]])
  })

  it('is filled by the owner of a schema who may make none', async () => {
    primary.sql('CREATE ROLE filler LOGIN')
    primary.sql('CREATE DATABASE filled')
    primary.sql('CREATE SCHEMA didledger AUTHORIZATION filler', 'filled')
    const other = await PostgresEngine.open([`postgres://filler@${primary.host}/filled`])
    const load = await other.load(0)
    await load.put([row(1)])
    await load.ready()
    await load.finish(loaded)
    await load.close()
    expect((await other.read(0, { keys: [key(1)], ranges: [] })).rows).toEqual([row(1)])
    await other.close()
  })

  it('answers keys and ranges, from both ends, in one view', async () => {
    const {
      rows,
      ranges,
      at: state,
    } = await engine.read(0, {
      keys: [key(3), Buffer.from('none'), key(700)],
      ranges: [
        { gte: key(10), lt: key(20), limit: 3, bytes: 1e9 },
        { gte: key(10), lt: key(20), limit: 2, bytes: 1e9, reverse: true },
        { gte: key(2000), lt: key(3000), limit: 5, bytes: 1e9 },
        { gte: key(998), lt: key(2000), limit: 5, bytes: 1e9 },
      ],
    })
    expect(values(rows).sort()).toEqual(['value 3', 'value 700'])
    expect(ranges.map(values)).toEqual([
      ['value 10', 'value 11', 'value 12'],
      ['value 19', 'value 18'],
      [],
      ['value 998', 'value 999'],
    ])
    expect(state.sequence).toBe(1)
  })

  it('takes a step once, from where it is and by whom it is filled', async () => {
    const first = step(1, [row(3, 'new'), row(5000)], [key(4)])
    expect(await engine.apply(0, { ...first, epoch: 2 })).toBe('elsewhere')
    expect(await engine.apply(0, { ...first, from: { ...at(1), digest: digest(9) } })).toBe('elsewhere')
    const both = await Promise.all([engine.apply(0, first), engine.apply(0, first)])
    expect(both.sort()).toEqual(['applied', 'elsewhere'])
    const { rows } = await engine.read(0, { keys: [key(3), key(4), key(5000)], ranges: [] })
    expect(values(rows).sort()).toEqual(['new', 'value 5000'])
  })

  it('tells who watches, within 100 ms', async () => {
    let moves = 0
    const end = engine.watch(0, () => moves++)
    await expect.poll(() => moves).toBeGreaterThan(0)
    const before = moves
    await engine.apply(0, step(2))
    await expect.poll(() => moves).toBeGreaterThan(before)
    end()
  })

  it('keeps its rows while others are put beside them, and when that ends in the middle', async () => {
    const load = await engine.load(0)
    await expect(engine.load(0)).rejects.toThrow('another process fills the shard')
    await load.put([row(9000)])
    await load.ready()
    expect((await engine.read(0, { keys: [key(3), key(9000)], ranges: [] })).rows).toHaveLength(1)
    await load.close()
    await expect
      .poll(() =>
        engine.load(0).then(
          (again) => again.close(),
          () => 'taken',
        ),
      )
      .toBeUndefined()
    expect(primary.sql("SELECT count(*) FROM pg_tables WHERE tablename = 'row_new'")).toBe('0\n')
  })
})

it('a shard that was divided looks at 5,000 rows at a time for those that went elsewhere, while it is the same', async () => {
  primary.sql('CREATE DATABASE divided')
  const divided = await PostgresEngine.open([primary.url.replace(/\/postgres$/, '/divided')])
  const all = Array.from({ length: 5001 }, (_, n) => row(n))
  const load = await divided.load(0)
  await load.put(all)
  await load.ready()
  await load.finish(loaded)
  await load.close()
  const place = { number: 0, shards: 2 }
  const of = { ...place, epoch: 3 }
  const count = () => Number(primary.sql('SELECT count(*) FROM didledger.row', 'divided'))
  expect(await divided.sweep(0, key(0), of)).toBeUndefined()
  expect(count()).toBe(5001)
  expect(await divided.apply(0, { ...step(1), to: { ...at(2), ...place } })).toBe('applied')
  expect(await divided.sweep(0, key(0), { ...of, epoch: 2 })).toBeUndefined()
  expect(count()).toBe(5001)
  expect(await divided.sweep(0, key(0), of)).toEqual(key(5000))
  expect((await divided.state(0))?.swept).toBe(1)
  const kept = all.slice(0, 5000).filter(([one]) => hasRow(place, one))
  expect(count()).toBe(kept.length + 1)
  expect(kept.length).toBeGreaterThan(0)
  expect(await divided.sweep(0, key(1), of)).toBeUndefined()
  expect((await divided.state(0))?.swept).toBe(2)
  await divided.close()
})

it('a filling whose server process hangs is given up, and the next one succeeds', async () => {
  const host = new HostConnections(pg, 0, { url: primary.url, name: 'primary' })
  const load = await PostgresLoad.begin(host, { answer: 2000, work: () => 2000 })
  const [pid] = primary.sql("SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY%'").split('\n')
  process.kill(Number(pid), 'SIGSTOP')
  try {
    const rows = Array.from({ length: 64 }, (_, n) => row(n, 'x'.repeat(65_536)))
    const filled = async () => {
      for (;;) await load.put(rows)
    }
    await expect(filled()).rejects.toThrow(EngineDown)
    await load.close()
  } finally {
    process.kill(Number(pid), 'SIGCONT')
  }
  await host.close()
  await expect.poll(() => primary.sql(`SELECT count(*) FROM pg_stat_activity WHERE pid = ${pid}`)).toBe('0\n')
  await (await engine.load(0)).close()
})

describe('readers of a shard', () => {
  it('are answered while its table waits to be replaced behind one who reads it for long', async () => {
    const load = await engine.load(0)
    await load.put([row(3), row(1)])
    await load.ready()
    const dump = new pg.Client(primary.url)
    await dump.connect()
    await dump.query('BEGIN; LOCK TABLE didledger.row IN ACCESS SHARE MODE')
    const state = (await engine.state(0)) as ShardState
    let isFinished = false
    const finished = load.finish(state).then(() => (isFinished = true))
    const waits: number[] = []
    for (const end = performance.now() + 1500; performance.now() < end;) {
      const began = performance.now()
      await engine.read(0, { keys: [key(3)], ranges: [] })
      waits.push(performance.now() - began)
    }
    expect(isFinished).toBe(false)
    expect(Math.max(...waits)).toBeLessThan(1000)
    expect(waits.length).toBeGreaterThan(20)
    await dump.query('COMMIT')
    await dump.end()
    await finished
    await load.close()
    expect((await engine.read(0, { keys: [key(1), key(3), key(5)], ranges: [] })).rows).toHaveLength(2)
  })

  it('have a limit for their statements', async () => {
    const host = new HostConnections(pg, 0, { url: primary.url, name: 'primary' })
    const { rows } = await host.run((client) => client.query('SHOW statement_timeout'), 1000)
    expect(rows).toEqual([{ statement_timeout: '10s' }])
    await host.close()
  })
})

describe('a shard with a replica', () => {
  it('is answered by the one that has what is wanted, else by the primary', async () => {
    const both = await PostgresEngine.open([`postgres://postgres@${primary.host},${replica.host}/postgres`])
    await both.apply(0, step(3, [row(1, 'four')]))
    await expect.poll(() => replica.sql('SELECT sequence FROM didledger.shard')).toBe('4\n')
    replica.sql('SELECT pg_wal_replay_pause()')
    await both.apply(0, step(4, [row(1, 'five')]))
    const question = { keys: [key(1)], ranges: [] }
    for (const [sequence, value] of [
      [4, 'four'],
      [5, 'five'],
      [6, 'five'],
    ] as const) {
      for (let i = 0; i < 4; i++) {
        const { rows, at: state } = await both.read(0, question, { stream, sequence, shards: 1 })
        expect([values(rows), state.sequence]).toEqual([[value], value === 'four' ? 4 : 5])
      }
    }
    expect((await both.read(0, question)).at.sequence).toBe(5)
    replica.sql('SELECT pg_wal_replay_resume()')
    await both.close()
  })

  it('takes writes at the replica once that is promoted, after the primary was killed', async () => {
    const both = await PostgresEngine.open([`postgres://postgres@${primary.host},${replica.host}/postgres`])
    await expect.poll(() => replica.sql('SELECT sequence FROM didledger.shard')).toBe('5\n')
    expect((await both.state(0))?.sequence).toBe(5)
    primary.kill()
    const began = performance.now()
    await expect(both.apply(0, step(5))).rejects.toThrow(EngineDown)
    await expect(engine.state(0)).rejects.toThrow(EngineDown)
    expect(performance.now() - began).toBeLessThan(10_000)
    expect((await both.read(0, { keys: [key(1)], ranges: [] }, { stream, sequence: 5, shards: 1 })).rows).toHaveLength(
      1,
    )
    replica.promote()
    await expect.poll(() => both.apply(0, step(5)).catch(() => 'down')).toBe('applied')
    await both.close()
  })

  it('says where it asks for a password that was not given', async () => {
    replica.requirePassword()
    const locked = await PostgresEngine.open([`postgres://locked@${replica.host}/postgres`])
    await expect(locked.state(0)).rejects.toThrow('asks for a password: give it by the variable PGPASSWORD')
    await locked.close()
  })

  it('is never named with its password', async () => {
    const error: unknown = await engine.state(0).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(EngineDown)
    expect(JSON.stringify(error) + String(error) + String((error as Error).stack)).not.toContain('secret-word')
    await expect(PostgresEngine.open(['postgres:secret-word@x'])).rejects.not.toThrow('secret-word')
  })
})
