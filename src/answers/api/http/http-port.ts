import type { IncomingMessage, ServerResponse } from 'node:http'
import { RuleError } from '../../../base/errors/rule-error.js'
import { defined } from '../../../base/primitives/defined.js'
import type { Log } from '../../../base/runtime/env.js'
import type { ApiLimits } from '../api-limits.js'
import type { Access } from './access.js'
import { jsonForm } from './answer-forms.js'
import { leastHeightOf } from './height-gate.js'
import { BodyBudget, readBody } from './body-budget.js'
import { Exchange } from './exchange.js'
import { parserFailure, ruleErrorOf } from './failures.js'
import { HeaderList } from './header-list.js'
import { Listeners, type ListenersOptions } from './listeners.js'
import { warnOfBlocked } from './blocked-port.js'
import { callLine } from './live-call.js'
import { anyOrigin, isLoopback } from './origin.js'
import type { HttpAnswer, PathRow, RefusalForm } from './path-row.js'
import { PathTable, type Place, rowOf } from './path-table.js'
import { preflight } from './preflight.js'
import { originForm } from './request-path.js'
import { RequestRate } from './request-rate.js'
import { sendAnswer } from './send-answer.js'

/** Counts the answers of one path. */
interface PathTally {
  add(status: number, seconds: number): void
}

export interface HttpPortOptions extends Pick<ListenersOptions, 'hosts' | 'port' | 'portFlag' | 'upgrade'> {
  readonly rows: readonly PathRow[]
  readonly limits: ApiLimits
  readonly access: Access
  readonly log: Log
  /** Whether a URL of any path, also one that cannot be decoded, is one of `/`. */
  readonly onePath?: boolean
  /** How a request is refused whose path no row names; REST's form if absent. */
  readonly elsewhere?: RefusalForm
  /** Budget of bodies; absent: one of its own. */
  readonly bodies?: BodyBudget
  /** Whether the requests of an address are limited; absent: where others than programs of this machine reach it. */
  readonly limitsRate?: boolean
  /** Whether an address may have all connections; absent: proxies may. */
  exempt?(address: string | undefined): boolean
  /** Counts the answers of a path; undefined: of those that no row names. Absent: none is counted. */
  tallyOf?(path: string | undefined): PathTally
}

/**
 * A port of HTTP that serves rows, each request in the same steps: path and method, rate of the address, who may ask, body, an answer
 * that is kept, or the row's own.
 */
export class HttpPort {
  readonly #options: HttpPortOptions
  readonly #table: PathTable
  readonly #elsewhere: RefusalForm
  readonly #bodies: BodyBudget
  readonly #rate: RequestRate | undefined
  readonly #tallies = new Map<string | undefined, PathTally>()
  #listeners!: Listeners

  private constructor(options: HttpPortOptions) {
    const { rows, limits, elsewhere = jsonForm('standard'), bodies = new BodyBudget(limits) } = options
    this.#options = options
    this.#table = new PathTable(rows, limits.headers)
    this.#elsewhere = elsewhere
    this.#bodies = bodies
    this.#rate = (options.limitsRate ?? isReached(options)) ? new RequestRate(limits) : undefined
  }

  /** Listens. A port in use is a UserError. */
  static async open(options: HttpPortOptions): Promise<HttpPort> {
    const { access, hosts, port, portFlag, limits, upgrade } = options
    const made = new HttpPort(options)
    made.#listeners = await Listeners.open({
      ...{ hosts, port, limits, ...defined({ portFlag, upgrade }) },
      handler: (request, response) => made.#take(request, response),
      exempt: options.exempt ?? ((address) => access.isProxy(address)),
      parserAnswer: (code, url, target) => made.#refuseUnparsed(code, originForm(url ?? target ?? '')),
    })
    warnOfBlocked(made.port, options.log)
    return made
  }

  get port(): number {
    return this.#listeners.port
  }

  /** Addresses as bound, `host:port`. */
  get addresses(): string[] {
    return this.#listeners.addresses
  }

  /** Puts new listeners in the place of the old ones; what was accepted is still answered. */
  renew(): Promise<void> {
    return this.#listeners.renew()
  }

  /** Accepts nothing more; resolves when no request is in progress, at the latest after the grace period for closing. */
  close(): Promise<void> {
    return this.#listeners.close()
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new Exchange(request, response, this.#options.access)
    let row: PathRow | undefined
    try {
      row = this.#rowFor(exchange)
      if (row === undefined)
        return this.#send(
          exchange,
          undefined,
          preflight(exchange.headers, this.#options.access.originHeaders(exchange)),
        )
      this.#admit(exchange, row)
      // Before the body is read: what waits takes no memory that others need.
      const awaited = heightAwaited(exchange, row)
      if (awaited !== undefined) return void this.#takeAfter(awaited, exchange, row)
    } catch (error) {
      return this.#fail(exchange, row, error)
    }
    this.#takeBody(exchange, row)
  }

  async #takeAfter(awaited: Promise<void>, exchange: Exchange, row: PathRow): Promise<void> {
    try {
      await awaited
    } catch (error) {
      return this.#fail(exchange, row, error)
    }
    this.#takeBody(exchange, row)
  }

  /** Reads the body, where the row takes one, and answers. */
  #takeBody(exchange: Exchange, row: PathRow): void {
    const { request, response } = exchange
    const { body: most } = row
    if (most === undefined || exchange.method !== 'POST') return this.#run(exchange, row)
    const counted = this.#bodies.begin(response)
    response.once('close', () => counted.release())
    readBody(request, counted, most, (error, body) => {
      exchange.body = body
      if (error === undefined) return this.#run(exchange, row)
      // The client may go on sending.
      exchange.answerHeaders.set('connection', 'close')
      this.#fail(exchange, row, error)
    })
  }

  /** The row that answers; undefined: a preflight, which is allowed for every path but those of this site and of allowed ones alone. */
  #rowFor(exchange: Exchange): PathRow | undefined {
    const { method, url } = exchange
    const found = this.#table.find(this.#options.onePath === true ? '/' : url)
    exchange.answerHeaders = new HeaderList(anyOriginItems)
    if (found === null) {
      throw new RuleError('request-parameter', 'the path is not valid percent-encoding of UTF-8')
    }
    if (found !== undefined) exchange.segments = found.segments
    const place = found?.place
    const row = place === undefined ? undefined : rowOf(place, method)
    const isOption = method === 'OPTIONS'
    if (row?.ownSite === true || (isOption && place?.rows.some(({ ownSite }) => ownSite) === true)) {
      const { access } = this.#options
      const allowed = access.originHeaders(exchange)
      exchange.answerHeaders = HeaderList.of(allowed ?? {})
      const refusal = access.controlRefusal(exchange)
      if (refusal !== undefined) throw new RuleError('request-forbidden', refusal)
      if (isOption && allowed !== undefined) return optionsAt(exchange, place)
    } else if (isOption) return optionsAt(exchange, place)
    if (row !== undefined) return row
    if (place === undefined || place.methods.length === 0) {
      throw new RuleError('request-path', `nothing is at ${exchange.path.slice(0, 200)}`)
    }
    const taken = place.methods.join(', ')
    exchange.answerHeaders.set('allow', taken)
    throw new RuleError('request-method', `${method}: this path takes ${taken}`)
  }

  /** Throws for a request that is refused whatever its body. */
  #admit(exchange: Exchange, row: PathRow): void {
    if (row.isProbe !== true) this.#countRequest(exchange)
    if (row.headers !== undefined) exchange.answerHeaders.setAll(row.headers)
    row.refuse?.(exchange)
    if (row.body !== undefined && exchange.method === 'POST') refuseCoded(exchange)
  }

  /** Throws `request-rate` where the address has sent too many. */
  #countRequest(exchange: Exchange): void {
    const { access, limits } = this.#options
    if (this.#rate === undefined || (limits.rateSparesLoopback && access.isLocal(exchange.address))) return
    const { exceeded, left, seconds } = this.#rate.take(exchange.share, performance.now())
    const { answerHeaders } = exchange
    answerHeaders.set('x-ratelimit-limit', String(limits.rateRequests))
    answerHeaders.set('x-ratelimit-remaining', String(left))
    answerHeaders.set('x-ratelimit-reset', String(seconds))
    if (!exceeded) return
    answerHeaders.set('retry-after', String(seconds))
    throw new RuleError('request-rate', `more than ${limits.rateRequests} requests; try again in ${seconds} s`)
  }

  /** Sends the answer that is kept, in this turn, or has one made. */
  #run(exchange: Exchange, row: PathRow): void {
    let kept: HttpAnswer | undefined
    try {
      if (row.heights !== undefined) exchange.holdsAt(row.heights.text)
      kept = row.kept?.(exchange)
      if (kept !== undefined) this.#send(exchange, row, kept)
    } catch (error) {
      return this.#fail(exchange, row, error)
    }
    if (kept === undefined) void this.#make(exchange, row)
  }

  async #make(exchange: Exchange, row: PathRow): Promise<void> {
    try {
      this.#send(exchange, row, await row.run(exchange))
    } catch (error) {
      this.#fail(exchange, row, error)
    }
  }

  #fail(exchange: Exchange, row: PathRow | undefined, error: unknown): void {
    const rule = ruleErrorOf(error, this.#options.log)
    const { url, headers } = exchange
    const { accept } = headers
    if (row?.heights !== undefined && exchange.answerHeaders.get('x-chain-height') === undefined) {
      exchange.holdsAt(row.heights.text)
    }
    this.#send(exchange, row, this.#formAt(url)(rule, { url, accept }), rule)
  }

  /** Sends an answer, or ends the connection if a response has begun, of which the answer would become a part. */
  #send(exchange: Exchange, row: PathRow | undefined, answer: HttpAnswer, failure?: RuleError): void {
    if (exchange.response.headersSent) {
      exchange.response.destroy()
      return
    }
    this.#count(exchange, row, answer.status ?? 200, failure)
    sendAnswer(exchange, answer)
  }

  #formAt(url: string): RefusalForm {
    return this.#table.nearest(url)?.rows[0]?.form ?? this.#elsewhere
  }

  #refuseUnparsed(code: string | undefined, url: string) {
    const { status, headers, body } = this.#formAt(url)(parserFailure(code), { url })
    return { status, body, ...defined({ contentType: headers['content-type'] }) }
  }

  /** Tallies an answer, and shows it in the live log: not preflights, nor what carries calls, which are shown one by one. */
  #count({ request, began }: Exchange, row: PathRow | undefined, status: number, failure: RuleError | undefined): void {
    const { tallyOf, log } = this.#options
    if (tallyOf === undefined) return
    const path = row?.path
    let tally = this.#tallies.get(path)
    if (tally === undefined) this.#tallies.set(path, (tally = tallyOf(path)))
    const milliseconds = performance.now() - began
    tally.add(status, milliseconds / 1000)
    const failed = status >= 400
    if ((!failed && (row === undefined || row.showsCalls === true)) || log.live?.wants('calls', failed) !== true) return
    const name = `${request.method} ${request.url}`
    log.live.write('calls', callLine({ via: 'rest', name, status, failure, milliseconds }))
  }
}

/** Names the methods of a path in the answer to OPTIONS (RFC 9110 §9.3.7), which no row gives. */
function optionsAt({ answerHeaders }: Exchange, place: Place | undefined): undefined {
  if (place !== undefined && place.methods.length > 0) answerHeaders.set('allow', place.methods.join(', '))
}

/** Throws for a body that would have to be decoded. */
function refuseCoded({ headers, answerHeaders }: Exchange): void {
  const coding = headers['content-encoding']
  if (coding === undefined || /^(?:identity)?$/i.test(coding.trim())) return
  // What would be taken (RFC 9110 §12.5.3).
  answerHeaders.set('accept-encoding', 'identity')
  throw new RuleError(
    'request-media-type',
    `Content-Encoding ${coding.slice(0, 40)}: bodies are taken uncompressed alone`,
  )
}

const anyOriginItems = Object.entries(anyOrigin).flat()

/** The wait for the height that a request names; undefined: there is none. */
function heightAwaited(exchange: Exchange, { heights }: PathRow): Promise<void> | undefined {
  const height = heights === undefined ? undefined : leastHeightOf(exchange.headers)
  return height === undefined ? undefined : heights?.wait(height, () => exchange.client)
}

/** Whether others than programs of this machine reach a port. */
function isReached({ hosts, limits, access }: HttpPortOptions): boolean {
  return !hosts.every(isLoopback) || !limits.rateSparesLoopback || access.proxied
}
