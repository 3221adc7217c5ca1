import { type Link, LinkError, type Protocol } from '../../../src/network/link.js'
import type { MemoryTransport } from './memory-transport.js'

/** One end of a connection in a {@link MemoryNetwork}. */
export class MemoryLink implements Link {
  readonly publicKey: Uint8Array
  readonly peer: string
  readonly inbound: boolean
  readonly host: string
  readonly port: number
  readonly near: MemoryTransport
  readonly far: MemoryTransport
  /** The other end. */
  other!: MemoryLink
  closed = false
  /** Ends of the last request of each protocol. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #waiting = new Set<(error: LinkError) => void>()

  constructor(near: MemoryTransport, far: MemoryTransport, inbound: boolean, port: number) {
    this.near = near
    this.far = far
    this.inbound = inbound
    this.port = port
    this.publicKey = far.publicKey
    this.peer = far.name
    this.host = far.host
  }

  request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const before = this.#turns.get(protocol.name) ?? Promise.resolve()
    const answer = before.then(() => this.#request(protocol, body.slice()))
    this.#turns.set(
      protocol.name,
      answer.catch(() => {}),
    )
    return answer
  }

  close(): void {
    if (this.closed) return
    this.end()
    this.near.network.carry(this.near.node, this.far.node, () => this.other.end())
  }

  /** Ends both sides at once. */
  cut(): void {
    this.end()
    this.other.end()
  }

  /** Ends this side, which sent something to a side that is closed, after a delay. */
  reset(): void {
    this.near.network.carry(this.far.node, this.near.node, () => this.end())
  }

  /** Ends this side alone. */
  end(): void {
    if (this.closed) return
    this.closed = true
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const fail of waiting) fail(new LinkError('closed', `the connection to ${this.peer} ended`))
    this.near.ended(this)
  }

  /** Settles only while the node at this end lives. */
  #request(protocol: Protocol, body: Uint8Array): Promise<Uint8Array> {
    const { network, node } = this.near
    return new Promise((resolve, reject) => {
      if (!this.near.alive) return
      if (this.closed) return reject(new LinkError('closed', `the connection to ${this.peer} is closed`))
      if (body.length > protocol.request) return reject(new LinkError('too-long', `a request of ${body.length} bytes`))
      const settle = (act: () => void) => {
        if (!this.#waiting.delete(fail) || !this.near.alive) return
        cancel()
        act()
      }
      const fail = (error: LinkError) => {
        this.#waiting.delete(fail)
        cancel()
        if (this.near.alive) reject(error)
      }
      this.#waiting.add(fail)
      const cancel = network.time.after(protocol.timeout, () =>
        settle(() => reject(new LinkError('timeout', `${this.peer} did not answer in time`))),
      )
      const loss = network.weather.loss(protocol.name)
      const back = (act: () => void) => network.carry(this.far.node, node, () => settle(act), loss)
      const arrive = () => {
        if (this.other.closed) return this.reset()
        network.tap.arrived?.(node, this.far.node, `? ${protocol.name}`, body)
        const refuse = () => back(() => reject(new LinkError('refused', `${this.peer} does not answer this`)))
        this.far.answer(this.other, protocol, body).then((answer) => {
          if (!this.far.alive) return
          const whole = answer.slice()
          if (whole.length <= protocol.answer) {
            return back(() => {
              network.tap.arrived?.(this.far.node, node, `! ${protocol.name}`, whole)
              resolve(whole)
            })
          }
          return back(() => reject(new LinkError('too-long', `an answer of ${whole.length} bytes`)))
        }, refuse)
      }
      network.carry(node, this.far.node, arrive, loss)
    })
  }
}
