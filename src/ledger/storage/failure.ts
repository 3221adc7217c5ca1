import { UserError } from '../../base/errors/rule-error.js'

/** Failures of a node's files: the one place that distinguishes refusals of the system from damage. */

/**
 * - `damage`: rows or files were changed after writing
 * - `environment`: the system refuses something; the files may be whole
 * - `in-use`: another process has the database open
 * - `closed`: used after closing
 * - `other`: the files are whole, and of another chain or version
 */
export type StorageErrorKind = 'damage' | 'environment' | 'in-use' | 'closed' | 'other'

/** A damaged or unusable database, with a remedy in the message. */
export class StorageError extends UserError {
  readonly kind: StorageErrorKind
  /** The failure for those who may not know where the files are: without paths, and without words of the system. */
  readonly fact: string

  constructor(message: string, kind: StorageErrorKind = 'other', fact: string = facts[kind]) {
    super(message)
    this.kind = kind
    this.fact = fact
  }
}

const facts: Readonly<Record<StorageErrorKind, string>> = {
  damage: 'the database is damaged',
  environment: 'the system refuses access to the database',
  'in-use': 'another process has the database open',
  closed: 'the database is closed',
  other: 'the database cannot be used',
}

/** The repair of a damage; the command line inserts the directory. */
export const reindexHint = 'run: npx didledger chain reindex --data-dir DIR'

/** The error that names a damage and the repair command. */
export function damaged(what: string): StorageError {
  return new StorageError(`the database is damaged: ${what}; ${reindexHint}`, 'damage')
}

interface Refusal {
  /** Codes of Node's own errors. */
  readonly codes: readonly string[]
  /** Texts of C libraries and Windows: LevelDB passes on nothing else. */
  readonly texts: RegExp
  readonly what: string
  readonly advice: string
  /** Advice for a file outside of the data directory; absent: the same. */
  readonly inFolder?: string
}

const refusals: readonly Refusal[] = [
  {
    codes: ['ENOSPC', 'EDQUOT'],
    texts: /no space left|quota exceeded|not enough space/i,
    what: 'the disk is full',
    advice: 'free some space, then start again',
  },
  {
    codes: ['EFBIG'],
    texts: /file too large/i,
    what: 'a file may not become as large',
    advice: 'raise the limit on the size of files (ulimit -f), then start again',
  },
  {
    codes: ['EACCES', 'EPERM'],
    texts: /permission denied|not permitted|access is denied/i,
    what: 'this user may not do that',
    advice: 'look at its owner and its permissions, or choose another --data-dir',
    inFolder: 'look at its owner and its permissions',
  },
  {
    codes: ['EROFS'],
    texts: /read-only file ?system/i,
    what: 'the file system is read-only',
    advice: 'make it writable, or choose another --data-dir',
    inFolder: 'make it writable, or choose another folder',
  },
  {
    codes: ['EMFILE', 'ENFILE'],
    texts: /too many open files|no file descriptors available/i,
    what: 'too many files are open',
    advice: 'raise the limit on open files (ulimit -n), then start again',
  },
  {
    codes: ['ENOMEM'],
    texts: /cannot allocate memory|out of memory/i,
    what: 'the system has no memory left',
    advice: 'free some memory, then start again',
  },
  {
    codes: ['ENAMETOOLONG'],
    texts: /(file ?)?name too long/i,
    what: 'the path, or a name in it, is too long',
    advice: 'choose a shorter --data-dir',
    inFolder: 'choose a shorter path',
  },
  {
    codes: ['ELOOP'],
    texts: /too many levels of symbolic links|symbolic link loop/i,
    what: 'links lead to each other in a circle',
    advice: 'look at the links in the path, or choose another --data-dir',
    inFolder: 'look at the links in the path, or choose another folder',
  },
  {
    codes: ['ENOTDIR', 'EISDIR'],
    texts: /not a directory|is a directory/i,
    what: 'a file is where a directory should be, or the other way round',
    advice: 'look at the path, or choose another --data-dir',
    inFolder: 'look at the path, or choose another folder',
  },
  {
    codes: ['ESTALE', 'ENODEV', 'ENXIO', 'ENOTCONN', 'EHOSTDOWN', 'ETIMEDOUT'],
    texts: /stale (nfs )?file handle|no such device|transport endpoint is not connected|host is down/i,
    what: 'the disk is gone',
    advice: 'connect or mount it again, then start again',
  },
  {
    codes: ['ERR_DLOPEN_FAILED', 'ERR_DLOPEN_DISABLED'],
    texts: /^No native build was found/,
    what: `LevelDB, which is no JavaScript, cannot be loaded on ${process.platform} ${process.arch}`,
    advice:
      'install the program anew on this machine; where there is no binary for it, as on Alpine for arm64, take a system with glibc, or run npm rebuild classic-level --build-from-source',
  },
  {
    codes: ['EIO'],
    texts: /input\/output error|i\/o error/i,
    what: 'the disk reports an error',
    advice: `look at the disk and at the log of the system. What cannot be read any more is damage: ${reindexHint}`,
    inFolder: 'look at the disk and at the log of the system',
  },
]

/** The system's refusal, as text; undefined for any other failure. */
export function refusalOf(error: unknown): Pick<Refusal, 'what' | 'advice' | 'inFolder'> | undefined {
  const { code, message } = causeOf(error)
  return refusals.find(({ codes, texts }) => codes.includes(code) || texts.test(message))
}

/**
 * A failure of Node's file functions as a {@link UserError} that begins with `doing`; others are returned as they are. `place`: whether the
 * file is of the data directory, or in another folder, which needs other advice.
 */
export function fileFailure(error: unknown, doing: string, place: 'data' | 'folder' = 'data'): unknown {
  const refusal = error instanceof UserError ? undefined : refusalOf(error)
  if (refusal === undefined) return error
  const advice = place === 'data' ? refusal.advice : (refusal.inFolder ?? refusal.advice)
  const message = `${doing}: ${refusal.what} (${causeOf(error).message}); ${advice}`
  return new StorageError(message, 'environment', refusal.what)
}

/** Runs work on a file of the node; a refusal of the system becomes an error that begins with `doing`. */
export async function onOwnFile<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw fileFailure(error, doing)
  }
}

/** The error for a LevelDB directory that does not open. */
export function openFailure(error: unknown, directory: string): StorageError {
  const { code, message } = causeOf(error)
  if (code === 'LEVEL_LOCKED') return inUse(directory)
  const refusal = refusalOf(error)
  if (refusal !== undefined) {
    const what = `the database in ${directory} cannot be opened: ${refusal.what} (${message})`
    return new StorageError(`${what}; ${refusal.advice}`, 'environment', refusal.what)
  }
  return new StorageError(`the database in ${directory} is damaged (${message}); ${reindexHint}`, 'damage')
}

export function inUse(directory: string): StorageError {
  return new StorageError(`another process is using ${directory}; stop it, or choose another --data-dir`, 'in-use')
}

/**
 * The meaning of a failed read or write of LevelDB: a refusal of the system, or damage. Errors of other origin are returned
 * unchanged.
 */
export function accessFailure(error: unknown, doing: 'read' | 'written'): unknown {
  if (error instanceof UserError) return error
  const { code, message } = causeOf(error)
  const refusal = refusalOf(error)
  if (refusal !== undefined) {
    const what = `the database cannot be ${doing}: ${refusal.what} (${message})`
    // After a failed write none is made.
    const end = doing === 'written' ? ', so the node takes nothing more' : ''
    const fact = `the database cannot be ${doing}: ${refusal.what}${end}`
    return new StorageError(`${what}; ${refusal.advice}`, 'environment', fact)
  }
  if (closedCodes.includes(code)) return new StorageError('the database is closed', 'closed')
  return levelFailure.test(message) || code.startsWith('LEVEL_') ? damaged(message || code) : error
}

const closedCodes = ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN', 'LEVEL_BATCH_NOT_OPEN', 'LEVEL_ABORTED']

/** Beginnings of LevelDB's messages; the synchronous read gives no code for some. */
const levelFailure = /^(IO error|Corruption|NotFound|Invalid argument|Not implemented)\b/

/** Code and message of an error's cause: abstract-level wraps errors of opening. */
function causeOf(error: unknown): { readonly code: string; readonly message: string } {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return { code: '', message: String(cause) }
  return { code: 'code' in cause ? String(cause.code) : '', message: cause.message }
}
