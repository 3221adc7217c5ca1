import type pg from 'pg'
import { EngineDown } from './engine-down.js'
import { HostBusy, HostConnections, type Postgres } from './postgres-host.js'
import { PostgresLoad } from './postgres-load.js'
import { discard, within } from './postgres-pool.js'
import * as sql from './postgres-sql.js'
import { postgresHosts } from './postgres-url.js'
import { isAt } from './placement.js'
import { hasRow } from './slots.js'
import { byteArray, bytesOf, integerOf } from './postgres-values.js'
import type {
  EngineAnswer,
  EngineQuestion,
  EngineRange,
  EngineRow,
  EngineStep,
  EngineSweep,
  ShardLoad,
  ShardPosition,
  ShardState,
} from './row-engine.js'

/** One shard: a primary, and replicas of it. */

/** @tuning ms: longest answer to a reader */
const readTime = 5000
/** @tuning ms: longest answer of one copy, where there are others */
const copyTime = 2000
/** @tuning ms: longest step of a writer */
const applyTime = 60_000
/** @tuning bytes: rows of a step that are sent in one statement */
const statementBytes = 16 * 1024 * 1024

/** @tuning count: rows that are looked at in one transaction for those that went to other shards */
const sweptAtOnce = 5000

/** A state, and whether the copy that told it only follows another one. */
type Told = ShardState & { readonly isReplica: boolean }

export class PostgresShard {
  readonly #number: number
  readonly #hosts: readonly HostConnections[]
  /** The host that takes writes, as far as is known. */
  #writer: HostConnections | undefined
  /** Number of reads, so that copies take turns. */
  #reads = 0

  constructor(postgres: Postgres, number: number, url: string) {
    this.#number = number
    this.#hosts = postgresHosts(url).map((host) => new HostConnections(postgres, number, host))
  }

  state(): Promise<ShardState | undefined> {
    return this.#atWriter(readTime, (host, left) => host.runShort(readState, left))
  }

  /**
   * Asks the copies in turn until one has the wanted position. Those that did not answer lately are left to the end, and are not asked where
   * the one that takes writes has told that it is elsewhere.
   */
  async read(question: EngineQuestion, wanted?: ShardPosition): Promise<EngineAnswer> {
    const ask = async (client: pg.ClientBase) => answerOf(await client.query(queryOf(question)), question)
    const deadline = performance.now() + readTime
    if (wanted === undefined || this.#hosts.length === 1) {
      return this.#onWriter(ask, readTime)
    }
    let fromWriter: EngineAnswer | undefined
    for (const { host, isDown } of this.#inTurn()) {
      const left = deadline - performance.now()
      if (left <= 0 || (isDown && fromWriter !== undefined)) break
      const answer = await host.run(ask, Math.min(copyTime, left)).catch(passDown)
      if (answer === undefined) continue
      if (isAt(answer.at, wanted)) return answer
      if (!(answer.at as Told).isReplica) fromWriter = answer
    }
    return fromWriter ?? this.#onWriter(ask, Math.max(1, deadline - performance.now()))
  }

  apply(step: EngineStep): Promise<'applied' | 'elsewhere'> {
    return this.#onWriter(async (client) => {
      await client.query('BEGIN')
      const { rowCount } = await client.query({ text: sql.moveState, values: moveValues(step), name: 'didledger-move' })
      if (rowCount !== 1) {
        await client.query('ROLLBACK')
        return 'elsewhere'
      }
      for (const some of partsOf(step.puts, ([key, sealed]) => key.length + sealed.length)) {
        const values = [byteArray(some.map(([key]) => key)), byteArray(some.map(([, sealed]) => sealed))]
        await client.query({ text: sql.putRows, values, name: 'didledger-put' })
      }
      for (const some of partsOf(step.dels, ({ length }) => length)) {
        await client.query({ text: sql.deleteRows, values: [byteArray(some)], name: 'didledger-delete' })
      }
      await client.query(sql.notify)
      await client.query('COMMIT')
      return 'applied'
    }, applyTime)
  }

  sweep(from: Buffer, of: EngineSweep): Promise<Buffer | undefined> {
    return this.#onWriter(async (client) => {
      await client.query('BEGIN')
      const { rowCount } = await client.query({ text: sql.holdState, values: [of.epoch, of.number, of.shards] })
      if (rowCount !== 1) {
        await client.query('ROLLBACK')
        return undefined
      }
      const { rows } = await client.query<[string]>({
        text: sql.keysFrom,
        values: [from, sweptAtOnce + 1],
        rowMode: 'array',
      })
      const keys = rows.map(([key]) => bytesOf(key))
      const next = keys[sweptAtOnce]
      const others = keys.slice(0, sweptAtOnce).filter((key) => !hasRow(of, key))
      await client.query({ text: sql.deleteRows, values: [byteArray(others)], name: 'didledger-delete' })
      if (next === undefined) await client.query(sql.markSwept)
      await client.query('COMMIT')
      return next
    }, applyTime)
  }

  async load(): Promise<ShardLoad> {
    return PostgresLoad.begin(await this.#findWriter(readTime))
  }

  /** Position of the writer; undefined while it does not answer. */
  async position(): Promise<ShardPosition | undefined> {
    return this.state().catch(() => undefined)
  }

  /** A connection that gets the notes of the writer. */
  async listen(noted: () => void): Promise<pg.Client> {
    const client = await (await this.#findWriter(readTime)).open()
    client.on('notification', noted)
    try {
      await within(readTime, client.query('LISTEN didledger'))
      return client
    } catch (error) {
      discard(client, () => {})
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()))
  }

  *#inTurn(): Generator<{ readonly host: HostConnections; readonly isDown: boolean }> {
    const first = this.#reads++ % this.#hosts.length
    const down: HostConnections[] = []
    for (const host of [...this.#hosts.slice(first), ...this.#hosts.slice(0, first)]) {
      if (host.mayAsk()) yield { host, isDown: false }
      else down.push(host)
    }
    for (const host of down) yield { host, isDown: true }
  }

  #onWriter<T>(work: (client: pg.ClientBase) => Promise<T>, limit: number): Promise<T> {
    return this.#atWriter(limit, (host, left) => host.run(work, left))
  }

  /** Asks the host that takes writes. After a failure it is looked for again; what has been done may have been done. */
  async #atWriter<T>(limit: number, ask: (host: HostConnections, left: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + limit
    const host = this.#writer ?? (await this.#findWriter(Math.min(readTime, limit)))
    try {
      const result = await ask(host, Math.max(1, deadline - performance.now()))
      this.#writer = host
      return result
    } catch (error) {
      if (!(error instanceof HostBusy)) this.#writer = undefined
      throw error
    }
  }

  async #findWriter(limit: number): Promise<HostConnections> {
    const look = async (host: HostConnections) => {
      const ask = (client: pg.ClientBase) => client.query<{ r: string }>('SELECT pg_is_in_recovery() AS r')
      const { rows } = await host.runShort(ask, limit)
      if (rows[0]?.r !== 'f')
        throw new EngineDown(
          this.#number,
          `${host.name}: only follows another server; name the one that takes writes too`,
        )
      return host
    }
    try {
      return await within(limit, Promise.any(this.#hosts.map(look)))
    } catch (error) {
      const errors: unknown[] = error instanceof AggregateError ? error.errors : [error]
      throw (
        errors.find((one) => one instanceof EngineDown) ??
        new EngineDown(this.#number, String((error as Error).message))
      )
    }
  }
}

/** Passes over a copy that does not answer. */
function passDown(error: unknown): undefined {
  if (!(error instanceof EngineDown)) throw error
}

/** Reads the state of a shard; undefined: it has never been loaded. */
async function readState(client: pg.ClientBase): Promise<Told | undefined> {
  try {
    const { rows } = await client.query<[string]>({ text: sql.readState, rowMode: 'array' })
    const [row] = rows
    return row === undefined ? undefined : stateOf(row[0])
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}

function isMissingTable(error: unknown): boolean {
  return (error as { code?: string }).code === '42P01'
}

function stateOf(text: string): Told {
  const state = JSON.parse(text) as Record<string, number> & { [N in 'chain' | 'hash' | 'digest' | 'stream']: string }
  const integer = (name: string) => integerOf(state[name] as number)
  const bytes = (name: 'chain' | 'hash' | 'digest') => Buffer.from(state[name], 'hex')
  return {
    layout: integer('layout'),
    chain: bytes('chain'),
    number: integer('number'),
    shards: integer('shards'),
    swept: integer('swept'),
    stream: state.stream,
    epoch: integer('epoch'),
    sequence: integer('sequence'),
    digest: bytes('digest'),
    height: integer('height'),
    hash: bytes('hash'),
    time: integer('time'),
    written: integer('written'),
    now: integer('now'),
    isReplica: Boolean(state.isReplica),
  }
}

function moveValues({ epoch, from, to }: EngineStep): unknown[] {
  const { stream, sequence, digest, height, hash, time, number, shards } = to
  return [stream, sequence, digest, height, hash, time, epoch, from.stream, from.sequence, from.digest, number, shards]
}

function queryOf({ keys, ranges }: EngineQuestion): pg.QueryArrayConfig {
  const numbered = ranges.map((range, i) => ({ ...range, part: i + 1 }))
  const values = [false, true].flatMap((reverse) => {
    const some = numbered.filter((range) => (range.reverse ?? false) === reverse)
    return [
      some.map(({ part }) => part),
      byteArray(some.map(({ gte }) => gte)),
      byteArray(some.map(({ lt }) => lt)),
      some.map(({ limit }) => limit),
      some.map(({ bytes }) => bytes),
    ]
  })
  return { text: sql.readRows, name: 'didledger-read', values: [byteArray(keys), ...values], rowMode: 'array' }
}

function answerOf({ rows }: { readonly rows: readonly unknown[] }, { ranges }: EngineQuestion): EngineAnswer {
  const parts: EngineRow[][] = Array.from({ length: ranges.length + 1 }, () => [])
  let at: Told | undefined
  for (const [part, key, value] of rows as readonly (readonly [string, string, string])[]) {
    if (part === '-1') at = stateOf(bytesOf(value).toString())
    else parts[Number(part)]?.push([bytesOf(key), bytesOf(value)])
  }
  if (at === undefined) throw new Error('the shard has not been loaded')
  const [found = [], ...ofRanges] = parts
  return { at, rows: found, ranges: ofRanges.map((some, i) => inOrder(some, ranges[i] as EngineRange)) }
}

/** The rows of a range in order: a union promises none. */
function inOrder(rows: EngineRow[], { reverse }: EngineRange): EngineRow[] {
  return rows.sort(([a], [b]) => (reverse === true ? b.compare(a) : a.compare(b)))
}

/** Divides rows so that none of the statements with them is too long. */
function* partsOf<T>(all: readonly T[], sizeOf: (one: T) => number): Generator<readonly T[]> {
  let [from, size] = [0, 0]
  for (const [i, one] of all.entries()) {
    if (size > statementBytes) {
      yield all.slice(from, i)
      ;[from, size] = [i, 0]
    }
    size += sizeOf(one)
  }
  if (from < all.length) yield all.slice(from)
}
