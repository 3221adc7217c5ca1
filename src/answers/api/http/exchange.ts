import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { AnswerClient } from '../node-handles.js'
import type { Access, AccessRequest } from './access.js'
import { shareOf } from './client-share.js'
import { HeaderList } from './header-list.js'
import { originForm, pathOf } from './request-path.js'

const gone = new RuleError('request-timeout', 'the client is gone')

/** A request and what is known of its answer so far. */
export class Exchange implements AccessRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The target, without scheme and host. */
  readonly url: string
  /** Arrival; performance.now(). */
  readonly began = performance.now()
  readonly #access: Access
  /** Values of the segments that the path names, decoded. */
  segments: Readonly<Record<string, string | undefined>> = {}
  /** The whole body of a POST to a path that reads one. */
  body: Uint8Array | undefined
  /** Headers that every answer from here on has. */
  answerHeaders = new HeaderList()
  #client: AnswerClient | undefined

  constructor(request: IncomingMessage, response: ServerResponse, access: Access) {
    this.request = request
    this.response = response
    this.url = originForm(request.url ?? '/')
    this.#access = access
  }

  get method(): string {
    return this.request.method ?? ''
  }

  /** The URL without its query, as it was sent. */
  get path(): string {
    return pathOf(this.url)
  }

  /** Text after the first question mark; empty without one. */
  get query(): string {
    return this.url.slice(this.path.length + 1)
  }

  /** Those of the request. */
  get headers(): IncomingHttpHeaders {
    return this.request.headers
  }

  /** Address of the other end of the connection. */
  get address(): string | undefined {
    return this.request.socket.remoteAddress
  }

  /** Who waits for the answer; its signal aborts when the answer is sent or the connection is closed. */
  get client(): AnswerClient {
    return (this.#client ??= { share: this.share, signal: this.#signal() })
  }

  /** Share under which the client is counted. */
  get share(): string {
    return shareOf(this.#access.clientAddress(this.request))
  }

  /** Notes the height as of which the answer holds. */
  holdsAt(height: string): void {
    this.answerHeaders.set('x-chain-height', height)
  }

  #signal(): AbortSignal {
    const abort = new AbortController()
    const { response, request } = this
    if (response.closed || request.socket.destroyed) abort.abort(gone)
    else response.once('close', () => abort.abort(gone))
    return abort.signal
  }
}
