import { generatePrivateKey, isPrivateKey, publicKeyOf } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { fromHex, toHex } from '../../base/primitives/bytes.js'
import { hexFault } from '../../base/primitives/hex-fault.js'
import type { Random } from '../../base/runtime/env.js'
import type { KeyPair } from '../../clients/wallet/accounts.js'
import { readSecretFile, writeFileAtomically } from '../../clients/wallet/files.js'

/**
 * The private key in a file of 64 hex digits. Any other content, or a file that other users may read (checked where the system
 * can), is a {@link UserError}.
 */
export function readValidatorKey(path: string): KeyPair {
  const text = readSecretFile(path, 'validator key')
  const privateKey = fromHex(text.trim())
  if (privateKey === undefined || !isPrivateKey(privateKey)) {
    const why = hexFault(text.trim(), 32) ?? 'it is 0, or not below the order of the curve'
    throw new UserError(`${path} holds no validator key, one private key of P-256 in 64 hex digits: ${why}`)
  }
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

/** Writes a key to a new file that only its owner may read; an existing file is an error. */
export function writeValidatorKey(path: string, privateKey: Uint8Array): void {
  writeFileAtomically(path, `${toHex(privateKey)}\n`, { mode: 0o600 })
}

export function newValidatorKey(random: Random): KeyPair {
  const privateKey = generatePrivateKey(random)
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}
