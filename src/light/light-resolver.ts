/**
 * A resolver that believes no server: it asks for proofs, and checks them from a trust root on.
 *
 *   resolve -> Server of each (ask-server.ts): resolvedid with proof
 *     -> checkDidAnswer (proofs/did-answer), whose signatures Signatures (signatures.ts) verifies
 *        -> a confirm that does not hold: FollowedChain.follow (followed-chain.ts) asks for changes or headers; checked once more
 *     -> freshness, blocks seen before, answers of the others -> result, with what was proved
 *
 * Imports primitives, crypto, did, proofs; used by api, library, cli, pages.
 * - Needs only fetch, WebCrypto and a clock, which can be passed in; no module of Node.
 * - What is not proved is not in an answer, but for the specification and the proof of an operation, and the previous txid of the
 *   first entry given.
 * - What few need is loaded when it is: changed validators, headers of miners, a kept state, signatures without WebCrypto.
 */
import type { CredentialResult, ResolveResult } from '../did/resolution.js'
import { displayHash, equalBytes } from '../primitives/bytes.js'
import { didMethod } from '../primitives/did-method.js'
import type { AnchoredBlock } from '../proofs/anchor.js'
import { checkDidAnswer, type DidQuestion, type ProvedDid } from '../proofs/did-answer.js'
import { fail, ProofError, type ProofFailure } from '../proofs/proof-failure.js'
import { displayHashText, members, requireFormat, text } from '../proofs/read-json.js'
import { type Checkpoint, readCheckpoint, readTrust, type Trust } from '../proofs/trust.js'
import { type Fetch, parse, patience, Server } from './ask-server.js'
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
import { FollowedChain, requireSame } from './followed-chain.js'
import { asLightError, LightError } from './light-error.js'
import { Signatures, type Subtle } from './signatures.js'

export interface LightOptions {
  /** Addresses of the REST port of nodes. */
  readonly servers: readonly string[]
  /** A Trust: its JSON text, or what is parsed of it. */
  readonly trust: unknown
  /** A Checkpoint of the same chain, in the same forms. */
  readonly checkpoint?: unknown
  /** Servers whose answers must hold; 1 by default. */
  readonly needed?: number
  /** Seconds that the block of an answer is old at most; the Trust says a default. */
  readonly maxAge?: number
  /** Seconds that a believed block is old at most; 30 days by default. */
  readonly trustPeriod?: number
  /** Goes on from an older block too, and says so in each answer. */
  readonly allowOldRoot?: boolean
  /** Blocks above that of an answer, on a chain without validators; 6 by default. */
  readonly confirmations?: number
  /** The state that `save` was given last. */
  readonly load?: () => string | undefined | Promise<string | undefined>
  readonly save?: (state: string) => void | Promise<void>
  readonly fetch?: Fetch
  /** Null: signatures are verified in JavaScript. */
  readonly subtle?: Subtle | null
  /** Unix milliseconds. */
  readonly now?: () => number
}

export interface LightResolveOptions extends Omit<DidQuestion, 'did'> {
  /** As of an earlier block. */
  readonly height?: number
  /** All entries of the history, with documents of what was asked alone: they are in `proved`. */
  readonly history?: boolean
}

/** What an answer was proved by. */
export interface Proved {
  /** The block that the answer is as of; its hash in display hex, its time and age in seconds. */
  readonly height: number
  readonly hash: string
  readonly time: number
  readonly age: number
  /** Those whose answers hold. */
  readonly servers: readonly string[]
  /** The trust root was older than the trust period. */
  readonly oldRoot?: true
  /** The status is not proved: it is that of a bundle, or of another given answer, about an earlier version. */
  readonly statusUnproved?: true
  /** Number of operations of the DID, and those that are proved, oldest first. */
  readonly history?: { readonly count: number; readonly entries: readonly ProvedEntry[] }
}

/** An operation that is proved; txid in display hex, time in Unix seconds. */
export interface ProvedEntry {
  readonly txid: string
  readonly height: number
  readonly time: number
}

export type LightResult = ResolveResult & { readonly proved: Proved }
export type LightCredential = CredentialResult & { readonly proved: Proved }

/** @limit s: age of a believed block, by default */
const trustPeriod = 30 * 24 * 60 * 60
const confirmations = 6
/** Seconds that clocks may differ besides what the chain allows. */
const clockDifference = 60

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
    this.#servers = options.servers.map((url) => new Server(url, ask))
    this.#signatures = new Signatures(options.subtle)
    try {
      this.#trust = readTrust(parsed(options.trust))
      const { checkpoint } = options
      this.#checkpoint = checkpoint === undefined ? undefined : readCheckpoint(parsed(checkpoint), this.#trust)
    } catch (error) {
      throw asLightError(error)
    }
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

  /** Checks an answer with a proof that came from elsewhere; servers are asked alone for what followed the validators or headers known. */
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
      return await this.#verifyBundle(parsed(bundle), maxAge)
    } catch (error) {
      throw asLightError(error)
    }
  }

  async #verifyBundle(sent: unknown, maxAge: number | undefined): Promise<LightResult | LightCredential> {
    const { format, asked: params, answer: given, changes, headers } = members(sent, 'a bundle')
    requireFormat(format, 'didledger/bundle/1')
    const asked = members(params, 'the question')
    requireChain(given, this.#trust)
    const now = this.#now()
    const checkpoint = this.#checkpoint
    const chain = await FollowedChain.fromBundle(this.#chainOptions, { changes, headers }, { checkpoint, now })
    const oldRoot = checkpoint === undefined ? this.#oldRoot(this.#trust.header.time) : undefined
    const check = async <P extends ProvedAnswer>(question: Question<P>) => {
      const answer = await this.#signatures.settle(question.check(given, { ...chain.known, now }))
      this.#requireTime(answer.block, { maxAge, isPast: maxAge === undefined, result: () => question.result(answer) })
      return { answer, proved: { ...this.#provedBy(answer.block, []), ...oldRoot } }
    }
    if (asked['did'] === undefined) {
      const { credentialQuestion, credentialResult } = await import('./credential-question.js')
      const id = text(asked['id'])
      const issuer = asked['issuer'] === undefined ? undefined : text(asked['issuer'])
      const { answer, proved } = await check(credentialQuestion({ id, issuer }))
      return { ...credentialResult(id, answer), proved }
    }
    const question = { ...asked, did: text(asked['did']) } as DidQuestion
    const { answer, proved } = await check(didQuestion(question, {}))
    return { ...resolved(question, answer), proved: { ...proved, ...unproved(answer), history: entriesOf(answer) } }
  }

  /** Asks all servers, and takes the highest of the answers that hold. */
  async #prove<P extends ProvedAnswer>(
    question: Question<P>,
    needed = this.#needed,
  ): Promise<{ answer: P; proved: Proved; lowest: number }> {
    if (this.#fork !== undefined) throw this.#fork
    try {
      const chain = await this.#opened()
      const oldRoot = chain.trust.work === undefined ? this.#oldRoot(chain.seen.header.time) : undefined
      const seen = chain.seen
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
      return { answer: best, lowest, proved: { ...this.#provedBy(best.block, servers), ...oldRoot } }
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
    const check = () => this.#signatures.settle(question.check(sent, { ...chain.known, now: this.#now() }))
    try {
      return await check()
    } catch (error) {
      const isMendable = error instanceof ProofError && mendable.includes(error.failure)
      if (!isMendable || !(await chain.follow(server, this.#now()))) throw error
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
    this.#requireFuture(block)
    requireSame(block, seen)
    const shown = this.#shown.get(url) ?? 0
    if (!isPast && !isGiven) {
      if (height < shown) throw rollback(height, shown)
      this.#shown.set(url, height)
    }
    const maxAge = this.#options.maxAge ?? this.#trust.maxAge
    this.#requireTime(block, { maxAge, isPast, result: () => question.result(proved) })
  }

  #requireFuture({ header }: AnchoredBlock): void {
    const ahead = header.time - this.#now() / 1000
    if (this.#trust.devnet || ahead <= this.#trust.maxDrift + clockDifference) return
    throw new LightError('future', `the block is ${Math.round(ahead)} s ahead of the clock`)
  }

  #requireTime(
    block: AnchoredBlock,
    { maxAge, isPast, result }: { maxAge: number | undefined; isPast: boolean; result: () => object },
  ): void {
    const age = this.#ageOf(block)
    if (isPast || maxAge === undefined || this.#trust.devnet || age <= maxAge) return
    const answer = { ...result(), proved: this.#provedBy(block, []) }
    throw new LightError('stale', `the block is ${age} s old, at most ${maxAge} s are allowed`, { answer })
  }

  /** Throws `trust-expired` where the believed block of a chain with validators is too old, unless that is allowed. */
  #oldRoot(time: number): { oldRoot: true } | undefined {
    const { devnet, work } = this.#trust
    const { trustPeriod: period = trustPeriod, allowOldRoot } = this.#options
    const age = Math.floor(this.#now() / 1000) - time
    if (devnet || work !== undefined || age <= period) return undefined
    if (allowOldRoot === true) return { oldRoot: true }
    throw new LightError('trust-expired', `the believed block is ${age} s old; a newer checkpoint is needed`)
  }

  #provedBy(block: AnchoredBlock, servers: readonly string[]): Proved {
    const { height, hash, time } = block.header
    return { height, hash: displayHash(hash), time, age: this.#ageOf(block), servers }
  }

  #ageOf({ header }: AnchoredBlock): number {
    return Math.max(0, Math.floor(this.#now() / 1000) - header.time)
  }

  get #needed(): number {
    return this.#options.needed ?? 1
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  get #chainOptions() {
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
    const failed: Failed[] = []
    for (const server of this.#servers) {
      try {
        return await FollowedChain.fromCheckpoint(this.#chainOptions, server, checkpoint)
      } catch (error) {
        failed.push({ server: server.url, error: asLightError(error) })
      }
    }
    throw tooFew(failed, 0)
  }
}

/** Throws `chain` for an answer of another one, whose changes of validators would fail by another name. */
function requireChain(answer: unknown, { chain }: Trust): void {
  const { proof } = members(answer, 'an answer')
  if (proof === undefined) fail('proof-missing', 'an answer without a proof is not believed')
  const sent = displayHashText(members(proof, 'a proof')['chain'])
  if (!equalBytes(sent, chain)) fail('chain', `it is of the chain ${displayHash(sent)}`)
}

/** JSON text, or what is parsed of it already. */
function parsed(given: unknown): unknown {
  return typeof given === 'string' ? parse(given) : given
}

function didQuestion(
  question: DidQuestion,
  { height, history }: { readonly height?: number | undefined; readonly history?: boolean | undefined },
): Question<ProvedDid> {
  const { did, all = false, versionId, versionTime } = question
  const version = { ...(versionId !== undefined && { versionId }), ...(versionTime !== undefined && { versionTime }) }
  const params = { did, all, ...version, ...(height !== undefined && { height }) }
  return {
    ask: (server) => server.call('resolvedid', { ...params, proof: history === true ? 'history' : true }),
    check: (sent, trust) => checkDidAnswer(sent, question, trust),
    histories: ({ history: proved }) => [proved],
    isPast: height !== undefined,
    result: (proved) => resolved(question, proved),
  }
}

function resolved({ did }: DidQuestion, { status, history, transactions }: ProvedDid): ResolveResult {
  return { did, status, ...(history !== undefined && { transaction: transactions }) }
}

function unproved({ knowsStatus }: ProvedDid): { statusUnproved?: true } {
  return knowsStatus ? {} : { statusUnproved: true }
}

function entriesOf({ history }: ProvedDid): NonNullable<Proved['history']> {
  const entries = (history?.entries ?? []).map(({ txid, height, time }) => ({ txid: displayHash(txid), height, time }))
  return { count: history?.count ?? 0, entries }
}
