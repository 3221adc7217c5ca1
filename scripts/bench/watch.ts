import { setTimeout } from 'node:timers/promises'
import { NodeClient } from '../../src/clients/client/node-client.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { WsClient } from '../../test/support/client/ws.js'
import type { RunningNode } from './processes.js'

/** Milliseconds that a transaction may take until all nodes have it in a block. */
const patience = 60_000

/** Times of a transaction, in milliseconds from the moment before it was sent. */
export interface Course {
  /** Until each of the other nodes reported that its pool took it. */
  readonly spread: readonly number[]
  /** Until the node that got it reported the block with it. */
  readonly confirmedHere: number
  /** Until the last node did. */
  readonly confirmedEverywhere: number
}

/** A node with the times at which it reported each transaction in its pool, and each block by its height. */
interface Watched {
  readonly rest: string
  readonly events: WsClient
  readonly accepted: Map<string, number>
  readonly blocks: Map<number, number>
}

/** Nodes to send transactions to, and the events of all of them. */
export class Watch {
  readonly #nodes: readonly Watched[]
  readonly #heights = new Map<string, number>()
  #read = 0

  static async open(nodes: readonly RunningNode[]): Promise<Watch> {
    return new Watch(await Promise.all(nodes.map((node) => watched(node))))
  }

  private constructor(nodes: readonly Watched[]) {
    this.#nodes = nodes
  }

  close(): void {
    for (const { events } of this.#nodes) events.ws.terminate()
  }

  /** Sends each once the one before is in a block on all nodes, at a random moment between two blocks. */
  async oneByOne(transfers: readonly Transaction[]): Promise<Course[]> {
    const courses: Course[] = []
    for (const [i, transfer] of transfers.entries()) {
      await setTimeout((i * 173) % 500)
      courses.push(await this.#follow(transfer, i))
    }
    return courses
  }

  /** Sends so many a second, regardless of their results. */
  async atRate(transfers: readonly Transaction[], rate: number): Promise<Course[]> {
    const start = performance.now()
    const following: Promise<Course>[] = []
    for (const [i, transfer] of transfers.entries()) {
      await setTimeout(Math.max(0, start + (i * 1000) / rate - performance.now()))
      following.push(this.#follow(transfer, i))
    }
    return Promise.all(following)
  }

  /** Sends a transaction to one of the nodes and follows it. */
  async #follow(transfer: Transaction, turn: number): Promise<Course> {
    const { txid } = transfer
    const here = this.#nodes[turn % this.#nodes.length] as Watched
    const sent = performance.now()
    await new NodeClient({ rest: here.rest }).sendRawTransaction(transfer.toHex())
    for (let waited = 0; !(await this.#everywhere(txid)); waited += 5) {
      if (waited > patience) throw new Error(`${txid} is not confirmed everywhere within ${patience} ms`)
      await setTimeout(5)
    }
    const confirmed = ({ blocks }: Watched) => (blocks.get(this.#heights.get(txid) ?? 0) ?? NaN) - sent
    const others = this.#nodes.filter((node) => node !== here)
    return {
      spread: others.flatMap(({ accepted }) => accepted.get(txid) ?? []).map((time) => time - sent),
      confirmedHere: confirmed(here),
      confirmedEverywhere: Math.max(...this.#nodes.map(confirmed)),
    }
  }

  async #everywhere(txid: string): Promise<boolean> {
    const [{ rest, blocks }] = this.#nodes as [Watched]
    for (const height of blocks.keys()) {
      if (height <= this.#read) continue
      this.#read = height
      const answer = await fetch(`${rest}/api/v1/block/transactions/height/${height}`)
      const { Result } = (await answer.json()) as { Result: { Transactions: readonly string[] } }
      for (const mined of Result.Transactions) this.#heights.set(mined, height)
    }
    const height = this.#heights.get(txid)
    return height !== undefined && this.#nodes.every((node) => node.blocks.has(height))
  }
}

async function watched({ rest, ws }: RunningNode): Promise<Watched> {
  const [accepted, blocks] = [new Map<string, number>(), new Map<number, number>()]
  const events = await WsClient.open(ws, { perMessageDeflate: false })
  await events.result('subscribe', { topics: ['transaction', 'block'] })
  events.onEvent = (event) => {
    if (event.topic === 'transaction') accepted.set(event.txid, performance.now())
    if (event.topic === 'block') blocks.set(event.height, performance.now())
  }
  return { rest, events, accepted, blocks }
}
