import type { Chain } from '../../ledger/chain/chain.js'
import { tables } from '../../ledger/storage/rows/tables.js'
import type { ProofAnswers } from '../../answers/resolver/proof-answers.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Log } from '../../base/runtime/env.js'
import { committedBlock, headerOf, readAnchor } from '../../identity/proofs/anchor.js'
import type { WitnessSigner } from '../../clients/witness/witness-signer.js'

/** Blocks above a head on a chain without validators before it is signed: as many as light resolvers ask for. */
const minedDepth = 6

export interface OwnWitnessOptions {
  readonly chain: Pick<Chain, 'spec' | 'tip' | 'events' | 'database'>
  readonly proofs: Pick<ProofAnswers, 'anchor'>
  readonly signer: WitnessSigner
  readonly log: Pick<Log, 'error' | 'warn'>
}

/**
 * A full node as a witness: signs its newest head after each change of the tip, when it has checked every rule of the blocks up to it. Out
 * of step with its chain it signs nothing. Of several changes that come while it signs only the last one counts.
 */
export class OwnWitness {
  readonly #options: OwnWitnessOptions
  #looking: Promise<void> | undefined
  #again = false
  readonly #onChange = () => void this.look()

  constructor(options: OwnWitnessOptions) {
    this.#options = options
    options.chain.events.on('change', this.#onChange)
  }

  /** Signs the newest head unless it is signed; resolves when no head is left. */
  look(): Promise<void> {
    this.#again = true
    this.#looking ??= this.#lookOn().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  /** Resolves when nothing is being signed any more. */
  async close(): Promise<void> {
    this.#options.chain.events.off('change', this.#onChange)
    await this.#looking
  }

  async #lookOn(): Promise<void> {
    while (this.#again) {
      this.#again = false
      try {
        await this.#signHead()
      } catch (error) {
        // Out of step, or without the anchor of that block: the next block is another occasion.
        if (error instanceof RuleError) continue
        this.#options.log.error({ reason: String(error) }, 'this node cannot cosign its head')
      }
    }
  }

  async #signHead(): Promise<void> {
    const { chain, proofs, signer } = this.#options
    const { hasValidators } = chain.spec
    const height = chain.tip.header.height - (hasValidators ? 0 : minedDepth)
    if (height < 1) return
    const { anchor: json } = await proofs.anchor({ height })
    const anchor = readAnchor(json, hasValidators)
    const block = committedBlock(anchor, headerOf(anchor), hasValidators)
    const { last } = signer
    const { cosignatures: _, ...shown } = json
    const ancestor = last && chain.database.get(tables.active.key(last.height))
    await signer.sign({ ...block, anchor: shown }, ancestor)
  }
}
