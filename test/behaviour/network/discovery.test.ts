import { multiaddr } from '@multiformats/multiaddr'
import { EventEmitter } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { quietLog } from '../../support/builders/chain.js'
import { closeNodes, startNode } from '../../support/network/transport.js'

/** Multicast DNS on a machine that may have no network: what it does is written down, what it finds the test says. */
const services: FakeDiscovery[] = []

class FakeDiscovery extends EventTarget {
  readonly tag: string
  readonly done: string[] = []
  readonly mdns = Object.assign(new EventEmitter(), {
    send: (_packet: unknown, _target: unknown, sent?: (error?: Error) => void) => sent?.(this.fault),
  })
  fault: Error | undefined

  constructor(tag: string) {
    super()
    this.tag = tag
    services.push(this)
  }

  start(): void {
    this.done.push('start')
  }

  stop(): void {
    this.done.push('stop')
  }

  find(id: string, addresses: readonly string[]): void {
    const detail = { id, multiaddrs: addresses.map((address) => multiaddr(address)) }
    this.dispatchEvent(new CustomEvent('peer', { detail }))
  }
}

vi.mock('@libp2p/mdns', () => ({
  mdns:
    ({ serviceTag }: { serviceTag: string }) =>
    () =>
      new FakeDiscovery(serviceTag),
}))

afterEach(closeNodes)

describe('discovery in the local network', () => {
  it('looks for nodes of the chain, and tells where they are', async () => {
    const node = await startNode({ mdns: true })
    const [service] = services.splice(0) as [FakeDiscovery]
    expect(service.tag).toBe('_didledger-07070707._udp.local')
    service.find('12D3KooWx', ['/ip4/127.0.0.1/tcp/5', '/ip4/192.0.2.5/tcp/5', '/ip6/::1/tcp/5'])
    // Our own machine is meant only where no other address is told.
    service.find('12D3KooWy', ['/ip4/127.0.0.1/tcp/6'])
    expect(node.owner.found).toEqual(['/ip4/192.0.2.5/tcp/5/p2p/12D3KooWx', '/ip4/127.0.0.1/tcp/6/p2p/12D3KooWy'])
    await node.close()
    expect(service.done).toEqual(['start', 'stop'])
  })

  it('warns once where nothing can be sent or received', async () => {
    const warnings: unknown[] = []
    const log = { ...quietLog(), warn: (...line: unknown[]) => void warnings.push(line) }
    await startNode({ mdns: true, env: { ...systemEnv(log) } })
    const [service] = services.splice(0) as [FakeDiscovery]
    const results: unknown[] = []
    service.mdns.send({}, undefined, (error) => results.push(error))
    expect(warnings).toEqual([])
    service.fault = new Error('send ENETUNREACH 224.0.0.251:5353')
    service.mdns.send({}, undefined, (error) => results.push(error))
    service.mdns.send({}, undefined)
    service.mdns.emit('error', new Error('bind EACCES 0.0.0.0:5353'))
    expect(results).toEqual([undefined, service.fault])
    expect(warnings).toEqual([
      [{ reason: service.fault.message }, expect.stringMatching(/^multicast DNS finds no nodes/)],
    ])
  })

  it('is on request only', async () => {
    await startNode()
    expect(services).toEqual([])
  })
})
