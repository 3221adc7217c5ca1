import type { ApiContext } from './api-context.js'

/** An answer in a form of its own, outside of the envelopes. */
export interface PlainAnswer {
  /** HTTP status. */
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** A path on the REST port that stands beside the REST interface, for machines that look after the node. GET and HEAD. */
export interface PlainRoute {
  /** Matches exactly. */
  readonly path: string
  /** One sentence for the reference. */
  readonly summary: string
  answer(context: ApiContext): PlainAnswer | Promise<PlainAnswer>
}
