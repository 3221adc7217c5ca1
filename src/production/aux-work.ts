import type { Chain } from '../chain/chain.js'
import type { KnownHeader } from '../chain/header-index.js'
import { checkProofOfWork } from '../consensus/check-auxpow.js'
import { RuleError } from '../errors/rule-error.js'
import type { Mempool } from '../mempool/mempool.js'
import type { ProgramHash } from '../primitives/address.js'
import { parseAuxPow } from '../primitives/auxpow.js'
import { Block } from '../primitives/block.js'
import { equalBytes, mapKey, toHex } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { fixedLimits } from '../primitives/spec.js'
import type { Clock, Random } from '../runtime/env.js'
import { type Selection, selectTransactions, templateOf } from './template.js'
import { isRefusal } from './until-taken.js'

/** Selections from the pool that are kept while the tip stays, each of at most a block's size. */
const selectionsKept = 8
/** Addresses that have a template of one selection. */
const addressesKept = 128
/** Milliseconds until a template makes room for what has come into the pool. */
const refreshAfter = 5000
/** Milliseconds until a template is made again for the sake of its time alone. */
const renewAfter = 60_000
/** Selections that one request may see overtaken by blocks or refusals. */
const maxAttempts = 10

export interface AuxWorkOptions {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly clock: Clock
  readonly random: Random
  /** Unix seconds that the next block should carry. */
  time(): number
  /** On a chain with validators, hands in a solved block; resolves when it is the tip. */
  offer?(block: Block): Promise<void>
}

/** Templates of one selection by the address they pay, the one asked for last at the end. */
interface AuxRound {
  readonly selection: Selection
  /** {@link Mempool.additions} when it was made. */
  readonly additions: number
  /** Blocks of this node that had been refused by then, whichever of its parts made them. */
  readonly refusals: number
  readonly madeAt: number
  readonly templates: Map<string, Block>
}

/** Work for outside miners: templates of blocks, and blocks of templates and the AuxPow somebody found for them. */
export class AuxWork {
  readonly #options: AuxWorkOptions
  #rounds: AuxRound[] = []
  #building: Promise<AuxRound> | undefined
  /** The tip for which a block was refused without a cause to leave out: templates for it take no transaction. */
  #emptyFor: KnownHeader | undefined

  constructor(options: AuxWorkOptions) {
    const { chain } = options
    this.#options = options
    // What was made for the tip that has just come may be there already.
    chain.events.on('change', () => {
      this.#rounds = this.#rounds.filter(({ selection }) => selection.parent === chain.tip)
    })
  }

  /**
   * The block to work for that pays `payTo`. The same one until the tip moves, or the pool brings something and some
   * seconds have passed; older ones of the same tip are good for {@link submit} all the same. `busy` when blocks come
   * or are refused faster than it can be made.
   */
  async template(payTo: ProgramHash): Promise<Block> {
    const { chain, random, time } = this.#options
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const round = await this.#currentRound()
      const { selection, templates } = round
      // A refusal takes the rounds of its time away: what was under way then may hold what broke the rule.
      if (selection.parent !== chain.tip || !this.#rounds.includes(round)) continue
      const payee = mapKey(payTo)
      const template =
        templates.get(payee) ?? templateOf(chain, selection, { payTo, time: time(), nonce: random.bytes(8) })
      templates.delete(payee)
      templates.set(payee, template)
      if (templates.size > addressesKept) templates.delete(templates.keys().next().value as string)
      return template
    }
    throw new RuleError('busy', 'blocks arrive or are refused faster than a template can be made; ask again')
  }

  /**
   * Hands in the block of a template with the AuxPow that was found for it. `hash` is the block's, in internal order.
   * Resolves when the block is the tip and on disk. A wrong AuxPow leaves the template as it is.
   */
  async submit(hash: Hash, auxPowBytes: Uint8Array): Promise<void> {
    const { chain, offer } = this.#options
    const template = this.#find(hash)
    if (template === undefined) {
      throw new RuleError('template-stale', `no template ${toHex(hash)} for this tip; ask createauxblock for a new one`)
    }
    if (auxPowBytes.length > fixedLimits.auxPowSize) {
      throw new RuleError('auxpow-size', `${auxPowBytes.length} bytes, at most ${fixedLimits.auxPowSize}`)
    }
    const block = new Block(template.header, parseAuxPow(auxPowBytes), template.transactions)
    // The chain asks the same; here it keeps a validator's key from signing for a block that has no work.
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

  /** Work for any template of the same pool would be lost as well: the next one is made without what broke the rule. */
  #refused(error: RuleError, parent: KnownHeader): void {
    if (!this.#options.mempool.refusedBlocks.note(error, parent.header.height + 1)) this.#emptyFor = parent
    this.#rounds = []
  }

  #find(hash: Hash): Block | undefined {
    const { chain } = this.#options
    for (const { selection, templates } of this.#rounds) {
      if (selection.parent !== chain.tip) continue
      for (const template of templates.values()) if (equalBytes(template.header.hash, hash)) return template
    }
    return undefined
  }

  #currentRound(): Promise<AuxRound> | AuxRound {
    const last = this.#rounds.at(-1)
    if (last !== undefined && this.#isCurrent(last)) return last
    this.#building ??= this.#build().finally(() => (this.#building = undefined))
    return this.#building
  }

  #isCurrent({ selection, additions, refusals, madeAt }: AuxRound): boolean {
    const { chain, mempool, clock } = this.#options
    if (selection.parent !== chain.tip) return false
    // It may hold what a block of another part was refused for.
    if (mempool.refusedBlocks.count !== refusals) return false
    // A clock that was set back is no reason to wait for it.
    const age = Math.abs(clock.now() - madeAt)
    return age < (mempool.additions === additions ? renewAfter : refreshAfter)
  }

  async #build(): Promise<AuxRound> {
    const { chain, mempool, clock } = this.#options
    const { additions, refusedBlocks } = mempool
    const refusals = refusedBlocks.count
    const madeAt = clock.now()
    const extent = this.#emptyFor === chain.tip ? { share: 0 } : {}
    const selection = await selectTransactions(chain, mempool, extent)
    const round = { selection, additions, refusals, madeAt, templates: new Map<string, Block>() }
    const isGood = selection.parent === chain.tip && refusedBlocks.count === refusals
    if (isGood) this.#rounds = [...this.#rounds, round].slice(-selectionsKept)
    return round
  }
}
