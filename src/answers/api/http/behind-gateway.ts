import { RuleError } from '../../../base/errors/rule-error.js'
import type { AnswerClient, NodesBehind, PassedAnswer } from '../node-handles.js'
import type { HeightGate } from './height-gate.js'
import { PassedOn } from './passed-on.js'

/** The nodes behind a gateway, tried in turn: the one that answered last is asked first. */
export class BehindGateway implements NodesBehind {
  readonly #nodes: PassedOn[]

  /**
   * `urls`: base URLs of REST ports; none: what needs a node is refused. `heights`: of the gateway, which gives no answer of a block before
   * it has that block, or has waited for it: a client that asks on would find nothing.
   */
  constructor(urls: readonly string[], heights: Pick<HeightGate, 'wait'>) {
    const seen = (height: number, client: AnswerClient) => heights.wait(height, () => client)?.catch(unlessGone(client))
    this.#nodes = urls.map((url) => new PassedOn(url, seen))
  }

  call(method: string, params: unknown, client: AnswerClient): Promise<unknown> {
    return this.#first((node) => node.call(method, params, client))
  }

  request(path: string, body: string | undefined, client: AnswerClient): Promise<PassedAnswer> {
    return this.#first((node) => node.request(path, body, client))
  }

  async #first<T>(ask: (node: PassedOn) => Promise<T>): Promise<T> {
    if (this.#nodes.length === 0) {
      throw new RuleError('gateway-reads-only', 'this gateway has the rows of the chain alone; ask a node for this')
    }
    for (let i = 1; ; i++) {
      const [node] = this.#nodes as [PassedOn]
      try {
        return await ask(node)
      } catch (error) {
        if (!(error instanceof RuleError && error.code === 'followed-unreachable')) throw error
        this.#nodes.push(this.#nodes.shift() as PassedOn)
        if (i === this.#nodes.length) throw error
      }
    }
  }
}

/** Lets an answer out of which the gateway is behind: its header says of which block it is. */
function unlessGone({ signal }: AnswerClient): () => void {
  return () => signal.throwIfAborted()
}
