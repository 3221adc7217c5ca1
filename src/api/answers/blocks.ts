import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainReader } from '../../chain/reader.js'
import type { KnownHeader } from '../../chain/headers.js'
import { RuleError } from '../../errors.js'
import { type Block, fullHeaderBytes } from '../../primitives/block.js'
import { displayHash, equalBytes, toHex } from '../../primitives/bytes.js'
import { Writer } from '../../primitives/codec.js'
import { difficultyText } from '../../primitives/compact.js'
import { type Confirm, confirmBytes, confirmJson } from '../../primitives/confirm.js'
import { type Hash, zeroHash } from '../../primitives/hash.js'
import type { TransactionPlace } from '../../primitives/transaction-json.js'
import { eachInSlices } from '../../slices.js'
import { keys, values } from '../../storage/schema.js'
import { jsonArray } from './lists.js'
import { transactionList } from './transaction-text.js'

/** Blocks as the interfaces show them. Every function returns the JSON text of an answer. */

/** Times a block is read again because the chain changed meanwhile. */
const maxAttempts = 50

/** A block whose body and whose place on the chain belong together. */
interface ReadBlock {
  readonly known: KnownHeader
  readonly place: TransactionPlace
  readonly block: Block
  /** Display hex; zeros where nothing follows. */
  readonly next: string
  readonly medianTime: number
}

/**
 * Reads a block. A reorganisation moves rows, and for a moment they are ahead of what memory says: so everything is read
 * between two looks at one and the same tip, or again.
 */
async function readBlock(reader: ChainReader, find: () => KnownHeader): Promise<ReadBlock> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const tip = settledTip(reader)
    if (tip !== undefined) {
      const known = find()
      const place = placeIn(reader, known)
      const next = displayHash(reader.nextHash(known) ?? zeroHash)
      const medianTime = reader.medianTime(known)
      try {
        const block = await reader.block(known)
        if (settledTip(reader) === tip) return { known, place, block, next, medianTime }
      } catch (error) {
        if (settledTip(reader) === tip) throw error
      }
    }
    await nextTurn()
  }
  throw new RuleError('busy', 'blocks arrive faster than this one can be read; try again')
}

/** The tip, unless the rows of another one are on disk already. */
function settledTip({ chain }: ChainReader): KnownHeader | undefined {
  const row = chain.database.get(keys.meta('tip'))
  return row !== undefined && equalBytes(values.tip.decode(row).hash, chain.tip.header.hash) ? chain.tip : undefined
}

/** The active block at a height; `unknown-block` above the tip. */
function blockAt(reader: ChainReader, height: number): KnownHeader {
  // Rows of a block may be visible a moment before the tip moves to it.
  const known = height > reader.height ? undefined : reader.headerAt(height)
  if (known === undefined) {
    throw new RuleError('unknown-block', `there is no block at height ${height}; the tip is at ${reader.height}`)
  }
  return known
}

/** A block on the active chain or off it. */
function blockOf(reader: ChainReader, hash: Hash): KnownHeader {
  const known = reader.headerOf(hash)
  if (known === undefined) throw new RuleError('unknown-block', `there is no block ${displayHash(hash)}`)
  return known
}

export function blockHash(reader: ChainReader, height: number): string {
  return JSON.stringify(blockAt(reader, height).header.id)
}

/** Where the transactions of a block stand. */
export function placeIn(reader: ChainReader, known: KnownHeader): TransactionPlace {
  const { header } = known
  return { blockhash: header.id, confirmations: reader.confirmations(known), blocktime: header.time }
}

/** Block details with whole transactions. */
export function blockByHeight(reader: ChainReader, height: number): Promise<string> {
  return withTransactions(reader, () => blockAt(reader, height))
}

/** Block details with transaction ids; a block off the active chain has no confirmations and nothing above it. */
export async function blockByHash(reader: ChainReader, hash: Hash): Promise<string> {
  const read = await readBlock(reader, () => blockOf(reader, hash))
  return details(reader, read, await jsonArray(read.block.transactions, ({ txid }) => txid))
}

/** The same with whole transactions. */
export function wholeBlockByHash(reader: ChainReader, hash: Hash): Promise<string> {
  return withTransactions(reader, () => blockOf(reader, hash))
}

async function withTransactions(reader: ChainReader, find: () => KnownHeader): Promise<string> {
  const read = await readBlock(reader, find)
  return details(reader, read, await transactionList(read.block.transactions, read.place))
}

/** The bytes of a block in hex, without its confirm. */
export async function blockHex(reader: ChainReader, hash: Hash): Promise<string> {
  const { block } = await readBlock(reader, () => blockOf(reader, hash))
  const { header, auxPow, transactions } = block
  const parts = [fullHeaderBytes(header, auxPow), new Writer(4).u32(transactions.length).finish()].map(toHex)
  await eachInSlices(transactions, ({ bytes }) => parts.push(toHex(bytes)))
  return `"${parts.join('')}"`
}

/** The members in the order of the family's samples, with a list of transactions that is JSON already. */
function details(reader: ChainReader, { known, place, next, medianTime }: ReadBlock, tx: string): string {
  const { header, size } = known
  const before = {
    hash: header.id,
    confirmations: place.confirmations,
    strippedsize: size,
    size,
    weight: 4 * size,
    height: header.height,
    version: header.version,
    versionhex: header.version.toString(16).padStart(8, '0'),
    merkleroot: displayHash(header.merkleRoot),
  }
  const after = {
    time: header.time,
    mediantime: medianTime,
    nonce: header.nonce,
    bits: header.bits,
    difficulty: difficultyText(header.bits, reader.chain.spec.powLimitBits),
    chainwork: known.chainWork.toString(16).padStart(64, '0'),
    previousblockhash: displayHash(header.previous),
    nextblockhash: next,
    auxpow: toHex(known.auxPow),
  }
  return `${JSON.stringify(before).slice(0, -1)},"tx":${tx},${JSON.stringify(after).slice(1)}`
}

/** Hash, height and transaction ids of a block. */
export async function blockTransactions(reader: ChainReader, height: number): Promise<string> {
  const { known, block } = await readBlock(reader, () => blockAt(reader, height))
  const ids = await jsonArray(block.transactions, ({ txid }) => txid)
  return `{"Hash":"${known.header.id}","Height":${height},"Transactions":${ids}}`
}

/** Who proposed the active block at a height and who voted for it. */
export async function confirmByHeight(reader: ChainReader, height: number): Promise<string> {
  return JSON.stringify(confirmJson(await confirmOf(reader, blockAt(reader, height))))
}

export async function confirmByHash(reader: ChainReader, hash: Hash): Promise<string> {
  return JSON.stringify(confirmJson(await confirmOf(reader, blockOf(reader, hash))))
}

/** The bytes of a confirm in hex. */
export async function confirmHexByHeight(reader: ChainReader, height: number): Promise<string> {
  return JSON.stringify(toHex(confirmBytes(await confirmOf(reader, blockAt(reader, height)))))
}

export async function confirmHexByHash(reader: ChainReader, hash: Hash): Promise<string> {
  return JSON.stringify(toHex(confirmBytes(await confirmOf(reader, blockOf(reader, hash)))))
}

async function confirmOf(reader: ChainReader, { header }: KnownHeader): Promise<Confirm> {
  const { spec, assumedConfirms } = reader.chain
  const confirm = reader.confirm(header.hash)
  const shown = confirm && (await assumedConfirms.verify([{ header, confirm: confirmBytes(confirm) }])) === 1
  if (confirm !== undefined && shown === true) return confirm
  const none = spec.hasValidators
    ? 'it was assumed to be valid, and its confirm does not hold'
    : 'the chain has no validators'
  const why = header.height === 0 ? 'the genesis block has none' : none
  throw new RuleError('unknown-confirm', `no confirm for block ${header.id}: ${why}`)
}
