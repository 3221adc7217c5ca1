import { randomBytes } from 'node:crypto'
import type { Link, LinkHandler, Protocol, TopicInfo, GossipResult } from '../../../src/network/link.js'
import { openTransport } from '../../../src/network/open-transport.js'
import type { NodeTransport, TransportOptions } from '../../../src/network/transport/transport-options.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { eventually } from '../process/patience.js'

/** Real transports on this machine, with an owner that writes down what it is told. */

export const echo: Protocol = {
  name: 'echo',
  version: 1,
  ofChain: true,
  request: 4096,
  answer: 2 ** 21,
  timeout: 5_000,
}
export const news: TopicInfo = { name: 'news', version: 1, size: 65_536 }
export const genesis = new Uint8Array(32).fill(7)

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export class TestOwner implements LinkHandler {
  readonly links: Link[] = []
  readonly left: Link[] = []
  readonly reasons: (string | undefined)[] = []
  readonly heardMessages: string[] = []
  readonly found: string[] = []
  readonly flooded: Link[] = []
  admitted: LinkHandler['allowsConnection'] = () => true
  answering: LinkHandler['answer'] = (_link, _protocol, body) => Promise.resolve(body)
  listening: () => boolean = () => true
  judging: (message: string) => GossipResult | Promise<GossipResult> = () => 'accept'

  allowsConnection(side: Parameters<LinkHandler['allowsConnection']>[0]): boolean {
    return this.admitted(side)
  }

  connected(link: Link): void {
    this.links.push(link)
  }

  disconnected(link: Link, reason?: string): void {
    this.links.splice(this.links.indexOf(link), 1)
    this.left.push(link)
    this.reasons.push(reason)
  }

  answer(link: Link, protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    return this.answering(link, protocol, body)
  }

  allowsGossip(): boolean {
    return this.listening()
  }

  onFlood(link: Link): void {
    this.flooded.push(link)
  }

  async onGossip(_link: Link, _topic: TopicInfo, message: Uint8Array): Promise<GossipResult> {
    const text = Buffer.from(message).toString()
    this.heardMessages.push(text)
    return this.judging(text)
  }

  onAddress(address: string): void {
    this.found.push(address)
  }
}

export interface TestNode {
  readonly transport: NodeTransport
  readonly owner: TestOwner
  /** Listening address: `127.0.0.1:port`. */
  readonly address: string
  close(): Promise<void>
}

const open = new Set<TestNode>()

/** A started transport; {@link closeNodes} closes it. */
export async function startNode(options: Partial<TransportOptions> = {}): Promise<TestNode> {
  const transport = await openTransport({
    secretKey: randomBytes(32),
    genesis,
    protocols: [echo],
    topics: [news],
    hosts: ['127.0.0.1'],
    port: 0,
    env: systemEnv(quiet),
    ...options,
  })
  const owner = new TestOwner()
  await transport.start(owner)
  const node = {
    transport,
    owner,
    address: `127.0.0.1:${transport.port}`,
    close: () => {
      open.delete(node)
      return transport.close()
    },
  }
  open.add(node)
  return node
}

export async function closeNodes(): Promise<void> {
  await Promise.all([...open].map((node) => node.close()))
}

/** Resolves when it holds. */
export function until(holds: () => boolean): Promise<void> {
  return eventually(holds.toString(), holds)
}
