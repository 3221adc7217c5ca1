/** Why an answer is not believed: each step of a check has one name, and the first that fails counts. */
export type ProofFailure = 'form' | 'path-form' | 'path-foreign' | 'history-form' | 'path-root' | 'history-order'

/** A proof that does not hold. */
export class ProofError extends Error {
  readonly failure: ProofFailure

  constructor(failure: ProofFailure, reason: string) {
    super(`${failure}: ${reason}`)
    this.failure = failure
  }
}
