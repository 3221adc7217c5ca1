import { once } from 'node:events'
import { type AddressInfo, connect, createServer, Socket } from 'node:net'
import { expect, it } from 'vitest'
import { writeWhole } from '../../../../../src/network/transport/patches/whole-writes.js'
import { closeNodes, startNode } from '../../../../support/network/transport.js'

/** A connection that writes each piece by itself, as @libp2p/tcp does, and notes how many writes reach the system. */
function connectionOf(socket: Socket) {
  const writes: number[] = []
  const internals = socket as unknown as Record<'_write' | '_writev', (data: unknown, ...rest: unknown[]) => void>
  for (const name of ['_write', '_writev'] as const) {
    const write = internals[name].bind(socket)
    internals[name] = (data, ...rest) => {
      writes.push(name === '_writev' ? (data as unknown[]).length : 1)
      write(data, ...rest)
    }
  }
  const sendData = (data: readonly Uint8Array[]) => {
    let more = true
    for (const piece of data) more = socket.write(piece)
    return more
  }
  return { connection: { socket, sendData }, writes }
}

it('writes the pieces of a message in one call, and says as before whether more fits', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const [other] = await accepted
  const { connection, writes } = connectionOf(socket)
  writeWhole(connection)
  const pieces = [Uint8Array.of(0, 3), Uint8Array.of(1, 2, 3), Uint8Array.of(4)]
  expect(connection.sendData(pieces)).toBe(true)
  expect(writes).toEqual([3])
  expect(await once(other, 'data')).toEqual([Buffer.concat(pieces)])
  expect(connection.sendData([new Uint8Array(10_000_000)])).toBe(false)
  socket.destroy()
  other.destroy()
  server.close()
})

it('leaves a connection without a socket as it is', () => {
  const sendData = () => true
  const connection = { sendData }
  writeWhole(connection)
  expect(connection.sendData).toBe(sendData)
})

it('finds the socket of a connection of libp2p, whose writes it joins', async () => {
  let corked = 0
  const { cork } = Socket.prototype
  Socket.prototype.cork = function (this: Socket) {
    corked++
    cork.call(this)
  }
  try {
    const [a, b] = [await startNode(), await startNode()]
    await a.transport.dial(b.address)
    expect(corked).toBeGreaterThan(2)
  } finally {
    Socket.prototype.cork = cork
    await closeNodes()
  }
})
