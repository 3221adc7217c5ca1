import { InvariantError, RuleError } from '../../../base/errors/rule-error.js'
import { didProgramHash } from '../../../base/primitives/address.js'
import { equalBytes, ownText } from '../../../base/primitives/bytes.js'
import { defined } from '../../../base/primitives/defined.js'
import { keyOfIdentifier } from '../../../base/primitives/did-key.js'
import { didPart } from '../identifier.js'
import { keyOf, type KnownDocument } from '../known-document.js'
import type { Credential } from '../model.js'
import type { DidContext, DidState, IssuerKey, ReadDocument } from '../state.js'
import { controllerState, issuerState, refuseControllerKey, requireUnexpired } from './issued-credential.js'

/** Another DID on which an operation rests, and its key where that counts. */
interface Noted {
  readonly issuer: string
  readonly state: DidState
  readonly credential?: string
  readonly key?: { readonly id: string; readonly bytes: string }
  readonly expiresAt?: number
}

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
    const document = this.#read(state, { issuer: true })
    const signer = didPart(proof.verificationMethod)
    const isByController = signer !== issuer && document.control?.controllers.includes(signer) === true
    const key = this.#keyIn(state, document, { id: proof.verificationMethod, credential: credential.id })
    if (!isByController) return key
    // Who controls the issuer may change while the operation waits.
    this.#note({ issuer, state, credential: credential.id, key: { id: signer, bytes: '' } })
    return this.keyOfController(signer, proof.verificationMethod)
  }

  /** The state of a controller, who must exist and not be deactivated; else `did-controller`. */
  controller(did: string): DidState {
    const state = controllerState(did, this.context)
    this.#note({ issuer: did, state })
    return state
  }

  /** An authentication key of a controller's last document; `did-controller` if that has no such key, or has expired. */
  keyOfController(did: string, id: string): Uint8Array {
    const state = this.controller(did)
    const document = this.#read(state, { issuer: true })
    const { expiresAt } = document
    requireUnexpired(did, expiresAt, this.context)
    const key = this.#keyIn(state, document, { id, expiresAt })
    if (key === undefined) refuseControllerKey(id)
    return key
  }

  /** The default key of a controller under an id; `did-controller` for any other key: it stays the same for ever, and so do the proofs by it. */
  defaultKeyOfController(did: string, id: string): Uint8Array {
    const key = this.keyOfController(did, id)
    const hash = keyOfIdentifier(did.slice(did.lastIndexOf(':') + 1))
    if (hash !== undefined && equalBytes(didProgramHash(key), hash)) return key
    throw new RuleError('did-controller', `${id} is not the default key of its DID, which a proof needs`)
  }

  /** A key that the last document of another DID has, noted as one on which the operation rests. */
  #keyIn(
    state: DidState,
    { id: did, authentication }: KnownDocument,
    { id, ...more }: { readonly id: string; readonly credential?: string; readonly expiresAt?: number },
  ): Uint8Array | undefined {
    const key = authentication.get(id)
    if (key === undefined) return undefined
    this.#note({ issuer: did, state, ...more, key: { id, bytes: key } })
    return keyOf(authentication, id)
  }

  #note({ issuer, state, credential, key, expiresAt: until }: Noted): void {
    // A part of a text keeps all of it in memory, and the pool keeps this for long.
    const [did, id] = [ownText(issuer), ownText(key?.id ?? '')]
    // Of a DID that only has to be valid the document is not read, nor its size, which is in it.
    const payloadSize = key === undefined ? undefined : state.documentPayloadSize
    // The key of a controller may be one of an issuer as well, which counts whether that has expired or not.
    const expiresAt = until ?? this.#issuerKeys.get(`${did} ${id}`)?.expiresAt
    const said = credential === undefined ? {} : { credential: ownText(credential) }
    this.#issuerKeys.set(`${did} ${id}`, {
      issuer: did,
      ...said,
      id,
      key: key?.bytes ?? '',
      ...defined({ payloadSize, expiresAt }),
    })
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
