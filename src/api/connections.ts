import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Milliseconds between two looks at what waits to be read. */
const lookInterval = 1000

/**
 * Lets a connection have one answer at a time: a request that comes before the last answer has left waits its turn, and with
 * more than `limit` waiting the connection is closed. A client that asks and never reads would otherwise be given every answer.
 */
export class Turns {
  readonly #limit: number
  readonly #waiting = new WeakMap<Socket, (() => void)[]>()

  constructor(limit: number) {
    this.#limit = limit
  }

  take({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
    const run = () => {
      response.once('close', () => this.#next(socket))
      handle()
    }
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) {
      this.#waiting.set(socket, [])
      run()
    } else if (waiting.length < this.#limit) {
      waiting.push(run)
    } else {
      discard(socket)
    }
  }

  #next(socket: Socket): void {
    const next = this.#waiting.get(socket)?.shift()
    if (next === undefined || socket.destroyed) this.#waiting.delete(socket)
    else next()
  }
}

/**
 * Closes a connection in the middle of what was read of it at once. The parser would make a request of every few bytes of the
 * rest, and Node keep all of them until the connection is gone; so it hands them to nobody. Where a future Node has no
 * such member, only that saving is lost.
 */
function discard(socket: Socket & { parser?: { onIncoming?: () => number } | null }): void {
  const withoutBody = 1
  if (socket.parser) socket.parser.onIncoming = () => withoutBody
  socket.destroy()
}

/** Closes the connections that leave most unread as soon as all together leave more than `limit` bytes. */
export function boundUnread(server: Server, limit: number): void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const timer = setInterval(() => {
    const slow = [...sockets].filter(({ writableLength }) => writableLength > 0)
    slow.sort((a, b) => b.writableLength - a.writableLength)
    let unread = slow.reduce((sum, { writableLength }) => sum + writableLength, 0)
    for (const socket of slow) {
      if (unread <= limit) return
      unread -= socket.writableLength
      socket.destroy()
    }
  }, lookInterval)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}
