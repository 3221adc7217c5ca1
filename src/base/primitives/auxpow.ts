import { RuleError } from '../errors/rule-error.js'
import { concat, hex } from './bytes.js'
import { decodeAll, type Reader, Writer } from './codec.js'
import { type Hash, sha256d, zeroHash } from './hash.js'
import { type ParentHeader, parentHeaderBytes, readParentHeader } from './header.js'

/** Proof that a block of a parent chain was mined for a block of this chain (format 5.5). */
export interface AuxPow {
  readonly coinbase: ParentCoinbase
  /** Not checked by the family; must be zero in blocks made here. */
  readonly parentHash: Hash
  readonly coinbaseBranch: readonly Hash[]
  readonly coinbaseIndex: number
  readonly auxBranch: readonly Hash[]
  readonly auxIndex: number
  readonly parent: ParentHeader
}

/** A legacy Bitcoin transaction, reduced to the relevant parts. */
export interface ParentCoinbase {
  /** Input scripts in order; the first one carries the commitment. */
  readonly scripts: readonly Uint8Array[]
  readonly bytes: Uint8Array
}

/** @limit bytes: AuxPow of a block */
export const maxAuxPowSize = 16 * 1024
/** @limit bytes: a script of an AuxPow */
const scriptCap = 16 * 1024
/** @limit count: a list of an AuxPow */
const listCap = 0xffff

export const mergedMiningMagic: Uint8Array = hex('fabe6d6d')

/** Decodes exactly one AuxPow; `auxpow-malformed` for anything else, trailing bytes included. */
export function parseAuxPow(bytes: Uint8Array): AuxPow {
  return decodeAll(bytes, readAuxPow, (reason) => new RuleError('auxpow-malformed', reason))
}

export function readAuxPow(reader: Reader): AuxPow {
  const start = reader.offset
  reader.u32()
  const scripts = reader.list(listCap, 41, () => {
    reader.take(36)
    const script = reader.varbytes(scriptCap)
    reader.u32()
    return script
  })
  reader.list(listCap, 9, () => {
    reader.i64()
    reader.varbytes(scriptCap)
  })
  reader.u32()
  return {
    coinbase: { scripts, bytes: reader.bytes.subarray(start, reader.offset) },
    parentHash: reader.hash(),
    coinbaseBranch: reader.list(listCap, 32, () => reader.hash()),
    coinbaseIndex: reader.u32(),
    auxBranch: reader.list(listCap, 32, () => reader.hash()),
    auxIndex: reader.u32(),
    parent: readParentHeader(reader),
  }
}

export function auxPowBytes(auxPow: AuxPow): Uint8Array {
  const writer = new Writer(384)
  writer.bytes(auxPow.coinbase.bytes).bytes(auxPow.parentHash)
  writer.list(auxPow.coinbaseBranch, (hash) => writer.bytes(hash)).u32(auxPow.coinbaseIndex)
  writer.list(auxPow.auxBranch, (hash) => writer.bytes(hash)).u32(auxPow.auxIndex)
  return writer.bytes(parentHeaderBytes(auxPow.parent)).finish()
}

/** sha256d of the parent header, internal order: compared with the target as a little-endian integer. */
export function parentHash(auxPow: AuxPow): Hash {
  return sha256d(parentHeaderBytes(auxPow.parent))
}

/**
 * The AuxPow of a block that is its own parent chain (format 5.7): an artificial coinbase that holds only the commitment, in a
 * parent block of its own. Mining searches for the parent nonce.
 */
export function soloAuxPow(blockHash: Hash, parentTime: number, parentNonce = 0): AuxPow {
  const script = concat(mergedMiningMagic, blockHash, hex('0100000000000000'))
  const bytes = new Writer(95)
    .u32(1)
    .varuint(1)
    .bytes(zeroHash)
    .u32(0)
    .varbytes(script)
    .u32(0)
    .varuint(0)
    .u32(0)
    .finish()
  return {
    coinbase: { scripts: [script], bytes },
    parentHash: zeroHash,
    coinbaseBranch: [],
    coinbaseIndex: 0,
    auxBranch: [],
    auxIndex: 0,
    parent: {
      version: 0x7fffffff,
      previous: zeroHash,
      merkleRoot: sha256d(bytes),
      time: parentTime,
      bits: 0,
      nonce: parentNonce,
    },
  }
}
