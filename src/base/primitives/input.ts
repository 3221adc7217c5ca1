import { compareBytes, mapKey, ofMapKey } from './bytes.js'
import type { Reader } from './codec.js'
import { CodecError, decodeAll } from './codec.js'
import { type Hash, zeroHash } from './hash.js'
import { ReadPart } from './read-part.js'
import type { Input, Outpoint } from './transaction-fields.js'

/** Sequences with a meaning: one that never blocks finality, and the one that a locked output requires. */
export const finalSequence = 0xffffffff
export const lockSequence = 0xfffffffe

/** The input of every coinbase. */
export const coinbaseInput: Input = { txid: zeroHash, index: 0xffff, sequence: finalSequence }

/** Bytes of an input: txid, index u16, sequence u32. */
export const inputSize = 38

/** An input that was read. It keeps its key, which is used again and again. */
class ReadInput extends ReadPart implements Input {
  #key: string | undefined

  constructor(reader: Reader) {
    super(reader, inputSize)
  }

  get txid(): Hash {
    return this.view(0, 32)
  }

  get index(): number {
    return this.u16(32)
  }

  get sequence(): number {
    return this.u32(34)
  }

  /** Txid and index, as the bytes have them. */
  static keyOf(input: ReadInput): string {
    return (input.#key ??= input.text(0, 34))
  }
}

/** Reads an input at the reader's position. */
export function readInput(reader: Reader): Input {
  return new ReadInput(reader)
}

/** A count and that many inputs, as a transaction holds them; undefined for bytes that are something else. */
export function parseInputs(bytes: Uint8Array): readonly Input[] | undefined {
  try {
    return decodeAll(
      bytes,
      (reader) => reader.list(0xffff, inputSize, readInput),
      (reason) => new CodecError(reason),
    )
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

/** The key of an outpoint in maps and sets: `mapKey` of the txid and the index u16. */
export function outpointKey(outpoint: Outpoint): string {
  return outpoint instanceof ReadInput ? ReadInput.keyOf(outpoint) : outputKey(mapKey(outpoint.txid), outpoint.index)
}

/** {@link outpointKey} of an output, by `mapKey` of its transaction's hash; the index is at most 0xffff. */
export function outputKey(hashKey: string, index: number): string {
  return hashKey + String.fromCharCode(index & 0xff, index >>> 8)
}

/** The outpoint of an {@link outpointKey}. */
export function outpointOf(key: string): Outpoint {
  return { txid: ofMapKey(key.slice(0, 32)), index: outputIndexOf(key) }
}

/** The index in an {@link outpointKey}. */
export function outputIndexOf(key: string): number {
  return key.charCodeAt(32) | (key.charCodeAt(33) << 8)
}

/** Whether an outpoint is that of coinbases. */
export function isCoinbaseOutpoint(outpoint: Outpoint): boolean {
  return outpoint.index === coinbaseInput.index && compareBytes(outpoint.txid, zeroHash) === 0
}
