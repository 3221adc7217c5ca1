import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { loopbackShare, shareOf } from './address-share.js'
import type { ApiLimits } from './api-limits.js'

/** Milliseconds between two looks at what waits to be read. */
const lookInterval = 1000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const turns = Symbol('turns')

/** On the socket itself: looking it up in a map for every request costs more than the rest of this. */
interface Connection extends Socket {
  [turns]?: ConnectionTurns
}

interface ConnectionTurns {
  /** When the request under way began, or the last one ended; performance.now(). */
  since: number
  /** Bytes that had been read of it, and when there were more for the last time. */
  read: number
  readAt: number
  /** Of a connection that speaks another protocol. */
  idle?: () => Idle
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
    turn.since = performance.now()
    response.on('close', next)
    handler(response.req, response)
  }
  function next(this: ServerResponse): void {
    const { socket } = this.req
    const turn = turnsOf(socket)
    turn.current = undefined
    turn.since = performance.now()
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
  return (socket[turns] ??= newTurns())
}

function newTurns(): ConnectionTurns {
  const now = performance.now()
  return { current: undefined, waiting: [], since: now, read: 0, readAt: now }
}

/** How little a connection would be missed: lower ranks go first, of equal ones the one that has been so for longest. */
export interface Idle {
  readonly rank: number
  /** As performance.now() says. */
  readonly since: number
}

/**
 * Ranks of connections that may go when others need their places: without a request, whether its headers come slowly or it
 * is only kept open; over WebSocket without a subscription; with a body that is slow in coming; with an answer that is not
 * read; over WebSocket with subscriptions.
 */
export const idleRanks = { quiet: 0, untold: 1, sending: 2, unread: 3, told: 4 } as const

/** Milliseconds after which a body or an answer is slow. */
const slowAfter = 1000

/** Undefined while its request is worked on. */
function idleOf(socket: Connection, now: number): Idle | undefined {
  const turn = turnsOf(socket)
  if (turn.idle !== undefined) return turn.idle()
  const { current, since } = turn
  if (current === undefined) return { rank: idleRanks.quiet, since }
  if (now - since < slowAfter) return undefined
  if (!current.req.complete) return { rank: idleRanks.sending, since }
  return socket.writableLength > 0 ? { rank: idleRanks.unread, since } : undefined
}

/** Leaves a connection to another protocol, which says how little it would be missed. */
export function upgraded(socket: Socket, idle: () => Idle): void {
  turnsOf(socket).idle = idle
}

export interface PlacesOptions {
  readonly limits: Pick<ApiLimits, 'connections' | 'connectionsPerAddress'>
  /** Whether an address may have all places: that of a proxy, which many clients share. */
  exempt(address: string | undefined): boolean
}

/**
 * Shares out the places of a server: every address has at most so many, this machine half of all. A connection that finds
 * none free takes that of the one in its share, or of the largest share, that would be missed least.
 */
export function shareConnections(server: Server, { limits, exempt }: PlacesOptions): void {
  const shares = new Map<string, Set<Connection>>()
  let count = 0
  const mostOf = (share: string) => {
    if (share === loopbackShare) return Math.max(1, Math.floor(limits.connections / 2))
    return Math.min(limits.connectionsPerAddress, limits.connections)
  }
  const makeRoom = (members: Iterable<Connection>): boolean => {
    const going = leastMissed(members)
    if (going === undefined) return false
    going.destroy()
    return true
  }
  server.on('connection', (socket: Connection) => {
    const { remoteAddress } = socket
    const share = shareOf(remoteAddress)
    const own = shares.get(share) ?? new Set()
    const full = !exempt(remoteAddress) && own.size >= mostOf(share)
    const largest = () => [...shares.values()].reduce((a, b) => (b.size > a.size ? b : a), own)
    if ((full && !makeRoom(own)) || (!full && count >= limits.connections && !makeRoom(largest()))) {
      socket.destroy()
      return
    }
    turnsOf(socket)
    count++
    shares.set(share, own.add(socket))
    socket.once('close', () => {
      count--
      own.delete(socket)
      if (own.size === 0 && shares.get(share) === own) shares.delete(share)
    })
  })
}

function leastMissed(sockets: Iterable<Connection>): Connection | undefined {
  const now = performance.now()
  let least: { readonly socket: Connection; readonly idle: Idle } | undefined
  for (const socket of sockets) {
    const idle = socket.destroyed ? undefined : idleOf(socket, now)
    if (idle === undefined) continue
    const { rank, since } = least?.idle ?? { rank: Infinity, since: 0 }
    if (idle.rank < rank || (idle.rank === rank && idle.since < since)) least = { socket, idle }
  }
  return least?.socket
}

/** Calls `stuck` with each connection whose request has made no progress for so long. */
export function watchBodies(server: Server, milliseconds: number, stuck: (socket: Socket) => void): void {
  const sockets = new Set<Connection>()
  server.on('connection', (socket: Connection) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const socket of sockets) {
        const turn = turnsOf(socket)
        const { current } = turn
        if (current === undefined || current.req.complete || socket.bytesRead !== turn.read) {
          turn.read = socket.bytesRead
          turn.readAt = now
        } else if (now - turn.readAt >= milliseconds) stuck(socket)
      }
    },
    Math.min(lookInterval, milliseconds),
  )
  timer.unref()
  server.once('close', () => clearInterval(timer))
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
