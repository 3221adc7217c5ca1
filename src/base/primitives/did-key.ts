import { addressOf, prefix, type ProgramHash, sharedAddress } from './address.js'
import { InvariantError } from '../errors/rule-error.js'
import { allocate, fromUtf8 } from './bytes.js'
import { didMethod } from './did-method.js'
import { isDidName } from './did-name.js'
import { sha256 } from './hash.js'

/**
 * The 21 bytes by which rows and shards know a DID, and the identifier that they stand for (format 4.5). That of a key is its program
 * hash. That of a name is a prefix that no program has, and the characters of the name as digits: nothing has to be looked up to
 * have the name back. Of a name with more characters than that it is another prefix and a hash; the name is in the operations of the DID.
 */

/** Characters of a name that 20 bytes hold. */
const digitsOfName = 30
/** Digit 0 stands behind the last character. */
const digits = ' abcdefghijklmnopqrstuvwxyz0123456789._-'
const base = BigInt(digits.length)

/** The key of the DID with an identifier, whose bytes are not to be changed; undefined for one that no DID can have. */
export function keyOfIdentifier(identifier: string): ProgramHash | undefined {
  if (isDidName(identifier)) return identifier.length > digitsOfName ? keyOfLongName(identifier) : keyOfName(identifier)
  const hash = sharedAddress(identifier)
  return hash?.[0] === prefix.did ? hash : undefined
}

/** Whether a key is that of a name which it does not hold: `didText` of the rows finds it. */
export function isOfLongName(key: ProgramHash): boolean {
  return key[0] === prefix.didLongName
}

/** The identifier of the DID with a key, which is not that of a long name. */
export function identifierOfKey(key: ProgramHash): string {
  if (isOfLongName(key)) throw new InvariantError('the key of a long name does not hold it')
  return key[0] === prefix.didName ? nameOfKey(key) : addressOf(key)
}

/** The full text of the DID with a key, which is not that of a long name. */
export function didOfKey(key: ProgramHash): string {
  return didOf(identifierOfKey(key))
}

/** The full text of the DID with an identifier. */
export function didOf(identifier: string): string {
  return `did:${didMethod}:${identifier}`
}

function keyOfLongName(name: string): ProgramHash {
  const key = allocate(21)
  key[0] = prefix.didLongName
  key.set(sha256(fromUtf8(name)).subarray(0, 20), 1)
  return key
}

function keyOfName(name: string): ProgramHash {
  let value = 0n
  for (let i = 0; i < digitsOfName; i++) value = value * base + BigInt(digits.indexOf(name[i] ?? ' '))
  const key = allocate(21)
  for (let i = 20; i > 0; i--, value >>= 8n) key[i] = Number(value & 0xffn)
  key[0] = prefix.didName
  return key
}

function nameOfKey(key: ProgramHash): string {
  let value = key.subarray(1).reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n)
  let name = ''
  for (let i = 0; i < digitsOfName; i++, value /= base) name = (digits[Number(value % base)] as string) + name
  return name.trimEnd()
}
