import { readTextFile } from './files.js'
import { parseTransactionFile, type TransactionFile, transactionFileJson } from './transaction-file.js'

/** The transaction of a file; a {@link UserError} names the file. */
export function readTransactionFile(path: string): TransactionFile {
  return parseTransactionFile(readTextFile(path, 'transaction file'))
}

/** The text of a transaction file. */
export function transactionFileText(file: TransactionFile): string {
  return `${JSON.stringify(transactionFileJson(file), null, 2)}\n`
}
