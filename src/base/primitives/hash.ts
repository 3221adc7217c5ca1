import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 as sha256InScript } from '@noble/hashes/sha2.js'
import { nodeCrypto } from '../runtime/node-crypto.js'
import { allocate, asBuffer, fromUtf8, mapKey } from './bytes.js'
import type { Steps } from './steps.js'

/** 32 bytes in digest order ("internal"). Printed forms reverse it where format 1.5 requires it. */
export type Hash = Uint8Array

export const zeroHash: Hash = new Uint8Array(32)

/** SHA-256 of `data`: 32 bytes. */
export function sha256(data: Uint8Array | string): Hash {
  if (nodeCrypto === undefined) return sha256InScript(typeof data === 'string' ? fromUtf8(data) : data)
  // By way of text: a result as bytes would be a separate allocation, which costs more than the hash.
  return Buffer.from(nodeCrypto.hash('sha256', data, 'binary'), 'latin1')
}

/** A SHA-256 of data that comes in pieces. */
export interface RunningHash {
  update(data: Uint8Array): unknown
  /** Ends it. */
  digest(): Hash
}

export function runningSha256(): RunningHash {
  return nodeCrypto?.createHash('sha256') ?? sha256InScript.create()
}

/** Memory for a hash that is hashed again at once. */
const inner = allocate(32)
/** Memory for two nodes of a tree. */
const pair = allocate(64)

/** SHA-256 twice: the hash of transactions, blocks and proposals. */
export function sha256d(data: Uint8Array): Hash {
  if (nodeCrypto === undefined) return sha256(sha256(data))
  asBuffer(inner).write(nodeCrypto.hash('sha256', data, 'binary'), 0, 'latin1')
  return sha256(inner)
}

/** {@link mapKey} of {@link sha256d}: OpenSSL's result is that text already. */
export function sha256dKey(data: Uint8Array): string {
  if (nodeCrypto === undefined) return mapKey(sha256d(data))
  asBuffer(inner).write(nodeCrypto.hash('sha256', data, 'binary'), 0, 'latin1')
  return nodeCrypto.hash('sha256', inner, 'binary')
}

/** {@link sha256d} of 64 bytes: a node of a merkle tree. */
export function hashPair(left: Hash, right: Hash): Hash {
  pair.set(left)
  pair.set(right, 32)
  return sha256d(pair)
}

/** RIPEMD-160 of SHA-256: 20 bytes, the body of every program hash. */
export function hash160(data: Uint8Array): Uint8Array {
  if (nodeCrypto === undefined || !nativeRipemd) return ripemd160(sha256(data))
  asBuffer(inner).write(nodeCrypto.hash('sha256', data, 'binary'), 0, 'latin1')
  return Buffer.from(nodeCrypto.hash('ripemd160', inner, 'binary'), 'latin1')
}

/** {@link mapKey} of {@link hash160}. */
export function hash160Key(data: Uint8Array): string {
  if (nodeCrypto === undefined || !nativeRipemd) return mapKey(hash160(data))
  asBuffer(inner).write(nodeCrypto.hash('sha256', data, 'binary'), 0, 'latin1')
  return nodeCrypto.hash('ripemd160', inner, 'binary')
}

/** A build of OpenSSL may leave RIPEMD-160 out. */
const nativeRipemd = nodeCrypto?.getHashes().includes('ripemd160') === true

/** Bytes hashed in one step. */
const hashPiece = 1024 * 1024

/**
 * {@link sha256d} of the first `length` bytes of `data` and of all of it, in steps; the shared part is hashed once. A page, which has
 * nothing to serve meanwhile, hashes at once.
 */
export function* prefixHashSteps(data: Uint8Array, length: number): Steps<{ prefix: Hash; whole: Hash }> {
  if (nodeCrypto === undefined || data.length <= hashPiece) {
    return { prefix: sha256d(data.subarray(0, length)), whole: sha256d(data) }
  }
  const digest = nodeCrypto.createHash('sha256')
  yield* updateSteps(digest, data.subarray(0, length))
  const prefix = sha256(digest.copy().digest())
  yield* updateSteps(digest, data.subarray(length))
  return { prefix, whole: sha256(digest.digest()) }
}

function* updateSteps(digest: { update(data: Uint8Array): unknown }, data: Uint8Array): Steps {
  for (let start = 0; start < data.length; start += hashPiece) {
    digest.update(data.subarray(start, start + hashPiece))
    yield
  }
}
