import { addressOf } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { toHex } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { finalSequence } from '../../base/primitives/input.js'
import { parseCode } from '../../base/primitives/program.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { payerOf } from '../../clients/wallet/build-transaction.js'
import { isComplete, type ProgramSignatures, transactionSignatures } from '../../clients/wallet/multisig-signatures.js'
import { isSigned, signatureCount } from '../../clients/wallet/sign-transaction.js'
import { feeOf, type TransactionFile, transactionFileJson } from '../../clients/wallet/transaction-file.js'
import { transactionFileText } from '../../clients/wallet/transaction-on-disk.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions } from './command-options.js'
import { writeText } from './named-files.js'
import { formatTable, report, shellWord } from './print-output.js'

/**
 * Outputs and fee of a transaction, for text output. Input amounts are those of the file, which no signature covers. Only an
 * output to the sole payer counts as change: the author of the file cannot choose that.
 */
export function transactionRows(file: TransactionFile): [string, string][] {
  const { transaction } = file
  const fee = feeOf(file)
  const payers = transaction.programs.map(({ code }) => parseCode(code) && addressOf(payerOf(code)))
  const payer = payers.length === 1 ? payers[0] : undefined
  return [
    ['txid', transaction.txid],
    ...transaction.outputs.map(({ programHash, value, outputLock }): [string, string] => {
      const to = addressOf(programHash)
      const lock = outputLock === 0 ? '' : `  locked until ${outputLock}`
      return [to === payer ? 'change' : 'pays', `${formatAmount(value)}  ${to}${lock}`]
    }),
    ...(isLocked(transaction) ? [['lock time', lockText(transaction)] satisfies [string, string]] : []),
    ['fee', fee === undefined ? 'unknown: the file does not tell what the inputs are worth' : formatAmount(fee)],
  ]
}

/** Whether the lock time of a transaction counts: not where every sequence is final. */
function isLocked({ lockTime, inputs }: Transaction): boolean {
  return lockTime > 0 && inputs.some(({ sequence }) => sequence !== finalSequence)
}

function lockText({ lockTime }: Transaction): string {
  return `not before block ${lockTime + 1}: it can be sent from height ${lockTime} on`
}

/** Signed and open keys of multisig addresses, for text output. */
function signatureRows(transaction: Transaction): [string, string][] {
  return transactionSignatures(transaction)
    .filter(({ kind }) => kind === 'multisig')
    .flatMap((program): [string, string][] => [
      ['signatures', `${program.present} of ${program.required}  ${program.address}`],
      ...program.keys.map((key, i): [string, string] => [program.signatures[i] ? 'signed' : 'open', toHex(key)]),
    ])
}

/** Outputs, fee and signatures of a transaction file, for text output. */
export function fileLines(file: TransactionFile): string[] {
  return formatTable([...transactionRows(file), ...signatureRows(file.transaction)])
}

/** Writes a transaction file, and reports that: what was done, the content, and the next step. */
export function reportFile(
  context: CliContext,
  options: OutputOptions,
  { output, file, said, next, missing }: WrittenFile,
): void {
  const words = writeText(context, output, transactionFileText(file), { mode: 0o644 })
  const signatures = signaturesJson(file.transaction)
  const json = { file: output, ...transactionFileJson(file), ...defined({ missing }), signatures }
  report(words, options, json, [said, ...fileLines(file), '', ...next])
}

interface WrittenFile {
  readonly output: string
  readonly file: TransactionFile
  readonly said: string
  readonly next: readonly string[]
  /** Addresses whose signatures are missing, in a report that tells. */
  readonly missing?: readonly string[]
}

/** Signatures of each program as JSON; keys in hex, in the order of their scripts. */
export function signaturesJson(transaction: Transaction): Record<string, unknown>[] {
  return transactionSignatures(transaction).map((program) => {
    const keys = (signed: boolean) =>
      program.keys.filter((_, i) => (program.signatures[i] !== undefined) === signed).map(toHex)
    const { address, required, present, defect } = program
    return {
      address,
      required,
      present,
      signed: keys(true),
      open: keys(false),
      ...defined({ defect }),
    }
  })
}

/** The addresses with missing signatures, for a sentence. */
export function missingText(transaction: Transaction): string {
  return incomplete(transaction).map(signatureCount).join(', ') || 'the payers'
}

/** The next step for a file that was just written, in lines. */
export function nextStep(path: string, transaction: Transaction): string[] {
  if (isSigned(transaction)) return [`Next: npx didledger wallet send ${shellWord(path)}`]
  const still = `Still to be signed by ${missingText(transaction)}.`
  return incomplete(transaction).some(({ kind }) => kind === 'multisig')
    ? [still, `Next, by the owner of an open key: npx didledger wallet sign ${shellWord(path)}`]
    : [still]
}

/**
 * The file name after `path`: with `.signed`, and while multisig signatures are missing their number, so that each owner's file
 * has its own name. What came by standard input leaves by standard output.
 */
export function signedPath(path: string, transaction: Transaction): string {
  if (path === '-') return path
  const base = path.replace(/\.[^./]*$/, '').replace(/\.signed-\d+$/, '')
  const open = incomplete(transaction).filter(({ kind }) => kind === 'multisig')
  const present = open.reduce((sum, program) => sum + program.present, 0)
  return `${base}.signed${open.length > 0 ? `-${present}` : ''}.json`
}

function incomplete(transaction: Transaction): ProgramSignatures[] {
  return transactionSignatures(transaction).filter((program) => !isComplete(program))
}
