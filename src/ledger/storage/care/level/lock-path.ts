import { NativeLevel } from '../../native-level.js'
import { openFailure, StorageError } from '../../failure.js'

/** Keeps other programs away from what belongs to one key, by a database of its own at `path`; the result ends that. */
export async function lockPath(path: string, named: string): Promise<() => Promise<void>> {
  const level = new NativeLevel(path)
  try {
    await level.open()
  } catch (error) {
    const failure = openFailure(error, named)
    const isInUse = failure instanceof StorageError && failure.kind === 'in-use'
    throw isInUse ? new StorageError(`another process is using ${named}; stop it first`, 'in-use') : failure
  }
  return () => level.close()
}
