import { RuleError } from '../errors/rule-error.js'
import { CodecError, decodeAll, type Reader } from './codec.js'
import { operationPayload, type Payload, payloadOrSteps, requireVersion, txType } from './payload.js'
import { finish, type Steps } from './steps.js'

/** Parts of a transaction's bytes, read without decoding the rest of it. */

/** Bytes of an input, and of an output with the type byte that version 9 adds. */
const inputSize = 38
const outputSize = 65
/** Bytes of the asset id, the first field of an output. */
const assetSize = 32

/** The first fields of a transaction (format 2). */
export interface TransactionHead {
  /** 0, or 9, which is written as a byte before the type. */
  readonly version: number
  readonly payloadVersion: number
  readonly payload: Payload
}

/** The type in the first bytes of a transaction that decodes. */
export function typeIn(bytes: Uint8Array): number {
  return (bytes[0] === 9 ? bytes[1] : bytes[0]) as number
}

/** Reads version, type and payload at the reader's position; throws a CodecError. */
export function readHead(reader: Reader): TransactionHead {
  const { version, payloadVersion, payload } = headOrSteps(reader)
  return { version, payloadVersion, payload: 'type' in payload ? payload : finish(payload) }
}

/** {@link readHead}, but with the steps of the payload if it takes more than one. */
export function headOrSteps(
  reader: Reader,
): Omit<TransactionHead, 'payload'> & { readonly payload: Payload | Steps<Payload> } {
  const first = reader.u8()
  // 09 is always the version; any other first byte is the type of a version 0 transaction.
  const version = first === 9 ? 9 : 0
  const type = version === 9 ? reader.u8() : first
  requireVersion(type, version)
  const payloadVersion = reader.u8()
  return { version, payloadVersion, payload: payloadOrSteps(reader, type, payloadVersion) }
}

/** The payload of a transaction; `tx-malformed` if it does not decode. */
export function payloadOf(bytes: Uint8Array): Payload {
  return partOf(bytes, (reader) => readHead(reader).payload)
}

/**
 * The payload text of the operation in a DID transaction, as bytes in the memory of the transaction; no long text is decoded.
 * `tx-malformed` for other bytes.
 */
export function operationPayloadOf(bytes: Uint8Array): Uint8Array {
  return partOf(bytes, (reader) => {
    if (reader.u8() !== txType.did) throw new CodecError('no operation of a DID')
    reader.u8()
    return operationPayload(reader)
  })
}

/**
 * The value in 10^-8 units of one output of a transaction on a chain, where every typed extra is empty; undefined beyond the last
 * one. Reads no other output.
 */
export function outputValueOf(bytes: Uint8Array, index: number): bigint | undefined {
  return partOf(bytes, (reader) => {
    const { version } = readHead(reader)
    for (let attributes = reader.varuint(0xffff); attributes > 0; attributes--) {
      reader.u8()
      reader.varbytes(reader.remaining)
    }
    reader.take(reader.varuint(0xffff) * inputSize)
    if (index >= reader.varuint(0xffff)) return undefined
    reader.take(index * (version === 9 ? outputSize + 1 : outputSize) + assetSize)
    return reader.i64()
  })
}

function partOf<T>(bytes: Uint8Array, read: (reader: Reader) => T): T {
  const part = (reader: Reader): T => {
    const value = read(reader)
    reader.take(reader.remaining)
    return value
  }
  return decodeAll(bytes, part, (reason) => new RuleError('tx-malformed', reason))
}
