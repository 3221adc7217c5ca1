import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { makeWithParents } from '../../base/runtime/make-with-parents.js'
import { dirname } from 'node:path'
import { UserError } from '../../base/errors/rule-error.js'
import { type ReplacedFile, replacedFile } from '../../base/runtime/replaced-file.js'
import { refuseShared } from '../../base/runtime/secret-access.js'
import { parseJson } from './parse-json.js'

/** @limit bytes: a file that a command reads */
export const maxFileSize = 32 * 1024 * 1024

/**
 * The text of a file of at most so many bytes: UTF-8, or UTF-16 with a byte order mark, as editors and shells of Windows write it. The mark
 * is no part of the text. A failure is a {@link UserError} that names the file as `what`; so are bytes that are no text: what stands for
 * them would be signed, or be another password.
 */
export function readTextFile(path: string, what: string, most = maxFileSize): string {
  return textOf(
    readChecked(path, what, most, () => {}),
    path,
    what,
  )
}

/** The text of a file with a key in any form; U+FFFD where it is none, of which readers of keys say more. */
export function readKeyFile(path: string, what: string): string {
  return decoded(
    readChecked(path, what, maxFileSize, () => {}),
    { fatal: false },
  )
}

/**
 * The text of a file with a secret, refused where others may read it. `guest`: the secret is that of another program, as the token of a
 * node, and root may use it.
 */
export function readSecretFile(path: string, what: string, options: { readonly guest?: boolean } = {}): string {
  return textOf(readOwn(path, what, options), path, what)
}

/** {@link readKeyFile} for a private key: refused where others may read it. */
export function readPrivateKeyFile(path: string, what: string): string {
  return decoded(readOwn(path, what), { fatal: false })
}

function readOwn(path: string, what: string, options: { readonly guest?: boolean } = {}): Buffer {
  return readChecked(path, what, maxFileSize, (access) => refuseShared(path, what, access, options))
}

/** The bytes of a file whose mode and owner pass a check, which throws. */
function readChecked(path: string, what: string, most: number, check: (access: Stats) => void): Buffer {
  const tooLarge = () => new UserError(`the ${what} ${path} is larger than ${most} bytes`)
  let bytes: Buffer
  try {
    bytes = readAtMost(path, most + 1, (access) => {
      check(access)
      if (access.size > most) throw tooLarge()
    })
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`cannot read the ${what} ${path}: ${fileReason(error)}`)
  }
  // What a device or pipe holds has no size.
  if (bytes.length > most) throw tooLarge()
  return bytes
}

function textOf(bytes: Buffer, path: string, what: string): string {
  try {
    return decoded(bytes, { fatal: true })
  } catch {
    throw new UserError(`the ${what} ${path} is no text in ${unreadable(bytes)}; save it as UTF-8`)
  }
}

function decoded(bytes: Buffer, options: { readonly fatal: boolean }): string {
  return new TextDecoder(encodingOf(bytes), options).decode(bytes)
}

/** The encoding that bytes are not in, and where. */
function unreadable(bytes: Buffer): string {
  const encoding = encodingOf(bytes)
  if (encoding !== 'utf-8') return encoding.toUpperCase()
  let [line, from] = [1, 0]
  for (let end = bytes.indexOf('\n'); end >= 0 && isUtf8(bytes.subarray(from, end)); end = bytes.indexOf('\n', from)) {
    line++
    from = end + 1
  }
  return `UTF-8 (line ${line})`
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}

/** The first bytes of a file, `-` being standard input, slightly more than `most`: a device or pipe may never end. */
function readAtMost(path: string, most: number, check: (access: Stats) => void): Buffer {
  const file = path === '-' ? 0 : openSync(path, 'r')
  try {
    check(fstatSync(file))
    const chunks: Buffer[] = []
    for (let size = 0; size < most; size += chunks.at(-1)?.length ?? 0) {
      const chunk = Buffer.allocUnsafe(1 << 16)
      const read = readSync(file, chunk)
      if (read === 0) break
      chunks.push(chunk.subarray(0, read))
    }
    return Buffer.concat(chunks)
  } finally {
    if (file !== 0) closeSync(file)
  }
}

/** The JSON of a file; a failure is a {@link UserError} that names the file as `what`. */
export function readJsonFile(path: string, what: string): unknown {
  return parseJson(readTextFile(path, what), `the ${what} ${path}`)
}

/**
 * Writes a file completely or not at all, also after a loss of power: a temporary file beside it, fsync, then one step that gives it its
 * name. An existing file is a {@link UserError} without `replace`; with it links are followed, the permissions stay, and a device or
 * pipe is written in place. `-` is refused: what is kept in a file is read again.
 */
export function writeFileAtomically(path: string, text: string, options: { mode: number; replace?: boolean }): void {
  requireFilePath(path)
  try {
    const replaced = options.replace ? replacedFile(path) : { path, mode: undefined }
    if (replaced === undefined) return writeFileSync(path, text)
    writeBeside(replaced, text, options)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new UserError(`${path} exists already and is not overwritten`)
    throw new UserError(`cannot write ${path}: ${fileReason(error)}`)
  }
}

/** Throws a {@link UserError} for `-` as the path of what is kept. */
export function requireFilePath(path: string): void {
  if (path === '-')
    throw new UserError('- is standard output, and a file is needed here; name one, as ./- of that name')
}

function writeBeside({ path, mode }: ReplacedFile, text: string, options: { mode: number; replace?: boolean }): void {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    rmSync(temporary, { force: true })
    const file = openSync(temporary, 'wx', mode ?? options.mode)
    try {
      // The mask of the process has taken bits away.
      if (mode !== undefined && (fstatSync(file).mode & 0o777) !== mode) fchmodSync(file, mode)
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    if (options.replace) renameSync(temporary, path)
    // A rename would silently replace a file that another process created since the check.
    else linkSync(temporary, path)
    syncDirectory(dirname(path))
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Makes a directory and its parents unless it exists; a failure is a {@link UserError}. */
export function makeDirectory(path: string): void {
  try {
    makeWithParents(path)
  } catch (error) {
    throw new UserError(`cannot make the directory ${path}: ${fileReason(error)}`)
  }
}

function syncDirectory(path: string): void {
  // Windows cannot open a directory, and writes its entries through.
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Whether something is at a path. Where that cannot be seen, a {@link UserError}: what may not be entered may hold it. */
export function isThere(path: string, what: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String(errorCode(error)))) return false
    throw new UserError(`cannot see whether the ${what} ${path} exists: ${fileReason(error)}`)
  }
}

/** Code of an error of the system, such as ENOENT. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'it is a directory',
  EEXIST: 'a file of that name is in the way',
  ENOTDIR: 'a part of its path is no directory',
  ENOSPC: 'no space is left on the disk',
  EPIPE: 'nothing reads it any more',
  EROFS: 'the file system is read-only',
}

/** Why a file function of Node failed, in plain words where the failure is a usual one. */
export function fileReason(error: unknown): string {
  return reasons[String(errorCode(error))] ?? (error instanceof Error ? error.message : String(error))
}
