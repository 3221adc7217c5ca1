import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { callRpc } from '../../src/clients/client/rpc.js'
import type { Places } from '../bench/local-nodes.js'

/** Milliseconds that a node may take to answer. */
const timeout = 60_000

/** The owner of a node, with its token. */
export class Owner {
  readonly #node: Places
  readonly #token: string

  constructor(node: Places, directory: string) {
    this.#node = node
    this.#token = readFileSync(join(directory, 'admin.token'), 'utf8').trim()
  }

  /** Names of the connected nodes. */
  async peers(): Promise<string[]> {
    const { peers } = (await callRpc(this.#node.rpc, 'getsyncstatus', {}, { timeout })) as { peers: { name: string }[] }
    return peers.map(({ name }) => name)
  }

  /** Which of these nodes it has banned, and why. */
  async bansOf(names: ReadonlySet<string>): Promise<string[]> {
    const answer = await fetch(this.#node.rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'listbans', params: {} }),
      signal: AbortSignal.timeout(timeout),
    })
    const { result } = (await answer.json()) as { result: { peer: string; reason: string }[] }
    return result.filter(({ peer }) => names.has(peer)).map(({ peer, reason }) => `${peer}: ${reason}`)
  }
}
