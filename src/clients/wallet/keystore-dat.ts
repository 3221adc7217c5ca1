import { createDecipheriv } from 'node:crypto'
import { isPrivateKey, publicKeyOf } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressFromPublicKey } from '../../base/primitives/address.js'
import { equalBytes, fromHex, fromUtf8 } from '../../base/primitives/bytes.js'
import { sha256, sha256d } from '../../base/primitives/hash.js'
import { parseJson } from './parse-json.js'
import { isObject } from '../../base/primitives/is-object.js'

/** Contents of a keystore.dat. */
export interface ImportedKeystore {
  /** 32 bytes each, the main account first. */
  readonly privateKeys: readonly Uint8Array[]
  /** Addresses of accounts without a private key in the file (multisig). */
  readonly skipped: readonly string[]
}

/** The one version that exists: `ela-cli` writes it as text, other programs in hex. */
const versions: readonly unknown[] = ['1.0.0', '312e302e30']
const coordinate = 32

/** Whether a parsed JSON value looks like a keystore.dat. */
export function isKeystoreDat(value: unknown): boolean {
  return isObject(value) && 'MasterKey' in value && 'PasswordHash' in value
}

/**
 * Reads the keystore.dat of the family's command-line wallet. The password's double SHA-256 opens (AES-256-CBC, no padding) a
 * master key, which opens each account's X ‖ Y ‖ private key of 32 bytes each. The file is not authenticated, so every key is
 * checked against its point and its address. A {@link UserError} describes any fault.
 */
export function readKeystoreDat(text: string, password: string): ImportedKeystore {
  const file = parseJson(text, 'the keystore.dat')
  if (!isObject(file)) throw new UserError('this file is not a keystore.dat')
  if (!versions.includes(file['Version'])) throw new UserError('this keystore.dat is not of version 1.0.0')
  const passwordHash = bytesOf(file, 'PasswordHash', 32)
  const iv = bytesOf(file, 'IV', 16)
  const sealedMasterKey = bytesOf(file, 'MasterKey', 32)
  const accounts = file['Account']
  if (!Array.isArray(accounts)) throw damaged('Account is not a list')

  const passwordKey = sha256d(fromUtf8(password))
  if (!equalBytes(sha256(passwordKey), passwordHash))
    throw new UserError('wrong password for the keystore.dat, or it was changed since it was written')
  const masterKey = decrypt(sealedMasterKey, passwordKey, iv)

  const opened: { privateKey: Uint8Array; main: boolean }[] = []
  const skipped: string[] = []
  for (const account of accounts as unknown[]) {
    if (!isObject(account) || typeof account['Address'] !== 'string') throw damaged('an account has no Address')
    const address = account['Address']
    if ((account['PrivateKeyEncrypted'] ?? '') === '') {
      skipped.push(address)
      continue
    }
    const point = decrypt(bytesOf(account, 'PrivateKeyEncrypted', 3 * coordinate), masterKey, iv)
    const privateKey = point.subarray(2 * coordinate)
    if (!isPrivateKey(privateKey)) throw damaged(`the private key of ${address}`)
    const publicKey = publicKeyOf(privateKey)
    const sameX = equalBytes(publicKey.subarray(1), point.subarray(0, coordinate))
    if (!sameX || addressFromPublicKey(publicKey) !== address) throw damaged(`the private key of ${address}`)
    opened.push({ privateKey, main: account['Type'] === 'main-account' })
  }
  const ordered = [...opened.filter(({ main }) => main), ...opened.filter(({ main }) => !main)]
  if (ordered.length === 0) throw new UserError('the keystore.dat holds no private key')
  return { privateKeys: ordered.map(({ privateKey }) => privateKey), skipped }
}

function decrypt(bytes: Uint8Array, key: Uint8Array, iv: Uint8Array): Uint8Array {
  const decipher = createDecipheriv('aes-256-cbc', key, iv).setAutoPadding(false)
  return Buffer.concat([decipher.update(bytes), decipher.final()])
}

function bytesOf(object: Record<string, unknown>, member: string, length: number): Uint8Array {
  const value = object[member]
  const bytes = typeof value === 'string' ? fromHex(value) : undefined
  if (bytes?.length !== length) throw damaged(`${member} is not ${length} bytes in hex`)
  return bytes
}

function damaged(reason: string): UserError {
  return new UserError(`the keystore.dat is damaged: ${reason}`)
}
