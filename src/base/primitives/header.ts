import { displayHash, joined, ownCopy } from './bytes.js'
import type { Reader } from './codec.js'
import { type Hash, sha256d } from './hash.js'

/** The 80-byte header of a Bitcoin-like parent chain (format 5.5). */
export interface ParentHeader {
  readonly version: number
  readonly previous: Hash
  readonly merkleRoot: Hash
  /** Unix seconds. */
  readonly time: number
  readonly bits: number
  readonly nonce: number
}

/** The 84 bytes that a block hash covers: the same fields, then the height (format 5.1). */
export interface HeaderFields extends ParentHeader {
  readonly height: number
}

export const headerSize = 84

export class Header implements HeaderFields {
  readonly version: number
  readonly previous: Hash
  readonly merkleRoot: Hash
  readonly time: number
  readonly bits: number
  readonly nonce: number
  readonly height: number
  /** The 84 bytes. */
  readonly bytes: Uint8Array
  /** sha256d of the 84 bytes, internal order. */
  readonly hash: Hash

  constructor(fields: HeaderFields) {
    this.bytes = ownCopy(joined(...parentFields(fields), fields.height))
    this.hash = ownCopy(sha256d(this.bytes))
    this.version = fields.version
    this.previous = this.bytes.subarray(4, 36)
    this.merkleRoot = this.bytes.subarray(36, 68)
    this.time = fields.time
    this.bits = fields.bits
    this.nonce = fields.nonce
    this.height = fields.height
  }

  static read(reader: Reader): Header {
    return new Header({ ...readParentHeader(reader), height: reader.u32() })
  }

  /** The block hash in display hex. */
  get id(): string {
    return displayHash(this.hash)
  }
}

export function readParentHeader(reader: Reader): ParentHeader {
  return {
    version: reader.u32(),
    previous: reader.hash(),
    merkleRoot: reader.hash(),
    time: reader.u32(),
    bits: reader.u32(),
    nonce: reader.u32(),
  }
}

/** The 80 bytes that are hashed for work. */
export function parentHeaderBytes(header: ParentHeader): Uint8Array {
  return joined(...parentFields(header))
}

function parentFields({ version, previous, merkleRoot, time, bits, nonce }: ParentHeader) {
  return [version, previous, merkleRoot, time, bits, nonce]
}
