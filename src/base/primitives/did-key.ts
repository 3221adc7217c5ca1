import { addressOf, prefix, type ProgramHash, sharedAddress } from './address.js'
import { allocate } from './bytes.js'
import { didMethod } from './did-method.js'
import { isDidName, longestName } from './did-name.js'

/**
 * The 21 bytes by which rows and shards know a DID, and the identifier that they stand for (format 4.5). That of a key is its program
 * hash. That of a name is a prefix that no program has, and the characters of the name as digits: nothing has to be looked up to
 * have the name back.
 */

/** Digit 0 stands behind the last character. */
const digits = ' abcdefghijklmnopqrstuvwxyz0123456789._-'
const base = BigInt(digits.length)

/** The key of the DID with an identifier, whose bytes are not to be changed; undefined for one that no DID can have. */
export function keyOfIdentifier(identifier: string): ProgramHash | undefined {
  if (isDidName(identifier)) return keyOfName(identifier)
  const hash = sharedAddress(identifier)
  return hash?.[0] === prefix.did ? hash : undefined
}

/** The identifier of the DID with a key. */
export function identifierOfKey(key: ProgramHash): string {
  return key[0] === prefix.didName ? nameOfKey(key) : addressOf(key)
}

/** The full text of the DID with a key. */
export function didOfKey(key: ProgramHash): string {
  return `did:${didMethod}:${identifierOfKey(key)}`
}

function keyOfName(name: string): ProgramHash {
  let value = 0n
  for (let i = 0; i < longestName; i++) value = value * base + BigInt(digits.indexOf(name[i] ?? ' '))
  const key = allocate(21)
  for (let i = 20; i > 0; i--, value >>= 8n) key[i] = Number(value & 0xffn)
  key[0] = prefix.didName
  return key
}

function nameOfKey(key: ProgramHash): string {
  let value = key.subarray(1).reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n)
  let name = ''
  for (let i = 0; i < longestName; i++, value /= base) name = (digits[Number(value % base)] as string) + name
  return name.trimEnd()
}
