import { holdLock } from '../storage/care/level/lock.js'
import { StorageError } from '../storage/failure.js'

/** Takes the lock of a mirror's folder; a StorageError where another process has it. The lock ends with the process. Returns its release. */
export function lockFolder(root: string, lock: string): Promise<() => Promise<void>> {
  return holdLock(lock).catch((error: unknown) => {
    if (!(error instanceof StorageError) || error.kind !== 'in-use') throw error
    const message = `another process writes the mirror ${root}; stop it, or choose another folder`
    throw new StorageError(message, 'in-use', 'another process writes the mirror')
  })
}
