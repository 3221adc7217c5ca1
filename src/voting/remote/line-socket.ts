import type { Socket } from 'node:net'

/** Lines of JSON over a socket, in both directions. */
export interface LineSocket {
  send(value: object): void
  close(): void
}

interface LineHandlers {
  /** Takes the value of a line. */
  line(value: unknown): void
  /** The socket is closed, by either side; called once, with the reason. */
  closed(reason: string): void
}

/** Bytes of the path of a socket, by the system; Windows has names of another kind. */
const longestPaths: Partial<Record<NodeJS.Platform, number>> = { linux: 107, darwin: 103, freebsd: 103 }

/** The fault of a path as that of a socket; undefined: none. Node 20 cuts one that is too long: the socket is elsewhere then. */
export function socketPathFault(path: string): string | undefined {
  const most = longestPaths[process.platform] ?? Infinity
  const size = Buffer.byteLength(path)
  return size > most ? `its path has ${size} bytes, and that of a socket at most ${most}` : undefined
}

/** Reads lines of at most so many bytes; a longer one, or one that is no JSON, closes the socket. */
export function lineSocket(socket: Socket, most: number, handlers: LineHandlers): LineSocket {
  let parts: Buffer[] = []
  let size = 0
  let reason = 'it was closed'
  const tooLong = `a line has more than ${most} bytes`
  const fail = (why: string) => {
    reason = why
    socket.destroy()
  }
  socket.setNoDelay(true)
  socket.on('data', (data: Buffer) => {
    let start = 0
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      if (size + end - start > most) return fail(tooLong)
      parts.push(data.subarray(start, end))
      start = end + 1
      const text = Buffer.concat(parts).toString()
      parts = []
      size = 0
      const value = parsed(text)
      if (value === undefined) return fail('a line is no JSON')
      handlers.line(value)
      if (socket.destroyed) return
    }
    parts.push(data.subarray(start))
    size += data.length - start
    if (size > most) fail(tooLong)
  })
  socket.on('error', (error) => (reason = error.message))
  socket.on('close', () => handlers.closed(reason))
  return {
    send: (value) => {
      if (!socket.destroyed) socket.write(`${JSON.stringify(value)}\n`)
    },
    close: () => socket.destroy(),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
