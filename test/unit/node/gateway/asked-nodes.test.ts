import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AskedNodes } from '../../../../src/node/gateway/asked-nodes.js'
import { ManualTimers } from '../../../support/fakes/manual-timers.js'
import { namedChain, nodeOfChain } from '../../../support/fakes/named-chain.js'
import { eventually } from '../../../support/process/patience.js'

let server: Server
let url: string
let body: object
let clock: { time: number; now(): number }
let steady: { time: number; now(): number }
let timers: ManualTimers
let asked: AskedNodes
/** Runs when the node is asked how it is. */
let onAsked: () => void

const clockAt = (time: number) => ({
  time,
  now() {
    return this.time
  },
})

beforeEach(async () => {
  body = { status: 'ready', height: 7, inStep: true }
  onAsked = () => {}
  const answer = nodeOfChain(namedChain.genesis, (_, response) => {
    onAsked()
    response.writeHead(200, { connection: 'close' }).end(JSON.stringify(body))
  })
  server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  clock = clockAt(1e12)
  steady = clockAt(1000)
  timers = new ManualTimers()
  asked = new AskedNodes([url], { ...namedChain, timers, clock, steady })
  await asked.looked
})
afterEach(async () => {
  await asked.close()
  server.closeAllConnections()
  server.close()
})

describe('the word of a node', () => {
  it.each([
    ['neither clock', 15_000, 15_000, true],
    ['the clock, as in a sleep of the machine', 15_001, 0, false],
    ['the clock, which was set back', -15_001, 0, false],
    ['the steady clock, as in a stop of the process', 0, 15_001, false],
  ])('holds until a look is too long ago by %s', async (_, later, longer, holds) => {
    expect(asked.word).toMatchObject({ height: 7, inStep: true })
    clock.time += later
    steady.time += longer
    expect(asked.word).toMatchObject({ height: 7, inStep: holds })
    // The answer is kept, for each request asks several times.
    expect(asked.word).toBe(asked.word)
    await eventually('the next look', () => timers.pending.length === 1)
    timers.fire()
    await eventually('its word', () => asked.word?.inStep === true)
  })

  it('is as old as the beginning of its look, in which the machine may sleep', async () => {
    await eventually('the next look', () => timers.pending.length === 1)
    onAsked = () => (clock.time += 15_001)
    timers.fire()
    await eventually('the end of the look', () => timers.pending.length === 1)
    expect(asked.word).toMatchObject({ height: 7, inStep: false })
  })

  it('counts for nothing where it has failed', async () => {
    body = { status: 'failed', height: 7, inStep: true }
    await eventually('the next look', () => timers.pending.length === 1)
    timers.fire()
    await eventually('no word', () => asked.word === undefined)
  })
})
