import type { ApiContext } from './api/context.js'
import type { Log } from './env.js'
import { countTransactions } from './mempool/transaction-count.js'
import type { Node } from './node.js'
import { packageVersion } from './version.js'

/** Ports above a port base: REST is the base and 4, and so on. */
export const portOffsets = { rest: 4, ws: 5, rpc: 6, p2p: 8 } as const
export const defaultPortBase = 20330

export interface ServingOptions {
  /** Every port is this and its offset; 0 takes free ones. */
  readonly portBase: number
  /** Addresses to listen on. */
  readonly hosts: readonly string[]
  readonly log: Log
}

/** The open interfaces of a node. */
export interface Servers {
  readonly ports: { readonly rest: number; readonly rpc: number }
  close(): Promise<void>
}

/** Opens the interfaces of a node. A port that is taken is a UserError, and none is left open. */
export async function serve(node: Node, { portBase, hosts, log }: ServingOptions): Promise<Servers> {
  const port = (offset: number) => (portBase === 0 ? 0 : portBase + offset)
  const counter = countTransactions(node)
  const ports = { p2p: 0, ws: 0, rest: 0, rpc: 0 }
  const { reader, mempool, resolver, devnet, identity } = node
  const context: ApiContext = {
    reader,
    mempool,
    resolver,
    log,
    ...(devnet === undefined ? {} : { devnet }),
    nodeInfo: () => ({
      compile: packageVersion(),
      id: identity.id,
      version: 1,
      services: 0,
      relay: true,
      transactionCount: counter.total,
      receivedCount: 0,
      ports,
      neighbors: [],
    }),
  }
  // Loading the HTTP server takes longer than all the rest; only who serves waits for it.
  const { ApiServer } = await import('./api/server.js')
  const rest = await ApiServer.open(context, { serves: 'rest', hosts, port: port(portOffsets.rest) })
  const rpc = await ApiServer.open(context, { serves: 'rpc', hosts, port: port(portOffsets.rpc) }).catch(
    async (error: unknown) => {
      await rest.close()
      throw error
    },
  )
  ports.rest = rest.port
  ports.rpc = rpc.port
  return {
    ports,
    close: async () => {
      await Promise.all([rest.close(), rpc.close()])
    },
  }
}
