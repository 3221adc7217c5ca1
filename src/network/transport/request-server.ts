import type { Clock, Log } from '../../base/runtime/env.js'
import { LinkError, type LinkHandler, type Protocol } from '../link.js'
import { Frames } from './frames.js'
import type { Libp2pLink } from './libp2p-link.js'
import type { Stream } from './libp2p-node.js'
import type { TransportLimits } from './transport-limits.js'
import { Unsent } from './unsent.js'

/** Serves requests of peers. Memory of unread answers is bounded: see {@link Unsent}. */
export class RequestServer {
  readonly #owner: LinkHandler
  readonly #log: Log
  readonly #unsent: Unsent<Libp2pLink>

  constructor(owner: LinkHandler, log: Log, limits: TransportLimits, clock: Clock) {
    this.#owner = owner
    this.#log = log
    this.#unsent = new Unsent(limits, clock)
  }

  /** Serves a stream opened by the peer until either end closes it. Never rejects. */
  async serve(link: Libp2pLink, protocol: Protocol, stream: Stream): Promise<void> {
    const { timers, limits } = link
    const frames = new Frames(stream, protocol.request, timers, limits)
    try {
      for (;;) {
        const body = await frames.read(limits.answererIdle)
        if (body === undefined) return
        const isLarge = protocol.answer > limits.smallAnswer
        if (isLarge && this.#unsent.rests(link)) throw new LinkError('refused', 'it did not take its last answers')
        const answer = await this.#owner.answer(link, protocol, body)
        if (answer.length > protocol.answer) {
          this.#log.error({ peer: link.peer, protocol: protocol.name, bytes: answer.length }, 'an answer is too long')
          return
        }
        await this.#send(link, frames, answer)
      }
    } catch (error) {
      // Failure → no answer; the peer gets no reason.
      this.#log.debug({ peer: link.peer, protocol: protocol.name, error: (error as Error).message }, 'stream ended')
    } finally {
      frames.close()
    }
  }

  async #send(link: Libp2pLink, frames: Frames, answer: Uint8Array): Promise<void> {
    const crowded = () => frames.abort(new LinkError('busy', 'others wait for the memory of this answer'))
    const held = this.#unsent.hold(link, answer.length, crowded)
    if (held === undefined) throw new LinkError('busy', 'it takes too little of its other answers')
    try {
      await frames.write(answer, (bytes) => held.took(bytes))
    } catch (error) {
      if (error instanceof LinkError && error.failure === 'timeout') this.#unsent.rest(link)
      throw error
    } finally {
      held.end()
    }
  }
}
