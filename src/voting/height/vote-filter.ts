import type { SignatureCache } from '../../crypto/signature-cache.js'
import { runChecks, type Verifier } from '../../crypto/verifier.js'
import { mapKey } from '../../primitives/bytes.js'
import type { Clock } from '../../runtime/env.js'
import { TokenBucket } from '../../runtime/token-bucket.js'
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

/** Different values that one validator may give in one step of one view: the second is evidence, a third tells nothing new. */
const valuesPerStep = 2
/** Words of one validator that are remembered at one height; those heard first go first. */
const valuesPerSigner = 256
/**
 * Words of one validator that are let in a second, and at once. What is let in is told on: without a bound a validator that
 * speaks of one view after another would have honest nodes flood each other.
 */
const valueRate = 20
const valueBurst = 64

export interface VoteFilterOptions extends OpenHeight {
  readonly verifier: Verifier
  readonly clock: Clock
  /** Remembers what held, so that proofs and confirms made of it cost nothing more. */
  readonly verified: SignatureCache
}

/** What a message says, apart from how it is signed. */
interface ValueKey {
  readonly signer: string
  readonly step: string
  readonly value: string
}

/**
 * Lets each word of a validator in once, after its signatures were verified; for one height. Copies, and the same word
 * under another signature, cost no verification.
 */
export class VoteFilter {
  readonly #options: VoteFilterOptions
  /** By signer, then by step and value. */
  readonly #seen = new Map<string, Map<string, ValueKey>>()
  /** What each validator may still say. */
  readonly #allowances = new Map<string, TokenBucket>()
  readonly #verifying = new Map<string, Promise<unknown>>()

  constructor(options: VoteFilterOptions) {
    this.#options = options
  }

  /**
   * Whether an authentic message says something that was not heard before, by a validator that does not say too much. Rejects
   * with a RuleError `vote-*` when it is not authentic.
   */
  async accept(message: VotingMessage): Promise<boolean> {
    const word = valueKeyOf(message)
    if (this.#release(word)) return false
    const { verifier, verified, clock } = this.#options
    const checks = messageChecks(message, this.#options)
    const allowance = this.#allowanceOf(word.signer)
    if (!allowance.has(1, clock.now())) return false
    const id = `${word.signer} ${word.step} ${word.value}`
    // The one under way may be forged: only when it proves right is this one a copy.
    for (let running; (running = this.#verifying.get(id)) !== undefined;) {
      await running
      if (this.#release(word)) return false
    }
    const run = runChecks(verified.unknown(checks), verifier)
    const ended = () => this.#verifying.delete(id)
    this.#verifying.set(id, run.then(ended, ended))
    await run
    verified.add(checks)
    // Two other values of its author may have come while this one was verified.
    if (this.#release(word)) return false
    // Only what is authentic counts: nobody else can use it up.
    if (!allowance.take(1, clock.now())) return false
    this.#remember(word)
    return true
  }

  /** Takes an own message, which needs no verification, as heard. */
  markSeen(message: SignedMessage): void {
    this.#remember(valueKeyOf(message))
  }

  /** There are as many as validators, and one for what nobody signs. */
  #allowanceOf(signer: string): TokenBucket {
    let allowance = this.#allowances.get(signer)
    if (allowance === undefined) {
      allowance = new TokenBucket(valueRate, valueBurst, this.#options.clock.now())
      this.#allowances.set(signer, allowance)
    }
    return allowance
  }

  /** Whether nothing can be learnt from a word: it was heard, or its author has contradicted itself there already. */
  #release(word: ValueKey): boolean {
    const words = this.#seen.get(word.signer)
    if (words === undefined) return false
    if (words.has(`${word.step}|${word.value}`)) return true
    let others = 0
    for (const { step } of words.values()) if (step === word.step) others++
    return others >= valuesPerStep
  }

  #remember(word: ValueKey): void {
    const words = this.#seen.get(word.signer) ?? new Map<string, ValueKey>()
    this.#seen.set(word.signer, words)
    words.set(`${word.step}|${word.value}`, word)
    if (words.size > valuesPerSigner) words.delete(words.keys().next().value as string)
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
