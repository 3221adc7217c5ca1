import { RuleError } from '../../../base/errors/rule-error.js'
import type { AnswerClient, CallEffect, NodesBehind, PassedAnswer } from '../node-handles.js'
import type { OwnChain } from './chain-of-node.js'
import type { HeightGate } from './height-gate.js'
import { PassedOn } from './passed-on.js'

/** @tuning count: blocks by which a node may be ahead for its answer to wait until the gateway has them too */
const awaitedBlocks = 8

/** The nodes behind a gateway: those that answered are asked before those that did not. */
export class BehindGateway implements NodesBehind {
  #nodes: readonly PassedOn[]

  /**
   * `urls`: base URLs of REST ports; none: what needs a node is refused. `heights`: of the gateway. A node below that height is not asked, and
   * an answer of a block above it waits for that one: a client that asks on would go back, or find nothing.
   */
  constructor(urls: readonly string[], own: OwnChain, heights: Pick<HeightGate, 'wait' | 'height'>) {
    const seen = async (height: number, client: AnswerClient) => {
      if (height > heights.height + awaitedBlocks) return
      await heights.wait(height, () => client)?.catch(unlessGone(client))
    }
    this.#nodes = urls.map((url) => new PassedOn(url, own, { own: () => heights.height, seen }))
  }

  get refusal(): RuleError | undefined {
    return this.#nodes.length === 0 ? readsOnly() : undefined
  }

  first<T>(ask: (url: string) => Promise<T>): Promise<T> {
    return this.#first(async (node) => {
      await node.requireOwnChain()
      return ask(node.url)
    })
  }

  async call(method: string, params: unknown, client: AnswerClient, effect: CallEffect): Promise<unknown> {
    if (effect !== 'once') return this.#first((node) => node.call(method, params, client, effect))
    // Where this one does not answer no other is asked: it may have done what it was to do.
    const chosen = await this.#first(async (node) => {
      await node.requireOwnChain(client.signal)
      return node
    })
    return chosen.call(method, params, client, effect)
  }

  request(path: string, body: string | undefined, client: AnswerClient): Promise<PassedAnswer> {
    return this.#first((node) => node.request(path, body, client))
  }

  async #first<T>(ask: (node: PassedOn) => Promise<T>): Promise<T> {
    let failure = readsOnly()
    for (const node of this.#nodes) {
      try {
        return await ask(node)
      } catch (error) {
        if (!(error instanceof RuleError && passing.includes(error.code))) throw error
        failure = error
        this.#nodes = [...this.#nodes.filter((other) => other !== node), node]
      }
    }
    throw failure
  }
}

function readsOnly(): RuleError {
  return new RuleError('gateway-reads-only', 'this gateway has the rows of the chain alone; ask a node for this')
}

/** Refusals after which another node may answer. */
const passing: readonly string[] = ['followed-unreachable', 'behind-height']

/** Lets an answer out of which the gateway is behind: its header says of which block it is. */
function unlessGone({ signal }: AnswerClient): () => void {
  return () => signal.throwIfAborted()
}
