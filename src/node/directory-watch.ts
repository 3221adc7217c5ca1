import { lstat } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '../base/runtime/env.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import { StorageError } from '../ledger/storage/failure.js'

/** Milliseconds between two looks. */
const lookInterval = 5_000

/**
 * Rejects once the database of a node is no longer where it was opened. The system keeps files that are removed for the process that has
 * them open: LevelDB writes on without a failure, and all of it is gone with the process. `end` ends the looks.
 */
export function watchDirectory(
  { path, database }: Pick<DataDirectory, 'path' | 'database'>,
  { timers }: Pick<Env, 'timers'>,
): { readonly gone: Promise<never>; end(): void } {
  // LevelDB makes it at the first start, and never anew.
  const file = join(database, 'LOCK')
  let cancel = () => {}
  let ended = false
  const gone = new Promise<never>((_, reject) => {
    const next = () => (cancel = timers.after(lookInterval, look))
    const look = () =>
      lstat(file, (error) => {
        if (ended) return
        // Any other failure may pass, and a read or write shows it.
        if (error?.code === 'ENOENT') reject(goneFailure(path))
        else next()
      })
    next()
  })
  return {
    gone,
    end: () => {
      ended = true
      cancel()
    },
  }
}

function goneFailure(path: string): StorageError {
  return new StorageError(
    `the data directory ${path} was removed or moved away while the node was using it: nothing is kept any more; put it back, or choose another --data-dir, then start again`,
    'environment',
    'the data directory is gone',
  )
}
