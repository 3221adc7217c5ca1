import { createHash } from 'node:crypto'
import { UserError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { Writer } from '../../base/primitives/codec.js'
import { Pieces } from '../chain/block-file.js'

/**
 * The parts of a state (format 16), one after another: head, headers, blocks, side chains, hashes of chunks, coins, map, leaves, end. A part of one
 * kind has a number from 0 on, and is checked by those before it.
 */

export const partKind = {
  head: 1,
  headers: 2,
  blocks: 3,
  sideChains: 4,
  chunks: 5,
  coins: 6,
  map: 7,
  leaves: 8,
  end: 9,
} as const

export type PartKind = (typeof partKind)[keyof typeof partKind]

/** A part, with its number among those of its kind. */
export interface Part {
  readonly kind: PartKind
  readonly number: number
  readonly bytes: Uint8Array
}

/** Kind and number of a part, the kind being any. */
export interface PartPlace {
  readonly kind: number
  readonly number: number
}

export const stateMagic = Buffer.from('DLS1', 'latin1')
/** Bytes before those of a part. */
export const frameSize = 1 + 4 + 4
/** Bytes of a part beyond which a writer begins the next one. */
export const partBytes = 4 * 1024 * 1024
/**
 * A part has more than {@link partBytes} where the history of one DID has.
 * @limit bytes: a part of a state
 */
export const maxPart = 64 * 1024 * 1024

/** The bytes of parts as a file of a state, with their list in the last one. */
export async function* stateFile(parts: AsyncIterable<Omit<Part, 'number'>>): AsyncGenerator<Uint8Array, void, void> {
  const numbers = new Map<PartKind, number>()
  const list: Uint8Array[] = []
  yield stateMagic
  for await (const { kind, bytes } of parts) {
    const number = numbers.get(kind) ?? 0
    numbers.set(kind, number + 1)
    list.push(listed({ kind, number, bytes }))
    yield frame({ kind, number, bytes })
  }
  yield frame({ kind: partKind.end, number: 0, bytes: Buffer.concat(list) })
}

function frame({ kind, number, bytes }: Part): Uint8Array {
  return new Writer(frameSize + bytes.length).u8(kind).u32(number).u32(bytes.length).bytes(bytes).finish()
}

/** Entry of a part in the list: kind u8, number u32, SHA-256 of its bytes. */
function listed({ kind, number, bytes }: Part): Uint8Array {
  const digest = createHash('sha256').update(bytes).digest()
  return new Writer(37).u8(kind).u32(number).bytes(digest).finish()
}

/**
 * The parts of a file without the last one, whose list has to name them. A {@link UserError} for another file, one that is cut, and parts
 * out of order; their contents are not looked at.
 */
export async function* readParts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Part, void, void> {
  const source = new Pieces(pieces)
  const head = await source.take(stateMagic.length)
  if (head === undefined || !head.equals(stateMagic))
    throw new UserError('it is no file of a state: it does not begin as one')
  const list: Uint8Array[] = []
  let last = beforeParts
  for (;;) {
    const part = await readPart(source, last)
    if (part.kind === partKind.end) {
      if (!equalBytes(part.bytes, Buffer.concat(list))) throw new UserError('the list at its end names other parts')
      if ((await source.take(1)) !== undefined) throw new UserError('there is more behind its end')
      return
    }
    list.push(listed(part))
    last = part
    yield part
  }
}

/** A place before the first part. */
export const beforeParts: PartPlace = { kind: 0, number: 0 }

/** Whether a part comes next: parts are in the order of their kinds, those of a kind in the order of their numbers, from 0 on. */
export function follows(last: PartPlace, { kind, number }: PartPlace): boolean {
  return kind === last.kind ? number === last.number + 1 : kind > last.kind && number === 0
}

/** Kind, number and length of a part, which come before its bytes. */
export function readFrame(frame: Buffer): PartPlace & { readonly length: number } {
  return { kind: frame.readUInt8(0), number: frame.readUInt32LE(1), length: frame.readUInt32LE(5) }
}

async function readPart(source: Pieces, last: PartPlace): Promise<Part> {
  const head = await source.take(frameSize)
  if (head === undefined) throw new UserError('it ends too early')
  const { kind, number, length } = readFrame(head)
  // Empty parts would cost nothing, and their list room.
  const isOf = kind <= partKind.end && length > 0 && length <= maxPart
  if (!follows(last, { kind, number }) || !isOf) {
    throw new UserError(`part ${kind}/${number} of ${length} bytes does not follow part ${last.kind}/${last.number}`)
  }
  const bytes = await source.take(length)
  if (bytes === undefined) throw new UserError('it ends too early')
  return { kind: kind as PartKind, number, bytes }
}
