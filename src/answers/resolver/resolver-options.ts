import { Type } from '@sinclair/typebox'
import { optionsFor, wholeNumber } from '../../base/runtime/option.js'
import { queryLimits } from './document-search.js'
import { resolverCacheBytes } from './resolver.js'

/** Settings made by the options of the resolver. */
export interface ResolverTarget {
  /** Bytes of answers that it keeps. */
  readonly cacheBytes: number
  /** Searches that wait for those in progress. */
  readonly waiting: number
  /** Milliseconds of a search from request to answer. */
  readonly duration: number
  /** Documents that a search reads to examine them. */
  readonly examined: number
  /** Seconds: so old may the tip of a chain that pauses become before nothing is answered about DIDs. */
  readonly staleAfter: number
  /** Whether questions about DIDs are answered out of step too. */
  readonly answerOutOfStep: boolean
}

/** Default of a node: answers of a chain that pauses are an hour old at most. */
export const staleAfterDefault = 3600

const option = optionsFor<'resolver', ResolverTarget>()

export const resolverOptions = {
  cacheSize: option({
    key: 'resolver.cacheSize',
    flag: '--resolver-cache <bytes>',
    ...wholeNumber(0, 2 ** 32, 'a number of bytes'),
    default: resolverCacheBytes,
    description: 'answers about DIDs that are kept until the tip changes',
    unit: 'bytes',
    tuning: true,
    sets: 'cacheBytes',
  }),
  staleAfter: option({
    key: 'resolver.staleAfter',
    flag: '--stale-after <s>',
    ...wholeNumber(0, 2 ** 31, 'a number of seconds'),
    default: staleAfterDefault,
    description:
      'while a chain pauses at a node that was in step: what is there is answered, with its age, until the tip is so old; 0 is not at all',
    unit: 's',
    tuning: true,
    sets: 'staleAfter',
  }),
  answerOutOfStep: option({
    key: 'resolver.answerOutOfStep',
    flag: '--answer-out-of-step',
    schema: Type.Boolean(),
    default: false,
    description:
      'answer about DIDs also while the node is not in step with its chain, with height and age: "does not exist" may then be wrong',
    expects: 'true or false',
    tuning: true,
    sets: 'answerOutOfStep',
  }),
  queriesWaiting: option({
    key: 'resolver.queriesWaiting',
    flag: '--queries-waiting <n>',
    ...wholeNumber(0, 10_000, 'a number of queries'),
    default: queryLimits.waiting,
    description: 'queries that wait for those under way before further ones are refused',
    unit: 'queries',
    tuning: true,
    sets: 'waiting',
  }),
  queryDuration: option({
    key: 'resolver.queryDuration',
    flag: '--query-duration <ms>',
    ...wholeNumber(100, 60 * 60 * 1000, 'a number of milliseconds'),
    default: queryLimits.duration,
    description: 'how long a query may take, its wait included',
    unit: 'ms',
    tuning: true,
    sets: 'duration',
  }),
  queryDocuments: option({
    key: 'resolver.queryDocuments',
    flag: '--query-documents <n>',
    ...wholeNumber(1, 10 ** 9, 'a number of documents'),
    default: queryLimits.examined,
    description: 'documents that a query may read where its condition is not answered by the index',
    unit: 'documents',
    tuning: true,
    sets: 'examined',
  }),
}
