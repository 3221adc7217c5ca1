import { createServer, connect, type Server, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { LinkError, type Protocol } from '../../../../src/network/link.js'
import { Unsent, type UnsentAnswer } from '../../../../src/network/transport/unsent.js'
import { closeNodes, startNode, until } from '../../../support/network/transport.js'

const megabyte = 1024 * 1024
const limits = {
  answersUnsent: 64 * megabyte,
  siteUnsent: 40 * megabyte,
  linkAnswersUnsent: 32 * megabyte,
  answersRest: 10_000,
}

describe('answers that others do not take', () => {
  const mute = fc.record({
    host: fc.integer({ min: 0, max: 3 }),
    bytes: fc.integer({ min: 100_000, max: 12 * megabyte }),
    taken: fc.integer({ min: 0, max: 1_200_000 }),
    every: fc.integer({ min: 1, max: 40 }),
  })

  it.each([
    ['of other hosts', '50.1.0.1'],
    ['of the same host', '20.1.0.0'],
  ])('stay within their bounds, and never cost an honest reader beside them one (%s)', (_, host) => {
    fc.assert(
      fc.property(fc.array(mute, { minLength: 24, maxLength: 24 }), fc.integer({ min: 0, max: 50 }), (mutes, begin) => {
        let now = 0
        const unsent = new Unsent<{ readonly host: string }>(limits, { now: () => now })
        const links = mutes.map((one) => ({ ...one, host: `20.1.0.${one.host}` }))
        const honest = { host }
        const full = new Set<object>()
        let dropped = false
        let reading: { answer: UnsentAnswer; left: number } | undefined
        for (let step = 0; step < 300; step++) {
          now += 250
          for (const link of links) {
            if (step % link.every !== 0 || unsent.rests(link)) continue
            // What the buffers of a connection take stays unread, and there is room for it once.
            unsent.hold(link, link.bytes, () => {})?.took(full.has(link) ? 0 : link.taken)
            full.add(link)
          }
          if (step < begin) continue
          if (reading === undefined) {
            const answer = unsent.hold(honest, 3_300_000, () => (dropped = true))
            if (answer !== undefined) reading = { answer, left: 3_300_000 }
          }
          expect([reading === undefined, dropped]).toEqual([false, false])
          if (reading === undefined) return
          reading.answer.took(250_000)
          reading.left -= 250_000
          if (reading.left <= 0) {
            reading.answer.end()
            reading = undefined
          }
          expect(unsent.bytes).toBeLessThanOrEqual(limits.answersUnsent)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('of one link are bounded', () => {
    const unsent = new Unsent(limits, { now: () => 0 })
    const link = { host: '20.1.0.1' }
    const held = Array.from({ length: 10 }, () => unsent.hold(link, 10 * megabyte, () => {}))
    expect(held.filter((one) => one !== undefined).length).toBe(3)
    held[0]?.end()
    expect(unsent.hold(link, 10 * megabyte, () => {})).toBeDefined()
  })
})

/** A wire to a node that carries so many bytes a second from it; 0 carries none. */
class SlowWire {
  rate = Infinity
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async to(port: number): Promise<SlowWire> {
    const wire = new SlowWire(port)
    await new Promise<void>((resolve) => wire.#server.listen(0, '127.0.0.1', resolve))
    return wire
  }

  private constructor(port: number) {
    this.#server = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          near.destroy()
          far.destroy()
        })
      }
      near.on('data', (data) => far.write(data))
      far.on('data', (data) => {
        near.write(data)
        if (this.rate === Infinity) return
        far.pause()
        if (this.rate > 0) setTimeout(() => far.resume(), (data.length / this.rate) * 1000)
      })
    })
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  close(): void {
    this.#sockets.forEach((socket) => socket.destroy())
    this.#server.close()
  }
}

const bulk: Protocol = { name: 'bulk', version: 1, ofChain: true, request: 100, answer: megabyte, timeout: 60_000 }
const wires: SlowWire[] = []
afterEach(async () => {
  wires.splice(0).forEach((wire) => wire.close())
  await closeNodes()
})

describe('24 connections that do not read', () => {
  it('do not slow a follower on a slow link', async () => {
    const small = {
      answersUnsent: 4 * megabyte,
      siteUnsent: 4 * megabyte,
      linkAnswersUnsent: 2 * megabyte,
      answersRest: 500,
    }
    const node = await startNode({ protocols: [bulk], limits: small })
    node.owner.answering = () => Promise.resolve(new Uint8Array(megabyte))
    const wireTo = async () => {
      const wire = await SlowWire.to(node.transport.port)
      wires.push(wire)
      return wire
    }
    const follower = await startNode({ protocols: [bulk] })
    const slow = await wireTo()
    const link = await follower.transport.dial(slow.address)
    slow.rate = megabyte
    /** Milliseconds for so many answers, one after another; rejects when one of them does not come. */
    const fetch = async (count: number): Promise<number> => {
      const begun = performance.now()
      for (let i = 0; i < count; i++) await link.request(bulk, new Uint8Array(1))
      return performance.now() - begun
    }
    const alone = await fetch(4)
    let refused = 0
    let over = false
    const works: Promise<void>[] = []
    for (let i = 0; i < 24; i++) {
      const attacker = await startNode({ protocols: [bulk] })
      const wire = await wireTo()
      const mute = await attacker.transport.dial(wire.address)
      wire.rate = 0
      const ask = async () => {
        while (!over && !mute.closed) {
          await mute.request(bulk, new Uint8Array(1)).catch((error: unknown) => {
            if (error instanceof LinkError) refused++
          })
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      works.push(ask())
    }
    await until(() => node.owner.links.length === 25)
    const beside = await fetch(4)
    over = true
    expect({ alone, beside, ratio: beside / alone < 3, refused: refused > 0 }).toMatchObject({ ratio: true })
    expect(link.closed).toBe(false)
    wires.splice(0).forEach((wire) => wire.close())
    await Promise.all(works)
  })
})
