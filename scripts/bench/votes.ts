import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Said } from '../soak/measured.js'
import { genesisBlock, registerAssetTransaction } from './dist.js'
import { fundedSpec, selfTransfer, spendGenesis, withDirectory } from './load.js'
import { type LocalNode, reach, startLocalNode } from './local-nodes.js'
import { median, quantile, type Row } from './report.js'
import { type Course, type Transfer, Watch } from './watch.js'

const validators = 4
const oneByOne = 200
/** Transactions a second, and how many of them. */
const stream = { rate: 50, count: 500 }
const idlePeers = 32
/** Milliseconds from a start, or from the last new peer, until memory is measured. */
const settle = 20_000

/** Four validators on this machine: spread and confirmation time of transactions; and a node's cost per peer. */
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

/**
 * A node without peers and then with many idle ones, in another process. The node collects garbage before each measurement: the
 * memory of a peer is less than the random changes of resident memory.
 */
async function memoryRows(directory: string, spec: string): Promise<Row[]> {
  const options = { execArgv: [...process.execArgv, '--expose-gc', '--disable-warning=ExperimentalWarning'] }
  const node = fork(script('../soak/measured.ts'), [spec, join(directory, 'measured')], options)
  try {
    const { places } = await said(node, 'places')
    const taken = async () => {
      await setTimeout(settle)
      node.send('sample')
      return (await said(node, 'sample')).sample
    }
    const before = await taken()
    const peers = fork(script('idle-peers.ts'), [spec, String(idlePeers), ...places.p2p])
    try {
      await once(peers, 'message')
      const after = await taken()
      if (after.peers !== idlePeers) throw new Error(`${after.peers} of ${idlePeers} peers are connected`)
      const more = after.heap + after.external - before.heap - before.external
      return [{ name: `memory that one of ${idlePeers} idle peers takes`, value: more / idlePeers / 1000, unit: 'KB' }]
    } finally {
      peers.kill()
    }
  } finally {
    node.kill()
  }
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

async function said<Kind extends 'places' | 'sample'>(node: ChildProcess, kind: Kind) {
  const [message] = (await once(node, 'message')) as [Said]
  if (!(kind in message)) throw new Error(`the measured process says ${JSON.stringify(message)}`)
  return message as Extract<Said, Record<Kind, unknown>>
}
