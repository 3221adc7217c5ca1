import { readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The regular file that new content replaces. */
export interface ReplacedFile {
  /** Its path, without a link at the end: a rename would replace the link. */
  readonly path: string
  /** Its permission bits; undefined: it is not there yet. */
  readonly mode: number | undefined
}

/**
 * The file that new content for a path replaces, which links may lead to. Undefined for a device, a pipe or whatever else is no
 * regular file: new content is written into it, and a rename would destroy it.
 */
export function replacedFile(path: string): ReplacedFile | undefined {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there === undefined) return { path: missingFile(path), mode: undefined }
  return there.isFile() ? { path: realpathSync(path), mode: there.mode & 0o777 } : undefined
}

/** The path that a link names which leads to no file yet, or the path itself. */
function missingFile(path: string): string {
  const named = linkAt(path)
  return named === undefined ? path : missingFile(resolve(realpathSync(dirname(path)), named))
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
