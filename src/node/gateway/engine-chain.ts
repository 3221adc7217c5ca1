import { EventEmitter } from 'node:events'
import { createVerifierPool } from '../../base/crypto/verifier-pool.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Block } from '../../base/primitives/block.js'
import { genesisBlock, registerAssetTransaction } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import { AssumedConfirms } from '../../ledger/chain/assumed-confirms.js'
import type { ChainView } from '../../ledger/chain/chain-view.js'
import { HeaderIndex, type KnownHeader } from '../../ledger/chain/header-index.js'
import type { SanityContext } from '../../ledger/consensus/rule-context.js'
import type { EngineRows } from '../../ledger/engine/engine-rows.js'
import { meta } from '../../ledger/storage/rows/tables.js'
import { joinedHeight, prunedHeight, supersededHeight } from '../../ledger/storage/rows/prune-rows.js'

/** The chain in the rows of another engine, as answers see it. */
export class EngineChain implements ChainView {
  readonly spec: Spec
  readonly sanity: SanityContext
  readonly genesis: Block
  readonly headers: HeaderIndex
  readonly database: EngineRows
  readonly assumedConfirms: AssumedConfirms
  readonly events = new EventEmitter<{ change: [] }>()
  readonly #verifier = createVerifierPool({ workers: 1 })
  #tip!: KnownHeader
  #prunedHeight = 0
  #joinedHeight = 0
  #supersededHeight = 0
  #clockOffset = 0

  constructor(spec: Spec, database: EngineRows) {
    this.spec = spec
    this.database = database
    this.sanity = { spec, assetId: registerAssetTransaction(spec).hash }
    this.genesis = genesisBlock(spec)
    this.headers = new HeaderIndex(database)
    this.assumedConfirms = new AssumedConfirms({ spec, database, verifier: this.#verifier })
    // Requests that wait for heights, one listener each at most.
    this.events.setMaxListeners(0)
    this.#follow()
    database.events.on('move', () => this.#follow())
  }

  get tip(): KnownHeader {
    return this.#tip
  }

  get prunes(): boolean {
    return this.#prunedHeight > 0
  }

  get prunedHeight(): number {
    return this.#prunedHeight
  }

  get prunesDocuments(): boolean {
    return this.#supersededHeight > 0
  }

  get supersededHeight(): number {
    return this.#supersededHeight
  }

  get joinedHeight(): number {
    return this.#joinedHeight
  }

  /** Milliseconds of the chain's clock ahead of the system's; 0 but on a devnet. */
  get clockOffset(): number {
    return this.#clockOffset
  }

  async close(): Promise<void> {
    await this.#verifier.close()
  }

  /** Takes the tip of the rows, which are all in memory when they have moved. */
  #follow(): void {
    const { database } = this
    const before = this.#tip
    this.headers.clear()
    this.assumedConfirms.forget()
    const tip = this.headers.known(database.state.hash)
    // The same object tells caches that nothing moved.
    const isSame =
      before !== undefined && equalBytes(before.header.hash, tip.header.hash) && before.status === tip.status
    this.#tip = isSame ? before : tip
    this.#prunedHeight = prunedHeight(database)
    this.#joinedHeight = joinedHeight(database)
    this.#supersededHeight = supersededHeight(database)
    this.#clockOffset = meta.clock.get(database) ?? 0
    if (!isSame) this.events.emit('change')
  }
}
