/** Errors of DID Resolution and their forms in an answer (RFC 9457). */

const core = 'https://www.w3.org/ns/did#'

export const problems = {
  INVALID_DID: { status: 400, title: 'The DID is not valid.' },
  INVALID_DID_URL: { status: 400, title: 'The DID URL is not valid.' },
  INVALID_OPTIONS: { status: 400, title: 'The options are not valid.' },
  NOT_FOUND: { status: 404, title: 'What the DID or the DID URL names does not exist.' },
  REPRESENTATION_NOT_SUPPORTED: { status: 406, title: 'There is no such representation.' },
  METHOD_NOT_SUPPORTED: { status: 501, title: 'The DID method is not supported.' },
  FEATURE_NOT_SUPPORTED: { status: 501, title: 'The feature is not supported.' },
  INTERNAL_ERROR: { status: 500, title: 'The resolver cannot answer.' },
  INVALID_RELATIONSHIP_FOR_VERIFICATION_METHOD: {
    status: 500,
    title: 'The DID does not authorise the verification method for the relationship.',
    type: 'https://w3id.org/security#INVALID_RELATIONSHIP_FOR_VERIFICATION_METHOD',
  },
} as const satisfies Record<string, { status: number; title: string; type?: string }>

export type ProblemName = keyof typeof problems

/** The members that an answer shows of an error. */
export interface ProblemDetails {
  /** A URI; `about:blank` for what HTTP itself refuses. */
  readonly type: string
  readonly title: string
  readonly detail: string
}

export interface ProblemOptions {
  /** Seconds. */
  readonly retryAfter?: number
  readonly metadata?: object
  /** Another status of HTTP than the usual one of the problem. */
  readonly status?: number
}

/** A request that gets an error for an answer. */
export class Problem extends Error {
  readonly problem: ProblemName
  /** Seconds after which another attempt makes sense. */
  readonly retryAfter: number | undefined
  /** Metadata of the result beside the error. */
  readonly metadata: object
  /** Status of HTTP. */
  readonly status: number

  constructor(
    problem: ProblemName,
    detail: string,
    { retryAfter, metadata = {}, status = problems[problem].status }: ProblemOptions = {},
  ) {
    super(detail)
    this.problem = problem
    this.retryAfter = retryAfter
    this.metadata = metadata
    this.status = status
  }

  get details(): ProblemDetails {
    const { title, ...known }: { title: string; type?: string } = problems[this.problem]
    return { type: known.type ?? core + this.problem, title, detail: this.message }
  }
}
