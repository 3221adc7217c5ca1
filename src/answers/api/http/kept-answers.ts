import { asBuffer, ownCopy } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import { ByteCache } from '../../../base/runtime/byte-cache.js'
import type { ChainView } from '../../../ledger/chain/chain-view.js'

/** State on which kept answers depend. */
export interface KeptSource {
  /** The chain, and what it has given up or verified beside its tip. */
  readonly chain: Pick<ChainView, 'tip' | 'prunedHeight' | 'supersededHeight' | 'joinedHeight' | 'verifiedHeight'>
  readonly resolver: {
    /** The same object while neither the tip moves nor cosignatures come; undefined: the node is out of step with its chain. */
    readonly answersAt: object | undefined
    /** Unix milliseconds by which documents expire. */
    now(): number
  }
}

/**
 * How far an answer holds. `chain`: it follows from the rows alone. `step`: it is one of a node in step with its chain, for out of step it
 * would carry its age, or be refused.
 */
export type KeptFor = 'chain' | 'step'

/** An answer, or a part of one, as it was made. */
export interface KeptAnswer {
  readonly body: Buffer
  /** 200 if absent. */
  readonly status?: number
  /** Those beside the ones of every answer of the path. */
  readonly headers?: Readonly<Record<string, string>>
  /** Unix milliseconds from which the answer is another one; absent: until the state changes. */
  readonly until?: number
  /** Bytes that are kept beside it as long as it is. */
  readonly beside?: number
}

/** The node at the beginning of an answer, which may be kept where it is the same at its end. */
export interface KeptState {
  readonly rows: object
  /** Names a node in step with its chain; absent: the answer follows from the rows alone. */
  readonly step?: object
}

interface Kept extends Pick<KeptState, 'step'> {
  readonly answer: KeptAnswer
}

/** @tuning characters: a question whose answer is kept; a longer one is rarely asked again */
export const longestQuestion = 4096

/**
 * Answers of every interface, by what was asked: until the tip moves, a document expires, or blocks are pruned. Bounded in bytes, together.
 * Each path begins its questions with a name of its own.
 */
export class KeptAnswers {
  readonly #source: KeptSource
  readonly #answers: ByteCache<Kept>
  #rows: RowState | undefined

  /** `bytes`: capacity. */
  constructor(source: KeptSource, bytes: number) {
    this.#source = source
    this.#answers = new ByteCache(bytes)
  }

  /** Bytes of all answers, with their questions. */
  get bytes(): number {
    return this.#answers.bytes
  }

  /** The state in which an answer begins; undefined: it will not be kept. */
  state(holds: KeptFor): KeptState | undefined {
    const rows = this.#follow()
    if (holds === 'chain') return { rows }
    const step = this.#source.resolver.answersAt
    return step && { rows, step }
  }

  get(question: string): KeptAnswer | undefined {
    this.#follow()
    const kept = this.#answers.get(question)
    if (kept === undefined || !this.#isIn(kept)) return undefined
    const { answer } = kept
    return answer.until !== undefined && answer.until <= this.#source.resolver.now() ? undefined : answer
  }

  /** Keeps an answer that was begun in `state`, if it still lasts; returns it as every later client gets it. */
  set(question: string, answer: KeptAnswer, state: KeptState | undefined): KeptAnswer {
    const isSame = state !== undefined && state.rows === this.#follow() && this.#isIn(state)
    if (!isSame || question.length > longestQuestion) return answer
    const { body, headers = {}, beside = 0 } = answer
    const own = { ...answer, body: asBuffer(ownCopy(body)) }
    const texts = Object.entries(headers).flat()
    const bytes = texts.reduce((sum, { length }) => sum + length, body.length + beside)
    // A part of a text keeps all of it in memory.
    const name = Buffer.from(question).toString()
    this.#answers.set(name, { answer: own, ...defined({ step: state.step }) }, bytes)
    return own
  }

  /** Whether the node is in step with its chain as it was, where that counts. */
  #isIn({ step }: Pick<KeptState, 'step'>): boolean {
    return step === undefined || step === this.#source.resolver.answersAt
  }

  /** Forgets all answers where the rows are others than before. */
  #follow(): RowState {
    const { chain } = this.#source
    const before = this.#rows
    if (before !== undefined && isOf(before, chain)) return before
    this.#answers.clear()
    const { tip, prunedHeight, supersededHeight, joinedHeight, verifiedHeight } = chain
    return (this.#rows = { tip, prunedHeight, supersededHeight, joinedHeight, verifiedHeight })
  }
}

/** Names a state of the rows. */
type RowState = { readonly [Name in keyof Required<KeptSource['chain']>]: KeptSource['chain'][Name] }

function isOf(state: RowState, chain: KeptSource['chain']): boolean {
  return (
    state.tip === chain.tip &&
    state.prunedHeight === chain.prunedHeight &&
    state.supersededHeight === chain.supersededHeight &&
    state.joinedHeight === chain.joinedHeight &&
    state.verifiedHeight === chain.verifiedHeight
  )
}
