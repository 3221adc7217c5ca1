import type { NodeTransport, TransportOptions } from './transport/transport-options.js'

/**
 * A transport over libp2p: TCP, Noise, Yamux and Gossipsub. It does nothing until it is started, which throws a UserError
 * where it cannot listen. libp2p is loaded by this call and by no import, for a node without peers never needs it.
 */
export async function openTransport(options: TransportOptions): Promise<NodeTransport> {
  const { Libp2pTransport } = await import('./transport/libp2p-transport.js')
  return Libp2pTransport.open(options)
}
