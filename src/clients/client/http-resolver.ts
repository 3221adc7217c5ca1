import type {
  CredentialList,
  CredentialOptions,
  CredentialResult,
  DocumentQuery,
  QueryResult,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import type { Code } from '../../base/errors/error-codes.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import { credentialMembers, pageMembers, queryMembers, resolveMembers } from '../../identity/did/asked-members.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { askResolver } from './ask-resolver.js'
import { longestTimer, requireWhole } from './arguments.js'
import { type HttpOptions, NodeRefusal } from './http.js'
import { baseUrl } from './node-url.js'
import { asCredentialList, asCredentialResult, asQueryResult } from './read-answers.js'
import { callResolver } from './rpc.js'

export interface HttpResolverOptions {
  /** Milliseconds for one request; 30 000 by default. */
  readonly timeout?: number
  /** Maximum bytes of an answer; 16 MiB by default. */
  readonly maxAnswer?: number
  /**
   * Whether no answer is older than those before it, whichever node behind one URL gives it: each request names the greatest height seen.
   * A node that does not reach it in 2 s refuses as `behind-height`.
   */
  readonly neverOlder?: boolean
}

/** @tuning ms: one request of an `HttpResolver`, by default */
const questionTimeout = 30_000
/**
 * Far above a page of documents, or the history of a DID that changes daily.
 * @limit bytes: an answer to an `HttpResolver`, by default
 */
const maxResolverAnswer = 16 * 1024 * 1024
const hint = 'is the URL right, and does the node run?'

/** Message of a node that refuses the condition of a query. */
const queryMessage = 'Query parameters invalid.'

/** Codes of this package by the code of the node's refusal. */
const codeOf: Readonly<Record<number, Code>> = {
  [-32600]: 'request-form',
  [-32601]: 'request-action',
  [-32602]: 'request-parameter',
  [-32001]: 'resolver-behind',
  [-32005]: 'busy',
  [-32010]: 'request-forbidden',
  [-32012]: 'proof-unavailable',
  [-32022]: 'behind-height',
}

/**
 * The resolver of a remote node, over JSON-RPC by HTTP or HTTPS; needs only `fetch`. Methods reject with the RuleError that a
 * local resolver would throw, and with a UserError if no node answers in time.
 */
export class HttpResolver {
  readonly url: string
  readonly #options: Pick<HttpOptions, 'timeout' | 'maxAnswer' | 'hint' | 'heights'>

  /** `url`: the JSON-RPC endpoint, `http://127.0.0.1:20336` for a devnet on this machine. A UserError for another text. */
  constructor(url: string, options: HttpResolverOptions = {}) {
    if (typeof url !== 'string') throw new UserError('HttpResolver: a URL is needed')
    this.url = baseUrl(url)
    requireOptions('HttpResolver', options, ['timeout', 'maxAnswer', 'neverOlder'])
    const { timeout = questionTimeout, maxAnswer = maxResolverAnswer, neverOlder = false } = options
    if (typeof neverOlder !== 'boolean')
      throw new UserError(`neverOlder: ${String(neverOlder)} is neither true nor false`)
    requireWhole('timeout', timeout, [1, longestTimer])
    requireWhole('maxAnswer', maxAnswer, [1, Number.MAX_SAFE_INTEGER])
    this.#options = { timeout, maxAnswer, hint, ...(neverOlder && { heights: { least: 0 } }) }
  }

  /** Has later answers hold as of a height at least: that of the block with what was written. Needs `neverOlder`. */
  atLeast(height: number): void {
    requireWhole('height', height, [0, 0xffffffff])
    const { heights } = this.#options
    if (heights === undefined) throw new UserError('HttpResolver: atLeast needs the option neverOlder')
    heights.least = Math.max(heights.least, height)
  }

  /**
   * The state of a DID, given in full or as the identifier alone, with the operations and the context asked for. A whole history
   * takes as many requests as it needs. Rejects with the reason of `signal` once that aborts.
   */
  async resolve(
    did: string,
    options: ResolveOptions = {},
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<ResolveResult> {
    requireOptions('resolve', options, resolveMembers)
    return askResolver((params) => this.#ask('resolvedid', params, signal), did, options)
  }

  /** The current documents that match; deactivated DIDs have none. */
  async query(asked: DocumentQuery): Promise<QueryResult> {
    requireOptions('query', asked, queryMembers)
    const { query, ...rest } = asked
    const text = typeof query === 'object' ? JSON.stringify(query) : query
    return asQueryResult(await this.#ask('query', { ...rest, ...(text === undefined ? {} : { query: text }) }))
  }

  /** State of a credential, by its id in full; a revoke by `issuer` counts before a declare as well. */
  async resolveCredential(id: string, options: CredentialOptions = {}): Promise<CredentialResult> {
    requireOptions('resolveCredential', options, credentialMembers)
    return asCredentialResult(await this.#ask('did_resolveCredential', { id, ...options }))
  }

  /** Ids of the credentials that a DID declared, oldest first: 128 from `skip` on, or as many as `limit`, at most 256. */
  async listCredentials(
    did: string,
    options: { readonly skip?: number; readonly limit?: number } = {},
  ): Promise<CredentialList> {
    requireOptions('listCredentials', options, pageMembers)
    return asCredentialList(await this.#ask('did_listCredentials', { did, ...options }))
  }

  async #ask(method: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    try {
      return await callResolver(this.url, method, params, { ...this.#options, signal })
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error
      const { code, description, reason } = error
      const rule = description === queryMessage ? 'query-invalid' : codeOf[code]
      throw new RuleError(rule ?? 'internal', reason || description)
    }
  }
}
