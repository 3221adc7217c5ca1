import { defined } from '../../../base/primitives/defined.js'
import { jsonForm, jsonType } from '../http/answer-forms.js'
import { etagOf, namesEtag } from '../http/etag.js'
import type { Exchange } from '../http/exchange.js'
import type { KeptAnswer } from '../http/kept-answers.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'
import { bodyOf } from '../streams/answer-stream.js'
import { StreamedAnswer } from '../streams/streamed-answer.js'
import { lightPrefix, type LightRoute, lightRoutes, readLightValues } from './light-routes.js'
import type { NodePort } from './node-port.js'
import { orByNode } from './or-by-node.js'

/** Seconds for which a cache keeps an answer that never changes: a year, as long as caches go. */
const forEver = 31_536_000

/** The paths of light resolvers. Answers are the bare JSON of their results. */
export function lightPaths(port: NodePort): PathRow[] {
  const form = jsonForm('light')
  const rows = lightRoutes.map((route): PathRow => ({
    path: lightPrefix + route.path,
    methods: route.method === undefined ? ['GET', 'HEAD'] : [route.method],
    form,
    ...(route.body && { body: route.body.most }),
    ...(route.varies !== true && { kept: (exchange) => keptAnswer(exchange, port) }),
    run: (exchange) => answer(route, exchange, port).catch(orByNode(port, exchange)),
  }))
  // Nothing else is below the prefix, and it is refused in the same form.
  return [...rows, { path: `${lightPrefix}*`, methods: [], form, run: () => ({}) }]
}

/** A GET or HEAD as the kept answers know it: both get the same headers. */
const questionOf = ({ url }: Exchange) => `light ${url}`

function keptAnswer(exchange: Exchange, { kept }: NodePort): HttpAnswer | undefined {
  const known = kept.get(questionOf(exchange))
  return known && unlessKnown(exchange, known)
}

/** The answer, or 304 without a body for a client that has it. */
function unlessKnown({ headers: asked }: Exchange, answer: KeptAnswer): HttpAnswer {
  const { body, headers } = answer
  const { etag = '', 'cache-control': caching = '' } = headers ?? {}
  if (!namesEtag(asked['if-none-match'], etag)) return { body, ...defined({ headers }) }
  return { status: 304, headers: { 'cache-control': caching, etag } }
}

async function answer(
  route: LightRoute,
  exchange: Exchange,
  { context, sharedAnswers, kept }: NodePort,
): Promise<HttpAnswer> {
  const values = readLightValues(route, exchange.segments, exchange.query)
  const { database } = context.reader.chain
  const { state, result } = await database.settle(async () => {
    return { state: kept.state('step'), result: await route.run(context, values, exchange.body) }
  })
  // A block with a confirm is never replaced, but on a devnet.
  const { hasValidators, devnet } = context.reader.chain.spec
  const holds = hasValidators && !devnet && route.isFixed(values)
  const body =
    result instanceof StreamedAnswer
      ? await bodyOf(result, exchange.client, sharedAnswers)
      : Buffer.from(JSON.stringify(result))
  const caching = holds ? `public, max-age=${forEver}, immutable` : 'no-cache'
  const headers = { 'content-type': jsonType, 'cache-control': caching }
  if (route.varies === true || !Buffer.isBuffer(body)) return { headers, body }
  // Of the bytes: cosignatures come between blocks, and what a height proves stays the same after others.
  const whole = { body, headers: { ...headers, etag: etagOf(body) } }
  return unlessKnown(exchange, kept.set(questionOf(exchange), whole, state))
}
