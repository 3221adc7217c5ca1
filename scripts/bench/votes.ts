import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { genesisBlock, registerAssetTransaction } from './dist.js'
import { listenTo } from './event-stream.js'
import { fundedSpec, type Payer, selfTransfer, spendGenesis, withDirectory } from './load.js'
import { type LocalNode, reach, send, startLocalNode } from './local-nodes.js'
import { median, type Row } from './report.js'

const validators = 4
const oneByOne = 200
/** Transactions a second, and how many of them. */
const stream = { rate: 50, count: 500 }
const patience = 60_000
const idlePeers = 32
const memoryRounds = 3
/** Until memory is looked at. */
const settle = 15_000

/** Four validators on this machine: how a transaction spreads and when it is confirmed; and what a peer costs a node. */
export async function votesSuite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const { text, spec, payers } = fundedSpec(oneByOne + stream.count, 'localnet')
    const file = join(directory, 'spec.json')
    writeFileSync(file, text)
    spendGenesis({ genesis: genesisBlock(spec) }, payers)
    const assetId = registerAssetTransaction(spec).hash
    const transferOf = (payer: Payer) => {
      const { txid, bytes } = selfTransfer(payer, assetId)
      return { txid, data: Buffer.from(bytes).toString('hex') }
    }
    const transfers = payers.map(transferOf)
    const nodes: LocalNode[] = []
    let rows: Row[]
    try {
      for (let number = 0; number < validators; number++) {
        const peers = nodes.flatMap(({ p2p }) => p2p)
        nodes.push(await startLocalNode({ directory, name: `node-${number}`, spec: file, validator: number, peers }))
      }
      await Promise.all(nodes.map((node) => reach(2, node)))
      const watch = await Watch.open(nodes)
      try {
        const single = await watch.oneByOne(transfers.slice(0, oneByOne))
        const many = await watch.atRate(transfers.slice(oneByOne))
        rows = [...rowsOf(single, 'one at a time'), ...rowsOf(many, `${stream.rate} a second`)]
      } finally {
        watch.close()
      }
    } finally {
      await Promise.all(nodes.map((node) => node.stop()))
    }
    return [...rows, ...(await memorySuite(directory, file))]
  })
}

interface Transfer {
  readonly txid: string
  readonly data: string
}

/** When a transaction was sent, and when each node told of it and of the block with it. Milliseconds. */
interface Timeline {
  readonly sent: number
  /** The node that it was sent to. */
  readonly at: number
  readonly accepted: number[]
  readonly confirmed: number[]
}

/** What all nodes tell, and which blocks have which transactions. */
class Watch {
  readonly #nodes: readonly LocalNode[]
  readonly #timelines = new Map<string, Timeline>()
  /** By height and node. */
  readonly #blocks = new Map<number, number[]>()
  #ends: (() => void)[] = []

  static async open(nodes: readonly LocalNode[]): Promise<Watch> {
    const watch = new Watch(nodes)
    for (const [i, node] of nodes.entries()) {
      watch.#ends.push(
        await listenTo(node.ws, ['transaction', 'block'], ({ topic, txid = '', height = 0 }, time) => {
          if (topic === 'transaction') watch.#times(txid)[i] = time
          else watch.#blockTimes(height)[i] = time
        }),
      )
    }
    return watch
  }

  private constructor(nodes: readonly LocalNode[]) {
    this.#nodes = nodes
  }

  close(): void {
    for (const end of this.#ends) end()
  }

  /** Sends each when the one before is in a block everywhere, at no particular moment between two blocks. */
  async oneByOne(transfers: readonly Transfer[]): Promise<Timeline[]> {
    const timelines: Timeline[] = []
    for (const [i, transfer] of transfers.entries()) {
      await setTimeout((i * 173) % 500)
      timelines.push(await this.#send(transfer, i))
      await this.#confirmations([transfer])
    }
    return timelines
  }

  async atRate(transfers: readonly Transfer[]): Promise<Timeline[]> {
    const start = performance.now()
    const sending: Promise<Timeline>[] = []
    for (const [i, transfer] of transfers.entries()) {
      await setTimeout(Math.max(0, start + (i * 1000) / stream.rate - performance.now()))
      sending.push(this.#send(transfer, i))
    }
    const timelines = await Promise.all(sending)
    await this.#confirmations(transfers)
    return timelines
  }

  async #send({ txid, data }: Transfer, i: number): Promise<Timeline> {
    const at = i % this.#nodes.length
    const timeline = { sent: performance.now(), at, accepted: this.#times(txid), confirmed: [] }
    this.#timelines.set(txid, timeline)
    await send(this.#nodes[at] as LocalNode, data)
    return timeline
  }

  #times(txid: string): number[] {
    const known = this.#early.get(txid) ?? []
    this.#early.set(txid, known)
    return known
  }

  readonly #early = new Map<string, number[]>()

  #blockTimes(height: number): number[] {
    const times = this.#blocks.get(height) ?? []
    this.#blocks.set(height, times)
    return times
  }
}
