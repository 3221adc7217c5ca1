import { InvariantError } from '../../errors/rule-error.js'
import type { KnownDocument } from '../known-document.js'
import type { DidContext, DidState, ReadDocument } from '../state.js'

/** The documents that one operation reads, each counted before it is read. */
export class DocumentReads {
  readonly context: DidContext
  readonly #documents = new Map<string, ReadDocument>()

  constructor(context: DidContext) {
    this.context = context
  }

  get documents(): readonly ReadDocument[] {
    return [...this.#documents.values()]
  }

  /** The last document of the DID that an operation changes, or that declares or revokes. */
  own(state: DidState, did: string): KnownDocument {
    const document = this.#read(state, { issuer: false })
    if (document.id === did) return document
    throw new InvariantError(`the state of ${document.id} was given for an operation of ${did}`)
  }

  /** The last document of a DID that issued a credential. */
  ofIssuer(state: DidState): KnownDocument {
    return this.#read(state, { issuer: true })
  }

  #read(state: DidState, { issuer }: { issuer: boolean }): KnownDocument {
    const { documentTxid: txid } = state
    if (!this.#documents.has(txid)) {
      const document = { txid, payloadSize: state.documentPayloadSize, issuer }
      this.context.reading?.(document)
      this.#documents.set(txid, document)
    }
    return state.document
  }
}
