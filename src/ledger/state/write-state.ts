import { UserError } from '../../base/errors/rule-error.js'
import { Writer } from '../../base/primitives/codec.js'
import { latestCoinRoot } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import type { Leaf } from '../../identity/proofs/map-tree.js'
import type { Chain } from '../chain/chain.js'
import type { CoinState } from '../chain/coin-roots.js'
import { coinRowsAfter } from '../chain/coins-after.js'
import type { KnownHeader } from '../chain/header-index.js'
import { chunkCoins, coinRowSize } from '../consensus/coin-root.js'
import { lackText } from '../storage/rows/prune-rows.js'
import { tables } from '../storage/rows/tables.js'
import { knownTransactions, txidOf } from '../storage/rows/transaction-hashes.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import { writeOutline } from './block-outline.js'
import { LeafOrder } from './leaf-order.js'
import { leafOf, type LeafRecord, writeLeaf } from './leaf-record.js'
import { prefixOf, subtreeBytes, subtreeOf } from './map-parts.js'
import { maxPart, type Part, partBytes, type PartKind, partKind } from './parts.js'
import { encodeHead, maxDepth } from './state-head.js'

/** Leaves of a subtree, about: a part has thousands of them. */
const usualLeaves = 256
/** Subtrees in a part. */
const subtreesAtOnce = 0x10000

/** Sizes of parts; tests need small ones. */
export interface WritingOptions {
  readonly leavesAtOnce?: number
  readonly bytes?: number
  /** Bytes of the largest part. */
  readonly most?: number
}

/**
 * A state with a part that no checker takes: the leaves of a subtree are one, since they are checked by its root alone, and so are rows of side
 * chains. What takes more than that would be held in memory by each who joins, so that no such state is written.
 */
export class PartTooLarge extends UserError {
  constructor({ kind, bytes }: Omit<Part, 'number'>, most: number) {
    const what = kind === partKind.leaves ? 'the DIDs and credentials of one subtree' : `a part of kind ${kind}`
    super(`the state cannot be written: ${what} would have ${bytes.length} bytes, and a part has at most ${most}`)
  }
}

/** A state that a chain can write, and the block that commits to its coins. */
export interface WritableState {
  readonly state: KnownHeader
  readonly committing: KnownHeader
}

/** The latest state whose coins a block of the chain commits to; a {@link UserError} where there is none, or the chain has given up what it needs. */
export function latestState(chain: Chain): WritableState {
  const { spec, headers, tip, prunedHeight: pruned, joinedHeight: joined } = chain
  const { height: top } = tip.header
  const last = latestCoinRoot(spec, top)
  if (last === undefined) throw new UserError(`blocks of ${spec.name} commit to no coins: its spec has no coinInterval`)
  if (last.height > top) {
    throw new UserError(`the first block that commits to coins is ${last.height}, and the chain ends at height ${top}`)
  }
  if (pruned > 0) {
    throw new UserError(
      `${lackText({ pruned, joined, superseded: 0 })}; a state names the hashes of all transactions: write it where a node keeps all`,
    )
  }
  return { state: headers.activeAt(last.state), committing: headers.activeAt(last.height) }
}

/**
 * The parts of a state, from a snapshot of the rows. Blocks above it may come meanwhile. Holds 53 bytes in memory for each DID. Rejects with
 * {@link PartTooLarge}.
 */
export async function* stateParts(
  chain: Chain,
  writable: WritableState,
  options: WritingOptions = {},
): AsyncGenerator<Omit<Part, 'number'>, void, void> {
  const { most = maxPart } = options
  for await (const part of unboundedParts(chain, writable, options)) {
    if (part.bytes.length > most) throw new PartTooLarge(part, most)
    yield part
  }
}

async function* unboundedParts(
  chain: Chain,
  { state, committing }: WritableState,
  { leavesAtOnce = usualLeaves, bytes = partBytes }: WritingOptions,
): AsyncGenerator<Omit<Part, 'number'>, void, void> {
  const coins = await chain.coinRoots.of(state.header)
  const rows = chain.database.freezeNewest()
  const { height } = state.header
  const as = { height, tip: chain.tip.header.height }
  try {
    const order = await LeafOrder.of(rows, height)
    const depth = depthFor(order.size / leavesAtOnce)
    const confirm = rows.get(tables.confirm.key(committing.header.hash)) ?? new Uint8Array(0)
    const { hash: genesis } = chain.genesis.header
    const head = { genesis, height, coins: coins.count, sum: coins.sum, depth, confirm }
    yield { kind: partKind.head, bytes: encodeHead(head) }
    const last = committing.header.height
    yield* inParts(partKind.headers, upTo(last), bytes, (at) => headerBytes(chain, at))
    yield* inParts(partKind.blocks, upTo(height, last), bytes, (at) => outlineBytes(chain, rows, at))
    if (coins.sideChains.length > 0) yield { kind: partKind.sideChains, bytes: coins.sideChains }
    yield* coinParts(rows, as, coins)
    yield* mapParts(order, depth)
    yield* leafParts(order, { depth, bytes })
  } finally {
    rows.close()
  }
}

function depthFor(subtrees: number): number {
  return Math.min(maxDepth, Math.max(0, Math.ceil(Math.log2(subtrees))))
}

/** Heights from 1 on, and one more. */
function* upTo(height: number, last?: number): Generator<number> {
  for (let at = 1; at <= height; at++) yield at
  if (last !== undefined) yield last
}

/** Parts of about so many bytes, with what each of the heights has. */
async function* inParts(
  kind: PartKind,
  heights: Iterable<number>,
  most: number,
  bytesOf: (height: number) => Uint8Array | Promise<Uint8Array>,
): AsyncGenerator<Omit<Part, 'number'>> {
  const yielder = new Yielder()
  let some: Uint8Array[] = []
  let size = 0
  for (const height of heights) {
    const bytes = await bytesOf(height)
    if (size > 0 && size + bytes.length > most) {
      yield { kind, bytes: Buffer.concat(some) }
      ;[some, size] = [[], 0]
    }
    some.push(bytes)
    size += bytes.length
    if (yielder.over) await yielder.next()
  }
  yield { kind, bytes: Buffer.concat(some) }
}

/** The header of an active block, on a chain of work with its AuxPow. */
function headerBytes({ headers, spec }: Chain, height: number): Uint8Array {
  const { header, auxPow } = headers.activeAt(height)
  return spec.hasValidators ? header.bytes : Buffer.concat([header.bytes, auxPow])
}

async function outlineBytes({ headers }: Chain, rows: FrozenRows, height: number): Promise<Uint8Array> {
  const { header } = headers.activeAt(height)
  const [coinbase, ...others] = await knownTransactions(rows, header.height)
  const outline = {
    coinbase: coinbase as Transaction,
    transactions: others.map((one) => ({ txid: txidOf(one), digest: one.digest })),
  }
  const writer = new Writer()
  writeOutline(writer, outline)
  return writer.finish()
}

async function* coinParts(
  rows: FrozenRows,
  as: { readonly height: number; readonly tip: number },
  { leaves }: CoinState,
): AsyncGenerator<Omit<Part, 'number'>> {
  for (let at = 0; at < leaves.length; at += subtreesAtOnce) {
    yield { kind: partKind.chunks, bytes: Buffer.concat(leaves.slice(at, at + subtreesAtOnce)) }
  }
  let chunk: Uint8Array[] = []
  let room = chunkCoins * coinRowSize
  for await (const piece of coinRowsAfter(rows, as)) {
    for (let at = 0; at < piece.length;) {
      const some = piece.subarray(at, at + room)
      chunk.push(some)
      at += some.length
      room -= some.length
      if (room > 0) continue
      yield { kind: partKind.coins, bytes: Buffer.concat(chunk) }
      chunk = []
      room = chunkCoins * coinRowSize
    }
  }
  if (chunk.some(({ length }) => length > 0)) yield { kind: partKind.coins, bytes: Buffer.concat(chunk) }
}

/** The leaves of each subtree at a depth, in order, the empty ones too. */
async function* subtrees<T>(
  leaves: AsyncIterable<T>,
  depth: number,
  leafIn: (one: T) => Leaf,
): AsyncGenerator<readonly T[], void, void> {
  let prefix = 0
  let some: T[] = []
  for await (const one of leaves) {
    for (const place = prefixOf(leafIn(one).key, depth); prefix < place; prefix++) {
      yield some
      some = []
    }
    some.push(one)
  }
  for (; prefix < 2 ** depth; prefix++) {
    yield some
    some = []
  }
}

async function* mapParts(order: LeafOrder, depth: number): AsyncGenerator<Omit<Part, 'number'>> {
  let some: Uint8Array[] = []
  for await (const leaves of subtrees(order.leaves(), depth, (leaf) => leaf)) {
    some.push(subtreeBytes(subtreeOf(leaves, depth)))
    if (some.length < subtreesAtOnce) continue
    yield { kind: partKind.map, bytes: Buffer.concat(some) }
    some = []
  }
  if (some.length > 0) yield { kind: partKind.map, bytes: Buffer.concat(some) }
}

/** Parts with the records of some subtrees each: prefix of the first u32, their number u32, then for each the number of records, a compact size, and these. */
async function* leafParts(
  order: LeafOrder,
  { depth, bytes: most }: { readonly depth: number; readonly bytes: number },
): AsyncGenerator<Omit<Part, 'number'>> {
  let [first, next, size] = [0, 0, 0]
  let some: Uint8Array[] = []
  const part = () => {
    const place = new Writer(8).u32(first).u32(next - first)
    const bytes = Buffer.concat([place.finish(), ...some])
    ;[first, size, some] = [next, 0, []]
    return { kind: partKind.leaves, bytes }
  }
  for await (const records of subtrees(order.records(), depth, leafOf)) {
    const bytes = subtreeRecords(records)
    if (size > 0 && size + bytes.length > most) yield part()
    some.push(bytes)
    size += bytes.length
    next++
  }
  yield part()
}

function subtreeRecords(records: readonly LeafRecord[]): Uint8Array {
  const writer = new Writer(1024).varuint(records.length)
  for (const record of records) writeLeaf(writer, record)
  return writer.finish()
}
