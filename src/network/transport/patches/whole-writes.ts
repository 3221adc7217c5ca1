/** The connection of a socket, as @libp2p/tcp makes it. */
export interface SocketConnection {
  readonly socket: { cork(): void; uncork(): void }
  sendData(data: unknown): unknown
}

/**
 * Writes all pieces of a message to the socket at once. @libp2p/tcp writes each by itself, and Noise hands it the two bytes of a length before each
 * ciphertext: one more system call, packet and wake-up of the other side.
 */
export function writeWhole(connection: object): void {
  const { socket, sendData } = connection as Partial<SocketConnection>
  // Tests connect by other means.
  if (socket === undefined || sendData === undefined) return
  ;(connection as SocketConnection).sendData = (data) => {
    socket.cork()
    try {
      return sendData.call(connection, data)
    } finally {
      socket.uncork()
    }
  }
}
