import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { registerAssetTransaction } from '../../../src/base/primitives/genesis.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import type { Sample } from '../../soak/sample.js'
import { median, quantile } from '../measure.js'
import { end, forked, type Places, reach, runNode, type RunningNode, said, validating } from '../processes.js'
import { type Row, row } from '../report.js'
import { type Course, Watch } from '../watch.js'
import { selfTransfer, withDirectory, writtenSpec } from '../workshop.js'

const oneByOne = 200
/** Transactions a second, and how many of them. */
const stream = { rate: 50, count: 500 }
const idlePeers = 32
/** Milliseconds from a start, or from the last new peer, until memory is measured. */
const settle = 20_000

/** Four validators on this machine: spread and confirmation time of transactions; and a node's cost per peer. */
export function suite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const { file, spec, payers } = await writtenSpec(directory, oneByOne + stream.count, 'localnet')
    const assetId = registerAssetTransaction(spec).hash
    const transfers = payers.map((payer) => selfTransfer(payer, assetId))
    return [...(await transactionRows(directory, file, transfers)), await memoryRow(directory, file)]
  })
}

async function transactionRows(directory: string, spec: string, transfers: readonly Transaction[]): Promise<Row[]> {
  const nodes: RunningNode[] = []
  try {
    for (const validator of [0, 1, 2, 3]) {
      const peers = nodes.flatMap(({ p2p }) => p2p)
      nodes.push(await runNode(validating(validator, directory, spec, peers)))
    }
    await Promise.all(nodes.map((node) => reach(2, node)))
    const watch = await Watch.open(nodes)
    const single = await watch.oneByOne(transfers.slice(0, oneByOne))
    const many = await watch.atRate(transfers.slice(oneByOne), stream.rate)
    watch.close()
    return [...rowsOf(single, 'one at a time'), ...rowsOf(many, `${stream.rate} a second`)]
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
  }
}

function rowsOf(courses: readonly Course[], how: string): Row[] {
  const pair = (name: string, timesOf: (course: Course) => readonly number[] | number): Row[] => {
    const times = courses.flatMap(timesOf)
    return [
      row(`transactions, ${how}: ${name}, p50`, median(times), 'ms'),
      row('  the same, p99', quantile(times, 0.99), 'ms'),
    ]
  }
  return [
    ...pair('sent until another node tells it', ({ spread }) => spread),
    ...pair('until its block is told where it was sent', ({ confirmedHere }) => confirmedHere),
    ...pair('until the last node tells the block', ({ confirmedEverywhere }) => confirmedEverywhere),
  ]
}

/**
 * A node without peers and then with many idle ones, in another process. The node collects garbage before each measurement: the
 * memory of a peer is less than the random changes of resident memory.
 */
async function memoryRow(directory: string, spec: string): Promise<Row> {
  const command = [process.execPath, '--expose-gc', '--disable-warning=ExperimentalWarning'] as const
  const measured = new URL('../../soak/measured.ts', import.meta.url)
  const node = forked(measured, [spec, join(directory, 'measured')], command)
  try {
    const { places } = await said<{ places: Places }>(node)
    const taken = async (): Promise<Sample> => {
      await setTimeout(settle)
      node.send('sample')
      return (await said<{ sample: Sample }>(node)).sample
    }
    const before = await taken()
    const peers = forked(new URL('../idle-peers.ts', import.meta.url), [spec, String(idlePeers), ...places.p2p])
    try {
      await said(peers)
      const after = await taken()
      if (after.peers !== idlePeers) throw new Error(`${after.peers} of ${idlePeers} peers are connected`)
      const more = after.heap + after.external - before.heap - before.external
      return row(`memory that one of ${idlePeers} idle peers takes`, more / idlePeers / 1000, 'KB')
    } finally {
      await end(peers)
    }
  } finally {
    await end(node)
  }
}
