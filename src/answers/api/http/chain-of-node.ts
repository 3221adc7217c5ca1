import { RuleError } from '../../../base/errors/rule-error.js'
import { isObject } from '../../../base/primitives/is-object.js'
import { parsedJson } from '../../../base/primitives/parsed-json.js'
import { abortable } from '../../../base/runtime/abortable.js'
import type { Log } from '../../../base/runtime/env.js'
import { requestText, type TextBounds } from '../../../base/runtime/http-request.js'
import { unanswered } from './unanswered.js'

/** @tuning ms: for how long the chain of a node that answers is not asked for again: another node may take its address */
const chainHolds = 10_000
/** Bounds of the question for the chain. */
const bounds = { timeout: 5000, maxAnswer: 64 * 1024 }

/** A chain, by the hash of its genesis block in display hex. */
export interface OwnChain {
  readonly genesis: string
  /** Told once for each chain that a node has in its place. */
  readonly log: Pick<Log, 'error'>
}

/** HTTP status of who answers for a node that has no time, or is not there: a proxy, or its bound of requests. */
export const unavailable: readonly number[] = [429, 502, 503, 504]

/**
 * The hash of the genesis block that a REST port names, display hex; undefined: it names none. Rejects where it does not answer, or has no
 * time to.
 */
export async function genesisAt(url: string, asked: TextBounds = bounds): Promise<string | undefined> {
  const { status, text } = await requestText(`${url}/api/v1/block/hash/0`, undefined, asked)
  if (unavailable.includes(status)) throw new Error(`it answers ${status}`)
  const answer = parsedJson(text)
  const hash = isObject(answer) ? answer['Result'] : undefined
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? hash : undefined
}

/** Both chains, as a sentence about the node says them. */
export function otherChainText(told: string, own: string): string {
  return `it is of another chain, with genesis block ${told}, and not ${own}`
}

/** Makes sure that the node at an address is of the own chain, before anything is passed on to it. */
export class ChainOfNode {
  readonly #url: string
  readonly #own: OwnChain
  #asking: Promise<void> | undefined
  /** Until when the chain holds; performance.now(). */
  #until = -Infinity
  /** Whether it named the own chain, and has failed at nothing since. */
  #isOwn = false
  /** The other chain that the log has. */
  #told: string | undefined

  /** `url`: base URL of a REST port. */
  constructor(url: string, own: OwnChain) {
    this.#url = url
    this.#own = own
  }

  /** Resolves for a node of the own chain; rejects with `followed-unreachable` for any other, and without an answer. */
  async require(signal?: AbortSignal): Promise<void> {
    if (performance.now() < this.#until) return
    // One question for all who ask meanwhile.
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined))
    await abortable(signal, this.#asking)
  }

  /** Has the node asked again: after a failure another one may be there. */
  forget(): void {
    this.#until = -Infinity
    this.#isOwn = false
  }

  async #ask(): Promise<void> {
    const { genesis, log } = this.#own
    const told = await genesisAt(this.#url).catch(() => {
      // A busy node says what it has no time for by itself, in the answer to what is passed on.
      if (this.#isOwn) return genesis
      throw unanswered('it does not answer, or has no time to', 'none')
    })
    this.#isOwn = told === genesis
    if (told === undefined) throw unanswered('it does not say of which chain it is', 'none')
    if (told !== genesis) {
      const text = otherChainText(told, genesis)
      if (this.#told !== told) {
        log.error({ node: this.#url }, `nothing is passed on to this node: ${text}; name a node of this chain`)
      }
      this.#told = told
      throw new RuleError(
        'followed-unreachable',
        `nothing is passed on to the node behind this one: ${text}; ask a node of this chain`,
      )
    }
    this.#told = undefined
    this.#until = performance.now() + chainHolds
  }
}
