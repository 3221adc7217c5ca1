import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { shippedSpecFile, type ShippedSpec } from '../../src/node/library/shipped.js'
import { serve, type Servers } from '../../src/node/serving/serve-node.js'
import type { NodeTuning } from '../../src/node/options-to-node.js'
import type { Node } from '../../src/node/node.js'
import { startNode } from '../../src/node/start-node.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import type { Env } from '../../src/base/runtime/env.js'
import { systemEnv } from '../../src/base/runtime/process-env.js'
import { WsClient } from '../../test/support/client/ws.js'

/** Fixed clock of the sample nodes, in Unix seconds. */
export const sceneTime = 1_800_000_000

/** A request of the reference, and a node's answer. */
export interface Exchange {
  readonly request: Record<string, unknown>
  readonly answer: { readonly result?: unknown; readonly error?: unknown }
}

/** A node of a shipped chain with deterministic environment, and its interfaces open. */
export class Scene {
  readonly node: Node
  readonly env: Env
  readonly #servers: Servers
  #socket: WsClient | undefined

  private constructor(node: Node, env: Env, servers: Servers) {
    this.node = node
    this.env = env
    this.#servers = servers
  }

  /** `seed` distinguishes nodes that connect to each other. */
  static async open(chain: ShippedSpec, seed = '', api: NodeTuning['api'] = {}): Promise<Scene> {
    const nothing = () => {}
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing, setLevel: nothing }
    const env = { ...systemEnv(log), clock: { now: () => sceneTime * 1000 }, random: seeded(seed) }
    const spec = parseSpec(readFileSync(shippedSpecFile(chain), 'utf8'))
    const hosts = ['127.0.0.1']
    const tuning: NodeTuning = {
      node: { portBase: 0 },
      api: { ...api, hosts },
      network: { hosts, outbound: 0, inbound: 8 },
      devnet: { mining: { kind: 'manual' } },
    }
    const node = await startNode({ spec, env, tuning, ...(spec.devnet ? {} : { peering: { port: 0 } }) })
    return new Scene(node, env, await serve(node, { log, tuning, stop: nothing }))
  }

  /** Address of the metrics; undefined: on the port of REST. */
  get metrics(): string | undefined {
    return this.#servers.metrics
  }

  get ports(): Servers['ports'] {
    return this.#servers.ports
  }

  /** The result of a method over HTTP, with the owner's token; a refusal is thrown. */
  async call<T>(method: string, params: unknown): Promise<T> {
    const { answer } = await this.exchange(method, params)
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`)
    return answer.result as T
  }

  async exchange(method: string, params: unknown): Promise<Exchange> {
    const request = { jsonrpc: '2.0', id: 1, method, params }
    const response = await fetch(`http://127.0.0.1:${this.ports.rpc}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${toHex(this.node.adminToken)}` },
      body: JSON.stringify(request),
    })
    return { request, answer: (await response.json()) as Exchange['answer'] }
  }

  /** The answer of the REST interface to `path`, which begins with a slash; with a body the request is a POST of it. */
  async rest(path: string, body?: object): Promise<unknown> {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(`http://127.0.0.1:${this.ports.rest}${path}`, body === undefined ? {} : sent)
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    return answer
  }

  /** The exchange of a method over the one WebSocket connection of the scene. */
  async exchangeOverWebSocket(method: string, params: unknown): Promise<Exchange> {
    this.#socket ??= await WsClient.open(this.ports.ws)
    const answer = { ...(await this.#socket.call(method, params)), id: 1 }
    return { request: { jsonrpc: '2.0', id: 1, method, params }, answer }
  }

  async close(): Promise<void> {
    this.#socket?.ws.terminate()
    await this.#servers.close()
    await this.node.close()
  }
}

/** Bytes that are the same in every run. */
function seeded(seed: string): Env['random'] {
  let drawn = 0
  return {
    repeats: true,
    bytes: (length) => {
      const parts: Buffer[] = []
      for (let size = 0; size < length; size += 32)
        parts.push(createHash('sha256').update(`${seed}${drawn++}`).digest())
      return Buffer.concat(parts).subarray(0, length)
    },
  }
}
