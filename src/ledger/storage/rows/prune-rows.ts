import type { Coin } from '../../consensus/ledger.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { txType } from '../../../base/primitives/payload.js'
import { present, type RowReader } from './row-reader.js'
import { type Key, type Location, meta, tables } from './tables.js'

/**
 * Blocks that have given up their transfers, their coinbase, and the coins in their undo record; and transactions that were given up since
 * a later operation superseded the document in them.
 */

/**
 * More than a reorganisation can take back, and than peers rely on.
 * @limit count: least number of last blocks that keep their transactions
 */
export const leastKept = 1000

/**
 * As deep as a reorganisation goes, and as many as peers rely on.
 * @limit count: least number of last blocks whose operations leave the documents before them in place
 */
export const leastKeptDocuments = 288

/** The highest block that has given up its transactions; 0: none has, since the genesis block keeps its own. */
export function prunedHeight(rows: RowReader): number {
  return meta.pruned.get(rows) ?? 0
}

/** The block whose state the node took from others; 0: it verified all blocks. */
export function joinedHeight(rows: RowReader): number {
  return meta.joined.get(rows) ?? 0
}

/** Whether the block at a height has given up its transactions. */
export function isPruned(rows: RowReader, height: number): boolean {
  return height > 0 && height <= prunedHeight(rows)
}

/** Throws `pruned` for a block that has given up its transactions. */
export function requireUnpruned(rows: RowReader, height: number): void {
  if (!isPruned(rows, height)) return
  const first = prunedHeight(rows) + 1
  const why = height <= joinedHeight(rows) ? 'took the state of a block from others' : 'prunes'
  throw new RuleError(
    'pruned',
    `this node ${why}, and has the transactions of blocks from height ${first} on, not of height ${height}; ask a node that keeps all`,
  )
}

/** Up to which block operations had the documents that they superseded given up; 0: none had. */
export function supersededHeight(rows: RowReader): number {
  return meta.superseded.get(rows)?.height ?? 0
}

/** Whether a transaction is not there, since its block gave up all, or a later operation superseded its document. */
export function isGivenUp(rows: RowReader, { height, index }: Location): boolean {
  return isPruned(rows, height) || tables.givenUp.get(rows, height, index) !== undefined
}

/** Throws `pruned` for a transaction that was given up: with its block, or since its document was superseded. */
export function requireHad(rows: RowReader, at: Location): void {
  requireUnpruned(rows, at.height)
  requireLatest(rows, at)
}

function requireLatest(rows: RowReader, { height, index }: Location): void {
  if (tables.givenUp.get(rows, height, index) === undefined) return
  throw new RuleError(
    'pruned',
    `this node gave up the documents superseded up to height ${supersededHeight(rows)}, among them the one in transaction ${index} of ` +
      `height ${height}, and keeps its hash; ask a node that keeps all`,
  )
}

/** A source of rows, one or a range of them. */
interface RangeReader extends RowReader {
  rows(range: { gte: Key; lt: Key }, options: { limit: number }): Promise<[Buffer, Buffer][]>
}

/** Throws `pruned` unless all blocks above a height have their transactions, and what these superseded. */
export function requireAbove(rows: RowReader, height: number): void {
  requireUnpruned(rows, height + 1)
  const superseded = supersededHeight(rows)
  if (superseded === 0 || height >= superseded) return
  throw new RuleError(
    'pruned',
    `this node gave up the documents superseded up to height ${superseded}, and has all transactions of blocks from height ` +
      `${superseded + 1} on alone; ask a node that keeps all`,
  )
}

/** Throws `pruned` for a block that lacks a transaction. */
export async function requireWhole(rows: RangeReader, height: number): Promise<void> {
  requireUnpruned(rows, height)
  if (height > supersededHeight(rows)) return
  const [first] = await rows.rows(tables.givenUp.range(height), { limit: 1 })
  if (first !== undefined) requireHad(rows, { height, index: tables.givenUp.fields(first[0])[1] })
}

/** Heights up to which a chain lacks transactions. */
export interface LackingHeights {
  readonly pruned: number
  readonly joined: number
  readonly superseded: number
}

/** Why nothing can be made of all blocks of a chain that lacks transactions, and what helps; undefined: it has all. */
export function lackText({ pruned, joined, superseded }: LackingHeights): string | undefined {
  if (pruned === 0 && superseded === 0) return undefined
  if (pruned === 0) return `the chain is pruned: the documents superseded up to height ${superseded} have been given up`
  return joined === pruned
    ? `the directory took the state of block ${joined} from others, and has not yet filled in the blocks up to it: start the node, not ` +
        'with --no-backfill, and let it finish'
    : `the chain is pruned: blocks 1 to ${pruned} have given up their transactions`
}

/**
 * A transaction that the database must hold, unless its block is one of which the node took the state alone, or its document was superseded:
 * then `pruned`.
 */
export function presentAt<T>(rows: RowReader, at: Location, value: T | undefined, what: string): T {
  if (value === undefined && at.height <= joinedHeight(rows)) requireUnpruned(rows, at.height)
  if (value === undefined) requireLatest(rows, at)
  return present(value, what)
}

/** The type of a transaction that was given up, by its place and one of its coins. */
export function prunedType(rows: RowReader, { height, index }: Location, { coinbase }: Pick<Coin, 'coinbase'>): number {
  if (tables.givenUp.get(rows, height, index) !== undefined) return txType.did
  return coinbase ? txType.coinbase : txType.transfer
}
