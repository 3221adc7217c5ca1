/**
 * A resolver that believes no server: it asks for proofs, and checks them from a trust root on.
 *
 *   resolve -> Server of each (ask-server.ts): resolvedid with proof
 *     -> checkDidAnswer (proofs/did-answer), whose signatures Signatures (signatures.ts) verifies
 *        -> a confirm that does not hold: FollowedChain.follow (followed-chain.ts) asks for changes or headers; checked once more
 *     -> freshness (block-age.ts), blocks seen before, answers of the others -> result, with what was proved (proved.ts)
 *
 * Imports primitives, crypto, did, proofs; used by api, library, cli, pages.
 * - Needs only fetch, WebCrypto and a clock, which can be passed in; no module of Node.
 * - What is not proved is not in an answer, but for the specification and the proof of an operation, and the previous txid of the
 *   first entry given.
 * - What few need is loaded when it is: credentials, bundles, a checkpoint, changed validators, headers of miners, a kept state,
 *   signatures without WebCrypto.
 */
import { didMethod } from '../primitives/did-method.js'
import type { DidQuestion } from '../proofs/did-answer.js'
import { ProofError, type ProofFailure } from '../proofs/proof-failure.js'
import { type Checkpoint, readCheckpoint, readTrust, type Trust } from '../proofs/trust.js'
import { type Fetch, parse, patience, Server } from './ask-server.js'
import { type AgeOptions, BlockAges } from './block-age.js'
import {
  type Failed,
  type Held,
  highest,
  type ProvedAnswer,
  type Question,
  requireRise,
  rollback,
  settled,
  tooFew,
} from './compare-answers.js'
import { didQuestion, entriesOf, resolved, unproved } from './did-question.js'
import { FollowedChain, requireSame } from './followed-chain.js'
import type { ChainOptions } from './foundation.js'
import { asLightError, LightError } from './light-error.js'
import type { LightCredential, LightResult, Proved } from './proved.js'
import { Signatures, type Subtle } from './signatures.js'

export interface LightOptions extends AgeOptions {
  /** Addresses of the REST port of nodes; none where given answers are checked alone. */
  readonly servers: readonly string[]
  /** A Trust: its JSON text, or what is parsed of it. */
  readonly trust: unknown
  /** A Checkpoint of the same chain, in the same forms. */
  readonly checkpoint?: unknown
  /** Servers whose answers must hold; 1 by default. */
  readonly needed?: number
  /** Seconds that the block of an answer is old at most; the Trust says a default. */
  readonly maxAge?: number
  /** Blocks above that of an answer, on a chain without validators; 6 by default. */
  readonly confirmations?: number
  /** The state that `save` was given last. */
  readonly load?: () => string | undefined | Promise<string | undefined>
  readonly save?: (state: string) => void | Promise<void>
  readonly fetch?: Fetch
  /** Null: signatures are verified in JavaScript. */
  readonly subtle?: Subtle | null
}

export interface LightResolveOptions extends Omit<DidQuestion, 'did'> {
  /** As of an earlier block. */
  readonly height?: number
  /** All entries of the history, with documents of what was asked alone: they are in `proved`. */
  readonly history?: boolean
}

const confirmations = 6

/** Failures that changes of validators, or new headers, can mend. */
const mendable: readonly ProofFailure[] = [
  'confirm-form',
  'confirm-quorum',
  'confirm-signature',
  'changes-missing',
  'work-chain',
  'work-depth',
]

export class LightResolver {
  readonly #options: LightOptions
  readonly #servers: readonly Server[]
  readonly #trust: Trust
  readonly #checkpoint: Checkpoint | undefined
  readonly #signatures: Signatures
  readonly #ages: BlockAges
  #chain: Promise<FollowedChain> | undefined
  #fork: LightError | undefined
  /** The highest block that each server has shown, by its address: another may be behind. */
  readonly #shown = new Map<string, number>()
  /** Changes of the chain when its state was handed out. */
  #kept = -1

  /** A {@link LightError} for a trust or checkpoint of another form or chain. */
  constructor(options: LightOptions) {
    this.#options = options
    const ask = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
    const { servers } = options
    this.#servers = servers.length > 0 ? servers.map((url) => new Server(url, ask)) : [new Server('', nowhere)]
    this.#signatures = new Signatures(options.subtle)
    try {
      this.#trust = readTrust(parsed(options.trust))
      const { checkpoint } = options
      this.#checkpoint = checkpoint === undefined ? undefined : readCheckpoint(parsed(checkpoint), this.#trust)
    } catch (error) {
      throw asLightError(error)
    }
    this.#ages = new BlockAges(this.#trust, options)
  }

  /** The state of a DID, in full or as its identifier alone, with the versions asked for. Rejects with a {@link LightError}. */
  async resolve(did: string, options: LightResolveOptions = {}): Promise<LightResult> {
    const { history, height, ...asked } = options
    const question = { ...asked, did: did.startsWith('did:') ? did : `did:${didMethod}:${did}` }
    const found = await this.#prove(didQuestion(question, { height, history }))
    const { proved, answer } = found
    const shown = {
      ...resolved(question, answer),
      proved: { ...proved, ...(history && { history: entriesOf(answer) }) },
    }
    if (answer.knowsStatus) return shown
    // Whether the last document has expired stands in that document alone; every server has the lowest block.
    const last = await this.#prove(didQuestion({ did: question.did }, { height: found.lowest }))
    return { ...shown, status: last.answer.status }
  }

  /** The state of a credential by its absolute id; a revocation by `issuer` counts before it is declared as well. */
  async resolveCredential(id: string, { issuer }: { readonly issuer?: string } = {}): Promise<LightCredential> {
    const { credentialQuestion, credentialResult } = await import('./credential-question.js')
    const { proved, answer } = await this.#prove(credentialQuestion({ id, issuer }))
    return { ...credentialResult(id, answer), proved }
  }

  /**
   * Checks an answer with a proof that came from elsewhere; servers, if any, are asked alone for what followed the validators or
   * headers known.
   */
  async verifyAnswer(
    did: string,
    answer: unknown,
    version: Omit<DidQuestion, 'did' | 'all'> = {},
  ): Promise<LightResult> {
    const question = { ...version, did }
    const found = await this.#prove(
      { ...didQuestion(question, {}), isGiven: true, ask: () => Promise.resolve(answer) },
      1,
    )
    return { ...resolved(question, found.answer), proved: { ...found.proved, ...unproved(found.answer), servers: [] } }
  }

  /** Checks a bundle without any server. Its age is tested only where `maxAge` is given, in seconds. */
  async verifyBundle(
    bundle: unknown,
    { maxAge }: { readonly maxAge?: number } = {},
  ): Promise<LightResult | LightCredential> {
    try {
      const { checkBundle } = await import('./check-bundle.js')
      const believed = { ...this.#chainOptions, checkpoint: this.#checkpoint, ages: this.#ages }
      return await checkBundle(parsed(bundle), maxAge, believed)
    } catch (error) {
      throw asLightError(error)
    }
  }

  /** Asks all servers, and takes the highest of the answers that hold. */
  async #prove<P extends ProvedAnswer>(
    question: Question<P>,
    needed = this.#needed,
  ): Promise<{ answer: P; proved: Proved; lowest: number }> {
    if (this.#fork !== undefined) throw this.#fork
    try {
      const chain = await this.#opened()
      const { seen } = chain
      const oldRoot = this.#ages.oldRoot(seen)
      const asked = await this.#askAll(needed, async (server): Promise<Held<P> | Failed> => {
        try {
          const proved = await this.#askOne(server, chain, question)
          this.#requirePlace(proved, { seen, url: server.url }, question)
          return { server: server.url, proved }
        } catch (error) {
          return { server: server.url, error: asLightError(error) }
        }
      })
      const { held, failed } = settled(asked, chain)
      const fork = failed.find(({ error }) => error.failure === 'fork')
      if (fork !== undefined) throw fork.error
      const best = highest(held, question)
      if (best === undefined || held.length < needed) throw tooFew(failed, held.length)
      if (!question.isPast) requireRise(best.block, seen)
      chain.saw(best.block)
      await this.#keep(chain)
      const servers = held.map(({ server }) => server)
      const lowest = Math.min(...held.map(({ proved }) => proved.block.header.height))
      return { answer: best, lowest, proved: { ...this.#ages.proved(best.block, servers), ...oldRoot } }
    } catch (error) {
      const failure = asLightError(error)
      if (failure.failure === 'fork') this.#fork = failure
      throw failure
    }
  }

  /**
   * Asks all servers at once. When as many answers hold as are needed, the others have the time of one request left: a server that
   * shows changes or headers without end must not hold up an answer.
   */
  async #askAll<P>(needed: number, ask: (server: Server) => Promise<Held<P> | Failed>): Promise<(Held<P> | Failed)[]> {
    let missing = needed
    let enough = () => {}
    const isEnough = new Promise<void>((resolve) => (enough = resolve))
    const answers = this.#servers.map(async (server) => {
      const one = await ask(server)
      if ('proved' in one && --missing === 0) enough()
      return one
    })
    await Promise.race([isEnough, Promise.all(answers)])
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)))
    try {
      return await Promise.all(answers.map((answer, i) => Promise.race([answer, late.then(() => this.#tooLate(i))])))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Hands out the state where it changed. */
  async #keep(chain: FollowedChain): Promise<void> {
    const { save } = this.#options
    if (save === undefined || chain.changes === this.#kept) return
    const { changes } = chain
    await save(await chain.text())
    this.#kept = changes
  }

  #tooLate(index: number): Failed {
    const server = this.#servers[index]?.url ?? ''
    return { server, error: new LightError('timeout', `${server} went on when the answers of others held`) }
  }

  /** Checks the answer of one server; once more where that server proves that others confirm blocks now, or has more work. */
  async #askOne<P extends ProvedAnswer>(server: Server, chain: FollowedChain, question: Question<P>): Promise<P> {
    const sent = await question.ask(server)
    const check = () => this.#signatures.settle(question.check(sent, { ...chain.known, now: this.#ages.now() }))
    try {
      return await check()
    } catch (error) {
      const isMendable = error instanceof ProofError && mendable.includes(error.failure)
      if (!isMendable || !(await chain.follow(server, this.#ages.now()))) throw error
      return check()
    }
  }

  /** Throws `future`, `fork`, `rollback` or `stale`. */
  #requirePlace<P extends ProvedAnswer>(
    proved: P,
    { seen, url }: { seen: FollowedChain['seen']; url: string },
    question: Question<P>,
  ): void {
    const { block } = proved
    const { isPast, isGiven = false } = question
    const { height } = block.header
    this.#ages.requirePast(block)
    requireSame(block, seen)
    const shown = this.#shown.get(url) ?? 0
    if (!isPast && !isGiven) {
      if (height < shown) throw rollback(height, shown)
      this.#shown.set(url, height)
    }
    const maxAge = isPast ? undefined : (this.#options.maxAge ?? this.#trust.maxAge)
    this.#ages.requireFresh(block, maxAge, () => question.result(proved))
  }

  get #needed(): number {
    return this.#options.needed ?? 1
  }

  get #chainOptions(): ChainOptions {
    const { confirmations: deep = confirmations } = this.#options
    return { trust: this.#trust, signatures: this.#signatures, confirmations: deep }
  }

  /** The chain as it was remembered, from the checkpoint, or from genesis on. */
  async #opened(): Promise<FollowedChain> {
    this.#chain ??= this.#open()
    try {
      return await this.#chain
    } catch (error) {
      this.#chain = undefined
      throw error
    }
  }

  async #open(): Promise<FollowedChain> {
    const kept = await this.#options.load?.()
    const memory = kept === undefined ? undefined : (await import('./light-memory.js')).readMemory(kept, this.#trust)
    const checkpoint = this.#checkpoint
    if (checkpoint === undefined || (memory?.seen.header.height ?? 0) >= checkpoint.height) {
      return FollowedChain.from(this.#chainOptions, memory)
    }
    const { chainFrom } = await import('./from-checkpoint.js')
    return chainFrom(this.#chainOptions, this.#servers, checkpoint)
  }
}

/** Without servers an answer that is given can be checked, by what is known already. */
const nowhere: Fetch = () => Promise.reject(new LightError('unreachable', 'no server is named'))

/** JSON text, or what is parsed of it already. */
function parsed(given: unknown): unknown {
  return typeof given === 'string' ? parse(given) : given
}
