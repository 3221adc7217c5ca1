import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NodeClient } from '../../src/clients/client/node-client.js'
import type { Places } from '../bench/processes.js'

/** Milliseconds that a node may take to answer. */
export const timeout = 60_000

/** The owner of a node, with its token. */
export class Owner {
  readonly #client: NodeClient
  readonly #token: string

  constructor({ rest }: Places, directory: string) {
    this.#client = new NodeClient({ rest, timeout })
    this.#token = readFileSync(join(directory, 'admin.token'), 'utf8').trim()
  }

  /** Names of the connected nodes. */
  async peers(): Promise<string[]> {
    const { peers } = (await this.#client.rpc('getsyncstatus', {})) as { peers: { name: string }[] }
    return peers.map(({ name }) => name)
  }

  /** Which of these nodes it has banned, and why. */
  async bansOf(names: ReadonlySet<string>): Promise<string[]> {
    const bans = await this.#client.rpc('listbans', {}, { token: this.#token })
    return (bans as { peer: string; reason: string }[])
      .filter(({ peer }) => names.has(peer))
      .map(({ peer, reason }) => `${peer}: ${reason}`)
  }
}
