import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { callRpc, type RpcParams } from '../src/clients/client/rpc.js'
import { end, run } from './bench/processes.js'
import { answerTo } from './requests/exchange.js'
import { type Described, type OddRequest, oddRequests } from './requests/odd-requests.js'
import { countIn, scriptArguments } from './script-arguments.js'

/**
 * npm run requests -- --against FOLDER [--count N] [--seed S]: sends the same odd requests (pipelined, malformed, slow, of every method
 * and version) to the node that is built here and to the one of another checkout, each on a copy of one chain, and compares the
 * answers byte for byte. A request whose answers differ is sent again, alone, until both nodes agree once: how portions meet and
 * which side closes first is chance. Prints the others, and exits with code 1 if there are any.
 */

const { values } = scriptArguments(import.meta.url, {
  options: {
    against: { type: 'string' },
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    at: { type: 'string', default: '16' },
  },
})
/** Methods that change the chain, the node or its clock, or whose answers have a random part. */
const changing = /^dev_|stop|restart|backup|mine|ban|node|prune|log|auxblock|send|submit|generate|subscribe|provetoken/i
const shown = 10
const tries = 6
/** Milliseconds that a node may take to describe itself. */
const timeout = 60_000

process.exitCode = await main(resolve(values.against ?? '.'))

async function main(other: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'didledger-requests-'))
  try {
    const chain = join(folder, 'chain')
    const first = await startNode(other, chain, '--seed-dids', '30')
    const described = await describedBy(first)
    await first.stop()
    const requests = oddRequests(described, countIn('seed', values.seed), countIn('count', values.count, 1))
    const open = (checkout: string) => {
      const copy = mkdtempSync(join(folder, 'copy-'))
      cpSync(chain, copy, { recursive: true })
      return startNode(checkout, copy)
    }
    const answersOf = async (checkout: string): Promise<string[]> => {
      const node = await open(checkout)
      const answers: string[] = []
      await inTurns(requests, countIn('at', values.at, 1), async (request, i) => {
        answers[i] = await answerTo(request, node)
      })
      await node.stop()
      return answers
    }
    const [before, now] = [await answersOf(other), await answersOf(resolve('.'))]
    const doubtful = requests.flatMap((request, i) => (before[i] === now[i] ? [] : [request]))
    const nodes = [await open(other), await open(resolve('.'))] as const
    const different: OddRequest[] = []
    await inTurns(doubtful, 8, async (request) => {
      if (await neverAgree(request, nodes)) different.push(request)
    })
    for (const { portions, ...rest } of different.slice(0, shown)) {
      console.log(rest, JSON.stringify(Buffer.concat(portions).toString('latin1').slice(0, 600)))
      const answers = await Promise.all(nodes.map((node) => answerTo({ portions, ...rest }, node)))
      const from = Math.max(0, firstDifference(answers) - 300)
      for (const answer of answers) console.log(`  ${from}: ${JSON.stringify(answer.slice(from, from + 600))}`)
    }
    await Promise.all(nodes.map((node) => node.stop()))
    console.log(`${requests.length} requests, ${doubtful.length} asked again, ${different.length} answered otherwise`)
    return different.length > 0 ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The place from which two texts differ. */
function firstDifference([one = '', two = '']: readonly string[]): number {
  let at = 0
  while (at < one.length && one[at] === two[at]) at++
  return at
}

/** Does something with each, so many at once. */
async function inTurns<T>(
  all: readonly T[],
  atOnce: number,
  work: (one: T, i: number) => Promise<void>,
): Promise<void> {
  const left = all.entries()
  const worker = async () => {
    for (const [i, one] of left) await work(one, i)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** Whether no answer of one node is among those of the other in several tries. */
async function neverAgree(request: OddRequest, nodes: readonly [Node, Node]): Promise<boolean> {
  const said = [new Set<string>(), new Set<string>()] as const
  for (let i = 0; i < tries; i++) {
    const [one, two] = await Promise.all(nodes.map((node) => answerTo(request, node)))
    said[0].add(one as string)
    said[1].add(two as string)
    if ([...said[0]].some((answer) => said[1].has(answer))) return false
  }
  return true
}

interface Node {
  readonly rest: number
  readonly rpc: number
  /** Some that were registered at the start. */
  readonly dids: readonly string[]
  stop(): Promise<void>
}

async function startNode(checkout: string, directory: string, ...more: readonly string[]): Promise<Node> {
  const args = ['devnet', '--json', '--no-automine', '--port-base', '0', '--data-dir', directory, ...more]
  const { process: node, line } = await run([join(checkout, 'dist/cli/main.js'), ...args])
  const { rest, rpc, dids } = JSON.parse(line) as { rest: string; rpc: string; dids?: { first: string[] } }
  const [restPort, rpcPort] = [rest, rpc].map((url) => Number(new URL(url).port)) as [number, number]
  return { rest: restPort, rpc: rpcPort, dids: dids?.first ?? [], stop: () => end(node) }
}

/** Asks a node for its paths, its methods and some of its identifiers. */
async function describedBy({ rest, rpc, dids }: Node): Promise<Described> {
  const openapi = (await (await fetch(`http://127.0.0.1:${rest}/openapi.json`)).json()) as { paths: object }
  const ask = (method: string, params: RpcParams) => callRpc(`http://127.0.0.1:${rpc}/`, method, params, { timeout })
  const { methods } = (await ask('rpc.discover', {})) as { methods: { name: string }[] }
  const hashes = await Promise.all([0, 1, 2].map(async (height) => String(await ask('getblockhash', [height]))))
  return {
    paths: [...Object.keys(openapi.paths), '/', '/metrics', '/healthz', '/readyz', '/openapi.json'],
    methods: [...methods.map(({ name }) => name).filter((name) => !changing.test(name)), 'nothing', 'rpc.x', ''],
    values: [...dids, ...hashes, '0', '1', '2', '3'],
  }
}
