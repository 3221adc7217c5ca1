import { concat, joined } from '../../base/primitives/bytes.js'
import { CodecError, decodeAll, type Reader } from '../../base/primitives/codec.js'

/** A block in a file of headers. */
export interface MirrorHeader {
  /** 84 bytes, and on a chain without validators its AuxPow. */
  readonly header: Uint8Array
  /** As an anchor carries it; empty: the chain has no validators, or the mirror had none. */
  readonly confirm: Uint8Array
}

/** Each: length u32 and bytes of the header, length u32 and bytes of the confirm. */
export function headersFile(headers: readonly MirrorHeader[]): Uint8Array {
  return concat(...headers.map(({ header, confirm }) => joined(header.length, header, confirm.length, confirm)))
}

/** The headers in a file; undefined for bytes that are none. */
export function readHeadersFile(bytes: Uint8Array, most: number): readonly MirrorHeader[] | undefined {
  try {
    return decodeAll(
      bytes,
      (reader) => readHeaders(reader, most),
      (reason) => new CodecError(reason),
    )
  } catch {
    return undefined
  }
}

function readHeaders(reader: Reader, most: number): MirrorHeader[] {
  const headers: MirrorHeader[] = []
  while (reader.remaining > 0) {
    if (headers.length === most) throw new CodecError('too many headers')
    headers.push({ header: reader.take(reader.u32()), confirm: reader.take(reader.u32()) })
  }
  return headers
}
