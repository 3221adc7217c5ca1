import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { loopbackShare, shareOf } from './client-share.js'
import type { ApiLimits } from '../api-limits.js'

/** Milliseconds between checks of the connections. */
const lookInterval = 1000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const turns = Symbol('turns')

/** Kept on the socket: a map lookup for every request costs more than the rest of this. */
interface Connection extends Socket {
  [turns]?: ConnectionTurns
}

interface ConnectionTurns {
  /** Start of the request in progress, or end of the last one; performance.now(). */
  since: number
  /** Bytes read of it, and when that number last rose. */
  read: number
  readAt: number
  /** Set on a connection of another protocol. */
  idle?: () => Idle
  /** Ends the count in the shares that the connection has now. */
  leave?: () => void
  /** The answer in progress; undefined between requests. */
  current: ServerResponse | undefined
  readonly waiting: ServerResponse[]
  /** Whether its input cannot be parsed any more. */
  refused: boolean
}

/**
 * Makes one answer at a time for each connection: a request that arrives before the last answer has left waits. More than `limit`
 * waiting → the connection is closed. Otherwise a client that never reads would have every answer made.
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
  return { current: undefined, waiting: [], refused: false, since: now, read: 0, readAt: now }
}

/** How expendable a connection is: lower ranks go first; of equal ranks, the one idle for longest. */
export interface Idle {
  readonly rank: number
  /** performance.now(). */
  readonly since: number
}

/**
 * Ranks of connections that may be closed to make room, lowest first: no request, with slow headers or kept open; WebSocket
 * without a subscription; slow body; unread answer; WebSocket with subscriptions.
 */
export const idleRanks = { quiet: 0, untold: 1, sending: 2, unread: 3, told: 4 } as const

/** @tuning ms: age of a request from which a slow body or an unread answer may lose its connection */
const slowAfter = 1000

/** Undefined while its request is being processed. */
function idleOf(socket: Connection, now: number): Idle | undefined {
  const turn = turnsOf(socket)
  if (turn.idle !== undefined) return turn.idle()
  const { current, since } = turn
  if (current === undefined) return { rank: idleRanks.quiet, since }
  if (now - since < slowAfter) return undefined
  if (!current.req.complete) return { rank: idleRanks.sending, since }
  return socket.writableLength > 0 ? { rank: idleRanks.unread, since } : undefined
}

/** Hands a connection to another protocol, which reports how expendable it is. */
export function upgraded(socket: Socket, idle: () => Idle): void {
  turnsOf(socket).idle = idle
}

export interface SharesOptions {
  readonly limits: Pick<ApiLimits, 'connections' | 'connectionsPerAddress'>
  /** Whether an address may have all connections: that of a proxy, which many clients share. */
  exempt(address: string | undefined): boolean
}

/**
 * Connections shared out among addresses: every address has a maximum, this machine half of all. No free one → a new connection
 * replaces the most expendable one of its own share, or of the largest share.
 */
export class ConnectionShares {
  readonly #options: SharesOptions
  readonly #shares = new Map<string, Set<Connection>>()
  #count = 0

  constructor(options: SharesOptions) {
    this.#options = options
  }

  /** Counts a connection until it closes, here and in no other shares; returns false, and changes nothing, if there is no room. */
  admit(socket: Connection): boolean {
    const { remoteAddress } = socket
    const { limits, exempt } = this.#options
    const share = shareOf(remoteAddress)
    const own = this.#shares.get(share) ?? new Set()
    const full = !exempt(remoteAddress) && own.size >= this.#mostOf(share)
    const largest = () => [...this.#shares.values()].reduce((a, b) => (b.size > a.size ? b : a), own)
    if ((full && !makeRoom(own)) || (!full && this.#count >= limits.connections && !makeRoom(largest()))) return false
    const turn = turnsOf(socket)
    turn.leave?.()
    this.#count++
    this.#shares.set(share, own.add(socket))
    const leave = () => {
      if (!own.delete(socket)) return
      this.#count--
      if (own.size === 0 && this.#shares.get(share) === own) this.#shares.delete(share)
    }
    turn.leave = leave
    socket.once('close', leave)
    return true
  }

  #mostOf(share: string): number {
    const { connections, connectionsPerAddress } = this.#options.limits
    if (share === loopbackShare) return Math.max(1, Math.floor(connections / 2))
    return Math.min(connectionsPerAddress, connections)
  }
}

function makeRoom(members: Iterable<Connection>): boolean {
  const going = leastMissed(members)
  if (going === undefined) return false
  going.destroy()
  return true
}

/** Shares out the connections of a server; one without room is closed. */
export function shareConnections(server: Server, shares: ConnectionShares): void {
  server.on('connection', (socket: Connection) => {
    if (!shares.admit(socket)) socket.destroy()
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

/** Calls `stuck` with each connection whose request body has made no progress for `milliseconds`. */
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

/** The answer in progress on a connection. */
export function currentAnswer(socket: Socket): ServerResponse | undefined {
  return turnsOf(socket).current
}

/** Answers that a connection still owes when its input cannot be parsed. */
export interface Owed {
  /** The answer to the last whole request. */
  readonly last: ServerResponse | undefined
  /** That to the request whose body is broken; undefined where it is the beginning of a request that is. */
  readonly broken: ServerResponse | undefined
}

/** The answers that come before a refusal of what follows; undefined if it was asked for already. The broken request gets no turn any more. */
export function owedBefore(socket: Socket): Owed | undefined {
  const turn = turnsOf(socket)
  if (turn.refused) return undefined
  turn.refused = true
  const all = turn.current === undefined ? [] : [turn.current, ...turn.waiting]
  const broken = all.at(-1)?.req.complete === false ? all.pop() : undefined
  if (broken !== undefined) turn.waiting.pop()
  return { last: all.at(-1), broken }
}

/** Closes a connection at once in the middle of its input. */
function discard(socket: Connection): void {
  dropRequests(socket)
  socket.destroy()
}

/**
 * Drops the requests that still come on a connection. The parser would make them of the rest of its input, and Node would keep them until the
 * connection is gone. A Node without this member only loses that saving.
 */
export function dropRequests(socket: Connection & { parser?: { onIncoming?: () => number } | null }): void {
  const withoutBody = 1
  if (socket.parser) socket.parser.onIncoming = () => withoutBody
}

/** Closes the connections with most unread bytes as soon as all together have more than `limit`. */
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
