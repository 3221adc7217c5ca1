import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { largeStart } from './large-start.js'
import { withDirectory } from './load.js'
import { residentBytes, run, type Running, runNode } from './processes.js'
import { median, type Row } from './report.js'

const starts = 5
const settle = 5000
/** Empty blocks of one call, and calls: the first ones run before V8 has compiled the code. */
const mining = { blocks: 1000, warmUp: 2, measured: 5 }

/** A devnet as a separate process: time from its start to its first answer, idle memory, mining rates. */
export async function startSuite(): Promise<Row[]> {
  const firstAnswers: number[] = []
  const bareStarts: number[] = []
  for (let i = 0; i < starts; i++) {
    bareStarts.push(await milliseconds(() => run(['-e', 'console.log("up")'], /(up)/)))
    const devnet = await timed(() => answering(['devnet']))
    firstAnswers.push(devnet.milliseconds)
    await devnet.result.stop()
  }
  const devnet = await answering(['devnet'])
  try {
    await setTimeout(settle)
    const memory = residentBytes(devnet) / 1024 / 1024
    const kept = await withDirectory((directory) => miningRate(['--data-dir', join(directory, 'kept')]))
    return [
      {
        name: 'devnet, process start to first answer',
        value: median(firstAnswers),
        unit: 'ms',
        target: { most: 1500 },
      },
      { name: 'an empty node process, start to first line', value: median(bareStarts), unit: 'ms' },
      { name: 'devnet, resident memory idle', value: memory, unit: 'MB', target: { most: 100 } },
      {
        name: 'devnet, empty blocks by dev_mine',
        value: await miningRate([]),
        unit: '/s',
        target: { least: 1000 },
      },
      { name: 'the same in a kept directory', value: kept, unit: '/s', target: { least: 1000 } },
      ...(await largeStart()),
    ]
  } finally {
    await devnet.stop()
  }
}

/** Empty blocks a second of a devnet in a process of its own. */
async function miningRate(options: readonly string[]): Promise<number> {
  const devnet = await answering(['devnet', '--log-level', 'error', ...options])
  try {
    const rates: number[] = []
    for (let call = 0; call < mining.warmUp + mining.measured; call++) {
      const took = await milliseconds(() => rpc(devnet.announced, 'dev_mine', { blocks: mining.blocks }))
      if (call >= mining.warmUp) rates.push(mining.blocks / (took / 1000))
    }
    return median(rates)
  } finally {
    await devnet.stop()
  }
}

async function answering(command: readonly string[]): Promise<Running> {
  const node = await runNode(command)
  const answer = await fetch(`${node.announced}/api/v1/block/height`)
  if (!answer.ok) throw new Error(`the first answer was ${answer.status}`)
  await answer.arrayBuffer()
  return node
}

async function rpc(address: string, method: string, params: object): Promise<void> {
  const answer = await fetch(`${address}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { error } = (await answer.json()) as { error?: { message: string } | null }
  if (error) throw new Error(`${method}: ${error.message}`)
}

async function timed<T>(act: () => Promise<T>): Promise<{ result: T; milliseconds: number }> {
  const start = performance.now()
  const result = await act()
  return { result, milliseconds: performance.now() - start }
}

async function milliseconds(act: () => Promise<unknown>): Promise<number> {
  return (await timed(act)).milliseconds
}
