import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { UserError } from '../../base/errors/rule-error.js'
import type { LineSink } from './console.js'
import { lineThroughDoor, type Pieces } from './door.js'

/** @tuning bytes: a log file; then it becomes the one before, which is replaced */
const longestFile = 64 * 1024 * 1024

/**
 * A file that lines are appended to. At its longest it is renamed to `FILE.1`, and begun anew. Other programs rotate it too: they rename,
 * copy and cut, or remove it, and its directory may be theirs alone.
 */
export class LogFile implements LineSink {
  readonly #path: string
  readonly #longest: number
  #fd: number
  #file: Stats
  #size: number
  /** Size from which the next rotation is tried. */
  #bound: number

  /** A file that cannot be opened is a UserError. */
  constructor(path: string, longest = longestFile) {
    this.#path = path
    this.#longest = longest
    this.#fd = openFile(path)
    this.#file = fstatSync(this.#fd)
    this.#size = this.#file.size
    this.#bound = longest
  }

  line(text: Pieces): boolean {
    try {
      const bytes = Buffer.from(lineThroughDoor(text))
      if (this.#file.isFile() && this.#size > 0 && this.#size + bytes.length > this.#bound) this.#rotate(bytes.length)
      for (let written = 0; written < bytes.length;) {
        const count = writeSync(this.#fd, bytes, written)
        written += count
        this.#size += count
      }
      return true
    } catch {
      // A full disk, or a pipe without a reader. The node continues; the log says how many lines it lacks.
      return false
    }
  }

  /** Opens it again by its name, after another program has renamed it. Where that fails, the open file is used on. */
  reopen(): void {
    let fd: number
    try {
      fd = openFile(this.#path)
    } catch {
      return
    }
    closeSync(this.#fd)
    this.#fd = fd
    this.#file = fstatSync(fd)
    this.#size = this.#file.size
    this.#bound = this.#longest
  }

  close(): void {
    closeSync(this.#fd)
  }

  /** Lets the file grow on where it cannot be renamed, so that no line is lost, and tries again once it has grown by as much. */
  #rotate(coming: number): void {
    const isLong = () => this.#size + coming > this.#longest
    this.#size = fstatSync(this.#fd).size
    if (!isLong()) return
    try {
      this.#setAside()
    } catch {
      // It was removed, or its directory belongs to another user, as /var/log does.
    }
    this.reopen()
    if (isLong()) this.#bound = this.#size + this.#longest
  }

  /** Renames the open file, and no other one that has come in its place. A link stays, and the file that it leads to is renamed. */
  #setAside(): void {
    // The file behind a descriptor, such as /dev/stderr, is opened by another program.
    if (/^\/(?:dev\/(?:fd\/|std)|proc\/)/.test(this.#path)) return
    const real = realpathSync(this.#path)
    const { dev, ino } = statSync(real)
    if (dev === this.#file.dev && ino === this.#file.ino) renameSync(real, `${real}.1`)
  }
}

/** A pipe without a reader is refused at once instead of waiting for one. */
function openFile(path: string): number {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants
  try {
    return openSync(path, O_APPEND | O_CREAT | O_NONBLOCK | O_WRONLY, 0o644)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new UserError(`the log file ${path} cannot be opened: ${reasons[code ?? ''] ?? message}`)
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EISDIR: 'it is a directory',
  ENOENT: 'its directory does not exist',
  ENOSPC: 'the disk is full',
  ENXIO: 'it is a pipe that no program reads',
  EROFS: 'the file system is read-only',
}

/** Opens a log file again at SIGHUP, which then does not end the process; the returned function ends that. */
export function reopenAtHangup(file: Pick<LogFile, 'reopen'>): () => void {
  const reopen = () => file.reopen()
  process.on('SIGHUP', reopen)
  return () => void process.off('SIGHUP', reopen)
}
