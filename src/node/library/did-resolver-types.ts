import type { W3cDocument } from '../../identity/did/w3c.js'

/**
 * Types of the npm package did-resolver, as far as they matter here, in the forms that versions 4.1 to 6 share: a program that
 * does not use the package needs none of it.
 */

/** A DID URL that the package has taken apart. */
export interface ParsedDidUrl {
  readonly method: string
  readonly id: string
  readonly path?: string
  readonly query?: string
  /** Matrix parameters, `;name=value`; since version 6 no DID URL has them. */
  readonly params?: Readonly<Record<string, string>>
}

/** Options of one resolution, by name. */
export type DidResolutionOptions = Readonly<Record<string, unknown>>

export interface DidResolutionMetadata {
  contentType?: string
  error?: string
  /** Why, in words; beside `error`. */
  message?: string
  /** The tip of the chain: height, and hash in display hex. */
  height?: number
  blockHash?: string
  /** Seconds since the time of the tip; only while the node is not in step with the chain, which then merely pauses. */
  age?: number
}

export interface DidDocumentMetadata {
  created?: string
  updated?: string
  versionId?: string
  nextVersionId?: string
  nextUpdate?: string
  deactivated?: boolean
  expires?: string
  expired?: boolean
  /** Block of the version. */
  height?: number
  blockHash?: string
  confirmations?: number
}

export interface DidResolutionResult {
  didResolutionMetadata: DidResolutionMetadata
  didDocument: W3cDocument | null
  didDocumentMetadata: DidDocumentMetadata
}

/** The function that the package calls for a method. */
export type DidMethodResolver = (
  did: string,
  parsed: ParsedDidUrl,
  resolver: unknown,
  options: DidResolutionOptions,
) => Promise<DidResolutionResult>
