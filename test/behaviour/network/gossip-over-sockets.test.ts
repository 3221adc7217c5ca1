import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { GossipResult } from '../../../src/network/link.js'
import type { Libp2pLink } from '../../../src/network/transport/libp2p-link.js'
import { closeNodes, news, startNode, type TestNode, until } from '../../support/network/transport.js'

afterEach(closeNodes)

const bytes = (content: string) => Uint8Array.from(Buffer.from(content))

/** Says something until it is heard: neighbours need a moment to know each other's topics. */
async function reach(from: TestNode, to: TestNode, text: string): Promise<void> {
  let round = 0
  await until(() => {
    from.transport.broadcast(news, bytes(`${text} ${round++}`))
    return to.owner.heardMessages.some((message) => message.startsWith(text))
  })
}

/** a – b – c: the outer ones have no link to each other. */
async function line(): Promise<readonly [TestNode, TestNode, TestNode]> {
  const [a, b, c] = [await startNode(), await startNode(), await startNode()]
  await Promise.all([a.transport.dial(b.address), c.transport.dial(b.address)])
  await Promise.all([reach(a, c, 'first'), reach(c, a, 'second')])
  return [a, b, c]
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

describe('gossip', () => {
  it('goes through a node in the middle, once to each', async () => {
    const [a, b, c] = await line()
    a.transport.broadcast(news, bytes('hello'))
    await until(() => c.owner.heardMessages.includes('hello'))
    await pause(50)
    const times = [a, b, c].map(({ owner }) => owner.heardMessages.filter((text) => text === 'hello').length)
    expect(times).toEqual([0, 1, 1])
  })

  it.each<GossipResult>(['ignore', 'reject'])('that the middle says %s to goes no further', async (verdict) => {
    const [a, b, c] = await line()
    b.owner.judging = (text) => (text === 'bad' ? verdict : 'accept')
    a.transport.broadcast(news, bytes('bad'))
    a.transport.broadcast(news, bytes('good'))
    await until(() => c.owner.heardMessages.includes('good'))
    await pause(50)
    expect(b.owner.heardMessages).toContain('bad')
    expect(c.owner.heardMessages).not.toContain('bad')
  })

  it('waits for a slow verdict, and others pass by it', async () => {
    const [a, b, c] = await line()
    let release = (_verdict: GossipResult): void => {}
    const late = new Promise<GossipResult>((resolve) => (release = resolve))
    b.owner.judging = (text) => (text === 'slow' ? late : 'accept')
    a.transport.broadcast(news, bytes('slow'))
    a.transport.broadcast(news, bytes('quick'))
    await until(() => c.owner.heardMessages.includes('quick'))
    expect(c.owner.heardMessages).not.toContain('slow')
    release('accept')
    await until(() => c.owner.heardMessages.includes('slow'))
  })

  it('carries a message of the longest length, and its sender refuses a longer one', async () => {
    const [a, , c] = await line()
    const longest = 'x'.repeat(news.size)
    a.transport.broadcast(news, bytes(longest))
    await until(() => c.owner.heardMessages.includes(longest))
    expect(() => a.transport.broadcast(news, new Uint8Array(news.size + 1))).toThrow(RangeError)
  })

  it('is of one chain', async () => {
    const [a, b] = [await startNode(), await startNode({ genesis: new Uint8Array(32).fill(9) })]
    const c = await startNode()
    await Promise.all([a.transport.dial(b.address), a.transport.dial(c.address)])
    await reach(a, c, 'to c')
    await pause(50)
    expect(b.owner.heardMessages).toEqual([])
  })

  it('goes on after both dialled at the same time, and after a new link', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await startNode(), await startNode()]
      await Promise.all([a.transport.dial(b.address), b.transport.dial(a.address)])
      await Promise.all([reach(a, b, 'from a'), reach(b, a, 'from b')])
      a.owner.links[0]?.close()
      await until(() => a.owner.links.length === 0 && b.owner.links.length === 0)
      await b.transport.dial(a.address)
      await Promise.all([reach(a, b, 'again from a'), reach(b, a, 'again from b')])
      await Promise.all([a.close(), b.close()])
    }
  })

  it('reaches a node that came back while its old link was still there', async () => {
    const secretKey = randomBytes(32)
    const [first, b] = [await startNode({ secretKey }), await startNode()]
    await first.transport.dial(b.address)
    await Promise.all([reach(first, b, 'to b'), reach(b, first, 'from b')])
    const again = await startNode({ secretKey })
    await again.transport.dial(b.address)
    await Promise.all([reach(again, b, 'again to b'), reach(b, again, 'again from b')])
  })

  it('comes back to a neighbour whose streams of it ended', async () => {
    const limits = { roundInterval: 100 }
    const [a, b] = [await startNode({ limits }), await startNode({ limits })]
    const link = await a.transport.dial(b.address)
    await Promise.all([reach(a, b, 'from a'), reach(b, a, 'from b')])
    const { connection } = link as Libp2pLink
    for (const stream of connection.streams.filter(({ protocol }) => protocol.startsWith('/meshsub'))) {
      stream.abort(new Error('lost'))
    }
    await Promise.all([reach(a, b, 'again from a'), reach(b, a, 'again from b')])
    expect(link.closed).toBe(false)
  })

  it('that is not looked at of one neighbour is heard of the next, byte for byte', async () => {
    const [a, b, c] = await line()
    b.owner.listening = () => false
    a.transport.broadcast(news, bytes('told twice'))
    await pause(100)
    b.owner.listening = () => true
    c.transport.broadcast(news, bytes('told twice'))
    await until(() => b.owner.heardMessages.includes('told twice'))
  })

  it('to nobody, or of a transport that is closed, does nothing', async () => {
    const a = await startNode()
    a.transport.broadcast(news, bytes('anybody?'))
    await a.close()
    a.transport.broadcast(news, bytes('still here?'))
  })

  it('that cannot be judged is ignored', async () => {
    const [a, b, c] = await line()
    b.owner.judging = (text) => {
      if (text === 'strange') throw new Error('no idea')
      return 'accept'
    }
    a.transport.broadcast(news, bytes('strange'))
    a.transport.broadcast(news, bytes('usual'))
    await until(() => c.owner.heardMessages.includes('usual'))
    expect(c.owner.heardMessages).not.toContain('strange')
  })
})
