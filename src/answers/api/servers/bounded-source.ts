import type { ResolveOptions } from '../../../identity/did/resolution.js'
import { WorkSlots } from '../../../base/runtime/work-slots.js'
import type { IdentifierSource, SourceAnswer } from '../../identifiers/identifiers.js'

/** @tuning count: requests of a driver to its node at once */
export const maxAsked = 32
/** @limit count: requests that wait for their turn to ask the node; more are refused as `busy` */
export const maxWaiting = 512

/** A source behind a network: bounds what is asked of it at once, and asks nothing for a client that has left. */
export class BoundedSource implements IdentifierSource {
  readonly #source: IdentifierSource
  readonly #places = new WorkSlots(maxAsked, maxWaiting, 'requests to the node')

  constructor(source: IdentifierSource) {
    this.#source = source
  }

  /** Rejects as {@link ask} does. */
  resolve(
    did: string,
    options: ResolveOptions,
    request: { readonly signal?: AbortSignal } = {},
  ): Promise<SourceAnswer> {
    return this.ask(() => this.#source.resolve(did, options, request), request.signal)
  }

  /** Asks when it is its turn. Rejects with `busy` where too many wait already, and with the signal's reason when it aborts before. */
  ask<T>(question: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#places.run(question, { signal })
  }
}
