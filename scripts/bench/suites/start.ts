import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { callRpc, type RpcParams } from '../../../src/clients/client/rpc.js'
import { didSizes, writeDids } from '../did-rows.js'
import { byTurns, median, rateOf, spentOn, timeOf, type Work } from '../measure.js'
import { end, following, residentBytes, run, runNode, type RunningNode } from '../processes.js'
import { type Row, row, shown } from '../report.js'
import { ended } from './commands.js'
import { transferBlocks, withDirectory, withLedger, writtenSpec } from '../workshop.js'

const starts = { warmUp: 0, measured: 5 }
const settle = 5000
/** Empty blocks of one call. */
const blocks = 1000
/** Blocks of one measurement, one a call. */
const singles = 200
const transactionsPerBlock = 1000
const blocksAtOnce = 16

/** A devnet as a separate process: time from its start to its first answer, idle memory, mining rates; and the start of large nodes. */
export async function suite(): Promise<Row[]> {
  const times = await byTurns(starts, startTime, {
    bare: () => () => ended(['-e', '0']),
    devnet: () => () => answering(),
  })
  const [bare, first] = [median(times.bare), median(times.devnet)]
  const devnet = await answering()
  await setTimeout(settle)
  const memory = residentBytes(devnet.process) / 1024 / 1024
  await devnet.stop()
  const idle = await run(['-e', 'console.log("up"); setInterval(() => {}, 1e6)'])
  await setTimeout(settle)
  const least = residentBytes(idle.process) / 1024 / 1024
  await end(idle.process)
  const kept = await withDirectory((directory) => miningRate(['--data-dir', join(directory, 'kept')]))
  return [
    row('an empty node process, start to end', bare, 'ms'),
    row('devnet, process start to first answer', first, 'ms', { ratio: [first / bare, 'an empty process'], most: 2.5 }),
    row('an idle node process, resident memory', least, 'MB'),
    row('devnet, resident memory idle', memory, 'MB', { ratio: [memory / least, 'an idle process'], most: 1.4 }),
    row('devnet, empty blocks by dev_mine', await miningRate([]), '/s', { least: 1000 }),
    row('the same in a kept directory', kept, '/s', { least: 1000 }),
    ...(await singleBlocks()),
    ...(await largeStarts()),
  ]
}

/** Milliseconds until a process is up; a node is stopped after that. */
async function startTime(start: Work): Promise<number> {
  let up: unknown
  const time = await timeOf(async () => (up = await start()))
  await (up as Partial<RunningNode> | undefined)?.stop?.()
  return time
}

/** A devnet that has answered. */
async function answering(options: readonly string[] = []): Promise<RunningNode> {
  const node = await runNode(['devnet', ...options])
  const answer = await fetch(`${node.rest}/api/v1/block/height`)
  if (!answer.ok) throw new Error(`the first answer was ${answer.status}`)
  await answer.arrayBuffer()
  return node
}

/** Empty blocks a second of a devnet in a process of its own. */
async function miningRate(options: readonly string[]): Promise<number> {
  const devnet = await answering(['--log-level', 'error', ...options])
  try {
    const mine = () => () => callRpc(devnet.rpc, 'dev_mine', { blocks }, { timeout: 60_000 })
    return rateOf((await byTurns({ warmUp: 2, measured: 5 }, spentOn, { mine })).mine, blocks)
  } finally {
    await devnet.stop()
  }
}

/** Blocks by calls for one each, against as many calls for the height: a call, and what a block adds to it. */
async function singleBlocks(): Promise<Row[]> {
  const devnet = await answering(['--log-level', 'error'])
  try {
    const calls = (method: string, params: object) => () => async () => {
      for (let i = 0; i < singles; i++) await callRpc(devnet.rpc, method, params as RpcParams, { timeout: 60_000 })
    }
    const tasks = { mine: calls('dev_mine', { blocks: 1 }), ask: calls('getblockcount', []) }
    const times = await byTurns({ warmUp: 2, measured: 5 }, timeOf, tasks)
    const [mined, asked] = [times.mine, times.ask].map((all) => singles / (median(all) / 1000)) as [number, number]
    const ratio = [mined / asked, 'calls for the height'] as const
    return [row('blocks by dev_mine, one a call', mined, '/s', { ratio, least: 0.2 })]
  } finally {
    await devnet.stop()
  }
}

/** The start of a node with many transactions and as many DIDs, until it serves, against one with an empty directory. */
async function largeStarts(): Promise<Row[]> {
  const rows: Row[] = []
  for (const size of didSizes([10_000])) {
    const [full, none] = await withDirectory(async (directory) => {
      const dataDir = join(directory, 'full')
      const file = await fill(directory, dataDir, size)
      const startOf = (place: string) => () => () => runNode(following(file, place))
      // The first start makes the empty directory.
      const tasks = { full: startOf(dataDir), none: startOf(join(directory, 'none')) }
      const times = await byTurns({ ...starts, warmUp: 1 }, startTime, tasks)
      return [median(times.full), median(times.none)] as const
    })
    const ratio = [full / none, 'an empty one'] as const
    rows.push(
      row('start of a node with an empty directory', none, 'ms'),
      row(`start of a node with ${shown(size)} transactions and DIDs`, full, 'ms', { ratio, most: 1.5 }),
    )
  }
  return rows
}

/** Makes a data directory with so many transfers in blocks, and the rows of so many DIDs; returns the file of its spec. */
async function fill(directory: string, dataDir: string, size: number): Promise<string> {
  const { file, spec, payers } = await writtenSpec(directory, transactionsPerBlock)
  return withLedger(spec, dataDir, async ({ chain, database }) => {
    for (let left = Math.ceil(size / transactionsPerBlock); left > 0; left -= blocksAtOnce) {
      const some = await transferBlocks(chain, payers, Math.min(left, blocksAtOnce))
      await chain.acceptBlocks(
        some.map((block) => ({ block })),
        { assumed: true },
      )
    }
    await writeDids(chain, size)
    await database.checkpoint(chain.tip.header)
    return file
  })
}
