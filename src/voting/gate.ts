import type { SignatureCache } from '../crypto/signature-cache.js'
import { runChecks, type Verifier } from '../crypto/verifier.js'
import { RuleError } from '../errors.js'
import { mapKey } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import type { Spec } from '../primitives/spec.js'
import { messageChecks } from './check.js'
import { blockOf, signerOf, stepOf, viewOf, type VotingMessage } from './message.js'

/** Messages that wait for their signatures. */
const maxVerifying = 1024
/** Different values that one validator may give in one step of one view: the second is evidence, a third tells nothing new. */
const valuesPerStep = 2
/** Words of one validator that are remembered at one height; those heard first go first. */
const wordsPerSigner = 256

export interface GateOptions {
  readonly spec: Spec
  /** Hash of the genesis block. */
  readonly genesis: Hash
  readonly verifier: Verifier
  /** Remembers what held, so that proofs and confirms made of it cost nothing more. */
  readonly verified: SignatureCache
}

/** What a message says, apart from how it is signed. */
interface Word {
  readonly signer: string
  readonly step: string
  readonly value: string
}

/**
 * Lets each word of a validator in once, after its signatures were verified; for one height. Copies, and the same word
 * under another signature, cost no verification.
 */
export class Gate {
  readonly #options: GateOptions
  /** By signer, then by step and value. */
  readonly #heard = new Map<string, Map<string, Word>>()
  readonly #verifying = new Map<string, Promise<void>>()
  #waiting = 0

  constructor(options: GateOptions) {
    this.#options = options
  }

  /**
   * Whether an authentic message says something that was not heard before. Rejects with a RuleError `vote-*` when it is
   * not authentic, or `busy` when too many wait.
   */
  async admit(message: VotingMessage): Promise<boolean> {
    const word = wordOf(message)
    if (this.#idle(word)) return false
    if (this.#waiting >= maxVerifying) throw new RuleError('busy', `${maxVerifying} messages are being verified`)
    this.#waiting++
    try {
      return await this.#verify(word, message)
    } finally {
      this.#waiting--
    }
  }

  /** An own message needs no verification. */
  remember(message: VotingMessage): void {
    this.#remember(wordOf(message))
  }

  async #verify(word: Word, message: VotingMessage): Promise<boolean> {
    const { verifier, verified } = this.#options
    const checks = messageChecks(message, this.#options)
    const id = `${word.signer}|${word.step}|${word.value}`
    // The one under way may be forged: only when it proves right is this one a copy.
    for (let running; (running = this.#verifying.get(id)) !== undefined;) {
      await running
      if (this.#idle(word)) return false
    }
    const run = runChecks(verified.unknown(checks), verifier)
    this.#verifying.set(
      id,
      run.then(
        () => this.#verifying.delete(id),
        () => this.#verifying.delete(id),
      ) as Promise<unknown> as Promise<void>,
    )
    await run
    verified.add(checks)
    if (this.#idle(word)) return false
    this.#remember(word)
    return true
  }

  /** Whether nothing can be learnt from a word: it was heard, or its author has contradicted itself there already. */
  #idle(word: Word): boolean {
    const words = this.#heard.get(word.signer)
    if (words === undefined) return false
    if (words.has(`${word.step}|${word.value}`)) return true
    let others = 0
    for (const { step } of words.values()) if (step === word.step) others++
    return others >= valuesPerStep
  }

  #remember(word: Word): void {
    const words = this.#heard.get(word.signer) ?? new Map<string, Word>()
    this.#heard.set(word.signer, words)
    words.set(`${word.step}|${word.value}`, word)
    if (words.size > wordsPerSigner) words.delete(words.keys().next().value as string)
  }
}

function wordOf(message: VotingMessage): Word {
  const view = viewOf(message)
  const block = blockOf(message)
  const value = block === undefined ? '' : mapKey(block)
  if (message.kind === 'proof') return { signer: '', step: `${view} proof`, value }
  const step = `${view} ${stepOf(message)}`
  const validView = message.kind === 'proposal' ? `${message.validView} ` : ''
  return { signer: mapKey(signerOf(message)), step, value: `${validView}${value}` }
}
