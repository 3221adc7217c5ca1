import { p256 } from '@noble/curves/nist.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { entropyToMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { concat, fromUtf8, hex, toHex } from '../primitives/bytes.js'
import { writtenWords } from '../primitives/written-words.js'
import type { Random } from '../runtime/env.js'
import { nodeCrypto } from '../runtime/node-crypto.js'
import { isPrivateKey, publicKeyOf } from './keys.js'

const hardened = 0x80000000
/** Rounds of PBKDF2 by BIP39. */
const seedRounds = 2048

interface ExtendedKey {
  readonly privateKey: Uint8Array
  readonly chainCode: Uint8Array
}

/** A new English BIP39 mnemonic of 12 words (128 bits of entropy) or 24 (256 bits). */
export function generateMnemonic(random: Random, words: 12 | 24 = 12): string {
  return entropyToMnemonic(random.bytes(words === 12 ? 16 : 32), wordlist)
}

/** A mnemonic as its seed is made from it: in NFKD, as BIP39 has it, in lowercase, with single spaces, without numbers and signs. */
export function plainMnemonic(text: string): string {
  return writtenWords(String(text).normalize('NFKD').toLowerCase()).join(' ')
}

/** Whether `text` is an English BIP39 mnemonic with a right checksum; case, blanks, numbers and signs do not matter. */
export function isMnemonic(text: string): boolean {
  return validateMnemonic(plainMnemonic(text), wordlist)
}

/** The fault that keeps a text from being a mnemonic, without showing a word of it; undefined where it is one. */
export function mnemonicFault(text: string): string | undefined {
  if (isMnemonic(text)) return undefined
  const words = writtenWords(plainMnemonic(text))
  if (![12, 15, 18, 21, 24].includes(words.length)) {
    return `it has ${words.length} ${words.length === 1 ? 'word' : 'words'}, where 12, 15, 18, 21 or 24 are needed`
  }
  const unknown = words.findIndex((word) => !wordlist.includes(word))
  if (unknown >= 0) return `word ${unknown + 1} is not in the English list of BIP39`
  return 'its checksum is wrong: words or their order are not those written down'
}

/** The 64-byte BIP39 seed of a mnemonic; undefined for an invalid one. Takes a millisecond, in a web page some hundred. */
export function seedOf(mnemonic: string, passphrase = ''): Uint8Array | undefined {
  if (!isMnemonic(mnemonic)) return undefined
  const words = plainMnemonic(mnemonic)
  if (nodeCrypto === undefined) return mnemonicToSeedSync(words, passphrase)
  const salt = `mnemonic${passphrase.normalize('NFKD')}`
  return new Uint8Array(nodeCrypto.pbkdf2Sync(words, salt, seedRounds, 64, 'sha512'))
}

/** The path that the keys of a wallet or identity are below. */
export const keyFolder = "m/44'/0'/0'/0"

/** The path of a wallet's or identity's key number `index`. */
export function keyPath(index: number): string {
  return `${keyFolder}/${index}`
}

/**
 * The 32-byte private key at a path such as m/44'/0'/0'/0/0 (hardened: ', h or H) below a BIP39 seed: BIP32 with its HMAC key
 * "Bitcoin seed", the arithmetic modulo the order of P-256. Undefined for a malformed path, and for the one path in
 * 2^32 that has no key.
 */
export function keyFromSeed(seed: Uint8Array, path: string): Uint8Array | undefined {
  return extendedAt(seed, path)?.privateKey
}

/**
 * {@link keyFromSeed} of the children of a path, those at `path/index`. The parent is derived once, so each further key costs one
 * HMAC.
 */
export function childKeys(seed: Uint8Array, path: string): (index: number) => Uint8Array | undefined {
  const parent = extendedAt(seed, path)
  if (parent === undefined) return () => undefined
  const publicKey = publicKeyOf(parent.privateKey)
  return (index) => {
    const isIndex = Number.isInteger(index) && index >= 0 && index < hardened
    return isIndex ? childOf(parent, publicKey, index)?.privateKey : undefined
  }
}

function extendedAt(seed: Uint8Array, path: string): ExtendedKey | undefined {
  const indices = parsePath(path)
  if (indices === undefined) return undefined
  let key = extendedKey(fromUtf8('Bitcoin seed'), seed, 0n)
  for (const index of indices) {
    if (key === undefined) return undefined
    key = child(key, index)
  }
  return key
}

/** {@link keyFromSeed} of a mnemonic without a passphrase; undefined also for an invalid mnemonic. */
export function deriveKey(mnemonic: string, path: string): Uint8Array | undefined {
  const seed = seedOf(mnemonic)
  return seed && keyFromSeed(seed, path)
}

function child(parent: ExtendedKey, index: number): ExtendedKey | undefined {
  const { privateKey } = parent
  return childOf(parent, index >= hardened ? concat(Uint8Array.of(0), privateKey) : publicKeyOf(privateKey), index)
}

/** `parent`: what the child is made from, 33 bytes. */
function childOf({ privateKey, chainCode }: ExtendedKey, parent: Uint8Array, index: number): ExtendedKey | undefined {
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, index)
  return extendedKey(chainCode, concat(parent, number), BigInt(`0x${toHex(privateKey)}`))
}

/** One BIP32 step: the left half of the HMAC plus `add` is the key, the right half its chain code. */
function extendedKey(hmacKey: Uint8Array, data: Uint8Array, add: bigint): ExtendedKey | undefined {
  const digest = hmacSha512(hmacKey, data)
  const left = BigInt(`0x${toHex(digest.subarray(0, 32))}`)
  const order = p256.Point.Fn.ORDER
  const privateKey = hex(((left + add) % order).toString(16).padStart(64, '0'))
  return left < order && isPrivateKey(privateKey) ? { privateKey, chainCode: digest.subarray(32) } : undefined
}

function hmacSha512(key: Uint8Array, data: Uint8Array): Uint8Array {
  if (nodeCrypto === undefined) return hmac(sha512, key, data)
  return new Uint8Array(nodeCrypto.createHmac('sha512', key).update(data).digest())
}

function parsePath(path: string): number[] | undefined {
  if (!/^m(\/(0|[1-9][0-9]{0,9})['hH]?)*$/.test(path)) return undefined
  const indices = path
    .split('/')
    .slice(1)
    .map((step) => ({ index: Number.parseInt(step, 10), offset: /[0-9]$/.test(step) ? 0 : hardened }))
  if (indices.some(({ index }) => index >= hardened)) return undefined
  return indices.map(({ index, offset }) => index + offset)
}
