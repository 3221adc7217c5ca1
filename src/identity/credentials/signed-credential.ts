import type { JsonObject } from '../../base/primitives/strict-json.js'

/** Both forms of a credential, read alike: JSON with the proof of this family, and a JWT. */
export interface SignedCredential {
  readonly format: CredentialFormat
  /** Absolute. In JSON always there. */
  readonly id?: string
  readonly types: readonly string[]
  readonly issuer: string
  /** A DID of the chain, in a JWT any text that names its subject. */
  readonly subject: string
  /** Unix seconds. */
  readonly issued: number
  readonly expires?: number
  /** Members of `credentialSubject` without its id. */
  readonly claims: JsonObject
  /** Absolute id of the key that signed; in a JWT it need not be named. */
  readonly key?: string
  /** UTF-8 of this text is signed. */
  readonly signedText: string
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
  /** Whether declare and revoke on the chain are its status. In JSON always. */
  readonly statusOnChain: boolean
  /** Text of a declare that holds this credential: its canonical text. Only of JSON. */
  readonly text?: string
}

export type CredentialFormat = 'ledger' | 'jwt'
