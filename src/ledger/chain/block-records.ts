import { coinOf, StateOverlay } from '../consensus/ledger.js'
import { auxPowBytes } from '../../base/primitives/auxpow.js'
import type { Block } from '../../base/primitives/block.js'
import { workOf } from '../../base/primitives/compact.js'
import { outputKey } from '../../base/primitives/input.js'
import type { Overlay } from '../storage/write/overlay.js'
import { type BlockStatus, meta, schemaVersion, tables } from '../storage/rows/tables.js'
import { putMapComplete } from '../storage/rows/map/map-rows.js'
import { putConnected, StoredState } from '../storage/stored-state.js'
import { putRules } from './check-rules.js'
import type { KnownHeader } from './header-index.js'

/** Fields of a block record that the block itself lacks. */
export interface RecordInfo {
  /** Chain work including the block. */
  readonly chainWork: bigint
  /** Bytes of the whole block. */
  readonly size: number
  readonly status: BlockStatus
  /** Arrival number of the block; rises with every new block. */
  readonly arrival: number
}

/** A new block and its parent. */
export interface NewBlock {
  readonly parent: KnownHeader
  /** Bytes of the whole block. */
  readonly size: number
}

/** Chain work including a new block. */
export function chainWorkOf({ header }: Block, { parent }: NewBlock): bigint {
  return parent.chainWork + workOf(header.bits)
}

/** Stages the header record of a new block. */
export function putRecord(overlay: Overlay, block: Block, info: RecordInfo): void {
  const { header, auxPow, transactions } = block
  const record = {
    ...info,
    header: header.bytes,
    auxPow: auxPowBytes(auxPow),
    transactionCount: transactions.length,
  }
  overlay.put(tables.header.key(header.hash), tables.header.encode(record))
}

/** Stages a new status of a known block. */
export function putStatus(overlay: Overlay, known: KnownHeader, status: BlockStatus): void {
  const record = { ...known, header: known.header.bytes, status }
  overlay.put(tables.header.key(known.header.hash), tables.header.encode(record))
}

/** Stages the first rows of an empty database: the genesis block, which is not validated, and with `map` an empty map of DIDs. */
export async function genesisInto(overlay: Overlay, genesis: Block, { map }: { map: boolean }): Promise<void> {
  const { header, transactions } = genesis
  const state = new StateOverlay(new StoredState(overlay, { time: () => genesis.header.time }))
  const coinbase = transactions[0] as Block['transactions'][number]
  coinbase.outputs.forEach((output, index) => {
    const coin = coinOf(output, { height: 0, coinbase: true })
    if (coin !== undefined) state.coins.create(outputKey(coinbase.hashKey, index), coin)
  })
  await putConnected(overlay, genesis, { state, transactions: [{ fee: 0n, spent: [] }], fees: 0n })
  if (map) putMapComplete(overlay, 0)
  overlay.put(tables.active.key(0), header.hash)
  putRecord(overlay, genesis, {
    chainWork: workOf(header.bits),
    size: genesis.bytes.length,
    status: 'active',
    arrival: 1,
  })
  meta.version.put(overlay, schemaVersion)
  putRules(overlay)
  meta.days.put(overlay, 0)
}
