import { UserError } from '../base/errors/rule-error.js'
import { StorageError } from '../ledger/storage/failure.js'
import { fileReason } from '../clients/wallet/files.js'

/** Runs with a file of the user; a failure of the file is a {@link UserError} that begins with its name. */
export async function onFile<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof StorageError) throw error
    if (error instanceof UserError) throw new UserError(`${file}: ${error.message}`, error.exitCode)
    throw (error as NodeJS.ErrnoException).syscall === undefined
      ? error
      : new UserError(`${file}: ${fileReason(error)}`)
  }
}
