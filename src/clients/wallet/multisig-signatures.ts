import { verify } from '../../base/crypto/verify.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressOf } from '../../base/primitives/address.js'
import { compareBytes, equalBytes, toHex } from '../../base/primitives/bytes.js'
import {
  parameterOf,
  parseCode,
  parseSignatures,
  type Program,
  programHashOf,
  type ProgramScript,
  sortPrograms,
} from '../../base/primitives/program.js'
import { Transaction } from '../../base/primitives/transaction.js'

/** For each key of a script, in its order, its valid signature if there is one. */
export type Signatures = readonly (Uint8Array | undefined)[]

/** Signing state of a program. */
export interface ProgramSignatures extends ProgramScript {
  readonly address: string
  readonly signatures: Signatures
  /** Number of valid signatures. */
  readonly present: number
  /** Why the parameter as a whole is invalid; undefined if it is empty or holds only valid signatures. */
  readonly defect: string | undefined
}

/**
 * The signatures of a program over `message`, the unsigned part of its transaction. As on the chain, each in order belongs to the
 * first unused key under which it verifies. Undefined for a code of no accepted form.
 */
export function programSignatures({ code, parameter }: Program, message: Uint8Array): ProgramSignatures | undefined {
  const script = parseCode(code)
  if (script === undefined) return undefined
  const { keys } = script
  const signatures: (Uint8Array | undefined)[] = keys.map(() => undefined)
  const found = parseSignatures(parameter)
  let defect: string | undefined
  if (found === undefined) defect = 'its parameter is no list of signatures'
  else if (found.length > keys.length) defect = `it has ${found.length} signatures for ${keys.length} keys`
  else {
    for (const [i, signature] of found.entries()) {
      const slot = keys.findIndex((key, k) => signatures[k] === undefined && verify(key, message, signature))
      if (slot >= 0) signatures[slot] = signature
      else defect ??= `signature ${i + 1} is by none of its keys, or by one that has signed before`
    }
  }
  return {
    ...script,
    address: addressOf(programHashOf(code, script)),
    signatures,
    present: signatures.filter((signature) => signature !== undefined).length,
    defect,
  }
}

/** The signing state of each program of a transaction, in order; programs of no accepted form are left out. */
export function transactionSignatures({ programs, unsigned }: Transaction): ProgramSignatures[] {
  return programs.flatMap((program) => programSignatures(program, unsigned) ?? [])
}

/** Whether the chain accepts the signatures of a program. */
export function isComplete({ present, required, defect }: ProgramSignatures): boolean {
  return defect === undefined && present >= required
}

/** A {@link UserError} if a program holds anything but valid signatures. */
export function requireSound({ address, defect }: ProgramSignatures): void {
  if (defect !== undefined) {
    throw new UserError(`the signatures of ${address} are not right: ${defect}; go back to the file that was right`)
  }
}

/** The index at which a key can still sign: a key listed twice has two. Undefined if the key has signed or is not listed. */
export function freePlace({ keys, signatures }: ProgramSignatures, publicKey: Uint8Array): number | undefined {
  const slot = keys.findIndex((key, i) => signatures[i] === undefined && equalBytes(key, publicKey))
  return slot < 0 ? undefined : slot
}

/** Whether a key is one of a script. */
export function holdsKey({ keys }: Pick<ProgramScript, 'keys'>, publicKey: Uint8Array): boolean {
  return keys.some((key) => equalBytes(key, publicKey))
}

/**
 * The transaction with the signatures that `change` returns for each of its programs, in the order of the keys: the same
 * signatures give the same bytes, in whatever order they were made. Programs are put in wire order; the txid covers none of this.
 */
export function withSignatures(
  transaction: Transaction,
  change: (program: ProgramSignatures) => Signatures,
): Transaction {
  const programs = transaction.programs.map((program): Program => {
    const state = programSignatures(program, transaction.unsigned)
    if (state === undefined) return program
    const signatures = change(state)
    // An unchanged program keeps its bytes, valid or not.
    if (signatures === state.signatures) return program
    return { code: program.code, parameter: parameterOf(signatures.filter((signature) => signature !== undefined)) }
  })
  const { version, payloadVersion, payload, attributes, inputs, outputs, lockTime } = transaction
  const fields = { version, payloadVersion, payload, attributes, inputs, outputs, lockTime }
  return new Transaction({ ...fields, programs: sortPrograms(programs) })
}

/**
 * Adds a signature (64 bytes, over `transaction.unsigned`) from elsewhere to every program that has this key. A {@link UserError}
 * if it does not verify, no program has the key, the key has signed, or a program holds an invalid signature.
 */
export function addSignature(transaction: Transaction, publicKey: Uint8Array, signature: Uint8Array): Transaction {
  if (!verify(publicKey, transaction.unsigned, signature)) {
    throw new UserError(`this is no signature of ${toHex(publicKey)} for transaction ${transaction.txid}`)
  }
  const listing = transactionSignatures(transaction).filter((program) => holdsKey(program, publicKey))
  if (listing.length === 0) throw new UserError(`${toHex(publicKey)} is no key of transaction ${transaction.txid}`)
  listing.forEach(requireSound)
  if (listing.every((program) => freePlace(program, publicKey) === undefined)) {
    throw new UserError(`${toHex(publicKey)} has signed transaction ${transaction.txid} already`)
  }
  return withSignatures(transaction, (program) => {
    const slot = freePlace(program, publicKey)
    return slot === undefined ? program.signatures : program.signatures.with(slot, signature)
  })
}

/**
 * Merges the signatures of transactions that differ in nothing else; the result does not depend on their order. A {@link
 * UserError} names by `names` a different transaction, other programs, or an invalid signature.
 */
export function combineSignatures(
  transactions: readonly Transaction[],
  names: readonly string[] = transactions.map((_, i) => `transaction ${i + 1}`),
): Transaction {
  const [first, ...others] = transactions.map((transaction, i) => soundPrograms(transaction, names[i] ?? ''))
  if (first === undefined) throw new UserError('there is nothing to combine')
  for (const other of others) {
    if (other.transaction.txid !== first.transaction.txid) {
      throw new UserError(
        `${other.name} is another transaction, ${other.transaction.txid}, than ${first.name}, ${first.transaction.txid}`,
      )
    }
    if ([...other.programs.keys()].sort().join() !== [...first.programs.keys()].sort().join()) {
      throw new UserError(`${other.name} has other programs than ${first.name}`)
    }
  }
  return withSignatures(first.transaction, ({ address, signatures }) =>
    signatures.map((signature, slot) =>
      others
        .map(({ programs }) => programs.get(address)?.signatures[slot])
        .reduce((best, candidate) => lesser(best, candidate), signature),
    ),
  )
}

/** The programs of a transaction by their addresses. */
function soundPrograms(transaction: Transaction, name: string) {
  const states = transactionSignatures(transaction)
  if (states.length < transaction.programs.length) throw new UserError(`${name} has a program of no accepted form`)
  const wrong = states.find(({ defect }) => defect !== undefined)
  if (wrong !== undefined)
    throw new UserError(`${name}: the signatures of ${wrong.address} are not right: ${wrong.defect}`)
  return { transaction, name, programs: new Map(states.map((state) => [state.address, state])) }
}

/** A key may have made several signatures: the choice must not depend on the order of the files. */
function lesser(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return compareBytes(a, b) <= 0 ? a : b
}
