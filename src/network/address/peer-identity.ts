import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { Random } from '../../base/runtime/env.js'
import bs58 from 'bs58'
import { concat, equalBytes, hex, toHex } from '../../base/primitives/bytes.js'
import { sha256 } from '../../base/primitives/hash.js'
import { loadSecret } from '../../ledger/storage/secret-file.js'

/** The key of a node towards its peers. */
export interface Identity {
  /** 32-byte Ed25519 secret. */
  readonly secretKey: Uint8Array
  /** 32-byte Ed25519 public key. */
  readonly publicKey: Uint8Array
  /** First 53 bits of sha256 of the public key: an integer exact in JSON. */
  readonly id: number
}

/** Loads the identity from a key file; creates the file at the first start. */
export async function loadIdentity(file: string, random: Random): Promise<Identity> {
  return identityOf(await loadSecret(file, 'peer key', random))
}

function identityOf(secretKey: Uint8Array): Identity {
  const publicKey = publicKeyOf(secretKey)
  return { secretKey, publicKey, id: peerNumber(publicKey) }
}

/** Prefix of an Ed25519 secret in PKCS #8. */
const secretPrefix = hex('302e020100300506032b657004220420')

function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  const key = createPrivateKey({ key: Buffer.from(concat(secretPrefix, secretKey)), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return new Uint8Array(Buffer.from(x, 'base64url'))
}

/** Prefix of an Ed25519 key in a libp2p peer id: identity multihash, lengths, key type. */
const namePrefix = hex('002408011220')

/** The name of a node, which ends its multiaddrs, from its 32-byte public key. */
export function peerName(publicKey: Uint8Array): string {
  return bs58.encode(concat(namePrefix, publicKey))
}

/** The 32-byte public key of a node from its name; undefined for any other text. */
export function keyOfPeerName(name: string): Uint8Array | undefined {
  const bytes = name.length <= 64 ? bs58.decodeUnsafe(name) : undefined
  if (bytes?.length !== 38 || !equalBytes(bytes.subarray(0, 6), namePrefix)) return undefined
  return bytes.subarray(6)
}

/** First 53 bits of sha256 of a public key: the ID of a peer. */
export function peerNumber(publicKey: Uint8Array): number {
  return Number(BigInt(`0x${toHex(sha256(publicKey).subarray(0, 7))}`) >> 3n)
}
