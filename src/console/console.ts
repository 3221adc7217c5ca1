/**
 * Shows people what a running command does: lines of the log, a status line below them, progress of long work.
 *
 *   room -> Log.warn, LiveLog.wants, write -> nodeLog (node-log.ts) -> text-line or pino -> LineSink
 *     LineSink: Console, above its status line -> Channel: terminal, pipe or file of standard error
 *               LogFile, with rotation; opened again at SIGHUP
 *   events of a node -> watchNode (watch-node.ts) -> LiveLog
 *   sync, peers, pool -> showStatus (node-status.ts) -> Console.status
 *   steps of a command -> Progress (progress.ts) -> Console.status, or a line every ten seconds
 *
 * Imports errors, events, mempool, network, node, primitives, runtime, voting; used by cli.
 * - No write waits for a reader: what a slow one cannot take is dropped, and counted in a line.
 * - Texts of clients and peers are escaped and bounded here, in one place, before colours are added.
 * - One writer owns the last line of the terminal.
 */
import type { Channel } from './channel.js'

/** Takes whole lines, without their end. */
export interface LineSink {
  /** False: it was dropped, because what reads it is too slow or full. */
  line(text: string): boolean
}

const clearLine = '\r\x1b[K'

/** Standard error of a command: lines, and on a terminal a status line below them. */
export class Console implements LineSink {
  readonly #channel: Channel
  #status = ''

  constructor(channel: Channel) {
    this.#channel = channel
  }

  get isTerminal(): boolean {
    return this.#channel.columns !== undefined
  }

  line(text: string): boolean {
    if (this.#status === '') return this.#channel.write(`${text}\n`)
    return this.#channel.write(`${clearLine}${text}\n${this.#status}`)
  }

  /** Replaces the status line, which never takes a second line; '' removes it. Nothing happens where there is no terminal. */
  status(text: string): void {
    const { columns } = this.#channel
    if (columns === undefined) return
    const status = text.slice(0, Math.max(0, columns - 1))
    if (status === this.#status) return
    if (this.#channel.write(`${clearLine}${status}`)) this.#status = status
  }

  close(): void {
    this.status('')
    this.#channel.close()
  }
}
