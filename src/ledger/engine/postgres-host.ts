import type pg from 'pg'
import { UserError } from '../../base/errors/rule-error.js'
import { EngineDown } from './engine-down.js'
import { connectTime, discard, ignore, PoolFull, PostgresPool } from './postgres-pool.js'
import type { PostgresHost } from './postgres-url.js'

/** Connections to one copy of a shard. */

/** @tuning count: connections to one copy of a shard for its rows */
const connections = 8
/** @tuning count: connections to one copy of a shard for its state, by which readers notice that rows moved */
const stateConnections = 2

/** @tuning ms: time during which a copy of a shard that did not answer is not asked */
const firstRest = 1000
/** @tuning ms: the longest such time, after it failed again and again */
const longestRest = 10_000

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

/** All connections to a host are busy: it is not down for that. */
export class HostBusy extends EngineDown {}

export class HostConnections {
  readonly #shard: number
  readonly #host: PostgresHost
  readonly #postgres: Postgres
  readonly #rows: PostgresPool
  /** Looks at the state do not wait for slow reads. */
  readonly #states: PostgresPool
  /** On a clock that does not go back: until then it is not asked. */
  #downUntil = 0
  /** Milliseconds of its last rest; 0: it answers. */
  #rest = 0
  /** When that rest was decided, on the same clock. */
  #failedAt = 0

  constructor(postgres: Postgres, shard: number, host: PostgresHost) {
    this.#postgres = postgres
    this.#shard = shard
    this.#host = host
    this.#rows = new PostgresPool(postgres, this.#config, connections)
    this.#states = new PostgresPool(postgres, this.#config, stateConnections)
  }

  get name(): string {
    return this.#host.name
  }

  /**
   * Whether to ask it: not for a while after it did not answer, the longer the more often. Then one who asks finds out for all: a machine that
   * was lost takes the time of everybody who waits for it.
   */
  mayAsk(): boolean {
    const now = performance.now()
    if (now < this.#downUntil) return false
    this.#downUntil = now + this.#rest
    return true
  }

  /** Runs work on a connection of its own; an EngineDown when that fails or takes longer than so many milliseconds. */
  run<T>(work: (client: pg.ClientBase) => Promise<T>, limit: number): Promise<T> {
    return this.#tried(this.#rows.run(work, limit))
  }

  /** Runs a short statement about the state as {@link run} does, however many reads there are. */
  runShort<T>(work: (client: pg.ClientBase) => Promise<T>, limit: number): Promise<T> {
    return this.#tried(this.#states.run(work, limit))
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
    await Promise.all([this.#rows.close(), this.#states.close()])
  }

  async #tried<T>(result: Promise<T>): Promise<T> {
    try {
      const answer = await result
      this.#downUntil = this.#rest = 0
      return answer
    } catch (error) {
      throw this.#failure(error)
    }
  }

  #isDown(): void {
    const now = performance.now()
    // Several may have waited for it: that is one failure.
    if (this.#rest === 0 || now - this.#failedAt >= firstRest) {
      this.#rest = Math.min(longestRest, Math.max(firstRest, 2 * this.#rest))
      this.#failedAt = now
    }
    this.#downUntil = now + this.#rest
  }

  get #config(): object {
    return { connectionString: this.#host.url, application_name: 'didledger', keepAlive: true, types: asText }
  }

  #failure(error: unknown): EngineDown {
    if (error instanceof EngineDown) return error
    if (error instanceof PoolFull) return new HostBusy(this.#shard, `${this.name}: ${error.message}`)
    const { message, code } = error as { message?: string; code?: string }
    if (!isAnswer(code)) this.#isDown()
    const why = lacksPassword(message) ? noPassword : message || code || 'no answer'
    return Object.assign(new EngineDown(this.#shard, `${this.name}: ${why}`), { code })
  }
}

const noPassword = 'it asks for a password: give it by the variable PGPASSWORD, or in ~/.pgpass'

/** Whether the driver was asked for a password that it does not have: it says so in words of the protocol, without a code. */
function lacksPassword(message: string | undefined): boolean {
  return message?.includes('client password must be') === true
}

/** Whether an error is the answer of a server that is up: a state of five characters that is none of a stop. */
function isAnswer(code: string | undefined): boolean {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P') && !code.startsWith('E')
}
