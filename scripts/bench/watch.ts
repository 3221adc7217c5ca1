import { setTimeout } from 'node:timers/promises'
import { listenTo } from './event-stream.js'
import { type LocalNode, send } from './local-nodes.js'

/** Milliseconds that a transaction may take until all nodes have it in a block. */
const patience = 60_000

export interface Transfer {
  readonly txid: string
  /** In hex. */
  readonly data: string
}

/** Times of a transaction, in milliseconds from the moment before it was sent. */
export interface Course {
  /** Until each of the other nodes reported that its pool took it. */
  readonly spread: readonly number[]
  /** Until the node that got it reported the block with it. */
  readonly confirmedHere: number
  /** Until the last node did. */
  readonly confirmedEverywhere: number
}

/** Nodes to send transactions to, and the events of all of them. */
export class Watch {
  readonly #nodes: readonly LocalNode[]
  /** Time at which each node took a transaction, by its id. */
  readonly #accepted = new Map<string, number[]>()
  /** Time at which each node reported the block of a height. */
  readonly #blocks = new Map<number, number[]>()
  readonly #heights = new Map<string, number>()
  readonly #ends: (() => void)[] = []
  #failure: unknown

  static async open(nodes: readonly LocalNode[]): Promise<Watch> {
    const watch = new Watch(nodes)
    for (const [i, { ws }] of nodes.entries()) {
      const end = await listenTo(ws, ['transaction', 'block'], ({ topic, txid = '', height = 0 }, time) => {
        if (topic === 'transaction') timesOf(watch.#accepted, txid)[i] = time
        else {
          if (!watch.#blocks.has(height)) watch.#read(height, nodes[i] as LocalNode)
          timesOf(watch.#blocks, height)[i] = time
        }
      })
      watch.#ends.push(end)
    }
    return watch
  }

  private constructor(nodes: readonly LocalNode[]) {
    this.#nodes = nodes
  }

  close(): void {
    for (const end of this.#ends) end()
  }

  /** Sends each once the one before is in a block on all nodes, at a random moment between two blocks. */
  async oneByOne(transfers: readonly Transfer[]): Promise<Course[]> {
    const courses: Course[] = []
    for (const [i, transfer] of transfers.entries()) {
      await setTimeout((i * 173) % 500)
      courses.push(await this.#follow(transfer, i))
    }
    return courses
  }

  /** Sends so many a second, regardless of their results. */
  async atRate(transfers: readonly Transfer[], rate: number): Promise<Course[]> {
    const start = performance.now()
    const following: Promise<Course>[] = []
    for (const [i, transfer] of transfers.entries()) {
      await setTimeout(Math.max(0, start + (i * 1000) / rate - performance.now()))
      following.push(this.#follow(transfer, i))
    }
    return Promise.all(following)
  }

  /** Sends a transaction to one of the nodes and follows it. */
  async #follow({ txid, data }: Transfer, turn: number): Promise<Course> {
    const here = turn % this.#nodes.length
    const sent = performance.now()
    await send(this.#nodes[here] as LocalNode, data)
    for (let waited = 0; !this.#everywhere(txid); waited += 5) {
      if (this.#failure !== undefined) throw this.#failure
      if (waited > patience) throw new Error(`${txid} is not confirmed everywhere within ${patience} ms`)
      await setTimeout(5)
    }
    const since = (times: readonly number[]) => times.map((time) => time - sent)
    const accepted = since(timesOf(this.#accepted, txid))
    const confirmed = since(timesOf(this.#blocks, this.#heights.get(txid) ?? 0))
    return {
      spread: accepted.filter((_, i) => i !== here),
      confirmedHere: confirmed[here] ?? NaN,
      confirmedEverywhere: Math.max(...confirmed),
    }
  }

  #everywhere(txid: string): boolean {
    const height = this.#heights.get(txid)
    return height !== undefined && timesOf(this.#blocks, height).filter(Number.isFinite).length === this.#nodes.length
  }

  /** Reads which transactions a block has. */
  #read(height: number, { rest }: LocalNode): void {
    void fetch(`${rest}/api/v1/block/transactions/height/${height}`)
      .then((answer) => answer.json())
      .then((answer) => {
        const { Result } = answer as { Result: { Transactions: readonly string[] } }
        for (const txid of Result.Transactions) this.#heights.set(txid, height)
      })
      .catch((error: unknown) => (this.#failure = error))
  }
}

function timesOf<Key>(map: Map<Key, number[]>, key: Key): number[] {
  const times = map.get(key) ?? []
  map.set(key, times)
  return times
}
