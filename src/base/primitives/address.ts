import bs58 from 'bs58'
import { allocate, compareBytes, concat, ownText } from './bytes.js'
import { hash160, sha256d } from './hash.js'
import { isCompressed } from './p256.js'

/** 21 bytes: a prefix for the kind of program, then hash160 of the program code (format 4.1). */
export type ProgramHash = Uint8Array

/** Address prefixes (format 4.2). */
export const prefix = {
  standard: 0x21,
  multisig: 0x12,
  crossChain: 0x4b,
  deposit: 0x1f,
  did: 0x67,
  /** No program has it, so that nothing can be paid to it. */
  didName: 0x6e,
  /** As little; behind it stands a hash of the name. */
  didLongName: 0x6f,
  stake: 0x3f,
} as const

/** The last byte of a program code selects how it is checked (format 4.2). */
export const trailer = { standard: 0xac, did: 0xad, multisig: 0xae, crossChain: 0xaf } as const

export function programHash(prefixByte: number, code: Uint8Array): ProgramHash {
  const hash = allocate(21)
  hash[0] = prefixByte
  hash.set(hash160(code), 1)
  return hash
}

/** Base58check text of a program hash: 34 characters for every prefix in use. */
export function addressOf(hash: ProgramHash): string {
  return bs58.encode(concat(hash, sha256d(hash).subarray(0, 4)))
}

/**
 * The program hash of an address; undefined unless the text is 34 characters of base58 with a right checksum.
 * The shorter address of the zero hash is printed but never parsed.
 */
export function parseAddress(text: string): ProgramHash | undefined {
  // Callers may ignore types.
  if (typeof text !== 'string' || text.length !== 34) return undefined
  const bytes = bs58.decodeUnsafe(text)
  if (bytes?.length !== 25) return undefined
  const hash = bytes.subarray(0, 21)
  return compareBytes(sha256d(hash).subarray(0, 4), bytes.subarray(21)) === 0 ? hash : undefined
}

/** Latest results of {@link sharedAddress}. Emptied when it is full. */
const known = new Map<string, ProgramHash>()
const knownAtMost = 4096

/** {@link parseAddress} for those who do not change the bytes: operations and blocks name the same DIDs again and again. */
export function sharedAddress(text: string): ProgramHash | undefined {
  const found = known.get(text)
  if (found !== undefined) return found
  const hash = parseAddress(text)
  if (hash === undefined) return undefined
  if (known.size >= knownAtMost) known.clear()
  // A part of a text keeps all of it in memory.
  known.set(ownText(text), hash)
  return hash
}

/** `21 <33-byte public key> <trailer>`: the code of a one-key program (format 4.3, 4.4). */
export function singleKeyCode(publicKey: Uint8Array, trailerByte: number = trailer.standard): Uint8Array {
  return concat(Uint8Array.of(publicKey.length), publicKey, Uint8Array.of(trailerByte))
}

/** The standard address ("E…") of a 33-byte compressed P-256 public key. */
export function addressFromPublicKey(publicKey: Uint8Array): string {
  requireCompressed(publicKey)
  return addressOf(programHash(prefix.standard, singleKeyCode(publicKey)))
}

/** The program hash behind the DID of a public key; `legacy` derives the older identifier with trailer 0xAC. */
export function didProgramHash(publicKey: Uint8Array, options: { legacy?: boolean } = {}): ProgramHash {
  return programHash(prefix.did, singleKeyCode(publicKey, options.legacy ? trailer.standard : trailer.did))
}

/** `did:<method>:i…` of a 33-byte compressed P-256 public key (format 4.4). Does not check that it is a point of the curve. */
export function didFromPublicKey(publicKey: Uint8Array, options: { method: string; legacy?: boolean }): string {
  requireCompressed(publicKey)
  if (!/^[a-z0-9]+$/.test(options.method)) throw new TypeError('a method name is lowercase letters and digits')
  return `did:${options.method}:${addressOf(didProgramHash(publicKey, options))}`
}

function requireCompressed(publicKey: Uint8Array): void {
  if (!isCompressed(publicKey)) throw new TypeError('a public key is 33 bytes that begin with 02 or 03')
}
