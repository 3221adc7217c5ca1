import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isMnemonic } from '../../base/crypto/hd.js'
import { isPrivateKey } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { concat, equalBytes, fromHex, fromUtf8, hex, toHex } from '../../base/primitives/bytes.js'
import type { Random } from '../../base/runtime/env.js'
import { type Account, accountOf, accountSource, type WalletSecret } from './accounts.js'
import { readTextFile, writeFileAtomically } from './files.js'
import { parseJson } from './parse-json.js'

/**
 * The keystore file (version 1) is JSON with exactly the members that {@link createKeystore} writes: a plaintext head, then the
 * secret. The key is scrypt of the password; the secret is sealed with AES-256-GCM, which authenticates the head as well.
 * Case of hex digits is fixed, so that a change of any member is detected; whitespace and the order of members mean nothing.
 *
 * - kdf: scrypt with N = 2^17, r = 8, p = 1 (128 MiB, about a third of a second) and 32 bytes of salt
 * - cipher: AES-256-GCM, 12 bytes of iv, 16 bytes of tag; additional data: the JSON of the head without spaces
 * - secret: the UTF-8 text of the mnemonic, or the private keys, 32 bytes each
 */
export interface Keystore {
  readonly head: KeystoreHead
  readonly ciphertext: Uint8Array
  readonly tag: Uint8Array
}

interface KeystoreHead {
  readonly format: typeof format
  readonly version: 1
  readonly kind: WalletSecret['kind']
  /** Addresses and public keys by account index, so that a balance or an unsigned transaction needs no password. */
  readonly accounts: readonly { readonly address: string; readonly publicKey: string }[]
  readonly kdf: { readonly name: 'scrypt'; readonly salt: string } & ScryptCost
  readonly cipher: { readonly name: 'aes-256-gcm'; readonly iv: string }
}

/** The cost of guessing one password. */
export interface ScryptCost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** A function from password, salt and cost to a key of 32 bytes. */
export type DeriveKey = (password: string, salt: Uint8Array, cost: ScryptCost) => Uint8Array

export const scryptCost: ScryptCost = { N: 2 ** 17, r: 8, p: 1 }

/** Maximum cost that is accepted: a damaged file must not take all memory. */
const costLimit: ScryptCost = {
  /** @limit number: scrypt N of a keystore that is opened */
  N: 2 ** 20,
  /** @limit number: scrypt r of a keystore that is opened */
  r: 16,
  /** @limit number: scrypt p of a keystore that is opened */
  p: 4,
}

const format = 'didledger-keystore'
const saltLength = 32
const ivLength = 12
const tagLength = 16

/** The key of a keystore: scrypt of the NFC form of the password, 32 bytes. */
export const scryptKey: DeriveKey = (password, salt, { N, r, p }) =>
  scryptSync(password.normalize('NFC'), salt, 32, { N, r, p, maxmem: 256 * N * r })

/** Seals a secret. The first `count` accounts (all of the imported keys) can then be listed without the password. */
export function createKeystore(
  secret: WalletSecret,
  password: string,
  random: Random,
  options: { count?: number; cost?: ScryptCost; deriveKey?: DeriveKey } = {},
): Keystore {
  if (password === '') throw new UserError('the password must not be empty')
  const { count = 1, cost = scryptCost, deriveKey = scryptKey } = options
  const account = accountSource(secret)
  const length = secret.kind === 'keys' ? secret.privateKeys.length : count
  const salt = random.bytes(saltLength)
  const iv = random.bytes(ivLength)
  const head: KeystoreHead = {
    format,
    version: 1,
    kind: secret.kind,
    accounts: Array.from({ length }, (_, index) => {
      const { address, publicKey } = account(index)
      return { address, publicKey: toHex(publicKey) }
    }),
    kdf: { name: 'scrypt', N: cost.N, r: cost.r, p: cost.p, salt: toHex(salt) },
    cipher: { name: 'aes-256-gcm', iv: toHex(iv) },
  }
  const cipher = createCipheriv('aes-256-gcm', deriveKey(password, salt, cost), iv)
  cipher.setAAD(fromUtf8(JSON.stringify(head)))
  const ciphertext = concat(cipher.update(secretBytes(secret)), cipher.final())
  return { head, ciphertext, tag: cipher.getAuthTag() }
}

/** The text of a keystore file. */
export function formatKeystore({ head, ciphertext, tag }: Keystore): string {
  return `${JSON.stringify({ ...head, ciphertext: toHex(ciphertext), tag: toHex(tag) }, null, 2)}\n`
}

/** Reads the members that {@link formatKeystore} wrote, laid out anyhow; a {@link UserError} for any others. */
export function parseKeystore(text: string): Keystore {
  const damaged = (reason: string) => new UserError(`the keystore is damaged: ${reason}`)
  const file = parseJson(text, 'the keystore') as (KeystoreHead & { ciphertext: string; tag: string }) | null
  if (file?.format !== format) throw new UserError('this file is not a didledger keystore')
  if (file.version !== 1) {
    throw new UserError(`this keystore has version ${String(file.version)}; this program reads version 1`)
  }
  const { kind, accounts, kdf, cipher } = file
  if (kind !== 'mnemonic' && kind !== 'keys') throw damaged('kind')
  if (!Array.isArray(accounts) || accounts.length === 0) throw damaged('accounts')
  for (const account of accounts) {
    const publicKey = typeof account?.publicKey === 'string' ? fromHex(account.publicKey) : undefined
    const compressed = publicKey?.length === 33 && (publicKey[0] === 2 || publicKey[0] === 3)
    if (!compressed || accountOf(publicKey, 0).address !== account.address) throw damaged('accounts')
  }
  if (kdf?.name !== 'scrypt' || cipher?.name !== 'aes-256-gcm') throw damaged('kdf or cipher')
  if (!isCost(kdf.N, costLimit.N) || (kdf.N & (kdf.N - 1)) !== 0 || kdf.N < 2) throw damaged('kdf.N')
  if (!isCost(kdf.r, costLimit.r) || !isCost(kdf.p, costLimit.p)) throw damaged('kdf')
  requireBytes(kdf.salt, saltLength, 'kdf.salt')
  requireBytes(cipher.iv, ivLength, 'cipher.iv')
  requireBytes(file.tag, tagLength, 'tag')
  requireBytes(file.ciphertext, undefined, 'ciphertext')
  const keystore: Keystore = {
    head: {
      format,
      version: 1,
      kind,
      accounts: accounts.map(({ address, publicKey }) => ({ address, publicKey })),
      kdf: { name: 'scrypt', N: kdf.N, r: kdf.r, p: kdf.p, salt: kdf.salt },
      cipher: { name: 'aes-256-gcm', iv: cipher.iv },
    },
    ciphertext: hex(file.ciphertext),
    tag: hex(file.tag),
  }
  if (!isDeepStrictEqual(JSON.parse(formatKeystore(keystore)), file)) throw damaged('it was edited')
  return keystore

  function requireBytes(value: unknown, length: number | undefined, member: string): void {
    const bytes = typeof value === 'string' ? fromHex(value) : undefined
    if (bytes === undefined || (length !== undefined && bytes.length !== length)) throw damaged(member)
  }
}

function isCost(value: unknown, limit: number): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= limit
}

/** The secret of a keystore; a {@link UserError} for a wrong password or a changed byte of the file. */
export function openKeystore(keystore: Keystore, password: string, deriveKey: DeriveKey = scryptKey): WalletSecret {
  const { head, ciphertext, tag } = keystore
  const key = deriveKey(password, hex(head.kdf.salt), head.kdf)
  const decipher = createDecipheriv('aes-256-gcm', key, hex(head.cipher.iv), { authTagLength: tagLength })
  decipher.setAAD(fromUtf8(JSON.stringify(head)))
  decipher.setAuthTag(tag)
  let bytes: Uint8Array
  try {
    bytes = concat(decipher.update(ciphertext), decipher.final())
  } catch {
    throw new UserError('wrong password, or the keystore was changed since it was written')
  }
  const secret = secretOf(head.kind, bytes)
  if (secret === undefined) throw new UserError('the keystore holds no mnemonic or private keys')
  return secret
}

/** The accounts that a keystore lists without its password. */
export function keystoreAccounts({ head }: Keystore): Account[] {
  return head.accounts.map(({ publicKey }, index) => accountOf(hex(publicKey), index))
}

/** Reads a keystore file. */
export function readKeystore(path: string): Keystore {
  return parseKeystore(readTextFile(path, 'keystore'))
}

/** Writes a keystore file that only its owner may read. An existing file is replaced only with `replace`. */
export function writeKeystore(path: string, keystore: Keystore, options: { replace?: boolean } = {}): void {
  writeFileAtomically(path, formatKeystore(keystore), { mode: 0o600, ...options })
}

function secretBytes(secret: WalletSecret): Uint8Array {
  return secret.kind === 'mnemonic' ? fromUtf8(secret.mnemonic) : concat(...secret.privateKeys)
}

function secretOf(kind: WalletSecret['kind'], bytes: Uint8Array): WalletSecret | undefined {
  if (kind === 'mnemonic') {
    const mnemonic = new TextDecoder().decode(bytes)
    return isMnemonic(mnemonic) ? { kind, mnemonic } : undefined
  }
  const privateKeys = Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(32 * i, 32 * i + 32))
  const whole = bytes.length > 0 && equalBytes(concat(...privateKeys), bytes)
  return whole && privateKeys.every(isPrivateKey) ? { kind, privateKeys } : undefined
}
