import type { Log } from '../../env.js'
import { Frames } from '../frames.js'
import { LinkError, type LinkOwner, type Protocol } from '../link.js'
import type { Stream } from './libp2p.js'
import type { Libp2pLink } from './link.js'

/** Answers what others ask. What it holds in answers that others are slow to take is bounded over all links. */
export class Answers {
  readonly #owner: LinkOwner
  readonly #log: Log
  /** Streams that an answer is being sent on, the oldest first, with the bytes of that answer. */
  readonly #unsent = new Map<Frames, number>()
  #unsentBytes = 0

  constructor(owner: LinkOwner, log: Log) {
    this.#owner = owner
    this.#log = log
  }

  /** Serves a stream that the other side opened, until either side ends it. Never rejects. */
  async serve(link: Libp2pLink, protocol: Protocol, stream: Stream): Promise<void> {
    const { timers, limits } = link
    const frames = new Frames(stream, protocol.request, timers, limits)
    try {
      for (;;) {
        const body = await frames.read(limits.answererIdle)
        if (body === undefined) return
        const answer = await this.#owner.answer(link, protocol, body)
        if (answer.length > protocol.answer) {
          this.#log.error({ peer: link.peer, protocol: protocol.name, bytes: answer.length }, 'an answer is too long')
          return
        }
        await this.#send(frames, answer, limits.answersUnsent)
      }
    } catch (error) {
      // Not answering is the answer.
      this.#log.debug({ peer: link.peer, protocol: protocol.name, error: (error as Error).message }, 'stream ended')
    } finally {
      frames.close()
    }
  }

  async #send(frames: Frames, answer: Uint8Array, most: number): Promise<void> {
    this.#unsent.set(frames, answer.length)
    this.#unsentBytes += answer.length
    for (const slow of this.#unsent.keys()) {
      if (this.#unsentBytes <= most || slow === frames) break
      this.#forget(slow)
      slow.abort(new LinkError('timeout', 'others wait for the memory of this answer'))
    }
    try {
      await frames.write(answer)
    } finally {
      this.#forget(frames)
    }
  }

  #forget(frames: Frames): void {
    this.#unsentBytes -= this.#unsent.get(frames) ?? 0
    this.#unsent.delete(frames)
  }
}
