import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { acceptBetweenSlices, cooperate, runCooperatively } from '../../../../src/base/runtime/cooperative.js'
import { eventually } from '../../../support/process/patience.js'

/** Holds the event loop for so long, in milliseconds. */
function work(milliseconds: number): void {
  const start = performance.now()
  while (performance.now() - start < milliseconds);
}

describe('divided work', () => {
  it('shares one slice of a turn, however many pieces there are', async () => {
    // Steps of a millisecond: alone each piece would take its four of them in every turn.
    const pieces = 8
    let turn = 0
    let watching = true
    const steps = new Map<number, number>()
    const watch = async () => {
      while (watching) {
        await nextTurn()
        turn++
      }
    }
    const watched = watch()
    await nextTurn()
    const run = async () => {
      let left = 12
      await cooperate(() => {
        work(1)
        steps.set(turn, (steps.get(turn) ?? 0) + 1)
        return --left > 0
      })
    }
    await Promise.all(Array.from({ length: pieces }, run))
    watching = false
    await watched
    // Four steps of the slice, and one of each piece that has its turn when the slice is over.
    for (const count of steps.values()) expect(count).toBeLessThanOrEqual(4 + 1 + pieces)
    expect(steps.size).toBeGreaterThanOrEqual(Math.floor((12 * pieces) / (5 + pieces)))
  })

  it('gets a part of each slice as long as that of others, whichever began first', async () => {
    const done = { first: 0, second: 0 }
    const began = performance.now()
    const run = (name: keyof typeof done, milliseconds: number) =>
      cooperate(() => {
        work(milliseconds)
        done[name] += milliseconds
        return performance.now() - began < 300
      })
    await Promise.all([run('first', 0.1), run('second', 0.1)])
    expect(done.second / done.first).toBeGreaterThan(0.5)
  })

  it('gives way between pieces that follow each other in one turn', async () => {
    let turns = 0
    let watching = true
    const watch = async () => {
      while (watching) {
        await nextTurn()
        turns++
      }
    }
    const watched = watch()
    for (let piece = 0; piece < 10; piece++) {
      await runCooperatively(
        (function* () {
          work(3)
          yield
          work(1)
        })(),
      )
    }
    watching = false
    await watched
    expect(turns).toBeGreaterThanOrEqual(5)
  })

  it('lets connections in between its slices, and goes on while they keep coming', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).destroy())
    acceptBetweenSlices(server)
    let accepted = 0
    server.on('connection', () => {
      accepted++
      work(1)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    let slices = 0
    await cooperate(() => {
      work(4)
      slices++
      return accepted < 60
    })
    // One connection a turn: without leave to go first, each of the 60 would wait for a slice of its own.
    expect(slices).toBeLessThan(60)
    // As long for divided work as for connections.
    expect(slices).toBeGreaterThan(5)
    for (const socket of sockets) socket.destroy()
    server.close()
    await eventually('the server closes', () => !server.listening)
  })
})
