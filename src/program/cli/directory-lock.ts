import { NativeLevel } from '../../ledger/storage/native-level.js'
import { openFailure } from '../../ledger/storage/failure.js'

/** Keeps other programs away from what belongs to one key, by a database of its own at `path`; the result ends that. */
export async function lockPath(path: string, named: string): Promise<() => Promise<void>> {
  const level = new NativeLevel(path)
  try {
    await level.open()
  } catch (error) {
    throw openFailure(error, named)
  }
  return () => level.close()
}
