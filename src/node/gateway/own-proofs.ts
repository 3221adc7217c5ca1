import { resultJson } from '../../answers/resolver/resolver-answer.js'
import { UserError } from '../../base/errors/rule-error.js'
import { CodecError } from '../../base/primitives/codec.js'
import type { Clock, Log } from '../../base/runtime/env.js'
import { LightError, type LightFailure } from '../../clients/light/light-error.js'
import { LightResolver } from '../../clients/light/light-resolver.js'
import type { ResolveOptions, ResolveResult } from '../../identity/did/resolution.js'
import type { TrustJson } from '../../identity/proofs/make-trust.js'
import type { EngineRows } from '../../ledger/engine/engine-rows.js'
import { reindexHint, StorageError } from '../../ledger/storage/failure.js'

/** @tuning count: answers about DIDs of which one is checked */
const oneOf = 1000

/** Failures of a check that say nothing of the rows: no answer, the clock, or a chain that took blocks back. */
const unjudged: readonly LightFailure[] = [
  ...(['unreachable', 'timeout', 'quorum', 'stale', 'future', 'work-time', 'trust-expired'] as const),
  ...(['rollback', 'contradiction', 'fork'] as const),
]

export interface OwnProofsOptions {
  /** Asked for the proof of an answer. */
  readonly prove: (did: string, options: ResolveOptions) => Promise<ResolveResult | undefined>
  readonly rows: Pick<EngineRows, 'settle' | 'state'>
  /** Root of the chain, from its spec. */
  readonly trust: TrustJson
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'error'>
  /** Number of answers of which one is checked; {@link oneOf} by default. */
  readonly every?: number | undefined
}

/**
 * Verifies one of many answers about DIDs with a light resolver, from the genesis block on, to find rows that were changed together with
 * their checksums. The answer is not delayed. One check runs at a time; answers meanwhile are not checked.
 */
export class OwnProofs {
  /** Counters since the start. */
  readonly counts = { checked: 0, failed: 0 }
  /** Rejects with a UserError once an answer does not hold. */
  readonly failure: Promise<never>
  readonly #options: OwnProofsOptions
  #left: number
  #checking: Promise<void> | undefined
  #light: LightResolver | undefined
  #fail: (error: UserError) => void = () => {}
  /** Base URL of the REST port of this gateway: changes of validators, or headers, are asked there. */
  #url: string | undefined

  constructor(options: OwnProofsOptions) {
    this.#options = options
    this.#left = options.every ?? oneOf
    this.failure = new Promise((_, reject) => (this.#fail = reject))
    // Not unhandled before a user of the gateway awaits it.
    this.failure.catch(() => {})
  }

  /** Begins, once the gateway serves at this base URL. */
  start(url: string): void {
    this.#url = url
  }

  /** Ends after the check under way. */
  async close(): Promise<void> {
    this.#url = undefined
    await this.#checking
  }

  /** Counts an answer, and has one of many checked. */
  readonly note = (result: ResolveResult, options: ResolveOptions): void => {
    // Those with a proof are checked by who asked for it.
    if (options.proof !== undefined) return
    this.#left--
    if (this.#left > 0 || this.#checking !== undefined || this.#url === undefined) return
    this.#left = this.#options.every ?? oneOf
    const { sequence } = this.#options.rows.state
    this.#checking = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#check(result, options, sequence))
      .catch((error: unknown) =>
        this.#options.log.debug({ error: String(error) }, 'an own answer could not be checked'),
      )
      .finally(() => (this.#checking = undefined))
  }

  async #check(result: ResolveResult, options: ResolveOptions, sequence: number): Promise<void> {
    const { did } = result
    const found = await this.#compare(result, options, sequence)
    if (found === undefined) return
    const { failed } = found
    this.counts.checked++
    if (failed === undefined) return
    this.counts.failed++
    const message = `the answer about ${did} does not hold: ${failed}; the rows of the shards are not those of the chain`
    this.#options.log.error({ did, failed }, 'an own answer does not hold')
    this.#fail(new UserError(`--verify-own: ${message}`))
  }

  /** Compares an answer of the rows at a sequence with a proof of now. */
  async #compare(result: ResolveResult, options: ResolveOptions, sequence: number): Promise<Verdict> {
    const { did } = result
    const { rows, prove, trust } = this.#options
    const { isSame, asked } = questionOf(options)
    let proved: ResolveResult | undefined
    try {
      proved = await rows.settle(() => prove(did, { ...asked, proof: true }))
    } catch (error) {
      const contradiction = contradictionIn(error)
      if (contradiction === undefined) throw error
      return { failed: `no proof can be made of it: ${contradiction}` }
    }
    // A history that is long: a proof of it would take the memory of clients.
    if (proved === undefined) return undefined
    // A chain of work proves states of blocks below its tip.
    const isNow = isSame && trust.validators !== undefined && rows.state.sequence === sequence
    if (isNow && !isShown(result, proved)) return { failed: 'it is not the one that its proof is of' }
    return this.#judge(did, asked, proved)
  }

  /** Checks a proof. One that fails is checked once more from the genesis block, for the chain may have changed. */
  async #judge(did: string, asked: ResolveOptions, proved: ResolveResult): Promise<Verdict> {
    const answer: unknown = JSON.parse(resultJson(proved))
    const known = this.#light
    const first = await verdict((this.#light ??= this.#newLight()).verifyAnswer(did, answer, asked))
    // What it remembers may be the reason.
    if (first === undefined) this.#light = undefined
    if (first?.failed === undefined || known === undefined) return first
    this.#light = this.#newLight()
    return verdict(this.#light.verifyAnswer(did, answer, asked))
  }

  #newLight(): LightResolver {
    const { trust, clock } = this.#options
    return new LightResolver({
      servers: this.#url === undefined ? [] : [this.#url],
      ...{ trust, now: () => clock.now(), allowOldRoot: true },
      // Whether answers are too old is a matter of readiness.
      maxAge: Number.MAX_SAFE_INTEGER,
    })
  }
}

/** The part of a question that can be proved; `isSame`: it is the whole. */
function questionOf({ all = false, versionId, versionTime, skip, limit, versionHeight, ...other }: ResolveOptions) {
  const isSame = (skip ?? limit ?? versionHeight ?? other.height ?? other.depth) === undefined
  if (!isSame) return { isSame, asked: {} }
  const version = versionId !== undefined ? { versionId } : versionTime !== undefined ? { versionTime } : {}
  return { isSame, asked: { all, ...version } }
}

/** Whether an answer has the operations of another one with its proof. */
function isShown({ transaction }: ResolveResult, proved: ResolveResult): boolean {
  return JSON.stringify(transaction) === JSON.stringify(proved.transaction)
}

/** Message of an error that says that rows contradict each other, though their checksums hold; undefined for other errors. */
function contradictionIn(error: unknown): string | undefined {
  if (error instanceof StorageError && error.kind === 'damage') return error.message.replace(`; ${reindexHint}`, '')
  return error instanceof CodecError ? error.message : undefined
}

/** Why a proof does not hold, if it does not; undefined: that could not be judged. */
type Verdict = { readonly failed?: string } | undefined

async function verdict(check: Promise<unknown>): Promise<Verdict> {
  try {
    await check
    return {}
  } catch (error) {
    if (!(error instanceof LightError)) throw error
    return unjudged.includes(error.failure) ? undefined : { failed: `${error.failure}: ${error.message}` }
  }
}
