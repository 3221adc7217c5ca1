import { setTimeout } from 'node:timers/promises'
import { NodeClient } from '../../src/clients/client/node-client.js'
import { callRpc } from '../../src/clients/client/rpc.js'
import type { Places } from '../bench/local-nodes.js'

/** Results of the transactions that a node accepted. */
export interface Outcome {
  readonly acknowledged: number
  readonly mined: number
  /** In the pool of a node. */
  readonly waiting: number
  /** Dropped, with a reason that a node gives. */
  readonly dropped: readonly string[]
  /** On no other node. */
  readonly lost: readonly string[]
}

/** Seconds without a block that brings one, after which the rest is looked up. */
const quiet = 60
/** Milliseconds that a node may take to answer. */
const timeout = 60_000

/** Follows acknowledged transactions until a block holds them. */
export class Acknowledged {
  readonly #nodes: readonly Places[]
  readonly #pending = new Set<string>()
  #count = 0
  /** Height of the last block read. */
  #height = 0
  #ended = false
  readonly #following: Promise<void>

  /** Requests blocks from the last of the nodes. */
  constructor(nodes: readonly Places[]) {
    this.#nodes = nodes
    this.#following = this.#follow()
  }

  add(txid: string): void {
    this.#count++
    this.#pending.add(txid)
  }

  /** Waits until all are mined, or no further one is, and returns the results. */
  async settle(signal: AbortSignal): Promise<Outcome> {
    let last = performance.now()
    for (let before = this.#pending.size; this.#pending.size > 0; before = this.#pending.size) {
      await setTimeout(1000, undefined, { signal })
      if (this.#pending.size < before) last = performance.now()
      if (performance.now() - last > quiet * 1000) break
    }
    this.#ended = true
    await this.#following
    const found = { waiting: 0, dropped: [] as string[], lost: [] as string[] }
    const mined = this.#count - this.#pending.size
    let late = 0
    for (const txid of this.#pending) {
      const fate = await this.#fateOf(txid)
      if (fate === 'mined') late++
      else if (fate === 'waiting') found.waiting++
      else if (fate === 'lost') found.lost.push(txid)
      else found.dropped.push(fate)
    }
    return { acknowledged: this.#count, mined: mined + late, ...found }
  }

  /** mined, waiting, lost, or the drop reason. */
  async #fateOf(txid: string): Promise<string> {
    let fate = 'lost'
    for (const { rest } of this.#nodes) {
      const answer = await fetch(`${rest}/api/v1/transaction/${txid}`, { signal: AbortSignal.timeout(timeout) })
      const { Error: code, Result: result } = (await answer.json()) as { Error: number; Result: unknown }
      if (code === 0) return (result as { blockhash: string }).blockhash === '' ? 'waiting' : 'mined'
      const reason = /left the pool unmined: (.+)$/.exec(String(result))?.[1]
      if (reason !== undefined) fate = reason
    }
    return fate
  }

  async #follow(): Promise<void> {
    const { rest, rpc } = this.#nodes.at(-1) as Places
    const client = new NodeClient({ rest, timeout })
    while (!this.#ended) {
      await setTimeout(500)
      try {
        const height = await client.height()
        while (this.#height < height) {
          const blockhash = await callRpc(rpc, 'getblockhash', { height: this.#height + 1 }, { timeout })
          const block = await callRpc(rpc, 'getblock', { blockhash, verbosity: 1 }, { timeout })
          for (const txid of (block as { tx: readonly string[] }).tx) this.#pending.delete(txid)
          this.#height++
        }
      } catch {
        // The node is busy and is asked again. Transactions without an answer count as missing in the end.
      }
    }
  }
}
