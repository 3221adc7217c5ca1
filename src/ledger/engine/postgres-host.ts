import type pg from 'pg'
import { UserError } from '../../base/errors/rule-error.js'
import { EngineDown } from './engine-down.js'
import type { PostgresHost } from './postgres-url.js'

/** Connections to one copy of a shard. */

/** @tuning count: connections to one copy of a shard */
const connections = 8
/** @tuning ms: time to connect, and to wait for a connection */
const connectTime = 2000
/** @tuning ms: longest statement of a shard, but for those that fill it */
const statementTime = 10_000

/** The socket of a connection, which the types leave out. */
interface Connected {
  readonly connection: { readonly stream: { destroy(): void } }
}

/** Results are text, which the callers read. */
const asText = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig

/** The package pg, which is loaded where an engine is used. */
export type Postgres = typeof pg

export async function loadPostgres(): Promise<Postgres> {
  try {
    return (await import('pg')).default
  } catch (error) {
    // The second is that of the program in one file.
    const absent = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']
    if (!absent.includes((error as { code: string }).code)) throw error
    throw new UserError(
      'PostgreSQL is reached by the package pg, which is not there: install it beside this one, npm install pg',
    )
  }
}

export class HostConnections {
  readonly #shard: number
  readonly #host: PostgresHost
  readonly #postgres: Postgres
  readonly #pool: pg.Pool
  /** Connections with work under way. */
  readonly #busy = new Set<pg.PoolClient>()
  /** Unix milliseconds, of a clock that does not go back, until which it is not asked. */
  #downUntil = 0

  constructor(postgres: Postgres, shard: number, host: PostgresHost) {
    this.#postgres = postgres
    this.#shard = shard
    this.#host = host
    this.#pool = new postgres.Pool({
      ...this.#config,
      max: connections,
      connectionTimeoutMillis: connectTime,
      onConnect: (client) => client.query(`SET statement_timeout = ${statementTime}`),
    } as pg.PoolConfig)
    // An idle connection that ends is replaced when one is needed.
    this.#pool.on('error', () => {})
  }

  get name(): string {
    return this.#host.name
  }

  /** False for a while after it did not answer. */
  get isUp(): boolean {
    return performance.now() >= this.#downUntil
  }

  /** Runs work on a connection of its own; an EngineDown when that fails or takes longer than so many milliseconds. */
  async run<T>(work: (client: pg.ClientBase) => Promise<T>, limit: number): Promise<T> {
    let client: pg.PoolClient | undefined
    try {
      client = await this.#pool.connect()
      this.#busy.add(client)
      client.on('error', ignore)
      const result = await within(limit, work(client))
      client.off('error', ignore)
      client.release()
      return result
    } catch (error) {
      // In whatever state it is, nothing more is asked on it.
      if (client !== undefined) discard(client, () => client?.release(true))
      throw this.#failure(error)
    } finally {
      if (client !== undefined) this.#busy.delete(client)
    }
  }

  /** Opens a connection outside the pool, without a limit for its statements. */
  async open(): Promise<pg.Client> {
    const client = new this.#postgres.Client({
      ...this.#config,
      connectionTimeoutMillis: connectTime,
    } as pg.ClientConfig)
    client.on('error', ignore)
    try {
      await client.connect()
      return client
    } catch (error) {
      discard(client, () => {})
      throw this.#failure(error)
    }
  }

  /** The error of a connection that {@link open} gave. */
  failure(error: unknown): EngineDown {
    return this.#failure(error)
  }

  /** Ends all connections, whatever is under way. */
  async close(): Promise<void> {
    for (const { connection } of this.#busy as Set<pg.PoolClient & Connected>) connection.stream.destroy()
    // To a server that was killed it may never resolve.
    await within(connectTime, this.#pool.end()).catch(() => {})
  }

  get #config(): object {
    return { connectionString: this.#host.url, application_name: 'didledger', keepAlive: true, types: asText }
  }

  #failure(error: unknown): EngineDown {
    if (error instanceof EngineDown) return error
    const { message, code } = error as { message?: string; code?: string }
    if (!isAnswer(code)) this.#downUntil = performance.now() + 1000
    return Object.assign(new EngineDown(this.#shard, `${this.name}: ${message || code || 'no answer'}`), { code })
  }
}

/** Whether an error is the answer of a server that is up: a state of five characters that is none of a stop. */
function isAnswer(code: string | undefined): boolean {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P') && !code.startsWith('E')
}

function ignore(): void {}

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
