import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Told {
  readonly topic: string
  readonly txid?: string
  readonly height?: number
}

/** Subscribes to events of a node and passes on each with the milliseconds of this process; returns a function that ends it. */
export async function listenTo(
  url: string,
  topics: readonly string[],
  hear: (event: Told, time: number) => void,
): Promise<() => void> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { topics } }))
  await once(socket, 'message')
  socket.on('message', (data: Buffer) => {
    const time = performance.now()
    const { params } = JSON.parse(data.toString()) as { params?: Told }
    if (params !== undefined) hear(params, time)
  })
  return () => socket.terminate()
}
