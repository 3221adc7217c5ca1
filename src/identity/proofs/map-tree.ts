/**
 * The commitment of a block to the state of all DIDs, and proofs of answers about it. Pure: a node that proves and a client that
 * checks run the same code.
 *
 *   operations of a DID, of a credential -> Entry -> extendHistory -> leafValue (history.ts)    what a leaf binds
 *   leaves by key -> leafHash, innerHash -> map root -> didRoot                                 entry 02 of a coinbase
 *   MapProof -> checkMapProof (map-proof.ts)                                                    from a history back to it
 *   answer -> readAnswer -> committedBlock (anchor.ts): header, coinbase, confirm or work       from an answer back to validators
 *     -> checkMapProof -> transactions, documents, status, version (did-answer.ts, credential-answer.ts)
 *   changes.ts: who confirms; work.ts: which headers count; trust-root.ts: trust roots
 *
 * Imports errors, did, primitives; used by light, witness, consensus, storage, chain, state, mirror, prover, production, network, resolver, node, api, library, gateway, cli, explorer, heads.
 * - The shape of the tree follows from its leaves alone: a subtree of one leaf is that leaf.
 * - A root is bound to one chain by the hash of its genesis block.
 * - Nothing here verifies a signature, reads a row or uses a clock.
 */
import { type Hash, sha256, zeroHash } from '../../base/primitives/hash.js'
import { asBytes } from '../../base/primitives/bytes.js'

/** 32 bytes: the place of a leaf. Bits count from the highest of byte 0. */
export type MapKey = Uint8Array

/** A leaf of the map. */
export interface Leaf {
  readonly key: MapKey
  /** 32 bytes. */
  readonly value: Uint8Array
}

/** The hash of a subtree without leaves. */
export const emptyNode: Hash = zeroHash

const leafTag = 0
const innerTag = 1
const rootTag = 2

/** The leaf of a DID: sha256(`did` 00 full DID). */
export function didMapKey(did: string): MapKey {
  return sha256(`did\0${did}`)
}

/** The leaf of a DID's operations on a credential: sha256(`vc` 00 absolute id 00 full DID of the signer). */
export function credentialMapKey(id: string, signer: string): MapKey {
  return sha256(`vc\0${id}\0${signer}`)
}

/** sha256(00 ‖ key ‖ value). */
export function leafHash({ key, value }: Leaf): Hash {
  return taggedHash(leafTag, key, value)
}

/** sha256(01 ‖ left ‖ right). */
export function innerHash(left: Hash, right: Hash): Hash {
  return taggedHash(innerTag, left, right)
}

/** The bytes to hash: most of the work on the map is this, and a fresh buffer each time would double it. */
const hashed = asBytes(new Uint8Array(65))

function taggedHash(tag: number, first: Uint8Array, second: Uint8Array): Hash {
  hashed[0] = tag
  hashed.set(first, 1)
  hashed.set(second, 33)
  return sha256(hashed)
}

/** Commitment of a coinbase: sha256(02 ‖ hash of the genesis block, internal order ‖ map root). */
export function didRoot(genesis: Hash, mapRoot: Hash): Hash {
  return taggedHash(rootTag, genesis, mapRoot)
}

/** The side on which a key lies below the node at a depth: 0 left, 1 right. */
export function bitAt(key: MapKey, depth: number): 0 | 1 {
  return (((key[depth >> 3] as number) >> (7 - (depth & 7))) & 1) as 0 | 1
}

/** Whether two keys lie below the same node at a depth. */
export function sharePath(a: MapKey, b: MapKey, depth: number): boolean {
  const whole = depth >> 3
  for (let i = 0; i < whole; i++) if (a[i] !== b[i]) return false
  const rest = depth & 7
  return rest === 0 || ((a[whole] as number) ^ (b[whole] as number)) >> (8 - rest) === 0
}
