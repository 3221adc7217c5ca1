import type { Coin } from '../consensus/ledger.js'
import { concat, mapKey } from '../../base/primitives/bytes.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import { coin } from '../storage/rows/coin-tables.js'
import { tables } from '../storage/rows/tables.js'
import type { FrozenRows } from '../storage/stored-rows.js'
import type { Overlay } from '../storage/write/overlay.js'
import { outpointKey } from '../../base/primitives/input.js'
import { HeaderIndex } from './header-index.js'
import { eachTransaction } from './read-body.js'

/** Computes the coins at an earlier height: the present ones, without those created later, with those spent later. */

/** @tuning count: coins spent by later blocks that are held at a time; where there are more, their keys are gone through in parts */
export const spentAtOnce = 200_000
/** @tuning bytes: coins that are read from LevelDB in one step */
const pageBytes = 96 * 1024
/** Parts of the keys: their first 16 bits. */
const allParts = 0x10000

/** A state whose coins are wanted, in the rows of a later one. */
export interface EarlierState {
  readonly height: number
  /** Height of the rows. */
  readonly tip: number
  /** Replaces {@link spentAtOnce}. */
  readonly spentAtOnce?: number
  /** Ends the reading with its reason. */
  readonly signal?: AbortSignal
}

/** Keys whose transaction id begins with 16 bits from `from` to below `to`. */
interface Part {
  readonly from: number
  readonly to: number
}

/**
 * Returns the rows of table 08, key and value, as they were after the active block at `height`, in the order of their keys and in pieces
 * of some. The blocks above it must have their transactions. Reads every coin once, and the blocks above for each part of the keys.
 */
export async function* coinRowsAfter(
  rows: FrozenRows,
  state: EarlierState,
  part: Part = { from: 0, to: allParts },
): AsyncGenerator<Uint8Array, void, void> {
  const spent = await spentAfter(rows, state, part)
  if (spent === undefined) {
    const middle = (part.from + part.to) >>> 1
    yield* coinRowsAfter(rows, state, { from: part.from, to: middle })
    yield* coinRowsAfter(rows, state, { from: middle, to: part.to })
    return
  }
  const [gte, lt] = [edge(part.from), edge(part.to)]
  const yielder = new Yielder()
  let next = 0
  for await (const page of rows.pages({ gte, lt }, pageBytes)) {
    const piece: Uint8Array[] = []
    for (const [key, value] of page) {
      // A coin that was spent is not there any more: no key is in both.
      for (; next < spent.length && Buffer.compare(spent[next] as Buffer, key) < 0; next++)
        piece.push(spent[next] as Buffer)
      if (value.readUInt32LE(0) <= state.height) piece.push(key, value)
    }
    yield Buffer.concat(piece)
    if (yielder.over) await yielder.next()
  }
  yield Buffer.concat(spent.slice(next))
}

/** {@link coinRowsAfter} the changes of an overlay over the rows, which stands still meanwhile. */
export async function* coinRowsThrough(
  rows: FrozenRows,
  { coins }: Pick<Overlay, 'coins'>,
): AsyncGenerator<Uint8Array, void, void> {
  const created = [...coins.created].map(([outpoint, one]) => rowOf(outpoint, one)).sort(Buffer.compare)
  const yielder = new Yielder()
  let next = 0
  for await (const page of rows.pages(tables.coin.range(), pageBytes)) {
    const piece: Uint8Array[] = []
    for (const [key, value] of page) {
      for (; next < created.length && Buffer.compare(created[next] as Buffer, key) < 0; next++)
        piece.push(created[next] as Buffer)
      if (coins.get(outpointKey(tables.coin.fields(key)[0])) === undefined) piece.push(key, value)
    }
    yield Buffer.concat(piece)
    if (yielder.over) await yielder.next()
  }
  yield Buffer.concat(created.slice(next))
}

/** Rows of table 1d, key and value, as they were after the active block at a height. */
export async function sideChainRowsAfter(rows: FrozenRows, { height, tip, signal }: EarlierState): Promise<Uint8Array> {
  const proved = await provedNow(rows)
  for (let above = proved.size === 0 ? height : tip; above > height; above--) {
    signal?.throwIfAborted()
    const undo = rows.get(tables.undo.key(above))
    const moved = undo === undefined ? [] : tables.undo.decode(undo).sideChains
    for (const { genesis, before } of [...moved].reverse()) {
      if (before === undefined) proved.delete(mapKey(genesis))
      else proved.set(mapKey(genesis), before)
    }
  }
  return sideChainRows(proved)
}

/** {@link sideChainRowsAfter} the changes of an overlay over the rows. */
export async function sideChainRowsThrough(
  rows: FrozenRows,
  { changes }: Pick<Overlay, 'changes'>,
): Promise<Uint8Array> {
  const proved = await provedNow(rows)
  for (const { key, value } of changes.values()) {
    if (key[0] !== tables.sideChain.number) continue
    const genesis = mapKey(tables.sideChain.fields(key)[0])
    if (value === undefined) proved.delete(genesis)
    else proved.set(genesis, tables.sideChain.decode(value))
  }
  return sideChainRows(proved)
}

/** Proved heights by the `mapKey` of the hash of a genesis block, as the rows are. */
async function provedNow(rows: FrozenRows): Promise<Map<string, number>> {
  const proved = new Map<string, number>()
  for await (const page of rows.pages(tables.sideChain.range(), pageBytes)) {
    for (const [key, value] of page) proved.set(mapKey(tables.sideChain.fields(key)[0]), tables.sideChain.decode(value))
  }
  return proved
}

function sideChainRows(proved: ReadonlyMap<string, number>): Uint8Array {
  const sorted = [...proved].sort(([a], [b]) => (a < b ? -1 : 1))
  return concat(
    ...sorted.flatMap(([genesis, at]) => [
      tables.sideChain.key(Buffer.from(genesis, 'latin1')),
      tables.sideChain.encode(at),
    ]),
  )
}

/** Rows of the coins of a part that the blocks above a height spent and that are not newer, in order; undefined where they are too many. */
async function spentAfter(
  rows: FrozenRows,
  { height, tip, signal, spentAtOnce: most = spentAtOnce }: EarlierState,
  { from, to }: Part,
): Promise<Buffer[] | undefined> {
  const headers = new HeaderIndex(rows)
  const spent: Buffer[] = []
  for (let above = height + 1; above <= tip; above++) {
    signal?.throwIfAborted()
    const undo = rows.get(tables.undo.key(above))
    const coins = undo === undefined ? [] : tables.undo.decode(undo).spent
    let index = -1
    await eachTransaction(rows, headers.activeAt(above), ({ inputs }) => {
      // The coinbase spends nothing, and has no place in the record.
      const spentHere = coins[index++] ?? []
      for (const [i, one] of spentHere.entries()) {
        const row = rowOf(inputs[i] as (typeof inputs)[number], one)
        const place = row.readUInt16BE(1)
        if (one.height <= height && from <= place && place < to) spent.push(row)
      }
    })
    if (spent.length > most && to - from > 1) return undefined
  }
  return spent.sort(Buffer.compare)
}

function rowOf(outpoint: Parameters<typeof tables.coin.key>[0], one: Coin): Buffer {
  return Buffer.concat([tables.coin.key(outpoint), coin.encode(one)])
}

/** The first key of table 08 whose transaction id begins with 16 bits. */
function edge(place: number): Buffer {
  const { gte, lt } = tables.coin.range()
  return place === allParts ? lt : Buffer.concat([gte, Buffer.of(place >>> 8, place & 0xff)])
}
