import type { ApiContext } from '../api-context.js'
import type { ParameterKind } from '../parameters.js'

/** An answer in a form of its own, without envelope. */
export interface PlainAnswer {
  /** HTTP status. */
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** A path on the REST port beside the REST interface, for monitoring. GET and HEAD. */
export interface PlainRoute {
  /** Matches exactly. */
  readonly path: string
  /** Whether pages of other sites may not read it. */
  readonly ownSite?: boolean
  /** Whether supervisors ask it. */
  readonly isProbe?: boolean
  /** One sentence for the reference. */
  readonly summary: string
  /** Parameters of the query, with their forms and meanings. */
  readonly query?: Readonly<Record<string, { readonly kind: ParameterKind; readonly meaning: string }>>
  /** When it answers 503; absent: never. */
  readonly fails?: string
  /** `query`: text after the question mark. A RuleError for one that this path does not take. */
  answer(context: ApiContext, query: string): PlainAnswer | Promise<PlainAnswer>
}
