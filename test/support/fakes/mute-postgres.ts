import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** Bytes of a message of the protocol. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeInt32BE(4 + content.length, 1)
  return Buffer.concat([head, content])
}

const tooMany = message('E', Buffer.from('SFATAL\0C53300\0Mtoo many connections\0\0'))
const ready = message('Z', Buffer.from('I'))
const complete = Buffer.concat([message('C', Buffer.from('SELECT 1\0')), ready])
/** One row of one column of text. */
function rowOf(column: string, value: string): Buffer {
  const described = [
    Buffer.from([0, 1]),
    Buffer.from(`${column}\0`),
    Buffer.alloc(9),
    Buffer.from([25]),
    Buffer.alloc(8),
  ]
  const length = [0, 0, 0, value.length]
  const row = Buffer.concat([Buffer.from([0, 1, ...length]), Buffer.from(value)])
  return Buffer.concat([message('T', Buffer.concat(described)), message('D', row), complete])
}

/** The server takes writes. */
const takesWrites = rowOf('r', 'f')
/** The lock of a filling is free; the statement has parameters. */
const isFree = Buffer.concat([message('1', Buffer.alloc(0)), message('2', Buffer.alloc(0)), rowOf('free', 't')])
const takesRows = message('G', Buffer.from([1, 0, 2, 0, 1, 0, 1]))
const copyDone = message('c', Buffer.alloc(0))

/**
 * Speaks as much of the protocol of PostgreSQL as a connection and a COPY need, and never answers some statements. Rows of a COPY are the
 * statement `CopyData`, their end is `CopyDone`: it stops reading where they match.
 */
export class MutePostgres {
  /** Statements, also those without an answer. */
  readonly statements: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #mute: RegExp
  #reads = false
  /** Connections that it lets in. */
  most = Infinity
  /** Those on which rows come. */
  readonly #copying = new WeakSet<Socket>()

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

  /** Reads on where it stopped: only then it learns that a connection has ended. */
  resume(): void {
    this.#reads = true
    for (const socket of this.#sockets) socket.resume()
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
      else if (this.#sockets.size > this.most) socket.end(tooMany)
      else socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]))
      isStarted = true
    })
  }

  #answer(socket: Socket, data: Buffer): void {
    const statement = statementIn(data, this.#copying.has(socket))
    if (statement === undefined) return
    this.statements.push(statement)
    if (this.#mute.test(statement)) {
      if (statement === 'CopyData' && !this.#reads) socket.pause()
      return
    }
    if (statement.startsWith('COPY')) this.#copying.add(socket)
    if (statement === 'CopyDone') this.#copying.delete(socket)
    const answer = answers.find(([begin]) => begin.test(statement))?.[1] ?? complete
    socket.write(answer)
  }
}

const answers: readonly (readonly [statement: RegExp, answer: Buffer])[] = [
  [/^CopyData/, Buffer.alloc(0)],
  [/^COPY/, takesRows],
  [/pg_try_advisory_lock/, isFree],
  [/AS r/, takesWrites],
]

/** The statement that some bytes of a client are; undefined: none. */
function statementIn(data: Buffer, isCopying: boolean): string | undefined {
  if (isCopying) return data.subarray(-copyDone.length).equals(copyDone) ? 'CopyDone' : 'CopyData'
  if (data[0] === 'P'.charCodeAt(0)) return data.subarray(6, data.indexOf(0, 6)).toString()
  // A statement that was prepared on this connection.
  if (data[0] === 'B'.charCodeAt(0)) return 'Bind'
  return data[0] === 'Q'.charCodeAt(0) ? data.subarray(5, -1).toString() : undefined
}
