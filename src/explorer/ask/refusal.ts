/** Why a question of a page has no answer. */

/** A refusal of a method or of a REST row. */
export class Refusal extends Error {
  readonly code: number
  /** The fault and its place; empty without details from the node. */
  readonly detail: string

  constructor(code: number, message: string, detail: string) {
    super(message)
    this.code = code
    this.detail = detail
  }
}

/** No answer of the node came: it has stopped, the network is away, or a proxy answered instead; see the message. */
export class NodeGone extends Error {}

/** Codes of JSON-RPC that pages act on. */
export const codes = {
  unknownMethod: -32601,
  parameters: -32602,
  unknownTransaction: -32002,
  unknownBlock: -32004,
  busy: -32005,
  pruned: -32021,
}
