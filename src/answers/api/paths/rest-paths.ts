/**
 * REST: serves the rows of rest-routes.ts, each of which names its handler, its parameters and the schemas of its pages.
 *
 *   request -> http-port.ts -> http/kept-answers, else the row of restRoutes -> handler in results -> envelope
 *   POST transaction -> send-transaction -> mempool.accept, of a follower the node that it follows
 *
 * - docs/rest.md, /openapi.json and the checks of parameters come from the rows: there is no second list.
 * - A row that changes the node says so; strangers may not call it.
 */
import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { ChainView } from '../../../ledger/chain/chain-view.js'
import { isKnownTag } from '../../identifiers/identifier-answer.js'
import { frameOf, jsonForm, jsonType } from '../http/answer-forms.js'
import type { Exchange } from '../http/exchange.js'
import { isJson } from '../http/origin.js'
import { requireTransaction } from '../http/passed-on.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'
import { type AnswerStream, bodyOf } from '../streams/answer-stream.js'
import type { NodePort } from './node-port.js'
import { orByNode, textOf } from './or-by-node.js'
import { restPrefix, type RestRoute, restRoutes } from './rest-routes.js'
import { transactionIn } from './send-transaction.js'

/** The paths of the table. Their answers are kept until the tip changes: they hold confirmations and next hashes. */
export function restPaths(port: NodePort): PathRow[] {
  const { reader } = port.context
  const tag = tipTag(reader.chain)
  return restRoutes.map((route) => ({
    path: restPrefix + route.path,
    methods: route.methods,
    form: jsonForm(route.envelope),
    heights: port.heights,
    ...(route.methods.includes('POST') ? { body: port.limits.restBody } : {}),
    kept: (exchange) => {
      const body = port.kept.get(questionOf(exchange))?.body
      return body && tagged(exchange, tag(), body)
    },
    run: (exchange) => answer(route, exchange, port, tag).catch(orByNode(port, exchange)),
  }))
}

/** The query is not read. */
const questionOf = ({ path }: Exchange) => `rest ${path}`

/** Hex digits of a hash in a tag. */
const tagLength = 32

const json = { 'content-type': jsonType }

/** @tuning count: times that an answer is made again for a tag while blocks arrive; then it has none */
const mostTips = 8

/**
 * ETag of answers that depend on the chain alone: a beginning of the hash of the tip, so that all nodes of a fleet have the same one at a
 * tip. Weak, since coding and program may differ.
 */
function tipTag(chain: Pick<ChainView, 'tip'>): () => string {
  let at: ChainView['tip'] | undefined
  let tag = ''
  return () => {
    if (chain.tip !== at) tag = `"${(at = chain.tip).header.id.slice(0, tagLength)}"`
    return tag
  }
}

/** An answer that holds until the tip changes; 304 without a body for a client that has it. */
function tagged({ headers }: Exchange, tag: string, body: HttpAnswer['body']): HttpAnswer {
  const known = headers['if-none-match']
  if (known !== undefined && isKnownTag(tag, known)) return { status: 304, headers: { etag: `W/${tag}` } }
  return { headers: { etag: `W/${tag}`, ...json }, body }
}

/** Ends a body that is made again. */
async function discard(body: Uint8Array | AnswerStream): Promise<void> {
  if (body instanceof Uint8Array) return
  // A generator that was not begun has nothing to end.
  await body.next()
  await body.return()
}

/** Makes an answer until it is of one tip: a streamed body reads its rows after the tag was taken. */
async function ofOneTip<T extends { tip: unknown; lasts: boolean; body: Uint8Array | AnswerStream }>(
  chain: Pick<ChainView, 'tip'>,
  make: () => Promise<T>,
): Promise<T> {
  let made = await make()
  for (let left = mostTips; made.lasts && made.tip !== chain.tip && left > 0; left--) {
    await discard(made.body)
    made = await make()
  }
  return made
}

async function answer(route: RestRoute, exchange: Exchange, port: NodePort, tag: () => string): Promise<HttpAnswer> {
  const { context, access, sharedAnswers, kept, restart } = port
  if (route.control) {
    if (exchange.method === 'HEAD') throw new RuleError('request-method', 'HEAD: this path changes the node')
    const refusal = access.strangerRefusal(exchange)
    if (refusal !== undefined) throw new RuleError('request-forbidden', refusal)
  }
  if (route.body !== undefined && !isJson(exchange.headers)) throw brokenRule('request-media-type')
  if (route.body !== undefined && context.followed !== undefined) {
    const [bytes] = transactionIn(context, exchange.body)
    await requireTransaction(bytes)
    return context.followed.post(restPrefix + route.path, textOf(exchange.body), exchange.client)
  }
  const request = { context, segments: exchange.segments, body: exchange.body }
  const { chain } = context.reader
  const frame = frameOf(route.envelope)
  const make = async () => {
    const { result, ...of } = await chain.database.settle(async () => {
      const state = kept.state('chain')
      return { tip: chain.tip, state, tipAt: tag(), lasts: route.lasts(request), result: await route.run(request) }
    })
    const body =
      typeof result === 'string'
        ? Buffer.from(frame[0] + result + frame[1])
        : await bodyOf(result, exchange.client, sharedAnswers, frame)
    return { ...of, body }
  }
  const { tip, state, tipAt, lasts, body } = await ofOneTip(chain, make)
  if (lasts && body instanceof Buffer) kept.set(questionOf(exchange), { body }, state)
  if (lasts && tip === chain.tip) return tagged(exchange, tipAt, body)
  if (route.path !== 'restart') return { headers: json, body }
  return { headers: { ...json, connection: 'close' }, body, sent: restart }
}
