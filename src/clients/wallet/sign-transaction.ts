import { publicKeyOf, sign } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import type { Transaction } from '../../base/primitives/transaction.js'
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

/** Result of {@link signTransaction}. */
export interface SignedTransaction {
  readonly transaction: Transaction
  /** Addresses whose programs were signed by this call. */
  readonly signed: readonly string[]
  /** Addresses whose programs still lack signatures. */
  readonly missing: readonly string[]
}

/**
 * Signs with all `privateKeys` that belong to a program and have not signed it: all programs sign the same text, the unsigned
 * part. Other signatures stay. The result has programs in wire order and multisig signatures in the order of the keys; the txid
 * covers neither and stays.
 * A {@link UserError} if no key belongs to the transaction, all of them have signed, or a multisig program holds an invalid
 * signature.
 */
export function signTransaction(transaction: Transaction, privateKeys: readonly Uint8Array[]): SignedTransaction {
  const pairs = privateKeys.map((privateKey) => ({ privateKey, publicKey: publicKeyOf(privateKey) }))
  const signed: string[] = []
  const result = withSignatures(transaction, (program) => {
    const own = pairs.filter(({ publicKey }) => holdsKey(program, publicKey))
    // A single key may replace an invalid signature; in a multisig program that would remove another owner's.
    if (own.length > 0 && program.kind === 'multisig') requireSound(program)
    let signatures = program.signatures
    for (const { privateKey, publicKey } of own) {
      const slot = freePlace({ ...program, signatures }, publicKey)
      if (slot !== undefined) signatures = signatures.with(slot, sign(transaction.unsigned, privateKey))
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

/** Whether a transaction has programs, all with their signatures. */
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

/** An address and, for a multisig address, its signature count, for a message. */
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
