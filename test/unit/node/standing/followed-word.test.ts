import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FollowedWord } from '../../../../src/node/standing/followed-word.js'
import { quietLog } from '../../../support/builders/chain.js'
import { ManualTimers } from '../../../support/fakes/manual-timers.js'
import { eventually } from '../../../support/process/patience.js'

let server: Server
let body: string
let timers: ManualTimers
let followed: FollowedWord
let warned: string[]
const [own, other] = ['0707070707070707', '0808080808080808']

beforeEach(async () => {
  body = JSON.stringify({ status: 'ready', height: 7, target: 7, inStep: true })
  server = createServer((_, response) => {
    response.writeHead(200, { connection: 'close' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  timers = new ManualTimers()
  warned = []
  followed = new FollowedWord(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    timers,
    random: { bytes: (length) => new Uint8Array(length).fill(7) },
    log: { ...quietLog(), warn: (_, message) => void warned.push(message) },
  })
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

const following = (...ids: unknown[]) =>
  JSON.stringify({ status: 'out of step', height: 7, target: 7, inStep: false, follows: ids })

it('tells along which nodes it follows', async () => {
  expect(followed.follows).toEqual([own])
  body = following(other, '0909090909090909')
  await look()
  expect(followed.follows).toEqual([own, other, '0909090909090909'])
  body = following(...Array.from({ length: 30 }, (_, i) => String(i).padStart(16, '0')))
  await look()
  expect(followed.follows).toHaveLength(16)
})

it('finds a ring of followers, and warns of it once as long as it lasts', async () => {
  for (const [ids, isRing] of [
    [[other], false],
    [[other, own, other], true],
    [[other, own], true],
    [[other], false],
    [[own], true],
  ] as const) {
    body = following(...ids)
    await look()
    expect(followed.isRing).toBe(isRing)
    expect(followed.follows.filter((id) => id === own)).toHaveLength(1)
  }
  expect(warned).toHaveLength(2)
  expect(warned[0]).toMatch(/takes its blocks from this one.*; follow another node$/)
})

it.each([[[own, 7]], [[own, '']], [[`${own}00`]], [[own.replace('7', 'G')]]])(
  'does not take %j for ids of nodes',
  async (ids) => {
    body = following(...ids)
    await look()
    expect([followed.isRing, followed.follows, warned]).toEqual([false, [own], []])
  },
)
