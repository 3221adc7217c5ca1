import { crc32 } from 'node:zlib'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { asBuffer, concat, displayHash, equalBytes } from '../../base/primitives/bytes.js'
import { Writer } from '../../base/primitives/codec.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { headerSize } from '../../base/primitives/header.js'
import { tables } from '../storage/rows/tables.js'
import { acceptRun, runsOf } from './accept-run.js'
import type { Chain } from './chain.js'
import type { IncomingBlock } from './chain-change.js'
import { readBlockBytes } from './read-body.js'

/** Files of blocks (format 15): a head, a record for each block from height 1 on, and an end record with their number. */

const magic = Buffer.from('didblk01', 'latin1')
const headSize = magic.length + 32
const lengthsSize = 8
const checksumSize = 4
/**
 * Larger than any block with its AuxPow: a greater length is damage and is not read.
 * @limit bytes: a block in a file of blocks
 */
const maxBlock = 9_000_000
/**
 * Larger than any confirm.
 * @limit bytes: a confirm in a file of blocks
 */
const maxConfirm = 64 * 1024

/** The active chain from height 1 to the tip as chunks of a file, one block at a time. */
export async function* exportBlocks(chain: Chain): AsyncGenerator<Uint8Array, void, void> {
  yield concat(magic, chain.genesis.header.hash)
  const top = chain.tip.header.height
  for (let height = 1; height <= top; height++) {
    const known = chain.headers.active(height)
    if (known === undefined) throw new UserError(`the block at height ${height} is not there`)
    const block = await readBlockBytes(chain.database, known)
    const confirm = chain.database.get(tables.confirm.key(known.header.hash)) ?? new Uint8Array(0)
    yield record(new Writer(lengthsSize).u32(block.length).u32(confirm.length).finish(), block, confirm)
  }
  yield record(new Writer(lengthsSize).u32(0).u32(top).finish())
}

/** The genesis block's hash that a file of blocks begins with; a {@link UserError} for any other file. */
export async function genesisOfBlocks(pieces: AsyncIterable<Uint8Array>): Promise<Hash> {
  return readHead(new Pieces(pieces))
}

async function readHead(source: Pieces): Promise<Hash> {
  const head = await source.take(headSize)
  if (head === undefined || !equalBytes(head.subarray(0, magic.length), magic)) {
    throw new UserError('it is no file of blocks: it does not begin as one')
  }
  return head.subarray(magic.length)
}

/** Result of an import. */
export interface Import {
  /** Blocks in the file. */
  readonly read: number
  /** Blocks new to the chain. */
  readonly added: number
}

/**
 * Imports a file of blocks, in chunks of any size, into a chain, all rules checked. Blocks before an error stay. Throws a
 * {@link UserError} for an incomplete file, one of another chain, and a block that the chain refuses. `progress` takes the number of
 * blocks so far.
 */
export async function importBlocks(
  chain: Chain,
  pieces: AsyncIterable<Uint8Array>,
  progress: (read: number) => void = () => {},
): Promise<Import> {
  let [read, added] = [0, 0]
  const end: { error?: unknown } = {}
  // Blocks further on in the file may make its branch the best one: no other keeps them out.
  chain.pursue(() => ({ base: undefined, work: 1n << 256n, has: () => true }))
  try {
    for await (const run of runsOf(readable(readBlocks(new Pieces(pieces), chain.genesis.header.hash), end))) {
      const accepted = await acceptRun(chain, run)
      read += accepted.taken
      added += accepted.added
      if (accepted.error !== undefined) throw refusal(accepted.error, read, chain)
      progress(read)
    }
    if (end.error !== undefined) throw end.error
  } finally {
    chain.pursue(undefined)
  }
  return { read, added }
}

/** Throws a {@link UserError} unless a file begins as one of blocks of the chain with that genesis block. */
export async function requireBlocksOf(pieces: AsyncIterable<Uint8Array>, genesis: Hash): Promise<void> {
  requireGenesis(await genesisOfBlocks(pieces), genesis)
}

function requireGenesis(named: Hash, genesis: Hash): void {
  if (equalBytes(named, genesis)) return
  throw new UserError(`it holds blocks of another chain, with genesis ${displayHash(named)}`)
}

/** A block of a file, with the confirm that it has on a chain with validators. */
export interface BlockRecord {
  readonly block: Uint8Array
  readonly confirm: Uint8Array | undefined
}

/**
 * The blocks of a file as they are read, none of them checked by a rule. Throws a {@link UserError} for a damaged or incomplete
 * file, and for one of a chain with another genesis block.
 */
export async function* readBlocks(source: Pieces, genesis: Hash): AsyncGenerator<BlockRecord, void, void> {
  requireGenesis(await readHead(source), genesis)
  for (let read = 0; ; read++) {
    const next = await readRecord(source, read)
    if (next === undefined) return
    yield next
  }
}

/** Reads the record after `before` others; undefined at the end of the file. */
async function readRecord(source: Pieces, before: number): Promise<BlockRecord | undefined> {
  const broken = (what: string) => new UserError(`the file is damaged after ${before} blocks: ${what}`)
  const lengths = await source.take(lengthsSize)
  if (lengths === undefined) throw broken('it ends too early')
  const [blockLength, confirmLength] = [lengths.readUInt32LE(0), lengths.readUInt32LE(4)]
  const atEnd = blockLength === 0
  if (!atEnd && (blockLength < headerSize || blockLength > maxBlock || confirmLength > maxConfirm))
    throw broken('a length is out of bounds')
  const bodyLength = atEnd ? 0 : blockLength + confirmLength
  const body = await source.take(bodyLength + checksumSize)
  if (body === undefined) throw broken('it ends too early')
  const content = body.subarray(0, bodyLength)
  if (body.readUInt32LE(bodyLength) !== crc32(content, crc32(lengths))) throw broken('a checksum does not match')
  if (atEnd) {
    if (confirmLength !== before) throw broken(`its end speaks of ${confirmLength}`)
    if ((await source.take(1)) !== undefined) throw broken('something follows its end')
    return undefined
  }
  const confirm = confirmLength === 0 ? undefined : content.subarray(blockLength)
  return { block: content.subarray(0, blockLength), confirm }
}

/** Blocks up to the end of a file, or to the first place where it is damaged: `end` gets that error, once the blocks before are accepted. */
async function* readable(
  records: AsyncIterable<BlockRecord>,
  end: { error?: unknown },
): AsyncGenerator<IncomingBlock, void, void> {
  try {
    for await (const { block, confirm } of records) yield { block, ...defined({ confirm }) }
  } catch (error) {
    end.error = error
  }
}

/** The error for a block that a chain refuses. */
function refusal(error: Error, before: number, chain: Chain): UserError {
  const code = error instanceof RuleError ? ` (${error.code})` : ''
  return new UserError(
    `block ${before + 1} of the file is refused: ${error.message}${code}; ` +
      `the chain is at height ${chain.tip.header.height} now`,
  )
}

function record(...parts: Uint8Array[]): Uint8Array {
  const content = concat(...parts)
  return concat(content, new Writer(checksumSize).u32(crc32(content)).finish())
}

/** Splits chunks of bytes into given lengths; buffers at most one length and one chunk. */
export class Pieces {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** The next `length` bytes; undefined when fewer are left. */
  async take(length: number): Promise<Buffer | undefined> {
    const parts = [this.#rest]
    let held = this.#rest.length
    while (held < length) {
      const next = await this.#pieces.next()
      if (next.done === true) return undefined
      parts.push(asBuffer(next.value))
      held += next.value.length
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts)
    this.#rest = all.subarray(length)
    return all.subarray(0, length)
  }
}
