/**
 * The files of a mirror, and where they are: in a folder (folder-store.ts) or an object store (s3-store.ts).
 *
 * - No file with its final name is ever incomplete, whenever the process or the machine ends.
 * - The store does not know what the files mean: their order is the caller's, who writes `head` after all that it names.
 */
import { InvariantError } from '../../base/errors/rule-error.js'
import { StorageError } from '../storage/failure.js'

/** A file of a mirror. */
export interface MirrorFile {
  /** Path below the root of the mirror, `/` between parts: see {@link isMirrorName}. */
  readonly name: string
  readonly bytes: Uint8Array
}

/**
 * The place of a mirror's files. Failures of the system or of the store are UserErrors that say what to do; a name that is none is an
 * InvariantError. Methods may be called while others are under way.
 */
export interface MirrorStore {
  /** Whether a file is there. */
  has(name: string): Promise<boolean>
  /** The bytes of a file; undefined if there is none. A StorageError for a file of more than `most` bytes. */
  get(name: string, most: number): Promise<Uint8Array | undefined>
  /**
   * Writes files that never change, 32 at a time; the next one is read from the iterable once there is room for it. Resolves when no
   * crash can lose any of them. A file that is there already may be left as it is. After a failure some of them may be there.
   */
  putAll(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): Promise<void>
  /** Writes a file that changes (`head`, `about`, own notes): every reader sees the old or the new one. Durable when it resolves. */
  replace(file: MirrorFile): Promise<void>
  /**
   * Deletes files, in the order of the list; those that are not there are no failure. A crash leaves a beginning of the list deleted: in a
   * folder exactly, in an object store but for the 1,000 names of the request under way.
   */
  deleteAll(names: readonly string[]): Promise<void>
  /** Names of all files below a folder, or with an empty text of all there are; in any order, in portions of at most 1,000. */
  names(folder: string): AsyncIterable<readonly string[]>
  /**
   * Waits for what is under way; an object store has three seconds for that, and rejects then. Later calls reject with a StorageError of
   * the kind `closed`.
   */
  close(): Promise<void>
}

/** @tuning characters: the name of a file in a mirror; a part of it has at most as many as file systems take */
const longestName = 512
/** The first character of a part is no dot: such names are left to the store, and to others. */
const namePattern = /^[a-z0-9_-][a-z0-9._-]{0,254}(?:\/[a-z0-9_-][a-z0-9._-]{0,254})*$/

/**
 * Whether a text is a name of a file in a mirror: parts of lowercase letters, digits, `.`, `-` and `_`, none beginning with a dot, with `/`
 * between them; 512 characters at most.
 */
export function isMirrorName(text: string): boolean {
  return text.length <= longestName && namePattern.test(text)
}

/** Throws for what is no name of a file. */
export function requireMirrorName(name: string): void {
  if (!isMirrorName(name))
    throw new InvariantError(`${JSON.stringify(name.slice(0, 80))} is no name of a mirror's file`)
}

/** Throws for what is neither a folder of a mirror nor an empty text. */
export function requireMirrorFolder(folder: string): void {
  if (folder !== '') requireMirrorName(folder)
}

/** The failure of a call after {@link MirrorStore.close}. */
export function storeClosed(): StorageError {
  return new StorageError('the store of the mirror is closed', 'closed')
}
