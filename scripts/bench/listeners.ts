/**
 * A process of subscribers: `listeners.ts URL COUNT`, forked by events.ts. It says when all are subscribed, and for each
 * event when the first and the last of them had it.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** What the process says to the one that forked it. */
export type Said =
  | { readonly subscribed: number }
  /** Unix milliseconds with fractions. */
  | { readonly first: number; readonly last: number }

const [url = '', count = ''] = process.argv.slice(2)
const wanted = Number(count)
const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { topics: ['block'] } })

let heard = 0
let first = 0
function hear(): void {
  if (heard === 0) first = now()
  heard++
  if (heard < wanted) return
  heard = 0
  say({ first, last: now() })
}

for (let subscribed = 0; subscribed < wanted; subscribed++) {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  socket.send(subscribe)
  await once(socket, 'message')
  socket.on('message', hear)
}
say({ subscribed: wanted })

function now(): number {
  return performance.timeOrigin + performance.now()
}

function say(said: Said): void {
  process.send?.(said)
}
