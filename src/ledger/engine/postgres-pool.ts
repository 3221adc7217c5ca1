import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'

/** Connections to one host that are used again, a few at most. */

/** @tuning ms: time to connect, and to wait for a connection */
export const connectTime = 2000
/** @tuning ms: time after which a server that had no room for a further connection is asked for one again */
const roomPause = 10_000
/** @tuning ms: wait before a server that let in no connection at all is asked for one again */
const againPause = 200
/** Code of the error of a server, or of a user of it, that has as many connections as are allowed. */
const noRoom = '53300'
/** @tuning ms: longest statement of a shard, but for those that fill it */
const statementTime = 10_000

/** The socket of a connection, which the types leave out. */
interface Connected {
  readonly connection: { readonly stream: { destroy(): void } }
}

/** All connections have work under way, and none became free in time; the host may well be up. */
export class PoolFull extends Error {}

export class PostgresPool {
  readonly #pool: pg.Pool
  readonly #most: number
  /** Connections with work under way. */
  readonly #busy = new Set<pg.PoolClient>()
  /** On a clock that does not go back: until then it has as many connections as the server let in. */
  #widenAt = 0

  constructor(postgres: typeof pg, config: object, most: number) {
    this.#most = most
    this.#pool = new postgres.Pool({
      ...config,
      max: most,
      connectionTimeoutMillis: connectTime,
      // A parameter of the start: the answer to a statement could be missing, and the place of the connection with it.
      statement_timeout: statementTime,
    } as pg.PoolConfig)
    // An idle connection that ends is replaced when one is needed.
    this.#pool.on('error', ignore)
  }

  /** Runs work on a connection of its own, for so many milliseconds at most. */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>, limit: number): Promise<T> {
    const client = await this.#connect()
    this.#busy.add(client)
    client.on('error', ignore)
    try {
      const result = await within(limit, work(client))
      client.off('error', ignore)
      client.release()
      return result
    } catch (error) {
      // In whatever state it is, nothing more is asked on it.
      discard(client, () => client.release(true))
      throw error
    } finally {
      this.#busy.delete(client)
    }
  }

  /** Ends all connections, whatever is under way. */
  async close(): Promise<void> {
    for (const { connection } of this.#busy as Set<pg.PoolClient & Connected>) connection.stream.destroy()
    // To a server that was killed it may never resolve.
    await within(connectTime, this.#pool.end()).catch(ignore)
  }

  async #connect(): Promise<pg.PoolClient> {
    const { options } = this.#pool
    if (performance.now() >= this.#widenAt) options.max = this.#most
    const end = performance.now() + connectTime
    for (;;) {
      try {
        return await this.#pool.connect()
      } catch (error) {
        const { code } = error as { code?: string }
        if (code !== noRoom && this.#busy.size >= options.max) throw new PoolFull(fullText(options.max))
        if (code !== noRoom || performance.now() >= end) throw error
        // Those that the server let in have to do: what it refused waits for one of them.
        const letIn = this.#busy.size + this.#pool.idleCount
        options.max = Math.max(1, letIn)
        this.#widenAt = performance.now() + roomPause
        if (letIn === 0) await pause(againPause)
      }
    }
  }
}

function fullText(connections: number): string {
  return connections === 1 ? 'the one connection is busy' : `all ${connections} connections are busy`
}

export function ignore(): void {}

/** Ends a connection without waiting for its server. */
export function discard(client: pg.ClientBase, release: () => void): void {
  const { connection } = client as pg.ClientBase & Connected
  release()
  connection.stream.destroy()
}

/** Rejects when something takes longer than so many milliseconds. */
export function within<T>(limit: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limit / 1000} s`)), limit)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
