import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Milliseconds between two looks at what waits to be read. */
const lookInterval = 1000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const turns = Symbol('turns')

/** On the socket itself: looking it up in a map for every request costs more than the rest of this. */
interface Connection extends Socket {
  [turns]?: ConnectionTurns
}

interface ConnectionTurns {
  /** The answer that is being made; undefined between requests. */
  current: ServerResponse | undefined
  readonly waiting: ServerResponse[]
}

/**
 * Lets a connection have one answer at a time: a request that comes before the last answer has left waits its turn, and with
 * more than `limit` waiting the connection is closed. A client that asks and never reads would otherwise be given every answer.
 */
export function inTurn(limit: number, handler: Handler): Handler {
  const begin = (turn: ConnectionTurns, response: ServerResponse) => {
    turn.current = response
    response.on('close', next)
    handler(response.req, response)
  }
  function next(this: ServerResponse): void {
    const { socket } = this.req
    const turn = turnsOf(socket)
    turn.current = undefined
    const following = turn.waiting.shift()
    if (following !== undefined && !socket.destroyed) begin(turn, following)
  }
  return ({ socket }, response) => {
    const turn = turnsOf(socket)
    if (turn.current === undefined) begin(turn, response)
    else if (turn.waiting.length < limit) turn.waiting.push(response)
    else discard(socket)
  }
}

function turnsOf(socket: Connection): ConnectionTurns {
  return (socket[turns] ??= { current: undefined, waiting: [] })
}

/** The answer that is being made on a connection. */
export function currentAnswer(socket: Socket): ServerResponse | undefined {
  return turnsOf(socket).current
}

/**
 * Closes a connection in the middle of what was read of it at once. The parser would make a request of every few bytes of the
 * rest, and Node keep all of them until the connection is gone; so it hands them to nobody. Where a future Node has no
 * such member, only that saving is lost.
 */
function discard(socket: Connection & { parser?: { onIncoming?: () => number } | null }): void {
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
