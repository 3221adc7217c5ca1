/** Internals of libp2p 3.2 and gossipsub 17 that hold timers. */
interface Inside {
  readonly components: { readonly addressManager: { readonly _updatePeerStoreAddresses?: { stop?(): void } } }
  readonly services: { readonly gossip: object }
}
interface GossipInside {
  readonly status?: { readonly heartbeatTimeout?: NodeJS.Timeout }
}

/**
 * Stops a node, and the timers that it leaves: the next heartbeat of gossip, and an update of its own addresses, each up to a second. A
 * process with nothing else to do would wait for them.
 */
export async function stopWithTimers(node: { stop(): void | Promise<void> }): Promise<void> {
  const { components, services } = node as unknown as Inside
  const { status } = services.gossip as GossipInside
  await node.stop()
  clearTimeout(status?.heartbeatTimeout)
  components.addressManager._updatePeerStoreAddresses?.stop?.()
}
