import { readPrivateKey } from '../../base/crypto/key-forms.js'
import { generatePrivateKey, publicKeyOf } from '../../base/crypto/keys.js'
import { toHex } from '../../base/primitives/bytes.js'
import type { Random } from '../../base/runtime/env.js'
import type { KeyPair } from '../../clients/wallet/accounts.js'
import { readPrivateKeyFile, writeFileAtomically } from '../../clients/wallet/files.js'

/**
 * The private key in a file: 64 hex digits, or another form in which keys are read. Any other content, or a file that other users may read
 * (checked where the system can), is a {@link UserError}.
 */
export function readValidatorKey(path: string): KeyPair {
  const privateKey = readPrivateKey(readPrivateKeyFile(path, 'validator key'), `the validator key in ${path}`)
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

/** Writes a key to a new file that only its owner may read; an existing file is an error. */
export function writeValidatorKey(path: string, privateKey: Uint8Array): void {
  writeFileAtomically(path, validatorKeyText(privateKey), { mode: 0o600 })
}

/** The text of a file with a validator key. */
export function validatorKeyText(privateKey: Uint8Array): string {
  return `${toHex(privateKey)}\n`
}

export function newValidatorKey(random: Random): KeyPair {
  const privateKey = generatePrivateKey(random)
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}
