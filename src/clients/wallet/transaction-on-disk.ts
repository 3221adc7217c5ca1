import { readTextFile, writeFileAtomically } from './files.js'
import { parseTransactionFile, type TransactionFile, transactionFileJson } from './transaction-file.js'

/** The transaction of a file; a {@link UserError} names the file. */
export function readTransactionFile(path: string): TransactionFile {
  return parseTransactionFile(readTextFile(path, 'transaction file'))
}

/** Writes a transaction file; an existing one is not overwritten. */
export function writeTransactionFile(path: string, file: TransactionFile): void {
  writeFileAtomically(path, `${JSON.stringify(transactionFileJson(file), null, 2)}\n`, { mode: 0o644 })
}
