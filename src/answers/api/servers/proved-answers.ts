import { didPart } from '../../../identity/did/identifier.js'
import type { ResolveOptions } from '../../../identity/did/resolution.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { IdentifierSource } from '../../identifiers/identifiers.js'
import { PassingError } from '../../identifiers/passing-error.js'
import { failureSentence } from '../../../clients/light/failure-texts.js'
import { LightError, type LightFailure } from '../../../clients/light/light-error.js'
import type { LightResolver } from '../../../clients/light/light-resolver.js'
import type { LightCredential, LightResult } from '../../../clients/light/proved-answer.js'
import { resolveProved } from '../../../clients/light/proved-context.js'
import { credentialIdOf, possibleDidOf } from '../../resolver/did-key.js'
import { readResolveRequest } from '../../resolver/resolve-request.js'
import type { Log } from '../../../base/runtime/env.js'
import { BoundedSource } from './bounded-source.js'
import { ToldAbsence } from './told-absence.js'

/** Question about a DID: its last version, all of them, or one. */
export interface ProvedQuestion {
  readonly did: string
  readonly all?: boolean
  readonly versionId?: string
  readonly versionTime?: string
}

/**
 * The answers of a light resolver for an interface: questions are checked, few are asked at once, and what is not proved is
 * `answer-unproved`, whose text begins with the name of the failure. A text that can be no DID is refused: it would be proved not to exist.
 */
export class ProvedAnswers implements IdentifierSource {
  readonly #light: Pick<LightResolver, 'resolve' | 'resolveCredential'>
  readonly #log: Log
  readonly #shared: BoundedSource
  readonly #absence: ToldAbsence
  /** The headers of the contradiction reported last. */
  #told: string | undefined

  constructor(light: Pick<LightResolver, 'resolve' | 'resolveCredential'>, log: Log) {
    this.#light = light
    this.#log = log
    this.#absence = new ToldAbsence(log, 'answers are proved again')
    this.#shared = new BoundedSource({
      resolve: async (did, asked) => shortened(await resolveProved(light, did, asked)),
    })
  }

  /** The version asked for, with its context; `proof-unavailable` where a proof is asked for. */
  async resolve(
    did: string,
    options: ResolveOptions,
    request: { readonly signal?: AbortSignal } = {},
  ): ReturnType<BoundedSource['resolve']> {
    if (options.proof !== undefined) {
      throw new RuleError('proof-unavailable', 'proofs are checked here, and not handed on: ask a node for one')
    }
    return this.#proved(this.#shared.resolve(did, options, request))
  }

  /** The answer of `resolvedid`, with what was proved. */
  async did({ did, ...asked }: ProvedQuestion, signal?: AbortSignal): Promise<LightResult> {
    const full = possibleDidOf(did)
    readResolveRequest(asked)
    return this.#proved(this.#shared.ask(() => this.#light.resolve(full, asked), signal))
  }

  /** The answer of `did_resolveCredential`, with what was proved. */
  async credential(id: string, issuer?: string, signal?: AbortSignal): Promise<LightCredential> {
    const full = credentialIdOf(id)
    possibleDidOf(didPart(full), 'id')
    const options = issuer === undefined ? {} : { issuer: possibleDidOf(issuer, 'issuer') }
    return this.#proved(this.#shared.ask(() => this.#light.resolveCredential(full, options), signal))
  }

  async #proved<T>(answer: Promise<T>): Promise<T> {
    try {
      const proved = await answer
      this.#absence.answered()
      return proved
    } catch (error) {
      if (!(error instanceof LightError)) throw error
      this.#report(error)
      const text = `${error.failure}: ${failureSentence(error)}`
      throw mayPass(error) ? new PassingError('answer-unproved', text) : new RuleError('answer-unproved', text)
    }
  }

  /**
   * Reports a contradiction once, with all of its signatures: the resolver gives no answer after it. Failures of a moment are told when
   * they begin, and when they are over.
   */
  #report({ failure, failures, evidence }: LightError): void {
    const isPassing = evidence === undefined && passing.includes(failure)
    const text = 'an answer is not proved'
    if (isPassing) return this.#absence.failed(failure, { failure, failures }, text)
    const told = evidence?.headers.join()
    const isKnown = told !== undefined && told === this.#told
    this.#told = told ?? this.#told
    this.#log.warn({ failure, failures, ...(!isKnown && { evidence }) }, text)
  }
}

/** Failures of a moment: of the way to a node, and of one that is behind. */
const passing: readonly LightFailure[] = ['timeout', 'unreachable', 'stale']

/** Whether the same question may be answered soon; of several nodes one that failed for the moment is enough. */
function mayPass({ failure, failures = [] }: LightError): boolean {
  return [failure, ...failures.map((one) => one.failure)].some((one) => passing.includes(one))
}

/** An answer without the places of all operations: its context has the ones that a document needs. */
function shortened<Answer extends Pick<LightResult, 'proved'>>({ proved, ...answer }: Answer) {
  const { history: _, ...rest } = proved
  return { ...answer, proved: rest }
}
