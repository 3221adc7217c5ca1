import { StateOverlay } from '../consensus/ledger.js'
import { noWork } from '../consensus/signature-work.js'
import { auxPowBytes } from '../primitives/auxpow.js'
import type { Block } from '../primitives/block.js'
import { workOf } from '../primitives/compact.js'
import type { Overlay } from '../storage/database.js'
import { type BlockStatus, keys, schemaVersion, values } from '../storage/schema.js'
import { putConnected, StoredState } from '../storage/stored-state.js'
import type { KnownHeader } from './header-index.js'

/** What the record of a block holds that the block does not say. */
export interface RecordInfo {
  /** Work of the chain up to and including the block. */
  readonly chainWork: bigint
  /** Bytes of the whole block. */
  readonly size: number
  readonly status: BlockStatus
  /** Rises with every block that comes. */
  readonly arrival: number
}

/** A block that came, and the one it stands on. */
export interface NewBlock {
  readonly parent: KnownHeader
  /** Bytes of the whole block. */
  readonly size: number
}

/** Work of the chain that ends with a new block. */
export function chainWorkOf({ header }: Block, { parent }: NewBlock): bigint {
  return parent.chainWork + workOf(header.bits)
}

/** Stages the header record of a block that is new. */
export function putRecord(overlay: Overlay, block: Block, info: RecordInfo): void {
  const { header, auxPow, transactions } = block
  const record = {
    ...info,
    header: header.bytes,
    auxPow: auxPowBytes(auxPow),
    transactionCount: transactions.length,
  }
  overlay.put(keys.header(header.hash), values.header.encode(record))
}

/** Stages another status of a block that is known. */
export function putStatus(overlay: Overlay, known: KnownHeader, status: BlockStatus): void {
  const record = { ...known, header: known.header.bytes, status }
  overlay.put(keys.header(known.header.hash), values.header.encode(record))
}

/** Stages the first rows of an empty database: the genesis block, which follows no rule but its own. */
export async function genesisInto(overlay: Overlay, genesis: Block): Promise<void> {
  const { header, transactions } = genesis
  const state = new StateOverlay(new StoredState(overlay))
  const coinbase = transactions[0] as Block['transactions'][number]
  coinbase.outputs.forEach(({ value, outputLock, programHash }, index) => {
    if (value === 0n) return
    state.create({ txid: coinbase.hash, index }, { height: 0, coinbase: true, value, outputLock, programHash })
  })
  const registration = { fee: 0n, work: noWork, checks: [], spent: [] }
  await putConnected(overlay, genesis, { state, transactions: [registration], fees: 0n, checks: [] })
  overlay.put(keys.active(0), header.hash)
  putRecord(overlay, genesis, {
    chainWork: workOf(header.bits),
    size: genesis.bytes.length,
    status: 'active',
    arrival: 1,
  })
  overlay.put(keys.meta('version'), Uint8Array.of(schemaVersion))
}
