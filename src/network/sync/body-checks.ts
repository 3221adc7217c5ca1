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
/** Bodies that one look at the pending blocks finds: thousands of small ones are pending at a time. */
const portion = 64

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
    for (let blocks = this.#next(); blocks.length > 0; blocks = this.#next()) {
      for (const block of blocks) {
        if (!this.#isWaiting(block)) continue
        await this.#check(block, block.body as Uint8Array)
        if (this.#stopped) return
      }
    }
    this.#running = false
  }

  async #check(block: PendingBlock, body: Uint8Array): Promise<void> {
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

  /** Whether a block still is to be checked: it may have been cut off, and its body dropped, while others were. */
  #isWaiting({ unit, body, matched }: PendingBlock): boolean {
    return body !== undefined && matched === undefined && this.#headers.branch.has(unit.header)
  }

  /** The lowest bodies to check: as many as may wait for the writer, but the lowest block in any case. */
  #next(): readonly PendingBlock[] {
    const { blocks } = this.#headers.branch
    let bytes = 0
    // Blocks that the writer connects already do not count: its next batch needs others.
    for (const { body, matched, isConnecting } of blocks) {
      if (matched !== undefined && !isConnecting) bytes += body?.length ?? 0
    }
    const chosen: PendingBlock[] = []
    for (const block of blocks) {
      const { body, matched } = block
      if (body === undefined || matched !== undefined) continue
      if (chosen.length === portion || (bytes >= matchedBytes && block !== blocks[0])) break
      chosen.push(block)
      bytes += body.length
    }
    return chosen
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
