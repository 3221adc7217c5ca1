import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import type { Attack } from './scene.js'

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
  'replays that are not read': async ({ target }) => {
    const height = await new NodeClient({ rest: target.rest, timeout: patience }).height()
    const from = Math.max(0, height - blocks)
    const replay = () => timeOf(target.ws, from, height)
    // Until then blocks come from the disk.
    await replay()
    // The rest of the load changes from one replay to the next.
    const alone = [await replay()]
    const beside: number[] = []
    const deaf = await Promise.all(Array.from({ length: sockets }, () => neverReads(target.ws)))
    try {
      await setTimeout(filling)
      for (let i = 0; i < 2; i++) beside.push(await replay())
    } finally {
      for (const socket of deaf) socket.terminate()
    }
    alone.push(await replay())
    replaySpeeds.push(sumOf(alone) / sumOf(beside))
  },
}

function sumOf(times: readonly number[]): number {
  return times.reduce((sum, time) => sum + time, 0)
}

/** Milliseconds of a replay of the blocks between two heights. */
async function timeOf(url: string, from: number, to: number): Promise<number> {
  const socket = await opened(url, '127.0.0.17')
  const began = performance.now()
  const end = new AbortController()
  try {
    const ended = new Promise<void>((resolve, reject) => {
      socket.on('message', (data: Buffer) => {
        const { params } = JSON.parse(data.toString()) as { params?: { topic: string; height: number } }
        if (params?.topic === 'block' && params.height >= to) resolve()
      })
      socket.on('close', () => reject(new Error('an honest replay was closed')))
    })
    subscribe(socket, from)
    const starved = setTimeout(patience, undefined, end).then(() => Promise.reject(new Error('a replay was starved')))
    await Promise.race([ended, starved])
    return performance.now() - began
  } finally {
    end.abort()
    socket.terminate()
  }
}

async function neverReads(url: string): Promise<WebSocket> {
  const socket = await opened(url, '127.0.0.16')
  ;(Reflect.get(socket, '_socket') as Socket).pause()
  for (let i = 0; i < subscriptions; i++) subscribe(socket, 0)
  return socket
}

function subscribe(socket: WebSocket, fromHeight: number): void {
  const params = { topics: ['block', 'did', 'credential'], fromHeight }
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
}

/** A WebSocket from one of the addresses of this machine; errors end it and nothing else. */
async function opened(url: string, localAddress: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false, localAddress })
  socket.on('error', () => {})
  await once(socket, 'open')
  return socket
}
