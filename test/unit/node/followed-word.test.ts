import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FollowedWord } from '../../../src/node/followed-word.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'
import { eventually } from '../../support/process/patience.js'

let server: Server
let body: string
let timers: ManualTimers
let followed: FollowedWord

beforeEach(async () => {
  body = JSON.stringify({ status: 'ready', height: 7, target: 7, inStep: true })
  server = createServer((_, response) => {
    response.writeHead(200, { connection: 'close' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  timers = new ManualTimers()
  followed = new FollowedWord(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, timers)
  await followed.looked
})
afterEach(async () => {
  await followed.close()
  server.closeAllConnections()
  server.close()
})

async function look(): Promise<void> {
  await eventually('the next look', () => timers.pending.length === 1)
  timers.fire()
  await eventually('its end', () => timers.pending.length === 1)
}

it('is what the node that is followed says of itself, at each look', async () => {
  expect(followed.word).toEqual({ height: 7, target: 7, inStep: true, catchingUp: false })
  body = JSON.stringify({ status: 'catching up', height: 7, target: 290, inStep: false })
  await look()
  expect(followed.word).toEqual({ height: 7, target: 290, inStep: false, catchingUp: true })
})

it.each([
  ['another program', '<p>Welcome</p>'],
  ['a node that has failed', JSON.stringify({ status: 'failed', height: 7, inStep: false })],
])('is none where the answer is that of %s', async (_, other) => {
  body = other
  await look()
  expect(followed.word).toBeUndefined()
})

it('is none where nothing answers any more', async () => {
  server.closeAllConnections()
  server.close()
  await look()
  expect(followed.word).toBeUndefined()
})
