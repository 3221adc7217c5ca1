/**
 * A process of subscribers: `listeners.ts URL COUNT`, forked by events.ts. Reports when all are subscribed, and for each event
 * when the first and the last subscriber received it.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Messages to the parent process. */
export type Said =
  | { readonly subscribed: number }
  /** Unix milliseconds with fractions. */
  | { readonly first: number; readonly last: number }

const [url = '', count = ''] = process.argv.slice(2)
const wanted = Number(count)
const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { topics: ['block'] } })

let received = 0
let first = 0
function hear(): void {
  if (received === 0) first = now()
  received++
  if (received < wanted) return
  received = 0
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
