import type { Chain } from '../../chain/chain.js'
import { matchBody } from '../../chain/match-body.js'
import { RuleError } from '../../errors/rule-error.js'
import type { PendingBlock } from '../fetch/pending-block.js'
import type { PendingHeaders } from '../fetch/pending-headers.js'
import type { SyncPeer } from '../fetch/sync-peer.js'

/** Bytes of checked blocks that wait for the writer; decoded they take several times as much memory. */
const matchedBytes = 6 * 1024 * 1024

/** Callbacks of the body checks. */
export interface BodyChecksOwner {
  readonly branch: PendingHeaders
  /** A block passed its body check. */
  matched(): void
  /** Blocks have to be fetched again. */
  unmatched(): void
  /** Reports an unexpected error. */
  failed(error: unknown): void
}

/** Checks bodies against their headers, lowest first; pauses while much waits for the writer. */
export class BodyChecks {
  readonly #chain: Chain
  readonly #owner: BodyChecksOwner
  #running = false
  #stopped = false

  constructor(chain: Chain, owner: BodyChecksOwner) {
    this.#chain = chain
    this.#owner = owner
  }

  wake(): void {
    if (this.#running || this.#stopped) return
    this.#running = true
    this.#run().catch((error: unknown) => this.#owner.failed(error))
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
        this.#owner.matched()
      } catch (error) {
        if (!(error instanceof RuleError)) throw error
        this.#discard(block, block.giver as SyncPeer, error)
      }
    }
    this.#running = false
  }

  #next(): PendingBlock | undefined {
    const { blocks } = this.#owner.branch
    const next = blocks.find(({ body, matched }) => body !== undefined && matched === undefined)
    const waiting = blocks.reduce(
      (sum, { body, matched }) => sum + (matched === undefined ? 0 : (body?.length ?? 0)),
      0,
    )
    return waiting < matchedBytes || next === blocks[0] ? next : undefined
  }

  /** Discards all unchecked bodies of the peer as well: not worth a check. */
  #discard(broken: PendingBlock, giver: SyncPeer, error: RuleError): void {
    broken.noteMiss(giver)
    for (const block of this.#owner.branch.blocks) {
      if (block.giver === giver && block.matched === undefined) block.dropBody()
    }
    giver.penalise(error.code, `block ${broken.unit.header.id}: ${error.message}`)
    this.#owner.unmatched()
  }
}
