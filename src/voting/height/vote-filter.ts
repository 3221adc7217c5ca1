import type { SignatureCache } from '../../base/crypto/signature-cache.js'
import { runChecks, type Verifier } from '../../base/crypto/verifier.js'
import { mapKey } from '../../base/primitives/bytes.js'
import type { Clock } from '../../base/runtime/env.js'
import { TokenBucket } from '../../base/runtime/token-bucket.js'
import {
  blockOf,
  messageChecks,
  type OpenHeight,
  type SignedMessage,
  signerOf,
  stepOf,
  viewOf,
  type VotingMessage,
} from '../tendermint/message.js'

/**
 * The second is evidence, a third adds nothing.
 * @limit count: different values kept of one validator in one step of a view
 */
const valuesPerStep = 2
/** @limit count: values kept of one validator at one height; the oldest leaves first */
const valuesPerSigner = 256
/**
 * Accepted votes are relayed: a validator with votes for view after view could make honest nodes flood each other.
 * @limit count/s: values accepted of one validator at one height
 */
const valueRate = 20
/** @limit count: values accepted of one validator at once */
const valueBurst = 64

export interface VoteFilterOptions extends OpenHeight {
  readonly verifier: Verifier
  readonly clock: Clock
  /** Cache of verified signatures: proofs and confirms made of accepted votes need no second verification. */
  readonly verified: SignatureCache
}

/** Identity of a message: its content without the signature. */
interface ValueKey {
  readonly signer: string
  readonly step: string
  readonly value: string
}

/**
 * Accepts each vote of one height once, after its signatures were verified. Copies, and the same vote under another
 * signature, are not verified.
 */
export class VoteFilter {
  readonly #options: VoteFilterOptions
  /** By signer, then by step and value. */
  readonly #seen = new Map<string, Map<string, ValueKey>>()
  /** Remaining rate per validator. */
  readonly #allowances = new Map<string, TokenBucket>()
  readonly #verifying = new Map<string, Promise<unknown>>()

  constructor(options: VoteFilterOptions) {
    this.#options = options
  }

  /**
   * Whether a message is authentic, new, and within the rate of its signer. Rejects with a RuleError `vote-*` if it is not
   * authentic.
   */
  async accept(message: VotingMessage): Promise<boolean> {
    const vote = valueKeyOf(message)
    if (this.#addsNothing(vote)) return false
    const { verifier, verified, clock } = this.#options
    const checks = messageChecks(message, this.#options)
    const allowance = this.#allowanceOf(vote.signer)
    if (!allowance.has(1, clock.now())) return false
    const id = `${vote.signer} ${vote.step} ${vote.value}`
    // The message being verified may be forged: this one is a copy only if that one is authentic.
    for (let running; (running = this.#verifying.get(id)) !== undefined;) {
      await running
      if (this.#addsNothing(vote)) return false
    }
    const run = runChecks(verified.unknown(checks), verifier)
    const ended = () => this.#verifying.delete(id)
    this.#verifying.set(id, run.then(ended, ended))
    await run
    verified.add(checks)
    // Two other values of the signer may have been accepted during the verification.
    if (this.#addsNothing(vote)) return false
    // Only authentic messages use up the rate: no other node can exhaust it for the signer.
    if (!allowance.take(1, clock.now())) return false
    this.#remember(vote)
    return true
  }

  /** Marks an own message as seen, without verification. */
  markSeen(message: SignedMessage): void {
    this.#remember(valueKeyOf(message))
  }

  /** Token bucket of a signer; proofs, which have no signer, share one. */
  #allowanceOf(signer: string): TokenBucket {
    let allowance = this.#allowances.get(signer)
    if (allowance === undefined) {
      allowance = new TokenBucket(valueRate, valueBurst, this.#options.clock.now())
      this.#allowances.set(signer, allowance)
    }
    return allowance
  }

  /** Whether a vote adds nothing: it was seen, or its signer has already contradicted itself in that step. */
  #addsNothing(vote: ValueKey): boolean {
    const votes = this.#seen.get(vote.signer)
    if (votes === undefined) return false
    if (votes.has(`${vote.step}|${vote.value}`)) return true
    let others = 0
    for (const { step } of votes.values()) if (step === vote.step) others++
    return others >= valuesPerStep
  }

  #remember(vote: ValueKey): void {
    const votes = this.#seen.get(vote.signer) ?? new Map<string, ValueKey>()
    this.#seen.set(vote.signer, votes)
    votes.set(`${vote.step}|${vote.value}`, vote)
    if (votes.size > valuesPerSigner) votes.delete(votes.keys().next().value as string)
  }
}

function valueKeyOf(message: VotingMessage): ValueKey {
  const view = viewOf(message)
  const block = blockOf(message)
  const value = block === undefined ? '' : mapKey(block)
  if (message.kind === 'proof') return { signer: '', step: `${view} proof`, value }
  const step = `${view} ${stepOf(message)}`
  const validView = message.kind === 'proposal' ? `${message.validView} ` : ''
  return { signer: mapKey(signerOf(message)), step, value: `${validView}${value}` }
}
