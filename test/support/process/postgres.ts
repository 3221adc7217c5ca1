import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './children.js'

/** The oldest version that shards run on. */
const oldest = 15
const packaged = '/usr/lib/postgresql'

/** Folder with the programs of PostgreSQL: that of POSTGRES_BIN, else of the newest package; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  const named = process.env['POSTGRES_BIN']
  if (named !== undefined) return named
  const versions = existsSync(packaged) ? readdirSync(packaged).map(Number) : []
  const newest = Math.max(0, ...versions.filter((version) => version >= oldest))
  return newest === 0 ? undefined : join(packaged, String(newest), 'bin')
}

/** A server of PostgreSQL with a folder of its own, on a port of 127.0.0.1. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.port = port
  }

  static async create(): Promise<PostgresServer> {
    const server = new PostgresServer(folderOfPostgres(), await freePort())
    server.#run('initdb', '-D', server.data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C')
    server.start()
    return server
  }

  /** A replica that follows another server. */
  static async replicaOf(primary: PostgresServer): Promise<PostgresServer> {
    const server = new PostgresServer(folderOfPostgres(), await freePort())
    const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
    server.#run('pg_basebackup', '-D', server.data, ...from, '-R', '-X', 'stream', '-c', 'fast')
    server.start()
    return server
  }

  /** A server that a script of the shell makes and becomes, in the folder that PGDATA names. */
  static async byScript(script: string, variables: Readonly<Record<string, string>>): Promise<PostgresServer> {
    const server = new PostgresServer(folderOfPostgres(), await freePort())
    server.startScript(script, variables)
    return server
  }

  /** Begins such a script once more: a container whose volume is kept. */
  startScript(script: string, variables: Readonly<Record<string, string>>): void {
    const settings = this.#settings.flatMap((setting) => ['-c', setting])
    const env = { ...process.env, ...this.#variables, ...variables }
    startChild('sh', ['-c', script, 'sh', ...settings], {
      cwd: this.#folder,
      env,
      stdio: 'ignore',
      ...userOfPostgres(),
    })
  }

  /** Runs a script of the shell that changes the server to its end. */
  runScript(script: string): void {
    const env = { ...process.env, ...this.#variables }
    const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', env, ...userOfPostgres() })
    if (status !== 0) throw new Error(`the script ends with ${status}: ${stderr}`)
  }

  /** Folder of its files. */
  get data(): string {
    return join(this.#folder, 'data')
  }

  /** Address that it listens at, as a URL names it. */
  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  get url(): string {
    return `postgres://postgres:secret-word@${this.host}/postgres`
  }

  start(): void {
    const options = [`-p ${this.port}`, ...this.#settings.map((setting) => `-c ${setting}`)].join(' ')
    this.#run('pg_ctl', '-D', this.data, '-o', options, '-l', join(this.#folder, 'log'), '-w', 'start')
  }

  /** Whether it answers. */
  get isUp(): boolean {
    const { status } = spawnSync(join(postgresPrograms() ?? '', 'pg_isready'), [
      '-h',
      '127.0.0.1',
      '-p',
      String(this.port),
    ])
    return status === 0
  }

  /** Ends it as a failure of the machine does. */
  kill(): void {
    this.#run('pg_ctl', '-D', this.data, '-m', 'immediate', '-w', 'stop')
  }

  /** Starts it again so that it lets everybody in by a password alone. */
  requirePassword(): void {
    this.kill()
    writeFileSync(join(this.data, 'pg_hba.conf'), 'host all all all scram-sha-256\n')
    this.start()
  }

  /** Makes a replica take writes. */
  promote(): void {
    this.#run('pg_ctl', '-D', this.data, '-w', 'promote')
  }

  /**
   * Deletes all rows. A step of this process that its shipper has left may hold them, and waits for this process, which waits here: it is
   * ended before.
   */
  empty(): void {
    this.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
    this.sql("SET lock_timeout = '30s'; DROP SCHEMA IF EXISTS didledger CASCADE")
  }

  sql(text: string, database = 'postgres'): string {
    const server = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres', '-d', database]
    return this.#run('psql', ...server, '-At', '-c', text)
  }

  /** Its processes: the first one, and one for each connection and task. */
  pids(): number[] {
    const [first = ''] = readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')
    const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ')
    return [first, ...children].map(Number)
  }

  /** Stops it and deletes its folder. */
  close(): void {
    if (existsSync(join(this.data, 'postmaster.pid'))) this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #settings(): readonly string[] {
    return ['listen_addresses=127.0.0.1', `unix_socket_directories=${this.#folder}`, 'shared_buffers=32MB', 'jit=off']
  }

  /** Environment of a container of it. */
  get #variables(): Readonly<Record<string, string>> {
    const PATH = `${postgresPrograms()}:${process.env['PATH']}`
    return { PATH, PGDATA: this.data, PGHOST: this.#folder, PGPORT: String(this.port) }
  }

  /** Runs a program of PostgreSQL, which refuses to be root. */
  #run(name: string, ...args: readonly string[]): string {
    const user = userOfPostgres()
    const { status, stdout, stderr } = spawnSync(join(postgresPrograms() ?? '', name), args, {
      encoding: 'utf8',
      cwd: this.#folder,
      // A server keeps what it got open.
      ...(name === 'pg_ctl' && { stdio: 'ignore' as const }),
      ...user,
    })
    if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${stderr ?? ''}`)
    return stdout ?? ''
  }
}

/** The user that servers run as where the tests are root; none elsewhere. */
function userOfPostgres(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (which: string) => Number(spawnSync('id', [which, 'postgres'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

function folderOfPostgres(): string {
  const folder = mkdtempSync(join(tmpdir(), 'didledger-postgres-'))
  const { uid, gid } = userOfPostgres()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
