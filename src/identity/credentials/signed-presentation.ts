import type { CredentialFormat, SignedCredential } from './signed-credential.js'

/** Both forms of a presentation, read alike. */
export interface SignedPresentation {
  readonly format: CredentialFormat
  /** DID. */
  readonly holder: string
  /** Verifiers that it is made for; a JWT can name several. */
  readonly realms: readonly string[]
  readonly nonce: string | undefined
  readonly credentials: readonly SignedCredential[]
  /** Unix seconds between which it holds. */
  readonly from?: number
  readonly until?: number
  /** Absolute id of the key that signed; in a JWT it need not be named. */
  readonly key?: string
  /** UTF-8 of this text is signed. */
  readonly signedText: string
  /** 64 bytes, r‖s. */
  readonly signature: Uint8Array
}
