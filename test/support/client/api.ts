import { gunzipSync } from 'node:zlib'
import { Agent, request as httpRequest } from 'node:http'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { ApiServer, type ApiServerOptions } from '../../../src/answers/api/servers/node-server.js'
import { NodeMetrics } from '../../../src/answers/api/metrics/node-metrics.js'
import type { NodeInfo } from '../../../src/answers/api/node-handles.js'
import { networkVersion } from '../../../src/network/wire/status-message.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { Mining, type MiningOptions, type OwnValidator } from '../../../src/ledger/production/mining.js'
import { Resolver, type ResolverOptions } from '../../../src/answers/resolver/resolver.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import type { TestChain } from '../builders/chain.js'
import { testAddress } from '../builders/spec.js'
import { inStep } from '../fakes/standing.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The parsed body; undefined where there is none, or plain text. */
  readonly body: unknown
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Keeps the connection for the next request; by default each has a connection of its own. */
  readonly agent?: Agent
}

/** Connections that are kept, for tests that ask thousands of questions one after another. */
export function keptConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 })
}

/** One request; the path goes out as it stands. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, agent }: Question = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers, agent: agent ?? false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response
          const bytes = Buffer.concat(chunks)
          const text = (answered['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
          const isJson = text !== '' && answered['content-type']?.startsWith('text/') !== true
          resolve({ status, headers: answered, text, body: isJson ? JSON.parse(text) : undefined })
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

export function askJson(port: number, path: string, body: unknown): Promise<Answer> {
  return askWith(port, path, body, {})
}

/** A POST of JSON with further headers. */
export function askWith(
  port: number,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return ask(port, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

export const testNodeInfo: NodeInfo = {
  compile: '0.1.0-test',
  id: 0x1234567890abc,
  version: networkVersion,
  services: 1,
  relay: true,
  transactionCount: 5,
  receivedCount: 7,
  ports: { p2p: 0, rpc: 20336, rest: 20334, ws: 0 },
  neighbors: [],
}

/** Block production of a chain in memory, with the validator's key if it has one. */
export function miningOf(node: TestChain, changes: Partial<MiningOptions> = {}): Mining {
  const { chain, mempool, clock, log, spec } = node
  const { timers, random } = systemEnv(log)
  const validator: OwnValidator = {
    payTo: parseAddress(testAddress(0)) as ProgramHash,
    time: () => Math.floor(clock.time / 1000),
    offer: async (block) => {
      await node.accept(block)
    },
    automatic: false,
  }
  const own = spec.hasValidators ? { validator } : {}
  return new Mining({ chain, mempool, clock, timers, random, log, ...own, ...changes })
}

/** The context of a chain in memory. */
export function contextOf(
  node: TestChain,
  changes: Partial<ApiContext> & Partial<Pick<ResolverOptions, 'standing' | 'queryLimits'>> = {},
): ApiContext {
  const synced = () => ({ catchingUp: false, height: node.reader.height, target: node.reader.height })
  const { standing = () => inStep(node.reader.height), queryLimits = {}, ...rest } = changes
  const health = () => ({ failed: false, stage: 'serving' as const, sync: synced(), standing: standing() })
  const { database, clock, chain, log } = node
  const tip = () => chain.tip.header
  const resolver = new Resolver({ database, prover: node.prover, clock, tip, standing, queryLimits })
  const { mempool } = node
  const metrics = new NodeMetrics({
    ...{ chain, mempool, resolver, version: 'test', health: changes.health ?? health },
    databaseBytes: async () => 0,
    diskSpace: async () => ({ free: 3e9, size: 9e9 }),
  })
  return {
    reader: node.reader,
    mempool: node.mempool,
    resolver,
    mining: miningOf(node),
    nodeInfo: () => testNodeInfo,
    health,
    metrics,
    log,
    ...rest,
  }
}

export function serve(context: ApiContext, options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  return ApiServer.open(context, { serves: 'rest', port: 0, ...options })
}
