import { displayHash } from './bytes.js'
import { type Reader, Writer } from './codec.js'
import { type Hash, sha256d } from './hash.js'

/** The 84 bytes that a block hash covers (format 5.1). */
export interface HeaderFields {
  readonly version: number
  readonly previous: Hash
  readonly merkleRoot: Hash
  /** Unix seconds. */
  readonly time: number
  readonly bits: number
  readonly nonce: number
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
    this.version = fields.version
    this.previous = fields.previous
    this.merkleRoot = fields.merkleRoot
    this.time = fields.time
    this.bits = fields.bits
    this.nonce = fields.nonce
    this.height = fields.height
    this.bytes = new Writer(headerSize)
      .u32(fields.version)
      .bytes(fields.previous)
      .bytes(fields.merkleRoot)
      .u32(fields.time)
      .u32(fields.bits)
      .u32(fields.nonce)
      .u32(fields.height)
      .finish()
    this.hash = sha256d(this.bytes)
  }

  static read(reader: Reader): Header {
    return new Header({
      version: reader.u32(),
      previous: reader.hash(),
      merkleRoot: reader.hash(),
      time: reader.u32(),
      bits: reader.u32(),
      nonce: reader.u32(),
      height: reader.u32(),
    })
  }

  /** The block hash in display hex. */
  get id(): string {
    return displayHash(this.hash)
  }
}
