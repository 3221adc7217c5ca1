import { fsync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { replacedFile } from '../../base/runtime/replaced-file.js'

const fsyncOf = promisify(fsync)

/**
 * Replaces a file atomically: resolves when no crash can lose the new content, and until then the old one stands. The pieces are
 * written one by one. Rejects with the failure of the system, or of the pieces; then nothing but the old content is left. Links are
 * followed, and the permissions of a file that is there stay; `mode` is for a new one. What is no regular file is written in place.
 */
export async function replaceFile(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mode = 0o600,
): Promise<void> {
  const replaced = replacedFile(path)
  if (replaced === undefined) return writePieces(path, pieces)
  const temporary = `${replaced.path}.new`
  try {
    await writePieces(temporary, pieces, {
      mode: replaced.mode ?? mode,
      finish: (file) => finishFile(file, replaced.mode),
    })
    await rename(temporary, replaced.path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(replaced.path))
}

async function writePieces(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { mode, finish }: { readonly mode?: number; readonly finish?: (file: FileHandle) => Promise<void> } = {},
): Promise<void> {
  const file = await open(path, 'w', mode)
  try {
    for await (const piece of pieces) await file.writeFile(piece)
    await finish?.(file)
  } finally {
    await file.close()
  }
}

/** Gives a new file the permissions of the one that it replaces, and makes it durable. */
async function finishFile(file: FileHandle, mode: number | undefined): Promise<void> {
  // The mask of the process has taken bits away.
  if (mode !== undefined && ((await file.stat()).mode & 0o777) !== mode) await file.chmod(mode)
  await syncFile(file)
}

/** Makes the content of an open file durable. The handles of yarn's plug’n’play have no method for it. */
export function syncFile({ fd }: FileHandle): Promise<void> {
  return fsyncOf(fd)
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory, and its renames need nothing more.
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await syncFile(directory)
  } finally {
    await directory.close()
  }
}
