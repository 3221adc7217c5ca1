import { BlockRunError, type IncomingBlock } from '../../ledger/chain/block-run.js'
import type { Chain } from '../../ledger/chain/chain.js'
import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Clock } from '../../base/runtime/env.js'
import type { PendingBlock } from '../fetch/pending-block.js'
import type { PendingHeaders } from '../fetch/pending-headers.js'
import type { FailedEvent } from '../fetch/sync-peer.js'

/** @tuning count: blocks connected in one batch */
const batchBlocks = 256
/** @tuning bytes: blocks connected in one batch */
const batchBytes = 8 * 1024 * 1024
/** Blocks of the first batch; later batches adapt to {@link batchTime}. */
const firstBatch = 8
/** Target time (ms) of a batch: fetched blocks are on disk that soon, and the node can stop. */
const batchTime = 500

/** `written`: blocks were connected, or stored as side blocks. `refused`: the chain refuses a block. */
export type WriterEvent =
  | { readonly type: 'written' }
  | { readonly type: 'refused'; readonly block: PendingBlock; readonly error: RuleError }
  | FailedEvent

/** Passes the lowest pending blocks to the chain, in order. */
export class BlockWriter {
  readonly #chain: Chain
  readonly #clock: Clock
  readonly #headers: { readonly branch: PendingHeaders }
  readonly #emit: (event: WriterEvent) => void
  #most = firstBatch
  #work: Promise<void> | undefined
  #stopped = false

  constructor(
    chain: Chain,
    clock: Clock,
    headers: { readonly branch: PendingHeaders },
    emit: (event: WriterEvent) => void,
  ) {
    this.#chain = chain
    this.#clock = clock
    this.#headers = headers
    this.#emit = emit
  }

  get busy(): boolean {
    return this.#work !== undefined
  }

  /** Connects the available blocks, unless that is under way. */
  wake(): void {
    if (this.#stopped || this.#work !== undefined || this.#batch().length === 0) return
    this.#work = this.#run()
      .then(
        (again) => () => again && this.wake(),
        (error: unknown) => () => this.#emit({ type: 'failed', error }),
      )
      .then((next) => {
        this.#work = undefined
        next()
      })
  }

  /** Resolves when the batch under way is connected. */
  async close(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  /** Connects batch after batch; resolves with false after a refused block. */
  async #run(): Promise<boolean> {
    for (let batch = this.#batch(); batch.length > 0 && !this.#stopped; batch = this.#batch()) {
      const started = this.#clock.now()
      for (const block of batch) block.isConnecting = true
      try {
        const connected = await this.#connect(batch)
        for (const { giver } of batch.slice(0, connected)) giver?.delivered('block')
        this.#emit({ type: 'written' })
        this.#learn(batch.length, this.#clock.now() - started)
        // The chain knows the header but has dropped the body, which was too deep.
        if (this.#headers.branch.blocks[0] === batch[0]) throw brokenRule('block-too-deep')
      } catch (error) {
        const [index, rule] = error instanceof BlockRunError ? [error.index, error.rule] : [0, error]
        if (!(rule instanceof RuleError)) throw error
        this.#emit({ type: 'refused', block: batch[index] as PendingBlock, error: rule })
        return false
      } finally {
        for (const block of batch) block.isConnecting = false
      }
    }
    return true
  }

  #learn(count: number, milliseconds: number): void {
    if (milliseconds > batchTime) this.#most = Math.max(1, Math.floor((count * batchTime) / milliseconds))
    else if (count === this.#most) this.#most = Math.min(batchBlocks, 2 * this.#most)
  }

  /** The lowest blocks that fit into one batch; signatures are checked for all of them or for none. */
  #batch(): PendingBlock[] {
    const batch: PendingBlock[] = []
    let bytes = 0
    for (const block of this.#headers.branch.blocks) {
      bytes += block.body?.length ?? 0
      const full = batch.length === this.#most || (batch.length > 0 && bytes > batchBytes)
      if (block.matched === undefined || full || (batch[0] ?? block).assumed !== block.assumed) break
      batch.push(block)
    }
    return batch
  }

  async #connect(batch: readonly PendingBlock[]): Promise<number> {
    const first = batch[0] as PendingBlock
    if (equalBytes(first.unit.header.previous, this.#chain.tip.header.hash)) {
      const following = this.#headers.branch.blocks.length - batch.length
      return this.#chain.acceptBlocks(batch.map(incoming), { assumed: first.assumed, following })
    }
    // Side blocks are stored until their branch has more work than the chain.
    const { block, confirm } = incoming(first)
    await this.#chain.acceptBlock(block, confirm)
    return 1
  }
}

function incoming({ unit: { confirm }, body, matched }: PendingBlock): IncomingBlock {
  const proof = confirm.length > 0 ? { confirm } : {}
  return { block: body as Uint8Array, ...proof, ...(matched === undefined ? {} : { matched }) }
}
