import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Bytes of a message of the protocol. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(4 + content.length, 1)
  return Buffer.concat([head, content])
}

const ready = message('Z', Buffer.from('I'))
const complete = Buffer.concat([message('C', Buffer.from('SELECT 1\0')), ready])
/** One row of one column of text, `f`: the server takes writes. */
const takesWrites = Buffer.concat([
  message('T', Buffer.concat([Buffer.from('\0\u0001r\0'), Buffer.alloc(9), Buffer.from([25]), Buffer.alloc(8)])),
  message('D', Buffer.from([0, 1, 0, 0, 0, 1, 0x66])),
  complete,
])

/** Speaks as much of the protocol of PostgreSQL as a connection needs, and never answers some statements. */
export class MutePostgres {
  /** Statements, also those without an answer. */
  readonly statements: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #mute: RegExp

  private constructor(mute: RegExp) {
    this.#mute = mute
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async create(mute: RegExp): Promise<MutePostgres> {
    const made = new MutePostgres(mute)
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get url(): string {
    return `postgres://user:word@127.0.0.1:${(this.#server.address() as AddressInfo).port}/database`
  }

  /** Number of connections. */
  get connections(): number {
    return this.#sockets.size
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #serve(socket: Socket): void {
    let isStarted = false
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', (data) => {
      if (isStarted) this.#answer(socket, data)
      else socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]))
      isStarted = true
    })
  }

  #answer(socket: Socket, data: Buffer): void {
    if (data[0] !== 'Q'.charCodeAt(0)) return
    const statement = data.subarray(5, -1).toString()
    this.statements.push(statement)
    if (this.#mute.test(statement)) return
    socket.write(statement.includes('AS r') ? takesWrites : complete)
  }
}
