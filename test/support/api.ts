import { request as httpRequest } from 'node:http'
import type { ApiContext, NodeInfo } from '../../src/api/context.js'
import { ApiServer, type ApiServerOptions } from '../../src/api/server.js'
import { Resolver, type SyncStatus } from '../../src/resolver/resolver.js'
import type { TestChain } from './chain.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The parsed body; undefined where there is none. */
  readonly body: unknown
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** One request over a connection of its own; the path goes out as it stands. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Question = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const { statusCode: status = 0, headers: answered } = response
        resolve({ status, headers: answered, text, body: text === '' ? undefined : JSON.parse(text) })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

export function askJson(port: number, path: string, body: unknown): Promise<Answer> {
  return ask(port, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

export const testNodeInfo: NodeInfo = {
  compile: '0.1.0-test',
  id: 0x1234567890abc,
  version: 1,
  services: 1,
  relay: true,
  transactionCount: 5,
  receivedCount: 7,
  ports: { p2p: 0, rpc: 20336, rest: 20334, ws: 0 },
  neighbors: [],
}

/** The context of a chain in memory. */
export function contextOf(
  node: TestChain,
  changes: Partial<ApiContext> & { readonly sync?: () => SyncStatus } = {},
): ApiContext {
  const { sync = () => ({ catchingUp: false, height: node.reader.height, target: node.reader.height }), ...rest } =
    changes
  const { database, clock, chain, log } = node
  const tip = () => chain.tip.header
  const resolver = new Resolver({ database, clock, tip, sync })
  return { reader: node.reader, mempool: node.mempool, resolver, nodeInfo: () => testNodeInfo, log, ...rest }
}

export function serve(context: ApiContext, options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  return ApiServer.open(context, { serves: 'rest', port: 0, ...options })
}
