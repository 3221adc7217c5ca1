import type { Chain } from '../../ledger/chain/chain.js'
import { matchBody } from '../../ledger/chain/match-body.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { PendingBlock } from '../fetch/pending-block.js'
import type { PendingHeaders } from '../fetch/pending-headers.js'
import type { FailedEvent, SyncPeer } from '../fetch/sync-peer.js'

/**
 * Decoded they take several times as much memory.
 * @tuning bytes: checked blocks that wait for the writer
 */
const matchedBytes = 2 * 1024 * 1024

/** `checked`: a block passed its body check. `bad-body`: blocks have to be fetched again. */
export type BodyCheckEvent = { readonly type: 'checked' | 'bad-body' } | FailedEvent

/** Checks bodies against their headers, lowest first; pauses while much waits for the writer. */
export class BodyChecks {
  readonly #chain: Chain
  readonly #headers: { readonly branch: PendingHeaders }
  readonly #emit: (event: BodyCheckEvent) => void
  #running = false
  #stopped = false

  constructor(chain: Chain, headers: { readonly branch: PendingHeaders }, emit: (event: BodyCheckEvent) => void) {
    this.#chain = chain
    this.#headers = headers
    this.#emit = emit
  }

  wake(): void {
    if (this.#running || this.#stopped) return
    this.#running = true
    this.#run().catch((error: unknown) => this.#emit({ type: 'failed', error }))
  }

  close(): void {
    this.#stopped = true
  }

  async #run(): Promise<void> {
    for (let block = this.#next(); block !== undefined; block = this.#next()) {
      const body = block.body as Uint8Array
      try {
        const { header, auxPow } = block.unit
        const matched = await matchBody(body, this.#chain.sanity, { hash: header.hash, auxPow })
        if (this.#stopped) return
        // Two answers may deliver the same block.
        block.match(body, matched)
        this.#emit({ type: 'checked' })
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        this.#discard(block, block.giver as SyncPeer, error)
      }
    }
    this.#running = false
  }

  #next(): PendingBlock | undefined {
    const { blocks } = this.#headers.branch
    const next = blocks.find(({ body, matched }) => body !== undefined && matched === undefined)
    // Blocks that the writer connects already do not count: its next batch needs others.
    const waiting = blocks.filter(({ matched, isConnecting }) => matched !== undefined && !isConnecting)
    const bytes = waiting.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)
    return bytes < matchedBytes || next === blocks[0] ? next : undefined
  }

  /** Drops a broken body, and all unchecked ones of the same peer, which are fetched from others. */
  #discard(broken: PendingBlock, giver: SyncPeer, error: RuleError): void {
    broken.noteMiss(giver)
    for (const block of this.#headers.branch.blocks) {
      if (block.giver === giver && block.matched === undefined) block.dropBody()
    }
    giver.penalise(error.code, `block ${broken.unit.header.id}: ${error.message}`)
    this.#emit({ type: 'bad-body' })
  }
}
