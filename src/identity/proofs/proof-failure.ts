/** Reason why an answer is refused: each step of a check has one name, and the first that fails counts. */
export type ProofFailure =
  /** The input is not in the form of an answer or proof. */
  | 'form'
  | 'proof-missing'
  | 'answer-did'
  | 'chain'
  // the block that an answer is as of
  | 'anchor-header'
  | 'answer-height'
  | 'anchor-coinbase'
  | 'anchor-branch'
  | 'anchor-commitment'
  | 'anchor-root'
  | 'confirm-form'
  | 'confirm-quorum'
  | 'confirm-signature'
  // the validators who confirm it
  | 'changes-missing'
  | 'changes-order'
  | 'changes-keys'
  | 'checkpoint-hash'
  | 'checkpoint-keys'
  // or the work above it
  | 'work-link'
  | 'work-bits'
  | 'work-time'
  | 'work-proof'
  | 'work-chain'
  | 'work-depth'
  // the map that it commits to
  | 'path-form'
  | 'path-foreign'
  | 'history-form'
  | 'path-root'
  | 'history-order'
  // the answer itself
  | 'answer-incomplete'
  | 'answer-transaction'
  | 'answer-document'
  | 'answer-status'
  | 'answer-version'
  | 'answer-signature'
  // the witnesses who cosign it
  | 'cosignature'
  | 'unwitnessed'
  // evidence of a fork
  | 'no-contradiction'

/** A proof that does not hold. */
export class ProofError extends Error {
  override readonly name = 'ProofError'
  readonly failure: ProofFailure

  constructor(failure: ProofFailure, reason: string) {
    super(`${failure}: ${reason}`)
    this.failure = failure
  }
}

export function fail(failure: ProofFailure, reason: string): never {
  throw new ProofError(failure, reason)
}
