import type { NodeTransport, TransportOptions } from './transport/transport-options.js'

/**
 * Creates a transport over libp2p: TCP, Noise, Yamux and Gossipsub. `start` rejects with a UserError if it cannot listen.
 * libp2p is loaded by this call and not by an import: a node without peers does not need it.
 */
export async function openTransport(options: TransportOptions): Promise<NodeTransport> {
  const { Libp2pTransport } = await import('./transport/libp2p-transport.js')
  return Libp2pTransport.open(options)
}
