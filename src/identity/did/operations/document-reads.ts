import { InvariantError } from '../../../base/errors/rule-error.js'
import { ownText } from '../../../base/primitives/bytes.js'
import { keyOf, type KnownDocument } from '../known-document.js'
import type { Credential } from '../model.js'
import type { DidContext, DidState, IssuerKey, ReadDocument } from '../state.js'
import { issuerState } from './issued-credential.js'

/** The documents that one operation reads, each counted before it is read. */
export class DocumentReads {
  readonly context: DidContext
  readonly #documents = new Map<string, ReadDocument>()
  readonly #issuerKeys = new Map<string, IssuerKey>()

  constructor(context: DidContext) {
    this.context = context
  }

  get documents(): readonly ReadDocument[] {
    return [...this.#documents.values()]
  }

  get issuerKeys(): readonly IssuerKey[] {
    return [...this.#issuerKeys.values()]
  }

  /** The last document of the DID that an operation changes, or that declares or revokes. */
  own(state: DidState, did: string): KnownDocument {
    const document = this.#read(state, { issuer: false })
    if (document.id === did) return document
    throw new InvariantError(`the state of ${document.id} was given for an operation of ${did}`)
  }

  /** The key of another DID that a credential names, in its issuer's last document; undefined if that has no such key. */
  keyOfIssuer(credential: Credential): Uint8Array | undefined {
    const { issuer, proof } = credential
    const state = issuerState(credential, this.context)
    const { authentication } = this.#read(state, { issuer: true })
    const key = authentication.get(proof.verificationMethod)
    if (key === undefined) return undefined
    // A part of a text keeps all of it in memory, and the pool keeps this for long.
    const [did, id] = [ownText(issuer), ownText(proof.verificationMethod)]
    const { documentPayloadSize: payloadSize } = state
    this.#issuerKeys.set(`${did} ${id}`, { issuer: did, credential: ownText(credential.id), id, key, payloadSize })
    return keyOf(authentication, id)
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
