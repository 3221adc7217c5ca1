import { setTimeout } from 'node:timers/promises'
import { WsClient } from '../../../test/support/client/ws.js'
import { type Attack, trustedProxy } from './scene.js'

/** Clients of event replays that never read, beside an honest one. */

/** WebSockets of the attack, and subscriptions of each. */
const [sockets, subscriptions] = [64, 16]
/** Blocks of an honest replay, as far as there are. */
const blocks = 300
/** Milliseconds until nothing more is written to those that do not read. */
const filling = 4000
/** Milliseconds after which an honest replay counts as starved. */
const patience = 60_000

/** Speed of each honest replay beside the attackers, as a share of its speed alone. */
export const replaySpeeds: number[] = []

export const replayAttacks: Readonly<Record<string, Attack>> = {
  'replays that are not read': async (scene) => {
    const { ws } = scene.target
    const height = await scene.client(0).height()
    const replay = () => timeOf(ws, Math.max(0, height - blocks), height)
    // Until then blocks come from the disk.
    await replay()
    // The rest of the load changes from one replay to the next.
    let alone = await replay()
    let beside = 0
    const deaf = await Promise.all(Array.from({ length: sockets }, () => neverReads(ws)))
    try {
      await setTimeout(filling)
      for (let i = 0; i < 2; i++) beside += await replay()
    } finally {
      for (const client of deaf) client.ws.terminate()
    }
    alone += await replay()
    replaySpeeds.push(alone / beside)
  },
}

/** Milliseconds of a replay of the blocks between two heights. */
async function timeOf(url: string, from: number, to: number): Promise<number> {
  const client = await opened(url, '10.0.0.17')
  const began = performance.now()
  const end = new AbortController()
  const failing = (after: Promise<unknown>, message: string) => after.then(() => Promise.reject(new Error(message)))
  try {
    const ended = new Promise<void>((resolve) => {
      client.onEvent = (event) => {
        if (event.topic === 'block' && event.height >= to) resolve()
      }
    })
    subscribe(client, from)
    const starved = failing(setTimeout(patience, undefined, end), 'a replay was starved')
    await Promise.race([ended, starved, failing(client.closed, 'an honest replay was closed')])
    return performance.now() - began
  } finally {
    end.abort()
    client.ws.terminate()
  }
}

async function neverReads(url: string): Promise<WsClient> {
  const client = await opened(url, '10.0.0.16')
  client.ws.pause()
  for (let i = 0; i < subscriptions; i++) subscribe(client, 0)
  return client
}

function subscribe({ ws }: WsClient, fromHeight: number): void {
  const params = { topics: ['block', 'did', 'credential'], fromHeight }
  ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
}

/** A WebSocket of a client whose address a proxy reports: clients of this machine all have one share. */
function opened(url: string, address: string): Promise<WsClient> {
  return WsClient.open(url, {
    perMessageDeflate: false,
    localAddress: trustedProxy,
    headers: { 'x-forwarded-for': address },
  })
}
