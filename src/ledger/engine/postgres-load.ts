import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { UserError } from '../../base/errors/rule-error.js'
import type { HostConnections } from './postgres-host.js'
import { discard, within } from './postgres-pool.js'
import * as sql from './postgres-sql.js'
import { copyEnd, copyHead, copyRows } from './postgres-values.js'
import type { EngineRow, LoadedShard, ShardLoad } from './row-engine.js'

/** Fills a shard in one transaction, beside the rows that are read: whatever interrupts it leaves those. */

/** @tuning ms: longest time until a shard takes rows */
const beginTime = 10_000
/** @tuning ms: longest answer to a short statement of a filling, and longest time until a server takes further rows */
const answerTime = 60_000
/** @tuning ms: longest time for an index, statistics or the end of a transaction, beside that for the bytes of the rows */
const workTime = 600_000
/** @tuning bytes: rows of which a server makes an index within a second, or has them on the disk, at the least */
const workRate = 4 * 1024 * 1024
/** @tuning ms: longest wait for the lock on the old table, during which readers wait as well */
const lockTime = 200
/** @tuning ms: time between two attempts to get that lock */
const lockPause = 1000
/** @tuning count: further attempts to get it; a dump of a shard may take an hour */
const lockTries = 3600
/** Milliseconds of the longest timer: one that is set to more ends at once. */
const longestTimer = 2 ** 31 - 1

/** Milliseconds that a server may take while it is filled. */
export interface LoadPatience {
  /** For a short answer, or for taking further rows. */
  readonly answer: number
  /** For what takes the longer the more rows there are, of so many bytes. */
  work(bytes: number): number
}

const usualPatience: LoadPatience = {
  answer: answerTime,
  work: (bytes) => Math.min(workTime + (bytes / workRate) * 1000, longestTimer),
}

/** Code of the error of a lock that was not got in time. */
const lockTimeout = '55P03'

/** A COPY from the client. */
class CopyIn implements pg.Submittable {
  /** The connection, when it takes rows. */
  readonly started: Promise<pg.Connection>
  readonly done: Promise<void>
  #start!: (connection: pg.Connection) => void
  #end!: () => void
  #fail!: (error: Error) => void

  constructor() {
    const failed = new Promise<never>((_, reject) => (this.#fail = reject))
    this.started = Promise.race([new Promise<pg.Connection>((resolve) => (this.#start = resolve)), failed])
    this.done = Promise.race([new Promise<void>((resolve) => (this.#end = resolve)), failed])
    // Each is looked at when it is waited for.
    for (const promise of [failed, this.started, this.done]) promise.catch(() => {})
  }

  submit(connection: pg.Connection): void {
    connection.query(sql.copyIntoRows)
  }

  handleCopyInResponse(connection: pg.Connection): void {
    this.#start(connection)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#end()
  }

  handleError(error: Error): void {
    this.#fail(error)
  }
}

/** A message of the protocol with rows, or with their end. */
function message(type: 'c' | 'd', content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(4 + content.length, 1)
  return Buffer.concat([head, content])
}

/** Begins the transaction of a filling, and a COPY in it that takes rows. */
async function beginCopy(client: pg.Client, name: string): Promise<CopyIn> {
  await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
  const { rows } = await client.query<{ free: string }>({
    text: 'SELECT pg_try_advisory_lock($1) AS free',
    values: [sql.loadLock],
  })
  if (rows[0]?.free !== 't') throw new UserError(`another process fills the shard at ${name}: let it finish`)
  await client.query(sql.createShard)
  await client.query(`BEGIN; ${sql.createRows}`)
  const copy = client.query(new CopyIn())
  const { stream } = await copy.started
  stream.write(message('d', copyHead))
  return copy
}

export class PostgresLoad implements ShardLoad {
  readonly #host: HostConnections
  readonly #client: pg.Client
  readonly #copy: CopyIn
  readonly #patience: LoadPatience
  #bytes = 0
  #isOpen = true

  private constructor(host: HostConnections, client: pg.Client, copy: CopyIn, patience: LoadPatience) {
    this.#host = host
    this.#client = client
    this.#copy = copy
    this.#patience = patience
  }

  static async begin(host: HostConnections, patience = usualPatience): Promise<PostgresLoad> {
    const client = await host.open()
    try {
      return new PostgresLoad(host, client, await within(beginTime, beginCopy(client, host.name)), patience)
    } catch (error) {
      discard(client, () => {})
      throw error instanceof UserError ? error : host.failure(error)
    }
  }

  put(rows: readonly EngineRow[]): Promise<void> {
    return this.#tried(async () => {
      const { stream } = await this.#copy.started
      const bytes = copyRows(rows)
      this.#bytes += bytes.length
      stream.write(message('d', bytes))
      if (stream.writableNeedDrain) await this.#soon(Promise.race([once(stream, 'drain'), this.#copy.done]))
    })
  }

  ready(): Promise<void> {
    return this.#tried(async () => {
      const { stream } = await this.#copy.started
      stream.write(message('d', copyEnd))
      stream.write(message('c', Buffer.alloc(0)))
      await this.#later(this.#copy.done)
      await this.#later(this.#client.query(sql.indexRows))
      await this.#later(this.#client.query('ANALYZE didledger.row_new'))
    })
  }

  finish(at: LoadedShard): Promise<void> {
    return this.#tried(async () => {
      await this.#replace()
      const { layout, chain, number, shards, stream, epoch, sequence, digest, height, hash, time } = at
      const values = [layout, chain, number, shards, stream, epoch, sequence, digest, height, hash, time]
      await this.#soon(this.#client.query({ text: sql.insertState, values }))
      // A replica that confirms it needs all rows first.
      await this.#later(this.#client.query(`${sql.notify}; COMMIT`))
    })
  }

  close(): Promise<void> {
    if (this.#isOpen) discard(this.#client, () => {})
    this.#isOpen = false
    return Promise.resolve()
  }

  /** Replaces the old table. What reads that one for long, such as a dump, lets no other reader wait for more than {@link lockTime}. */
  async #replace(): Promise<void> {
    await this.#soon(this.#client.query(`SET LOCAL lock_timeout = ${lockTime}; SAVEPOINT replacing`))
    for (let left = lockTries; ; left--) {
      try {
        await this.#soon(this.#client.query(sql.replaceRows))
        return
      } catch (error) {
        if (left === 0 || (error as { code?: string }).code !== lockTimeout) throw error
      }
      await this.#soon(this.#client.query('ROLLBACK TO SAVEPOINT replacing'))
      await setTimeout(lockPause)
    }
  }

  /** Rejects where a server takes longer than for a short answer: one that hangs keeps its connection open. */
  #soon<T>(answer: Promise<T>): Promise<T> {
    return within(this.#patience.answer, answer)
  }

  /** Rejects where a server takes longer than the rows so far explain. */
  #later<T>(answer: Promise<T>): Promise<T> {
    return within(this.#patience.work(this.#bytes), answer)
  }

  async #tried(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      throw this.#host.failure(error)
    }
  }
}
