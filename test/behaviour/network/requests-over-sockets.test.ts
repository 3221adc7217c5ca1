import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { LinkError, type Protocol } from '../../../src/network/link.js'
import type { Libp2pLink } from '../../../src/network/transport/libp2p-link.js'
import { stopwatch } from '../../support/process/patience.js'
import { closeNodes, echo, startNode, until } from '../../support/network/transport.js'

afterEach(closeNodes)

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const bytes = (content: string) => Uint8Array.from(Buffer.from(content))

async function failure(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.catch((reason: unknown) => reason)
  return error instanceof LinkError ? error.failure : `no LinkError: ${String(error)}`
}

async function pair(options: { protocols?: readonly Protocol[] } = {}) {
  const [a, b] = [await startNode(options), await startNode(options)]
  const link = await a.transport.dial(b.address)
  await until(() => b.owner.links.length === 1)
  const [back] = b.owner.links
  if (back === undefined) throw new Error('no link')
  return { a, b, link, back }
}

describe('requests over a link', () => {
  it('are answered in both directions', async () => {
    const { link, back } = await pair()
    expect(text(await link.request(echo, bytes('hello')))).toBe('hello')
    expect(text(await back.request(echo, bytes('and back')))).toBe('and back')
    expect(await link.request(echo, new Uint8Array())).toHaveLength(0)
  })

  it('of one protocol go one after another, those of different ones side by side', async () => {
    const slow: Protocol = { ...echo, name: 'slow' }
    const { b, link } = await pair({ protocols: [echo, slow] })
    const seen: string[] = []
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    b.owner.answering = async (_link, { name }, body) => {
      seen.push(text(body))
      if (name === 'slow') await gate
      return body
    }
    const waiting = ['s1', 's2'].map((body) => link.request(slow, bytes(body)))
    const quick = await Promise.all(['e1', 'e2', 'e3'].map((body) => link.request(echo, bytes(body))))
    expect(quick.map(text)).toEqual(['e1', 'e2', 'e3'])
    expect(seen).toEqual(expect.arrayContaining(['s1', 'e1', 'e2', 'e3']))
    expect(seen).not.toContain('s2')
    release()
    expect((await Promise.all(waiting)).map(text)).toEqual(['s1', 's2'])
  })

  it('wait in a queue with an end', async () => {
    const { b, link } = await pair()
    b.owner.answering = () => new Promise(() => {})
    const all = Array.from({ length: 70 }, (_, i) => failure(link.request(echo, bytes(`${i}`))))
    expect(await Promise.all(all.slice(65))).toEqual(Array<string>(5).fill('busy'))
    link.close()
    expect(new Set(await Promise.all(all.slice(0, 65)))).toEqual(new Set(['closed']))
  })

  it('carry as much as their protocol says, and not a byte more', async () => {
    const { b, link } = await pair()
    let asked = 0
    b.owner.answering = (_link, _protocol, body) =>
      Promise.resolve(new Uint8Array(echo.answer + (body[0] ?? 0)).fill(5)).finally(() => asked++)
    const answer = await link.request(echo, new Uint8Array(echo.request))
    expect(answer).toHaveLength(echo.answer)
    expect(answer.every((byte) => byte === 5)).toBe(true)
    expect(await failure(link.request(echo, new Uint8Array(echo.request + 1)))).toBe('too-long')
    expect(asked).toBe(1)
    // The side that answers finds its own mistake, and the link goes on.
    expect(await failure(link.request(echo, Uint8Array.of(1)))).toBe('refused')
    expect(await link.request(echo, Uint8Array.of(0))).toHaveLength(echo.answer)
  })

  it('are refused by a node with a smaller limit, and such an answer by the one that asked', async () => {
    const { b, link } = await pair({ protocols: [{ ...echo, request: 10, answer: 100 }] })
    expect(await failure(link.request(echo, new Uint8Array(11)))).toBe('refused')
    expect(await link.request(echo, new Uint8Array(10))).toHaveLength(10)
    b.owner.answering = () => Promise.resolve(new Uint8Array(100))
    expect(await failure(link.request({ ...echo, answer: 99 }, new Uint8Array(1)))).toBe('too-long')
    expect(link.closed).toBe(false)
  })

  it('tell a protocol that is not spoken, and do not ask again', async () => {
    const { link } = await pair()
    const other: Protocol = { ...echo, name: 'other' }
    const error: unknown = await link.request(other, new Uint8Array()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      failure: 'unsupported',
      message: '127.0.0.1 does not speak /didledger/07070707/other/1',
    })
    const elapsed = stopwatch()
    for (let i = 0; i < 1000; i++) expect(await failure(link.request(other, new Uint8Array()))).toBe('unsupported')
    expect(elapsed()).toBeLessThan(1000)
    expect(await failure(link.request({ ...echo, version: 2 }, new Uint8Array()))).toBe('unsupported')
    expect(await failure(link.request({ ...echo, ofChain: false }, new Uint8Array()))).toBe('unsupported')
  })

  it('of a protocol without the chain in its id reach a node of another chain', async () => {
    const any: Protocol = { ...echo, ofChain: false }
    const a = await startNode({ protocols: [any, echo] })
    const b = await startNode({ protocols: [any, echo], genesis: new Uint8Array(32).fill(8) })
    const link = await a.transport.dial(b.address)
    expect(text(await link.request(any, bytes('who?')))).toBe('who?')
    expect(await failure(link.request(echo, bytes('hm')))).toBe('unsupported')
  })

  it('that are refused or answered too late say so, and the link goes on', async () => {
    const { b, link } = await pair()
    b.owner.answering = () => Promise.reject(new Error('no'))
    expect(await failure(link.request(echo, bytes('1')))).toBe('refused')
    b.owner.answering = () => new Promise(() => {})
    const hurried = { ...echo, timeout: 100 }
    const error: unknown = await link.request(hurried, bytes('2')).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ failure: 'timeout' })
    b.owner.answering = (_link, _protocol, body) => Promise.resolve(body)
    expect(text(await link.request(echo, bytes('3')))).toBe('3')
    expect(link.closed).toBe(false)
  })

  it('reject when either side closes the link', async () => {
    const { b, link, back } = await pair()
    b.owner.answering = () => new Promise(() => {})
    const waiting = [link.request(echo, bytes('1')), link.request(echo, bytes('2'))].map(failure)
    await new Promise((resolve) => setTimeout(resolve, 50))
    back.close()
    expect(await Promise.all(waiting)).toEqual(['closed', 'closed'])
    expect(await failure(link.request(echo, bytes('3')))).toBe('closed')
    expect(await failure(back.request(echo, bytes('4')))).toBe('closed')
  })

  it('leave nothing behind: listeners and streams are as many as before', async () => {
    const { link } = await pair()
    const { connection } = link as Libp2pLink
    const count = (): number =>
      getEventListeners(connection, 'close').length +
      connection.streams.reduce(
        (sum, stream) =>
          sum +
          ['message', 'close', 'idle', 'drain', 'remoteCloseWrite'].reduce(
            (n, type) => n + getEventListeners(stream, type).length,
            0,
          ),
        0,
      )
    for (let i = 0; i < 20; i++) await link.request(echo, bytes('warm'))
    await until(() => connection.streams.every(({ protocol }) => protocol !== '/ipfs/id/1.0.0'))
    const [streams, listeners] = [connection.streams.length, count()]
    for (let i = 0; i < 2000; i++) await link.request(echo, bytes('again'))
    expect([connection.streams.length, count()]).toEqual([streams, listeners])
  })

  it('open a new stream after a rest', async () => {
    const limits = { askerIdle: 30 }
    const a = await startNode({ limits })
    const b = await startNode()
    const link = await a.transport.dial(b.address)
    const { connection } = link as Libp2pLink
    const streams = (): number => connection.streams.filter(({ protocol }) => protocol.endsWith('/echo/1')).length
    for (const body of ['1', '2', '3']) {
      expect(text(await link.request(echo, bytes(body)))).toBe(body)
      expect(streams()).toBe(1)
      await until(() => streams() === 0)
    }
  })

  it('are served on streams that end when nothing comes', async () => {
    const a = await startNode({ limits: { askerIdle: 60_000 } })
    const b = await startNode({ limits: { answererIdle: 500 } })
    const link = await a.transport.dial(b.address)
    const { connection } = link as Libp2pLink
    for (const body of ['1', '2']) {
      expect(text(await link.request(echo, bytes(body)))).toBe(body)
      await until(() => connection.streams.every(({ protocol }) => !protocol.endsWith('/echo/1')))
    }
  })
})
