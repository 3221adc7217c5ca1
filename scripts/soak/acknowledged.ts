import { setTimeout } from 'node:timers/promises'
import { NodeClient } from '../../src/clients/client/node-client.js'
import type { Places } from '../bench/processes.js'
import { timeout } from './owner.js'

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
    const fates: [txid: string, fate: string][] = []
    for (const txid of this.#pending) fates.push([txid, await this.#fateOf(txid)])
    const of = (fate: string) => fates.filter(([, one]) => one === fate).map(([txid]) => txid)
    const dropped = fates.map(([, fate]) => fate).filter((fate) => !['mined', 'waiting', 'lost'].includes(fate))
    const mined = this.#count - this.#pending.size + of('mined').length
    return { acknowledged: this.#count, mined, waiting: of('waiting').length, dropped, lost: of('lost') }
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
    const client = new NodeClient({ rest: (this.#nodes.at(-1) as Places).rest, timeout })
    while (!this.#ended) {
      await setTimeout(500)
      try {
        const height = await client.height()
        while (this.#height < height) {
          const blockhash = await client.rpc('getblockhash', { height: this.#height + 1 })
          const block = await client.rpc('getblock', { blockhash, verbosity: 1 })
          for (const txid of (block as { tx: readonly string[] }).tx) this.#pending.delete(txid)
          this.#height++
        }
      } catch {
        // The node is busy and is asked again. Transactions without an answer count as missing in the end.
      }
    }
  }
}
