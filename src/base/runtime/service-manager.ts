import { execFile } from 'node:child_process'
import type { Env, Log, Timers } from './env.js'

/**
 * Tells systemd how the service is: sd_notify(3). Node cannot send datagrams to a Unix socket, so systemd-notify, which every such
 * system has, sends them; the unit needs NotifyAccess=all.
 */

/** Milliseconds between two reports of a service without a watchdog. */
const usualInterval = 30_000
/** Milliseconds that a message may take. */
const sendPatience = 10_000
/** @tuning characters: status of the service */
const longestStatus = 200

/** Message to systemd: names and values of sd_notify(3). */
type Message = ReadonlyMap<string, string>

/** Runs a program with arguments; rejects when it fails or is not there. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<void>

export interface ServiceManagerDependencies extends Pick<Env, 'timers' | 'log'> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly run?: RunProgram
}

/** Reports of the service about itself. */
export interface ServiceState {
  /** False: no more signs of life, so that the watchdog starts the service again. */
  healthy(): boolean
  /** One short line. */
  status(): string
}

/** The manager of the service that this process is. Messages are sent one after another; what waits is sent as one. */
export class ServiceManager {
  readonly #timers: Timers
  readonly #log: Log
  readonly #run: RunProgram
  readonly #interval: number
  readonly #watched: boolean
  #waiting = new Map<string, string>()
  #sending: Promise<void> | undefined
  #cancel = () => {}
  #silenced = false

  private constructor({ env, timers, log, run = runProgram }: ServiceManagerDependencies) {
    const watchdog = microseconds(env['WATCHDOG_USEC'])
    this.#timers = timers
    this.#log = log
    this.#run = run
    this.#watched = watchdog !== undefined
    this.#interval = watchdog === undefined ? usualInterval : Math.max(1, Math.floor(watchdog / 2000))
  }

  /**
   * The manager that the variables of systemd name; undefined without one. WATCHDOG_PID is not compared: npm and npx put a process
   * of their own between.
   */
  static of(dependencies: ServiceManagerDependencies): ServiceManager | undefined {
    const socket = dependencies.env['NOTIFY_SOCKET']
    return socket === undefined || socket === '' ? undefined : new ServiceManager(dependencies)
  }

  /** Says that the service serves. From now on the event loop gives a sign of life twice in the time of the watchdog. */
  ready(state: ServiceState): void {
    this.#send([['READY', '1'], ...this.#signs(state)])
    this.#repeat(state)
  }

  /** Says that the service ends; resolves when that is sent. */
  async stopping(): Promise<void> {
    this.#cancel()
    this.#waiting.delete('WATCHDOG')
    this.#send([
      ['STOPPING', '1'],
      ['STATUS', 'stopping'],
    ])
    while (this.#sending !== undefined) await this.#sending
  }

  #repeat(state: ServiceState): void {
    this.#cancel = this.#timers.after(this.#interval, () => {
      this.#send(this.#signs(state))
      this.#repeat(state)
    })
  }

  #signs(state: ServiceState): [string, string][] {
    const healthy = state.healthy()
    const status = healthy ? state.status() : 'failed'
    return [...(this.#watched && healthy ? [['WATCHDOG', '1'] as [string, string]] : []), ['STATUS', oneLine(status)]]
  }

  #send(fields: readonly (readonly [string, string])[]): void {
    if (this.#silenced) return
    for (const [name, value] of fields) this.#waiting.set(name, value)
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const message: Message = this.#waiting
      this.#waiting = new Map()
      try {
        await this.#run(
          'systemd-notify',
          [...message].map(([name, value]) => `${name}=${value}`),
        )
      } catch (error) {
        this.#fail(error as Error)
      }
    }
  }

  /** A program that is not there comes back no more; any other failure may pass. */
  #fail(error: Error): void {
    const { message } = error
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (missing) {
      this.#silenced = true
      this.#waiting.clear()
    }
    const advice = missing ? 'install it, or use Type=exec without a watchdog in the unit' : 'look at NotifyAccess=all'
    this.#log.warn({ error: message }, `systemd cannot be told how the service is, by systemd-notify: ${advice}`)
  }
}

/** A positive number of microseconds. */
function microseconds(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : undefined
}

/** A line without what would end it, or begin another field. */
function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').slice(0, longestStatus)
}

function runProgram(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: sendPatience }, (error) => (error === null ? resolve() : reject(error)))
  })
}
