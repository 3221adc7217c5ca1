import { isPublicKey } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressOf } from '../../base/primitives/address.js'
import { compareBytes, equalBytes, toHex } from '../../base/primitives/bytes.js'
import { maxMultisigKeys, multisigCode } from '../../base/primitives/program.js'
import { payerOf } from './build-transaction.js'

/** An address that several keys own together. */
export interface MultisigAccount {
  /** Begins with 8. */
  readonly address: string
  /** Number of signatures that spend from it. */
  readonly required: number
  /** 33-byte keys in the order of the script, which is also that of their signatures. */
  readonly keys: readonly Uint8Array[]
  /** The program code, for the `code` of a {@link Payment} from this address. */
  readonly code: Uint8Array
}

/**
 * The account of 1 to 16 public keys (33 bytes, compressed) of which `required` have to sign. Keys may be given in any order:
 * they are sorted by ascending X, of two with the same X the one with prefix 02 first. A key given twice counts twice. A {@link
 * UserError} for bytes that are no public key and for invalid counts.
 */
export function multisigAccount(publicKeys: readonly Uint8Array[], required: number): MultisigAccount {
  for (const key of publicKeys) {
    if (!isPublicKey(key))
      throw new UserError(
        `${key instanceof Uint8Array ? toHex(key) : String(key)} is not a compressed public key of P-256`,
      )
  }
  if (publicKeys.length < 1 || publicKeys.length > maxMultisigKeys) {
    throw new UserError(`${publicKeys.length} keys: a multisig address has 1 to ${maxMultisigKeys}`)
  }
  if (!Number.isInteger(required) || required < 1 || required > publicKeys.length) {
    throw new UserError(`${required} signatures of ${publicKeys.length} keys: it has to be 1 to ${publicKeys.length}`)
  }
  const keys = [...publicKeys].sort((a, b) => compareBytes(a.subarray(1), b.subarray(1)) || compareBytes(a, b))
  const code = multisigCode(required, keys)
  return { address: addressOf(payerOf(code)), required, keys, code }
}

/** The address of {@link multisigAccount}. */
export function multisigAddress(publicKeys: readonly Uint8Array[], required: number): string {
  return multisigAccount(publicKeys, required).address
}

/**
 * Keys whose owner counts more than once among `keys` (in script order): a key listed again, and a key with the same X as
 * another, because both have the same private key.
 */
export function repeatedKeys(keys: readonly Uint8Array[]): Uint8Array[] {
  return keys.filter((key, i) => i > 0 && equalBytes((keys[i - 1] as Uint8Array).subarray(1), key.subarray(1)))
}
