import { defined } from '../../base/primitives/defined.js'
import { operationForm } from '../../base/primitives/did-operation.js'
import type { ResolveContext, ResolvedTransaction, ResolveResult } from './resolution.js'
import { type KeyForm, type W3cDocument, w3cDocument } from './w3c.js'

/** One version of a DID, in the terms of W3C DID Resolution. Web pages use this file too. */

/** Members of the document metadata; times are RFC 3339 texts. */
export interface DocumentMetadata {
  readonly created: string
  /** The last update up to the version. */
  readonly updated?: string
  /** Txid of the version's operation. */
  readonly versionId: string
  readonly nextVersionId?: string
  readonly nextUpdate?: string
  /** State of the DID, whichever version is shown. */
  readonly deactivated?: true
  /** When the version's document expires; absent for a deactivation. */
  readonly expires?: string
  readonly expired?: true
  /** Block of the version: height, hash in display hex, and 1 confirmation for the tip. */
  readonly height: number
  readonly blockHash?: string
  readonly confirmations: number
}

export interface ShownVersion {
  /** Null for a deactivation. */
  readonly document: W3cDocument | null
  readonly metadata: DocumentMetadata
  readonly context: ResolveContext
}

export interface ShownVersionOptions {
  readonly keys?: KeyForm
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/**
 * The version in an answer with context; undefined where the DID does not exist, or has no such version. Throws where the answer
 * is not about `did`, or has no context.
 */
export function shownVersion(
  did: string,
  { status, transaction, context }: ResolveResult,
  { keys = 'Multikey', now }: ShownVersionOptions,
): ShownVersion | undefined {
  const version = transaction?.[0]
  if (status === 3 || version === undefined) return undefined
  const block = context?.at[0]
  if (context === undefined || block === undefined) {
    throw new Error(`the answer for ${did} does not say where it stands: the node knows no context`)
  }
  const document = documentOf(did, version, keys)
  const { created, updated, next, expires } = context
  // Of the last version the node says it, by its own clock.
  const isExpired = next === undefined ? status === 1 : isPast(expires, context, now)
  const metadata = {
    created: created.timestamp,
    ...(updated === undefined ? {} : { updated: updated.timestamp }),
    versionId: version.txid,
    ...(next === undefined ? {} : { nextVersionId: next.txid, nextUpdate: next.timestamp }),
    ...(status === 2 ? { deactivated: true as const } : {}),
    ...(document === null ? {} : { expires, ...(isExpired ? { expired: true as const } : {}) }),
    height: block.height,
    ...defined({ blockHash: block.blockHash }),
    confirmations: block.confirmations,
  }
  return { document, metadata, context }
}

/** A devnet can be ahead of the clock of this machine, as its blocks show. */
function isPast(expires: string, { time }: ResolveContext, now: number): boolean {
  return Date.parse(expires) <= Math.max(now, time * 1000)
}

function documentOf(did: string, { operation }: ResolvedTransaction, keys: KeyForm): W3cDocument | null {
  if (operationForm(operation.header)?.payload === 'did') {
    requireSame(did, operation.payload)
    return null
  }
  const { document } = w3cDocument(textOf(operation.payload), { keys })
  requireSame(did, document.id)
  return document
}

function requireSame(did: string, found: string): void {
  if (found !== did) throw new Error(`the answer for ${did} is about ${found}`)
}

/** The JSON text in a payload, decoded with functions that browsers have; in a loop, of which engines make more than of a callback. */
function textOf(payload: string): string {
  const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return new TextDecoder().decode(bytes)
}
