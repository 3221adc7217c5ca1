import type { RuleError } from '../../../base/errors/rule-error.js'
import type { AnswerStream } from '../streams/answer-stream.js'
import type { HeightGate } from './height-gate.js'
import type { Exchange } from './exchange.js'

/** A complete answer, or one whose body is made while it is sent. */
export interface HttpAnswer {
  /** 200 if absent. */
  readonly status?: number
  /** Names in lowercase. */
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent as UTF-8. */
  readonly body?: string | Buffer | AnswerStream | undefined
  /** Called once the answer is sent. */
  sent?(): void
}

/** An answer that refuses a request. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Writes the refusal of a request for `url`; `accept` is its header, where there is one. */
export type RefusalForm = (
  rule: RuleError,
  asked: { readonly url: string; readonly accept?: string | undefined },
) => Refusal

/** One path of a port: who may ask, what is read of the request, and what answers it. Of several rows at a path each has its methods. */
export interface PathRow {
  /** As the router takes it: `:name` is a segment, `*` at the end any rest. */
  readonly path: string
  /** A path that takes GET takes HEAD too, and `Allow` lists it. */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST')[]
  /** How this path refuses; the first row of a path decides for all. */
  readonly form: RefusalForm
  /** Bytes of a POST's body at most; absent: no body is read. */
  readonly body?: number
  /** Whether pages of other sites may not read it. */
  readonly ownSite?: boolean
  /** Whether its answers are calls, which the live log shows one by one. */
  readonly showsCalls?: boolean
  /** Whether supervisors ask it: they restart what does not answer, so it counts for no rate. */
  readonly isProbe?: boolean
  /** Headers of every answer that {@link run} gives or refuses. */
  readonly headers?: Readonly<Record<string, string>>
  /** The chain that it answers from, at whose height a request may have to wait; absent: answers name no height. */
  readonly heights?: HeightGate
  /** Throws before the body is read. */
  refuse?(exchange: Exchange): void
  /** An earlier answer that still holds. */
  kept?(exchange: Exchange): HttpAnswer | undefined
  /** Refusals are RuleErrors. */
  run(exchange: Exchange): HttpAnswer | Promise<HttpAnswer>
}
