import type { KnownHeader } from '../chain/header-index.js'
import { checkProofOfWork } from '../../identity/proofs/auxpow-proof.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { maxAuxPowSize, parseAuxPow } from '../../base/primitives/auxpow.js'
import { Block } from '../../base/primitives/block.js'
import { equalBytes, mapKey, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Env } from '../../base/runtime/env.js'
import type { ProducerOptions } from './producer.js'
import { type Selection, selectTransactions, templateOf } from './template.js'
import { isRefusal } from './retry-refused-block.js'

/** @tuning count: selections kept for outside miners, each of at most a block's size; the oldest leaves first */
const selectionsKept = 8
/** @tuning count: addresses with a template of one selection */
const addressesKept = 128
/** Milliseconds until a new template replaces one that lacks new pool transactions. */
const refreshAfter = 5000
/** Milliseconds until a new template replaces one only to update its time. */
const renewAfter = 60_000
/** @tuning count: attempts to make a template while blocks and refusals overtake its selections */
const maxAttempts = 10

export type AuxWorkOptions = Omit<ProducerOptions, 'payTo'> & Pick<Env, 'clock'>

/** Templates of one selection by payee address, in order of the last request. */
interface TemplateSet {
  readonly selection: Selection
  /** `additions` of the pool at the time of the selection. */
  readonly additions: number
  /** Number of refused blocks of this node at that time, from all of its block makers. */
  readonly refusals: number
  readonly madeAt: number
  /** The time that was asked for then; that of a devnet can be set. */
  readonly time: number
  readonly templates: Map<string, Block>
}

/** Aux work for outside miners: serves templates, and submits them with the AuxPow that a miner found. */
export class AuxWork {
  readonly #options: AuxWorkOptions
  #templateSets: TemplateSet[] = []
  #building: Promise<TemplateSet> | undefined
  /** Tip for which a block was refused without a transaction as cause: its templates take no transactions. */
  #emptyFor: KnownHeader | undefined

  constructor(options: AuxWorkOptions) {
    const { chain } = options
    this.#options = options
    // Templates for the new tip may have been made before this event.
    chain.events.on('change', () => {
      this.#templateSets = this.#templateSets.filter(({ selection }) => selection.parent === chain.tip)
    })
  }

  /**
   * The template that pays `payTo`. Replaced when the tip moves, after {@link refreshAfter} with new pool transactions, or after
   * {@link renewAfter}; older ones of the same tip remain valid for {@link submit}. Throws `busy` if blocks arrive or are refused
   * faster than a template can be made.
   */
  async template(payTo: ProgramHash): Promise<Block> {
    const { chain, random } = this.#options
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const set = await this.#currentSet()
      const { selection, templates } = set
      // A refusal drops all selections: one that was under way may contain the offending transaction.
      if (selection.parent !== chain.tip || !this.#templateSets.includes(set)) continue
      const payee = mapKey(payTo)
      const template = templates.get(payee) ?? templateOf(chain, selection, { payTo, nonce: random.bytes(8) })
      templates.delete(payee)
      templates.set(payee, template)
      if (templates.size > addressesKept) templates.delete(templates.keys().next().value as string)
      return template
    }
    throw new RuleError('busy', 'blocks arrive or are refused faster than a template can be made; ask again')
  }

  /**
   * Submits the block of a template with the AuxPow found for it. `hash` is the block's, in internal order.
   * Resolves when the block is the tip and on disk. A wrong AuxPow leaves the template unchanged.
   */
  async submit(hash: Hash, auxPowBytes: Uint8Array): Promise<void> {
    const { chain, offer } = this.#options
    const template = this.#find(hash)
    if (template === undefined) {
      throw new RuleError('template-stale', `no template ${toHex(hash)} for this tip; ask createauxblock for a new one`)
    }
    if (auxPowBytes.length > maxAuxPowSize) {
      throw new RuleError('auxpow-size', `${auxPowBytes.length} bytes, at most ${maxAuxPowSize}`)
    }
    const block = new Block(template.header, parseAuxPow(auxPowBytes), template.transactions)
    // The chain checks this too; here it prevents that a validator signs for a block without work.
    checkProofOfWork(chain.spec, block.header, block.auxPow)
    const parent = chain.tip
    try {
      if (offer !== undefined) return await offer(block)
      if ((await chain.acceptBlock(block.bytes)) === 'side') {
        throw new RuleError('block-stale', 'another block came first; this one is kept aside')
      }
    } catch (error) {
      if (isRefusal(error)) this.#refused(error, parent)
      throw error
    }
  }

  /** Drops all templates, since they may fail alike: the next one leaves out the offending transaction. */
  #refused(error: RuleError, parent: KnownHeader): void {
    if (!this.#options.mempool.refusedBlocks.note(error, parent.header.height + 1)) this.#emptyFor = parent
    this.#templateSets = []
  }

  #find(hash: Hash): Block | undefined {
    const { chain } = this.#options
    for (const { selection, templates } of this.#templateSets) {
      if (selection.parent !== chain.tip) continue
      for (const template of templates.values()) if (equalBytes(template.header.hash, hash)) return template
    }
    return undefined
  }

  #currentSet(): Promise<TemplateSet> | TemplateSet {
    const last = this.#templateSets.at(-1)
    if (last !== undefined && this.#isCurrent(last)) return last
    this.#building ??= this.#build().finally(() => (this.#building = undefined))
    return this.#building
  }

  #isCurrent({ selection, additions, refusals, madeAt, time }: TemplateSet): boolean {
    const { chain, mempool, clock } = this.#options
    if (Math.abs(this.#options.time() - time) * 1000 >= renewAfter) return false
    if (selection.parent !== chain.tip) return false
    // It may contain the transaction for which a block of another maker was refused.
    if (mempool.refusedBlocks.count !== refusals) return false
    // Absolute age: a clock that was set back does not delay a new template.
    const age = Math.abs(clock.now() - madeAt)
    return age < (mempool.additions === additions ? renewAfter : refreshAfter)
  }

  async #build(): Promise<TemplateSet> {
    const { chain, mempool, clock } = this.#options
    const time = this.#options.time()
    const { additions, refusedBlocks } = mempool
    const refusals = refusedBlocks.count
    const madeAt = clock.now()
    const extent = this.#emptyFor === chain.tip ? { share: 0 } : {}
    const selection = await selectTransactions(chain, mempool, { ...extent, time })
    const set = { selection, additions, refusals, madeAt, time, templates: new Map<string, Block>() }
    const isGood = selection.parent === chain.tip && refusedBlocks.count === refusals
    if (isGood) this.#templateSets = [...this.#templateSets, set].slice(-selectionsKept)
    return set
  }
}
