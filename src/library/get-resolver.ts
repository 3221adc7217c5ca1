import type {
  DIDDocumentMetadata,
  DIDResolutionOptions,
  DIDResolutionResult,
  DIDResolver,
  ParsedDID,
} from 'did-resolver'
import type { ResolvedTransaction, ResolveResult } from '../did/resolution.js'
import { isKeyIdentifier, w3cDocument } from '../did/w3c.js'

/** A source of resolve results: a node in this process, or an HttpResolver. */
export interface DidSource {
  /** The state of a DID and its last operation, with `all` every operation, newest first. */
  resolve(did: string, options?: { readonly all?: boolean }): Promise<ResolveResult>
}

const defaultContentType = 'application/did+ld+json'
const contentTypes: readonly string[] = [defaultContentType, 'application/did', 'application/did+json']

/**
 * The method `ledger` for the npm package did-resolver: `new Resolver(getResolver(node))`, where the node is one of createNode or
 * an HttpResolver. Never rejects: failures are an `error` of the resolution metadata, `internalError` with a `message` if the
 * node cannot answer now.
 */
export function getResolver(source: DidSource | { readonly resolver: DidSource }): { ledger: DIDResolver } {
  const from = 'resolver' in source ? source.resolver : source
  return {
    ledger: async (did, parsed, _resolver, options) => {
      try {
        return await resolution(from, did, parsed, options)
      } catch (error) {
        return failed('internalError', error instanceof Error ? error.message : String(error))
      }
    },
  }
}

async function resolution(
  source: DidSource,
  did: string,
  { id, query }: ParsedDID,
  { accept = defaultContentType }: DIDResolutionOptions = {},
): Promise<DIDResolutionResult> {
  if (!contentTypes.includes(accept)) {
    return failed('representationNotSupported', `accept: one of ${contentTypes.join(', ')}`)
  }
  if (!isKeyIdentifier(id)) return failed('invalidDid', `${did}: the identifier has another form or a wrong checksum`)
  const parameters = new URLSearchParams(query ?? '')
  const history = await historyOf(
    source,
    did,
    [...parameters.keys()].some((name) => versions.includes(name)),
  )
  if (history === undefined) return failed('notFound', `${did} does not exist`)
  const at = versionAt(history, parameters.get('versionId'), parameters.get('versionTime'))
  const version = history[at]
  if (version === undefined) return failed('notFound', `${did} has no such version`)
  const metadata = metadataOf(history, at)
  if (version.operation.header.operation === 'deactivate') {
    return { didResolutionMetadata: {}, didDocument: null, didDocumentMetadata: { ...metadata, deactivated: true } }
  }
  const { document, expires } = w3cDocument(textOf(version.operation.payload))
  if (document.id !== did) throw new Error(`the answer for ${did} holds the document of ${document.id}`)
  return {
    didResolutionMetadata: { contentType: accept },
    didDocument: document,
    didDocumentMetadata: { ...metadata, expires },
  }
}

const versions: readonly string[] = ['versionId', 'versionTime']

/** All operations, newest first; undefined for an unknown DID. Unless `complete`, an unchanged DID takes one request. */
async function historyOf(
  source: DidSource,
  did: string,
  complete: boolean,
): Promise<readonly ResolvedTransaction[] | undefined> {
  if (!complete) {
    const { transaction } = await source.resolve(did, { all: false })
    if (transaction === undefined || transaction[0]?.operation.header.operation === 'create') return transaction
  }
  return (await source.resolve(did, { all: true })).transaction
}

/** Index of the operation that makes the requested version; beyond the end if there is none. */
function versionAt(history: readonly ResolvedTransaction[], txid: string | null, time: string | null): number {
  const moment = time === null ? Infinity : Date.parse(time)
  const found = history.findIndex(
    (entry) => (txid === null || entry.txid === txid) && Date.parse(entry.timestamp) <= moment,
  )
  return found < 0 ? history.length : found
}

function metadataOf(history: readonly ResolvedTransaction[], at: number): DIDDocumentMetadata {
  const next = history[at - 1]
  const updated = history.slice(at).find(({ operation }) => operation.header.operation === 'update')
  return {
    ...optional('created', history.at(-1)?.timestamp),
    ...optional('updated', updated?.timestamp),
    ...optional('versionId', history[at]?.txid),
    ...optional('nextUpdate', next?.timestamp),
    ...optional('nextVersionId', next?.txid),
  }
}

function optional(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value }
}

/** The JSON text in a payload, decoded with browser functions only. */
function textOf(payload: string): string {
  const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
}

function failed(error: string, message: string): DIDResolutionResult {
  return { didResolutionMetadata: { error, message }, didDocument: null, didDocumentMetadata: {} }
}
