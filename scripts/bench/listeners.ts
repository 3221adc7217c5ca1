/**
 * A process of subscribers: `listeners.ts URL COUNT`, forked by suites/events.ts. Reports when all are subscribed, and for each event
 * when the first and the last subscriber received it.
 */
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Unix milliseconds with fractions. */
export interface Received {
  readonly first: number
  readonly last: number
}

const [url = '', count = ''] = process.argv.slice(2)
const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { topics: ['block'] } })
const now = () => performance.timeOrigin + performance.now()

let received = 0
let first = 0
function hear(): void {
  if (received === 0) first = now()
  received = (received + 1) % Number(count)
  if (received === 0) process.send?.({ first, last: now() } satisfies Received)
}

for (let subscribed = 0; subscribed < Number(count); subscribed++) {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  socket.send(subscribe)
  await once(socket, 'message')
  socket.on('message', hear)
}
process.send?.('subscribed')
