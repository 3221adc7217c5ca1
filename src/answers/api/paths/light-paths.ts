import { jsonForm, jsonType } from '../http/answer-forms.js'
import type { Exchange } from '../http/exchange.js'
import type { HttpAnswer, PathRow } from '../http/path-row.js'
import { bodyOf } from '../streams/answer-stream.js'
import { StreamedAnswer } from '../streams/streamed-answer.js'
import { lightPrefix, type LightRoute, lightRoutes, readLightValues } from './light-routes.js'
import type { NodePort } from './node-port.js'

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
    run: (exchange) => answer(route, exchange, port),
  }))
  // Nothing else is below the prefix, and it is refused in the same form.
  return [...rows, { path: `${lightPrefix}*`, methods: [], form, run: () => ({}) }]
}

async function answer(
  route: LightRoute,
  exchange: Exchange,
  { context, sharedAnswers }: NodePort,
): Promise<HttpAnswer> {
  const values = readLightValues(route, exchange.segments, exchange.query)
  const { database } = context.reader.chain
  const result = await database.settle(() => route.run(context, values, exchange.body))
  // A block with a confirm is never replaced, but on a devnet.
  const { hasValidators, devnet } = context.reader.chain.spec
  const holds = hasValidators && !devnet && route.isFixed(values)
  const body =
    result instanceof StreamedAnswer ? await bodyOf(result, exchange.client, sharedAnswers) : JSON.stringify(result)
  const caching = holds ? `public, max-age=${forEver}, immutable` : 'no-cache'
  return { headers: { 'content-type': jsonType, 'cache-control': caching }, body }
}
