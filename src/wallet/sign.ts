import { publicKeyOf, sign } from '../crypto/keys.js'
import { holds } from '../crypto/verify.js'
import { UserError } from '../errors.js'
import { addressOf } from '../primitives/address.js'
import { equalBytes } from '../primitives/bytes.js'
import {
  parameterOf,
  parseCode,
  parseParameter,
  type Program,
  programHashOf,
  sortPrograms,
} from '../primitives/program.js'
import { Transaction } from '../primitives/transaction.js'

/** What {@link signTransaction} did. */
export interface SignedTransaction {
  readonly transaction: Transaction
  /** Addresses whose programs were signed now. */
  readonly signed: readonly string[]
  /** Addresses whose programs still lack signatures. */
  readonly missing: readonly string[]
}

/**
 * Signs every one-key program whose key is among `privateKeys`: all programs sign the same text, the unsigned part. Programs of other
 * keys keep what they have. The programs of the result stand in wire order; the txid is unchanged, for it covers none of them.
 * A {@link UserError} when none of the keys belongs to the transaction.
 */
export function signTransaction(transaction: Transaction, privateKeys: readonly Uint8Array[]): SignedTransaction {
  const pairs = privateKeys.map((privateKey) => ({ privateKey, publicKey: publicKeyOf(privateKey) }))
  const signed: string[] = []
  const programs = transaction.programs.map((program): Program => {
    const script = parseCode(program.code)
    if (script === undefined || script.kind === 'multisig') return program
    const pair = pairs.find(({ publicKey }) => equalBytes(publicKey, script.keys[0] as Uint8Array))
    if (pair === undefined) return program
    signed.push(programAddress(program))
    return { code: program.code, parameter: parameterOf([sign(transaction.unsigned, pair.privateKey)]) }
  })
  if (signed.length === 0) {
    const wanted = transaction.programs.map(programAddress).join(', ')
    throw new UserError(`this wallet holds no key of the transaction; it has to be signed by ${wanted || 'nobody'}`)
  }
  const result = new Transaction({ ...fieldsOf(transaction), programs: sortPrograms(programs) })
  return { transaction: result, signed, missing: unsignedAddresses(result) }
}

/** Whether a transaction has programs and every one of them its signatures. */
export function isSigned(transaction: Transaction): boolean {
  return transaction.programs.length > 0 && unsignedAddresses(transaction).length === 0
}

/** Addresses of the programs without enough valid signatures. */
export function unsignedAddresses(transaction: Transaction): string[] {
  return transaction.programs.filter((program) => !programHolds(program, transaction.unsigned)).map(programAddress)
}

function programHolds(program: Program, message: Uint8Array): boolean {
  const script = parseCode(program.code)
  const signatures = script && parseParameter(program.parameter, script)
  return script !== undefined && signatures !== undefined && holds({ message, keys: script.keys, signatures })
}

function programAddress({ code }: Program): string {
  const script = parseCode(code)
  return script === undefined ? 'an unknown program' : addressOf(programHashOf(code, script))
}

function fieldsOf(transaction: Transaction) {
  const { version, payloadVersion, payload, attributes, inputs, outputs, lockTime } = transaction
  return { version, payloadVersion, payload, attributes, inputs, outputs, lockTime }
}
