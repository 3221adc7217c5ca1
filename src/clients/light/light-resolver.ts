/**
 * A resolver that trusts no server: it requests proofs, and checks them from a trust root on.
 *
 *   resolve -> Server of each (ask-server.ts): resolvedid with proof, at most as large as what was asked (answer-bounds.ts)
 *     -> checkDidAnswer (proofs/did-answer), whose signatures Signatures (signatures.ts) verifies
 *        form -> question -> anchor -> confirm or work -> path -> history -> documents -> status -> version -> signatures
 *        -> a confirm that does not hold: FollowedChain.follow (followed-chain.ts) asks for changes or headers; checked once more
 *     -> freshness (block-age.ts), blocks seen before, answers of the others (compare-answers.ts)
 *        -> a contradiction: provenFork (fork-evidence.ts) accuses with evidence that holds by itself, or the server has failed
 *     -> Remembered.apply (remembered.ts) -> result, with what was proved (proved-answer.ts)
 *
 * Imports errors, primitives, crypto, did, proofs, verifier; used by witness, watch, api, node, library, gateway, cli, explorer, heads.
 * - Needs only fetch, WebCrypto and a clock, which can be passed in; no module of Node.
 * - Answers contain proved members alone, but for those that proved-members.ts names.
 * - Rare parts are loaded on demand: credentials, bundles, a checkpoint, changed validators, headers of miners, a kept state,
 *   evidence of a fork, signatures without WebCrypto.
 */
import type { AnchoredBlock } from '../../identity/proofs/anchor.js'
import type { ProvedDid } from '../../identity/proofs/did-answer.js'
import { type DidQuestion, readDidQuestion } from '../../identity/proofs/did-question.js'
import type { ProvedFork } from '../../identity/proofs/fork.js'
import { type Checkpoint, readCheckpoint, readTrust, type Trust } from '../../identity/proofs/trust-root.js'
import { askAll } from './ask-all.js'
import { type Fetch, NodeServer, type Server } from './ask-server.js'
import { UserError } from '../../base/errors/rule-error.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import { type AgeOptions, BlockAges } from './block-age.js'
import { checkFollowing } from './check-following.js'
import {
  agreeing,
  type Failed,
  type ProvedAnswer,
  type Question,
  requireRise,
  requireState,
  rollback,
  settled,
  tooFew,
} from './compare-answers.js'
import { Contradiction, requireSame } from './contradiction.js'
import { didQuestion, entriesOf, resolved, unproved } from './did-question.js'
import type { FollowedChain } from './followed-chain.js'
import { openChain } from './open-chain.js'
import type { ChainOptions } from './trust-basis.js'
import { parse } from './json-scan.js'
import { asLightError, LightError } from './light-error.js'
import { LazyMirror } from './lazy-mirror.js'
import type { LightCredential, LightResult, Proved } from './proved-answer.js'
import { distinctServers } from './server-url.js'
import { Signatures, type Subtle } from './signatures.js'
import type { Witnesses, WitnessOptions } from './witnesses.js'

export interface LightOptions extends AgeOptions {
  /** Addresses of the REST port of nodes; none where there are mirrors, or given answers are checked alone. */
  readonly servers?: readonly string[]
  /** Addresses of the files of mirrors. */
  readonly mirrors?: readonly string[]
  /** A Trust: its JSON text, or what is parsed of it. */
  readonly trust: unknown
  /** A Checkpoint of the same chain, in the same forms. */
  readonly checkpoint?: unknown
  /** Servers whose answers must hold; 1 by default. */
  readonly needed?: number
  /** Maximum age of the block of an answer in seconds; the Trust has a default. */
  readonly maxAge?: number
  /** Blocks above that of an answer, on a chain without validators; 6 by default. */
  readonly confirmations?: number
  /** Parties that have to have cosigned the block of an answer besides its validators; absent: none. */
  readonly witnesses?: WitnessOptions
  /** Reads the state that `save` took last. */
  readonly load?: () => string | undefined | Promise<string | undefined>
  readonly save?: (state: string) => void | Promise<void>
  /** Whether each new head is told to all servers and witnesses, whose own are compared with it. */
  readonly gossip?: boolean
  /** Takes the `fork` from which on nothing is answered, at once, wherever it was found. */
  readonly onFork?: (fork: LightError) => void
  readonly fetch?: Fetch
  /** Null: signatures are verified in JavaScript. */
  readonly subtle?: Subtle | null
}

/** At most one of `all`, `versionId` and `versionTime`; `history`: all entries of the history are in `proved`. */
export type LightResolveOptions = Omit<DidQuestion, 'did'>

const confirmations = 6

export class LightResolver {
  readonly #options: LightOptions
  readonly #servers: readonly Server[]
  readonly #trust: Trust
  readonly #checkpoint: Checkpoint | undefined
  readonly #signatures: Signatures
  readonly #ages: BlockAges
  #chain: Promise<FollowedChain> | undefined
  #fork: LightError | undefined
  #witnesses: Witnesses | undefined
  /** The height of the last head that was told to others, and whether one is being told. */
  #told = 0
  #isTelling = false
  /** The chain's count of changes when its state was saved last; -1: never. */
  #kept = -1
  /** The highest block that each server has proved, by its address: another may be behind. */
  readonly #shown = new Map<string, number>()

  /** Throws a {@link LightError} for a trust root, a checkpoint or servers that cannot be used. */
  constructor(options: LightOptions) {
    requireTypes(options, types)
    this.#options = options
    const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
    this.#servers = serversOf(options, fetch, () => this.#ages.now())
    requireEnough(options.needed, this.#servers)
    this.#signatures = new Signatures(options.subtle)
    const { trust, checkpoint } = options
    this.#trust = read('trust', () => readTrust(parsed(trust)))
    this.#checkpoint =
      checkpoint === undefined ? undefined : read('checkpoint', () => readCheckpoint(parsed(checkpoint), this.#trust))
    this.#ages = new BlockAges(this.#trust, options)
  }

  /** The state of a DID, in full or as its identifier alone, with the versions asked for. Rejects with a {@link LightError}. */
  async resolve(did: string, options: LightResolveOptions = {}): Promise<LightResult> {
    const question = readQuestion({ ...options, did })
    const { answer, proved } = await this.#prove(didQuestion(question))
    const status = answer.knowsStatus ? answer.status : await this.#statusOf(question, answer)
    const history = question.history === true ? { history: entriesOf(answer) } : {}
    return { ...resolved(question, { ...answer, status }), proved: { ...proved, ...history } }
  }

  /**
   * The status of a DID in a state that is proved already. Whether the last document has expired stands in that document alone; its hash
   * stands in that state, so that one server is enough.
   */
  async #statusOf({ did }: DidQuestion, sameAs: ProvedDid): Promise<ProvedDid['status']> {
    const question = { did, height: sameAs.block.header.height }
    const { answer } = await this.#prove({ ...didQuestion(question), sameAs }, 1)
    return answer.status
  }

  /** The state of a credential by its absolute id; a revocation by `issuer` counts before it is declared as well. */
  async resolveCredential(id: string, options: { readonly issuer?: string } = {}): Promise<LightCredential> {
    const { credentialQuestion, credentialResult, readCredentialQuestion, sayings } =
      await import('./credential-question.js')
    const question = asked(() => readCredentialQuestion({ ...options, id }))
    const { proved, answer } = await this.#prove(credentialQuestion(question))
    return { ...credentialResult(question.id, answer), proved: { ...proved, ...sayings(answer) } }
  }

  /**
   * Checks an answer with a proof that came from elsewhere; servers, if any, are asked alone for what followed the validators or
   * headers known.
   */
  async verifyAnswer(did: string, answer: unknown, options: LightResolveOptions = {}): Promise<LightResult> {
    const question = readQuestion({ ...options, did })
    const given = { ...didQuestion(question), isGiven: true, ask: () => Promise.resolve(answer) }
    const found = await this.#prove(given, 1)
    const proved = { ...found.proved, ...unproved(found.answer), history: entriesOf(found.answer), servers: [] }
    return { ...resolved(question, found.answer), proved }
  }

  /** Checks a bundle without any server. Its age is tested only with `maxAge`, in seconds. */
  async verifyBundle(
    bundle: unknown,
    options: { readonly maxAge?: number } = {},
  ): Promise<LightResult | LightCredential> {
    requireTypes(options, { maxAge: 'number' })
    const { maxAge } = options
    try {
      const { checkBundle } = await import('./check-bundle.js')
      const witnesses = await this.#neededWitnesses()
      return await checkBundle(parsed(bundle), maxAge, { ...this.#believed, ages: this.#ages, witnesses })
    } catch (error) {
      throw asLightError(error)
    }
  }

  /** Checks the `evidence` of a `fork` without any server. Rejects with a {@link LightError} where it is none. */
  async verifyEvidence(evidence: unknown): Promise<ProvedFork> {
    try {
      const { verifyEvidence } = await import('./fork-evidence.js')
      const witnesses = (await this.#neededWitnesses())?.keys
      return await verifyEvidence(parsed(evidence), { ...this.#believed, witnesses })
    } catch (error) {
      throw asLightError(error)
    }
  }

  /** Asks all servers, and takes the highest of the answers that hold. */
  async #prove<P extends ProvedAnswer>(
    question: Question<P>,
    needed = this.#options.needed ?? 1,
  ): Promise<{ answer: P; proved: Proved }> {
    if (this.#fork !== undefined) throw this.#fork
    try {
      const chain = await this.#opened()
      const { seen } = chain
      const oldRoot = this.#ages.oldRoot(seen)
      const outcomes = await askAll(this.#servers, needed, async (server) => {
        // Read before the request: an answer to a later question may be of a later block, and this one is no rollback then.
        const shown = this.#shown.get(server.url) ?? 0
        const proved = await this.#askOne(server, chain, question)
        this.#requirePlace(proved, { seen, shown, url: server.url }, question)
        return proved
      })
      const { held, failed } = settled(outcomes, chain)
      const { best, agreed, excluded } = agreeing(held, question)
      await this.#accuse([...failed, ...excluded])
      if (best === undefined || agreed.length < needed) throw tooFew([...failed, ...excluded], agreed.length)
      if (!question.isPast && question.isGiven !== true) requireRise(best.block, seen)
      chain.saw(best.block)
      await this.#keep(chain)
      if (this.#options.gossip === true) void this.#gossip(best.block, chain)
      const servers = agreed.map(({ server }) => server)
      return { answer: best, proved: { ...this.#ages.proved(best.block, servers), ...oldRoot } }
    } catch (error) {
      throw asLightError(error)
    }
  }

  /** Throws `fork`, now and from now on, where a contradiction comes with evidence that others can check; else its server has failed. */
  async #accuse(failed: readonly Failed[]): Promise<void> {
    for (const { error } of failed) {
      if (!(error instanceof Contradiction)) continue
      const { provenFork } = await import('./fork-evidence.js')
      const evidence = await provenFork(error, this.#believed, this.#servers)
      if (evidence === undefined) continue
      this.#fork = new LightError('fork', error.message, { evidence })
      this.#options.onFork?.(this.#fork)
      throw this.#fork
    }
  }

  /** Compares a head with those of others, each height once and one at a time; an answer does not wait for it. */
  async #gossip(block: AnchoredBlock, chain: FollowedChain): Promise<void> {
    const { height } = block.header
    if (height <= this.#told || this.#isTelling) return
    this.#isTelling = true
    try {
      const { tellHead } = await import('./gossip.js')
      const found = await tellHead(block, chain, this.#servers, { ...this.#tools, witnesses: this.#witnesses })
      this.#told = height
      await this.#accuse(found)
    } catch {
      // A fork is what callers of the next question get; a head that could not be told is told again with it.
    } finally {
      this.#isTelling = false
    }
  }

  /** Saves the state if it changed. */
  async #keep(chain: FollowedChain): Promise<void> {
    const { save } = this.#options
    if (save === undefined || chain.changes === this.#kept) return
    const { changes } = chain
    await save(await chain.text())
    this.#kept = changes
  }

  /** Checks the answer of one server, and who cosigned its block where that is asked for. */
  async #askOne<P extends ProvedAnswer>(server: Server, chain: FollowedChain, question: Question<P>): Promise<P> {
    const following = { chain, signatures: this.#signatures, now: () => this.#ages.now() }
    const prove = async (one: Question<P>) => {
      const sent = await one.ask(server)
      return checkFollowing(server, following, (known) => one.check(sent, known))
    }
    const witnesses = await this.#neededWitnesses()
    if (witnesses === undefined) return prove(question)
    return witnesses.proved(server, chain, question, prove)
  }

  /** Throws `future`, `rollback`, `stale` or a {@link Contradiction}. */
  #requirePlace<P extends ProvedAnswer>(
    proved: P,
    { seen, shown, url }: { seen: FollowedChain['seen']; shown: number; url: string },
    question: Question<P>,
  ): void {
    const { block } = proved
    const { isPast, isGiven = false } = question
    const { height } = block.header
    this.#ages.requirePast(block)
    requireSame(block, seen)
    requireState(proved, question)
    if (!isPast && !isGiven) {
      if (height < shown) throw rollback(height, shown)
      this.#shown.set(url, Math.max(height, this.#shown.get(url) ?? 0))
    }
    const maxAge = isPast ? undefined : (this.#options.maxAge ?? this.#trust.maxAge)
    this.#ages.requireFresh(block, maxAge, () => question.result(proved))
  }

  /** The witnesses of the options; undefined: none are needed. */
  async #neededWitnesses(): Promise<Witnesses | undefined> {
    const { witnesses } = this.#options
    if (witnesses === undefined) return undefined
    const { Witnesses } = await import('./witnesses.js')
    return (this.#witnesses ??= new Witnesses(witnesses, this.#tools))
  }

  /** Tools by which heads of witnesses and of other nodes are checked. */
  get #tools() {
    const { fetch = (url, init) => globalThis.fetch(url, init) } = this.#options
    const hasValidators = this.#trust.validators !== undefined
    return {
      ...{ genesis: this.#trust.chain, hasValidators, signatures: this.#signatures, fetch },
      now: () => this.#ages.now(),
      // What callers of the next question get.
      onContradiction: (server: string, error: LightError) => void this.#accuse([{ server, error }]).catch(() => {}),
    }
  }

  /** The trust with which a resolver begins. */
  get #believed(): ChainOptions & { readonly checkpoint: Checkpoint | undefined } {
    const { confirmations: deep = confirmations } = this.#options
    return {
      ...{ trust: this.#trust, checkpoint: this.#checkpoint, signatures: this.#signatures },
      confirmations: deep,
    }
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
    return openChain(this.#believed, this.#servers, await this.#options.load?.())
  }
}

/** Nodes, then mirrors; each once, in whichever list it stands first. */
function serversOf({ servers = [], mirrors = [] }: LightOptions, fetch: Fetch, now: () => number): readonly Server[] {
  const nodes = distinctServers(servers)
  const all = distinctServers([...nodes, ...distinctServers(mirrors)])
  if (all.length === 0) return [new NodeServer('', nowhere)]
  return all.map((url) => (nodes.includes(url) ? new NodeServer(url, fetch) : new LazyMirror(url, fetch, now)))
}

/** Without servers a bundle can still be checked, against the data held already. */
const nowhere: Fetch = () => Promise.reject(new LightError('unreachable', 'no server is named'))

/** Throws where fewer servers are named than have to agree: no answer could ever hold. */
function requireEnough(needed: number | undefined, servers: readonly Server[]): void {
  const length = servers.filter(({ url }) => url !== '').length
  if (needed === undefined || (Number.isInteger(needed) && needed >= 1 && needed <= length)) return
  throw new LightError('quorum', `needed is ${needed}, and the servers given are ${length} different ones`)
}

/** Types of the options; of an empty one its reader judges. */
const types: Readonly<Record<keyof LightOptions, string>> = {
  servers: '',
  mirrors: '',
  trust: '',
  checkpoint: '',
  needed: '',
  subtle: 'object',
  witnesses: 'object',
  gossip: 'boolean',
  onFork: 'function',
  allowOldRoot: 'boolean',
  maxAge: 'number',
  trustPeriod: 'number',
  confirmations: 'number',
  load: 'function',
  save: 'function',
  fetch: 'function',
  now: 'function',
}

/** Checks options by their types; a number is a whole one from 0 on. */
function requireTypes(options: object, known: Readonly<Record<string, string>>): void {
  requireOptions('LightResolver', options, Object.keys(known))
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const type = known[name]
    const fits = type === 'number' ? Number.isSafeInteger(value) && (value as number) >= 0 : typeof value === type
    if (!fits && value !== undefined && type) throw new UserError(`${name}: no ${type}`)
  }
}

/** Reads a document of the options; a fault names the option. */
function read<T>(name: string, readDocument: () => T): T {
  try {
    return readDocument()
  } catch (error) {
    const { failure, message } = asLightError(error)
    throw new LightError(failure, `${name}: ${message}`)
  }
}

/** JSON text, or what is parsed of it already. */
function parsed(given: unknown): unknown {
  return typeof given === 'string' ? parse(given) : given
}

function asked<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asLightError(error)
  }
}

function readQuestion(parameters: LightResolveOptions & { readonly did: string }): DidQuestion {
  return asked(() => readDidQuestion({ ...parameters }))
}
