import type { ForkEvidence } from '../../identity/proofs/fork.js'
import { ProofError, type ProofFailure } from '../../identity/proofs/proof-failure.js'

export type { ForkEvidence }

/** Why a light resolver gives no answer. */
export type LightFailure =
  | ProofFailure
  /** The trusted block is older than the trust period. */
  | 'trust-expired'
  /** The newest block of the answer is too old, or of the future, or below one that was seen. */
  | 'stale'
  | 'future'
  | 'rollback'
  /** An answer excludes another one, or what was seen; there is no evidence that others could check. */
  | 'contradiction'
  /** The same with evidence: two blocks of one height are confirmed, or two histories of one leaf that exclude each other. */
  | 'fork'
  /** Too few servers gave an answer that holds. */
  | 'quorum'
  | 'timeout'
  | 'unreachable'
  /** A file of a mirror is not what its name says. */
  | 'mirror-file'

export interface LightErrorDetails {
  readonly evidence?: ForkEvidence | undefined
  /** With `stale`: the answer, which holds as of its block. */
  readonly answer?: unknown
  /** With `quorum`: what was wrong with each server. */
  readonly failures?: readonly { readonly server: string; readonly failure: LightFailure; readonly message: string }[]
}

/** An answer whose check failed, or none. */
export class LightError extends Error {
  override readonly name = 'LightError'
  readonly failure: LightFailure
  readonly evidence: ForkEvidence | undefined
  readonly answer: unknown
  readonly failures: LightErrorDetails['failures']

  constructor(failure: LightFailure, message: string, { evidence, answer, failures }: LightErrorDetails = {}) {
    super(message)
    this.failure = failure
    this.evidence = evidence
    this.answer = answer
    this.failures = failures
  }
}

/** Returns the error for callers: a proof that does not hold is a failure by the name of its step. */
export function asLightError(error: unknown): LightError {
  if (error instanceof LightError) return error
  if (error instanceof ProofError) return new LightError(error.failure, error.message)
  throw error
}
