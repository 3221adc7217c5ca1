import { genesisAt, otherChainText, type OwnChain, unavailable } from '../../answers/api/http/chain-of-node.js'
import { UserError } from '../../base/errors/rule-error.js'
import type { Clock, Timers } from '../../base/runtime/env.js'
import { requestText } from '../../base/runtime/http-request.js'
import { processTime } from '../../base/runtime/process-env.js'
import { type NodeWord, wordIn } from '../standing/node-word.js'

/** @tuning ms: from one look at the nodes of a gateway to the next */
const lookInterval = 5000
/** @tuning ms: since the last look, by either clock, after which its word is old: the gateway slept, or stood still */
const wordHolds = 15_000
/** Bounds of a question: a node that hangs holds up the next look alone. */
const bounds = { timeout: 2000, maxAnswer: 64 * 1024 }

/** Words of the nodes that answered, taken together. */
export interface NodesWord {
  /** The greatest height of their tips: blocks that a node has checked, whether it is in step or not. */
  readonly height: number
  /** Height up to which the chain goes as far as they tell. A peer may have claimed that of a node out of step. */
  readonly target: number
  /** Whether one says that it is in step with its chain itself. */
  readonly inStep: boolean
  /** Whether none is in step, and one lacks blocks. */
  readonly catchingUp: boolean
}

/** An answer that says nothing of the chain, such as that of another program: it makes no gateway certain. */
const saysNothing: NodeWord = { height: 0, target: 0, inStep: false, catchingUp: false }

export interface AskedNodesOptions extends OwnChain {
  readonly timers: Timers
  /** The clock, which advances while the machine sleeps, unlike the steady one. */
  readonly clock: Clock
  /** A clock that is never set; absent: that of the process. */
  readonly steady?: Clock
}

/** Both clocks at a look. */
interface LookTime {
  readonly now: number
  readonly steady: number
}

/** The nodes behind a gateway, asked for their `/readyz`, and for their chain, at intervals. */
export class AskedNodes {
  readonly #urls: readonly string[]
  readonly #options: AskedNodesOptions
  /** The chain that each named last, of those that answer. */
  readonly #chains = new Map<string, string>()
  readonly #ended = new AbortController()
  /** Resolves when all were asked for the first time. */
  readonly looked: Promise<void>
  #word: NodesWord | undefined
  #lookedAt: LookTime
  #cancel: () => void = () => {}
  #looking: Promise<void>

  /** Begins at once. `urls`: base URLs of REST ports. */
  constructor(urls: readonly string[], options: AskedNodesOptions) {
    this.#urls = urls
    this.#options = options
    this.#lookedAt = this.#time()
    this.looked = this.#looking = this.#look()
  }

  /** Words of the last look; undefined: no node answered. After a sleep none of them says that it is in step now. */
  get word(): NodesWord | undefined {
    const word = this.#word
    if (word?.inStep !== true || !this.#isOld()) return word
    return (this.#word = { ...word, inStep: false })
  }

  /** Throws a UserError if a node was found to be of another chain. */
  requireOwnChain(): void {
    const { genesis } = this.#options
    for (const [url, told] of this.#chains) {
      if (told === genesis) continue
      throw new UserError(
        `the node at ${url}: ${otherChainText(told, genesis)}; name nodes of this chain with --node`,
        2,
      )
    }
  }

  async close(): Promise<void> {
    this.#ended.abort()
    this.#cancel()
    await this.#looking
  }

  #isOld(): boolean {
    const [{ now, steady }, last] = [this.#time(), this.#lookedAt]
    return Math.max(Math.abs(now - last.now), steady - last.steady) > wordHolds
  }

  #time(): LookTime {
    const { clock, steady = processTime } = this.#options
    return { now: clock.now(), steady: steady.now() }
  }

  async #look(): Promise<void> {
    // Answers may be from before a sleep that comes in the middle of a look.
    const began = this.#time()
    const answers = await Promise.all(this.#urls.map((url) => this.#ask(url)))
    this.#lookedAt = began
    this.#word = together(answers.filter((word) => word !== undefined))
    if (this.#urls.length === 0 || this.#ended.signal.aborted) return
    this.#cancel = this.#options.timers.after(lookInterval, () => (this.#looking = this.#look()))
  }

  /** Undefined: the node does not answer. */
  async #ask(url: string): Promise<NodeWord | undefined> {
    const { signal } = this.#ended
    const [answer, told] = await Promise.all([
      requestText(`${url}/readyz`, undefined, { ...bounds, signal }).catch(() => undefined),
      genesisAt(url, { ...bounds, signal }).catch(() => undefined),
    ])
    const word = answer && wordIn(answer.text)
    if (word === 'failed') return undefined
    if (word === undefined) {
      // Another program is there now, which named no chain.
      if (answer !== undefined && !unavailable.includes(answer.status)) this.#chains.delete(url)
      return answer === undefined || unavailable.includes(answer.status) ? undefined : saysNothing
    }
    // One that has no time for that question is of the chain that it named before.
    return this.#isOwn(url, told ?? this.#chains.get(url)) ? word : saysNothing
  }

  #isOwn(url: string, told: string | undefined): boolean {
    const { genesis, log } = this.#options
    if (told === undefined) return false
    if (told !== genesis && told !== this.#chains.get(url)) {
      log.error(
        { node: url },
        `this node counts for nothing: ${otherChainText(told, genesis)}; name a node of this chain`,
      )
    }
    this.#chains.set(url, told)
    return told === genesis
  }
}

function together(words: readonly NodeWord[]): NodesWord | undefined {
  if (words.length === 0) return undefined
  const inStep = words.some((word) => word.inStep)
  const height = Math.max(...words.map((word) => word.height))
  return {
    height,
    // One in step knows of nothing further that is proved.
    target: inStep ? height : Math.max(...words.map(({ target }) => target)),
    inStep,
    catchingUp: !inStep && words.some((word) => word.catchingUp),
  }
}
