import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { currentAnswer, dropRequests } from './connections.js'

/** @limit ms: time in which a client may go on to send what was refused, until its connection is closed */
const lingering = 5000

/**
 * Ends a connection once all is written, and drops what still comes until the client closes it. The system resets a connection that is
 * closed with unread input, and a client that is still sending would lose the answer (RFC 9112 §9.6).
 */
export function lingeringClose(socket: Duplex): void {
  // One that asked for another protocol has no listener any more: its reset would end the process.
  socket.on('error', () => socket.destroy())
  socket.resume()
  socket.end(() => {
    const timer = setTimeout(() => socket.destroy(), lingering)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
  })
}

/** Closes connections that way after an answer to a request that is still being sent. */
export function lingerWhereSending(server: Server): void {
  server.on('connection', (socket: Socket) => {
    // Node calls it after the last answer of a connection.
    const closeSoon = socket.destroySoon.bind(socket)
    socket.destroySoon = () => {
      if (currentAnswer(socket)?.req.complete !== false) return closeSoon()
      dropRequests(socket)
      lingeringClose(socket)
    }
  })
}
