import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { ShownText } from './door.js'

/** Standard output and standard error of this process: no other file writes there (eslint.config.js). */

/** Output of lines for people. Writing never waits for a reader. */
export interface Channel {
  /** Takes all of a text, or nothing if the reader is too slow: then the result is false. */
  write(text: ShownText): boolean
  /** Width of the terminal; undefined where there is none. */
  readonly columns: number | undefined
  /** Gives what is held a moment, and lets the process end. */
  close(): void
}

/** @tuning bytes: text that waits for a slow reader of standard error */
const heldBytes = 64 * 1024
/** Milliseconds between two attempts to write to a terminal that takes nothing, and for all of them at the end. */
const retryInterval = 20
const closeTime = 200
/** Milliseconds after which an ended process waits no longer for the reader of its standard error. */
const exitPatience = 2_000

/** Failures of standard output that the writer of a text answers for. */
const answeredFor = new WeakSet<Error>()

/** Columns of a terminal that does not report them. */
const usualWidth = 80

/** Writes to a standard stream, and holds what its reader does not take yet. */
export function writeTo(stream: 'out' | 'err', text: ShownText): void {
  streamOf(stream).write(text)
}

/** Writes to the terminal of the user, who is asked something: standard error, or the terminal itself where that goes elsewhere. */
export function writeToTerminal(text: ShownText): void {
  if (isatty(2) || !wroteTo('/dev/tty', text)) writeTo('err', text)
}

/** Whether a terminal took a text. Windows has no file for it, and what runs in the background of none does not either. */
function wroteTo(terminal: string, text: ShownText): boolean {
  try {
    const fd = openSync(terminal, constants.O_WRONLY | constants.O_NOCTTY)
    try {
      return writeSync(fd, text) > 0
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

/** Writes bytes to standard output; resolves once it takes more. A failure ends the process: {@link endWithOutput}. */
export function writeBytes(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(bytes, (error) => {
      if (error === null || error === undefined) resolve()
    })
  })
}

/** Writes to standard output; resolves once it has taken all. A failure does not end the process: the caller answers for it. */
export function deliver(text: ShownText): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) return resolve()
      answeredFor.add(error)
      reject(error)
    })
  })
}

/** Width of the terminal behind a standard stream; undefined if it is not a terminal. */
export function columnsOf(stream: 'out' | 'err'): number | undefined {
  return widthOf(streamOf(stream))
}

/** A terminal that does not say its width reports 0 columns. */
export function widthOf({ isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number | undefined {
  return isTTY ? columns || usualWidth : undefined
}

function streamOf(stream: 'out' | 'err'): NodeJS.WriteStream {
  return stream === 'out' ? process.stdout : process.stderr
}

/**
 * Ends this process once standard output takes nothing more: with 0 if its reader has ended, as head does early, else with 1 after `failed`
 * said why. A failure of {@link deliver} is left to its caller. What standard error does not take is lost: there is nowhere to say so.
 */
export function endWithOutput(failed: (error: NodeJS.ErrnoException) => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (answeredFor.has(error)) return
    if (error.code === 'EPIPE') process.exit(0)
    failed(error)
    endAfterErrors(1)
  })
  process.stderr.on('error', () => {})
}

/**
 * Ends this process with a code, once standard error has taken what was written to it: a pipe that is full takes the rest later. Not later
 * than after {@link exitPatience}, if its reader has stopped.
 */
export function endAfterErrors(code: number): void {
  process.exitCode = code
  const end = () => process.exit(code)
  if (process.stderr.writableLength === 0) end()
  process.stderr.write('', end)
  setTimeout(end, exitPatience)
}

/** Standard error of this process, for lines that wait for no reader. */
export function standardError(): Channel {
  const fd = isatty(2) ? reopened() : undefined
  return fd === undefined ? new StreamChannel(process.stderr) : new TerminalChannel(fd, () => process.stderr.columns)
}

/**
 * The terminal behind standard error, opened anew: other programs that share it are not switched to writes that return at once.
 * Undefined where the system does not allow it.
 */
function reopened(): number | undefined {
  for (const path of ['/proc/self/fd/2', '/dev/tty']) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    } catch {
      continue
    }
  }
  return undefined
}

/** A pipe, socket or file: Node writes without waiting, and holds what is left. */
export class StreamChannel implements Channel {
  readonly columns = undefined
  readonly #stream: NodeJS.WriteStream
  #gone = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    // A reader that has ended is no failure of the node.
    stream.on('error', () => (this.#gone = true))
  }

  write(text: ShownText): boolean {
    if (this.#gone) return true
    if (this.#stream.writableLength > heldBytes) return false
    this.#stream.write(text)
    return true
  }

  close(): void {
    // What is held keeps the process alive, for ever if the reader has stopped. Standard output is worth the wait.
    const end = () => {
      if (this.#stream.writableLength > 0 && process.stdout.writableLength === 0) process.exit()
    }
    setInterval(end, exitPatience).unref()
  }
}

/** A terminal whose writes return at once. */
export class TerminalChannel implements Channel {
  readonly #fd: number
  readonly #width: () => number | undefined
  readonly #write: (fd: number, bytes: Uint8Array) => number
  #held: Buffer = Buffer.alloc(0)
  #timer: NodeJS.Timeout | undefined

  constructor(
    fd: number,
    width: () => number | undefined,
    write: (fd: number, bytes: Uint8Array) => number = writeSync,
  ) {
    this.#fd = fd
    this.#width = width
    this.#write = write
  }

  get columns(): number | undefined {
    return this.#width() || usualWidth
  }

  write(text: ShownText): boolean {
    if (this.#held.length > heldBytes) return false
    const bytes = Buffer.from(text)
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    this.#push()
    return true
  }

  close(): void {
    clearTimeout(this.#timer)
    const until = performance.now() + closeTime
    const pause = new Int32Array(new SharedArrayBuffer(4))
    while (!this.#pushed() && performance.now() < until) Atomics.wait(pause, 0, 0, retryInterval)
  }

  #push(): void {
    if (this.#timer !== undefined || this.#pushed()) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#push()
    }, retryInterval).unref()
  }

  /** Writes what the terminal takes; whether that was all. */
  #pushed(): boolean {
    try {
      while (this.#held.length > 0) this.#held = this.#held.subarray(this.#write(this.#fd, this.#held))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN' || code === 'EINTR') return false
      // The terminal is closed: nothing is read any more.
      this.#held = Buffer.alloc(0)
    }
    return true
  }
}
