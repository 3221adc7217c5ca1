/**
 * Shows people what a running command does: lines of the log, a status line below them, progress of long work.
 *
 *   command -> throughDoor (door.ts) -> standard output and standard error (output-channel.ts)
 *   room -> Log.warn, LiveLog.wants, write -> nodeLog (node-log.ts) -> text-line or pino -> LineSink
 *     LineSink: Console, above its status line -> Channel: terminal, pipe or file of standard error
 *               LogFile, with rotation; opened again at SIGHUP
 *   events of a node -> watchNode (watch-node.ts) -> LiveLog
 *   sync, peers, pool -> showStatus (node-status.ts) -> Console.status
 *   steps of a command -> Progress (progress.ts) -> Console.status, or a line every ten seconds
 *
 * Imports errors, events, mempool, network, node, primitives, runtime, voting; used by cli.
 * - No write waits for a reader: what a slow one cannot take is dropped, and counted in a line.
 * - Streams and log files take nothing but ShownText: text that went through the door, which writes out what steers a terminal.
 * - Colours are objects beside the text, so that no text of others can be one.
 * - One writer owns the last line of the terminal.
 */
import { visible } from '../../base/runtime/visible-text.js'
import type { Channel } from './output-channel.js'
import { clearLine, lineThroughDoor, type Pieces, throughDoor } from './door.js'

/** Takes whole lines, without their end. */
export interface LineSink {
  /** False: it was dropped, because what reads it is too slow or full. */
  line(text: Pieces): boolean
}

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

  line(text: Pieces): boolean {
    const line = lineThroughDoor(text)
    if (this.#status === '') return this.#channel.write(line)
    const [before, after] = [throughDoor([clearLine]), throughDoor(this.#status)]
    return this.#channel.write(`${before}${line}${after}` as typeof line)
  }

  /** Replaces the status line, which never takes a second line; '' removes it. Nothing happens where there is no terminal. */
  status(text: string): void {
    const { columns } = this.#channel
    if (columns === undefined) return
    const status = visible(text).slice(0, Math.max(0, columns - 1))
    if (status === this.#status) return
    if (this.#channel.write(throughDoor([clearLine, status]))) this.#status = status
  }

  close(): void {
    this.status('')
    this.#channel.close()
  }
}
