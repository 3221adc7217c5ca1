import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { genesisBlock, registerAssetTransaction } from './dist.js'
import { fundedSpec, selfTransfer, spendGenesis, withDirectory } from './load.js'
import { type LocalNode, reach, startLocalNode } from './local-nodes.js'
import { residentBytes } from './processes.js'
import { median, quantile, type Row } from './report.js'
import { type Course, type Transfer, Watch } from './watch.js'

const validators = 4
const oneByOne = 200
/** Transactions a second, and how many of them. */
const stream = { rate: 50, count: 500 }
const idlePeers = 32
const memoryRounds = 3
/** Milliseconds from a start, or from the last new peer, until memory is looked at. */
const settle = 15_000

/** Four validators on this machine: how transactions spread and when they are confirmed; and what a peer costs a node. */
export async function votesSuite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const { text, spec, payers } = fundedSpec(oneByOne + stream.count, 'localnet')
    const file = join(directory, 'spec.json')
    writeFileSync(file, text)
    spendGenesis({ genesis: genesisBlock(spec) }, payers)
    const assetId = registerAssetTransaction(spec).hash
    const transfers = payers.map((payer) => {
      const transaction = selfTransfer(payer, assetId)
      return { txid: transaction.txid, data: transaction.toHex() }
    })
    return [...(await transactionRows(directory, file, transfers)), ...(await memoryRows(directory, file))]
  })
}

async function transactionRows(directory: string, spec: string, transfers: readonly Transfer[]): Promise<Row[]> {
  const nodes: LocalNode[] = []
  try {
    for (let validator = 0; validator < validators; validator++) {
      const peers = nodes.flatMap(({ p2p }) => p2p)
      nodes.push(await startLocalNode({ directory, name: `node-${validator}`, spec, validator, peers }))
    }
    await Promise.all(nodes.map((node) => reach(2, node)))
    const watch = await Watch.open(nodes)
    try {
      const single = await watch.oneByOne(transfers.slice(0, oneByOne))
      const many = await watch.atRate(transfers.slice(oneByOne), stream.rate)
      return [...rowsOf(single, 'one at a time'), ...rowsOf(many, `${stream.rate} a second`)]
    } finally {
      watch.close()
    }
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

function rowsOf(courses: readonly Course[], how: string): Row[] {
  const pair = (name: string, times: readonly number[]): Row[] => [
    { name: `transactions, ${how}: ${name}, p50`, value: median(times), unit: 'ms' },
    { name: '  the same, p99', value: quantile(times, 0.99), unit: 'ms' },
  ]
  return [
    ...pair(
      'sent until another node tells it',
      courses.flatMap(({ spread }) => spread),
    ),
    ...pair(
      'until its block is told where it was sent',
      courses.map(({ confirmedHere }) => confirmedHere),
    ),
    ...pair(
      'until the last node tells the block',
      courses.map(({ confirmedEverywhere }) => confirmedEverywhere),
    ),
  ]
}

/** Nodes with no peer and then with many that say nothing unasked, those in another process. */
async function memoryRows(directory: string, spec: string): Promise<Row[]> {
  const alone: number[] = []
  const perPeer: number[] = []
  for (let round = 0; round < memoryRounds; round++) {
    const node = await startLocalNode({ directory, name: `alone-${round}`, spec })
    const [address = ''] = node.p2p
    const script = fileURLToPath(new URL('./idle-peers.ts', import.meta.url))
    try {
      await setTimeout(settle)
      const before = residentBytes(node)
      const peers = fork(script, [spec, String(idlePeers), address])
      try {
        await once(peers, 'message')
        await setTimeout(settle)
        alone.push(before)
        perPeer.push((residentBytes(node) - before) / idlePeers)
      } finally {
        peers.kill()
      }
    } finally {
      await node.stop()
    }
  }
  return [
    { name: 'resident memory of a node without peers', value: median(alone) / 1e6, unit: 'MB' },
    { name: `one of ${idlePeers} idle peers`, value: median(perPeer) / 1000, unit: 'KB' },
  ]
}
