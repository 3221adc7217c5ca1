import type { JsonObject, JsonValue } from '../../base/primitives/strict-json.js'

/** The one type of key and proof there is. */
export const signatureType = 'ECDSAsecp256r1'

/** A key of a document. */
export interface DidKey {
  /** Absolute. */
  readonly id: string
  /** A DID: the document's own, or for a key of `authorization` another one. */
  readonly controller: string
  readonly publicKeyBase58: string
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array
}

/** Curves of keys with which others encrypt to a DID. */
export type AgreementCurve = 'P-256' | 'X25519'

/** A key with which others encrypt to the DID. It signs nothing. */
export interface AgreementKey {
  /** Absolute. */
  readonly id: string
  readonly curve: AgreementCurve
  /** `z`, and base58 of the multicodec and the bytes of the key. */
  readonly publicKeyMultibase: string
  /** 33 bytes of a compressed point of P-256, or the 32 of X25519. */
  readonly publicKey: Uint8Array
}

/** Place of a service: a text, an object, or a list of these. */
export type Endpoint = string | JsonObject | JsonValue[]

export interface Service {
  readonly id: string
  readonly type: string
  readonly serviceEndpoint: Endpoint
  /** Every other member. */
  readonly properties: JsonObject
}

export interface CredentialProof {
  readonly created?: string
  /** Absolute id of the key. */
  readonly verificationMethod: string
  readonly nonce?: string
  readonly realm?: string
  readonly signatureText: string
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}

/** A credential in normalised form. */
export interface Credential {
  readonly context: readonly string[]
  readonly id: string
  /** Sorted. */
  readonly types: readonly string[]
  readonly issuer: string
  readonly issuanceDate: string
  readonly expirationDate?: string
  readonly subject: string
  /** The members of credentialSubject without its id. */
  readonly claims: JsonObject
  readonly proof: CredentialProof
  /** Canonical text without the proof: what the issuer signs. */
  readonly signingText: string
  /** Canonical text with the proof. */
  readonly text: string
}

export interface DocumentProof {
  readonly created?: string
  /** Absolute id of the key. */
  readonly creator: string
  readonly signatureText: string
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}

/** A document in normalised form: ids absolute, defaults filled in, lists sorted, embedded keys moved to `keys`. */
export interface DidDocument {
  readonly context: readonly string[]
  readonly id: string
  /** DIDs that control this one, sorted; none: its default key does. */
  readonly controllers: readonly string[]
  /** `m:n`: signatures of m controllers are needed. */
  readonly multisig?: string
  /** Other names of who has the DID: absolute URIs, sorted. */
  readonly alsoKnownAs: readonly string[]
  readonly keys: readonly DidKey[]
  /** Key id → key, in order of the ids; the default key is among them. */
  readonly authentication: ReadonlyMap<string, DidKey>
  /** Key id → key of another controller, in order of the ids. */
  readonly authorization: ReadonlyMap<string, DidKey>
  /** Sorted by their ids. */
  readonly keyAgreement: readonly AgreementKey[]
  readonly credentials: readonly Credential[]
  readonly services: readonly Service[]
  readonly expires: string
  /** `expires` in Unix seconds. */
  readonly expiresAt: number
  /** The own key whose bytes derive the DID; a DID with a name has none. */
  readonly defaultKey?: DidKey
  /** On a chain one, or as many as {@link multisig} needs. */
  readonly proofs: readonly DocumentProof[]
  /** Canonical text without proofs: what the document's own proof signs. */
  readonly signingText: string
}
