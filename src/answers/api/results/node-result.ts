import type { Neighbor } from '../../../network/peers/neighbor.js'
import type { ApiContext } from '../api-context.js'

/** The node's state as the interfaces show it: JSON text of a `Result`. */
export function nodeState({ reader, nodeInfo }: ApiContext): string {
  const info = nodeInfo()
  return JSON.stringify({
    Compile: info.compile,
    ID: info.id,
    HexID: hexId(info.id),
    Height: reader.height,
    Version: info.version,
    Services: info.services,
    Relay: info.relay,
    TxnCnt: info.transactionCount,
    RxTxnCnt: info.receivedCount,
    Port: info.ports.p2p,
    PRCPort: info.ports.rpc,
    RestPort: info.ports.rest,
    WSPort: info.ports.ws,
    // The family's port for foreign services, which this node does not have.
    OpenPort: 0,
    OpenService: false,
    Neighbors: info.neighbors.map(neighbor),
  })
}

function neighbor({ id, height, services, relay, external, address }: Neighbor): Record<string, unknown> {
  return {
    ID: id,
    HexID: hexId(id),
    Height: height,
    Services: services,
    Relay: relay,
    External: external,
    State: 'ESTABLISH',
    NetAddress: address,
  }
}

function hexId(id: number): string {
  return `0x${id.toString(16)}`
}
