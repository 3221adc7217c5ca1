import { fsync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const fsyncOf = promisify(fsync)

/**
 * Replaces a file atomically: resolves when no crash can lose the new content, and until then the old one stands. The pieces are
 * written one by one. Rejects with the failure of the system, or of the pieces; then nothing but the old content is left.
 */
export async function replaceFile(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mode = 0o600,
): Promise<void> {
  const temporary = `${path}.new`
  try {
    const file = await open(temporary, 'w', mode)
    try {
      for await (const piece of pieces) await file.writeFile(piece)
      await syncFile(file)
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(path))
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
