import { Type } from '@sinclair/typebox'
import {
  isQuick,
  queryLimits,
  readQuery,
  refuseAmbiguous,
  refuseLongCondition,
} from '../../resolver/document-search.js'
import { chainKey, StreamedAnswer, writeText } from '../streams/streamed-answer.js'
import { queryResult } from '../schemas/did-schemas.js'
import { method, type RpcMethod } from './method.js'

/** Bytes of memory for each character of documents found: their texts and the answer. */
const textShare = 2
/** Characters of documents for which every answer has memory. */
const unreserved = 256 * 1024

function count(description: string, unlessGiven: number) {
  const bounds = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
  return Type.Optional(Type.Integer({ ...bounds, description, default: unlessGiven }))
}

const byCondition = method({
  name: 'query',
  lasts: 'chain',
  summary: 'Searches the latest documents of all DIDs that are not deactivated, by exactly one of three conditions.',
  params: Type.Object({
    service: Type.Optional(Type.String({ minLength: 1, description: 'the type of a service' })),
    credential: Type.Optional(Type.String({ minLength: 1, description: 'the type of a credential' })),
    query: Type.Optional(Type.String({ description: 'a find condition as JSON or JSON5 text' })),
    skip: count('matching documents to leave out first', 0),
    limit: count(
      `documents to return, 0 to count only; ${queryLimits.documents} at most`,
      queryLimits.documentsUnasked,
    ),
    context: Type.Optional(Type.Boolean({ description: 'whether the answer names its block', default: false })),
  }),
  result: queryResult,
  listed: false,
  decimalText: false,
  run: ({ resolver, reader }, params) => {
    const { service, credential, query, skip, limit = queryLimits.documentsUnasked, context } = params
    refuseLongCondition(params)
    const search = readQuery(params)
    return new StreamedAnswer({
      // Validated members only: ignored members may be nested too deep for a text.
      key: chainKey(reader, 'query', JSON.stringify([service, credential, query, skip, limit, context])),
      repeatable: false,
      // Searches that read documents wait for each other, and must not keep other answers waiting.
      ...(isQuick(search) ? {} : { search: 0 }),
      write: async (sink) => {
        let release = () => {}
        const admit = async (characters: number) => {
          if (characters > unreserved) release = await sink.reserve(characters * textShare)
        }
        try {
          await writeText(sink, await resolver.queryJson(search, { signal: sink.signal, admit }))
        } finally {
          release()
        }
      },
    })
  },
})

/** `query {service | credential | query, skip?, limit?}` → a page of the documents that match. */
export const queryDocuments: RpcMethod = {
  ...byCondition,
  run: (context, params, caller) => {
    // The number of conditions is checked first, whatever they are.
    if (typeof params === 'object' && params !== null && !Array.isArray(params)) refuseAmbiguous(params)
    return byCondition.run(context, params, caller)
  },
}
