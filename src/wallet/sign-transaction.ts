import { publicKeyOf, sign } from '../crypto/keys.js'
import { UserError } from '../errors/rule-error.js'
import type { Transaction } from '../primitives/transaction.js'
import {
  freePlace,
  holdsKey,
  isComplete,
  type ProgramSignatures,
  programSignatures,
  requireSound,
  transactionSignatures,
  withSignatures,
} from './multisig-signatures.js'

/** What {@link signTransaction} did. */
export interface SignedTransaction {
  readonly transaction: Transaction
  /** Addresses whose programs were signed now. */
  readonly signed: readonly string[]
  /** Addresses whose programs still lack signatures. */
  readonly missing: readonly string[]
}

/**
 * Signs with every one of `privateKeys` that belongs to a program and has not signed it: all programs sign the same text, the unsigned
 * part. What others signed stays. The programs of the result stand in wire order, the signatures of a multisig program in the
 * order of its keys; the txid is unchanged, for it covers none of them.
 * A {@link UserError} when none of the keys belongs to the transaction, all of them have signed, or a multisig program holds a wrong
 * signature.
 */
export function signTransaction(transaction: Transaction, privateKeys: readonly Uint8Array[]): SignedTransaction {
  const pairs = privateKeys.map((privateKey) => ({ privateKey, publicKey: publicKeyOf(privateKey) }))
  const signed: string[] = []
  const result = withSignatures(transaction, (program) => {
    const own = pairs.filter(({ publicKey }) => holdsKey(program, publicKey))
    // The one key of any other program replaces what is wrong there; of several, nobody may undo what another did.
    if (own.length > 0 && program.kind === 'multisig') requireSound(program)
    let signatures = program.signatures
    for (const { privateKey, publicKey } of own) {
      const place = freePlace({ ...program, signatures }, publicKey)
      if (place !== undefined) signatures = signatures.with(place, sign(transaction.unsigned, privateKey))
    }
    if (signatures !== program.signatures) signed.push(program.address)
    return signatures
  })
  if (signed.length === 0) {
    throw nothingToSign(
      transaction,
      pairs.map(({ publicKey }) => publicKey),
    )
  }
  return { transaction: result, signed, missing: unsignedAddresses(result) }
}

/** Whether a transaction has programs and every one of them its signatures. */
export function isSigned(transaction: Transaction): boolean {
  return transaction.programs.length > 0 && unsignedAddresses(transaction).length === 0
}

/** Addresses of the programs without enough valid signatures. */
export function unsignedAddresses({ programs, unsigned }: Transaction): string[] {
  return programs.flatMap((program) => {
    const state = programSignatures(program, unsigned)
    if (state === undefined) return ['an unknown program']
    return isComplete(state) ? [] : [state.address]
  })
}

/** An address and, where several keys own it, how far it is signed, for a message. */
export function signatureCount({ kind, address, present, required, defect }: ProgramSignatures): string {
  if (defect !== undefined) return `${address} (${defect})`
  if (kind !== 'multisig') return address
  const missing = present < required ? `, ${required - present} missing` : ''
  return `${address} (${present} of ${required} signatures${missing})`
}

function nothingToSign(transaction: Transaction, publicKeys: readonly Uint8Array[]): UserError {
  const programs = transactionSignatures(transaction)
  const done = programs.filter((program) => publicKeys.some((key) => holdsKey(program, key)))
  if (done.length > 0) return new UserError(`this wallet has signed already for ${done.map(signatureCount).join(', ')}`)
  const wanted = programs.map(signatureCount).join(', ')
  return new UserError(`this wallet holds no key of the transaction; it has to be signed by ${wanted || 'nobody'}`)
}
