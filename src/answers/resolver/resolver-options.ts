import { onOrOff, optionsFor, wholeNumber } from '../../base/runtime/option.js'
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

const { tuning, table } = optionsFor<ResolverTarget>()

export const resolverOptions = table('resolver', {
  cacheSize: tuning('cacheBytes', {
    flag: '--resolver-cache <bytes>',
    ...wholeNumber(0, 2 ** 32, 'bytes'),
    default: resolverCacheBytes,
    description: 'answers about DIDs that are kept until the tip changes',
  }),
  staleAfter: tuning({
    flag: '--stale-after <s>',
    ...wholeNumber(0, 2 ** 31, 's'),
    default: staleAfterDefault,
    description:
      'while a chain pauses at a node that was in step: what is there is answered, with its age, until the tip is so old; 0 is not at all',
  }),
  answerOutOfStep: tuning({
    flag: '--answer-out-of-step',
    ...onOrOff(false),
    description:
      'answer about DIDs also while the node is not in step with its chain, with height and age: "does not exist" may then be wrong',
  }),
  queriesWaiting: tuning('waiting', {
    flag: '--queries-waiting <n>',
    ...wholeNumber(0, 10_000, 'queries'),
    default: queryLimits.waiting,
    description: 'queries that wait for those under way before further ones are refused',
  }),
  queryDuration: tuning('duration', {
    flag: '--query-duration <ms>',
    ...wholeNumber(100, 60 * 60 * 1000, 'ms'),
    default: queryLimits.duration,
    description: 'how long a query may take, its wait included',
  }),
  queryDocuments: tuning('examined', {
    flag: '--query-documents <n>',
    ...wholeNumber(1, 10 ** 9, 'documents'),
    default: queryLimits.examined,
    description: 'documents that a query may read where its condition is not answered by the index',
  }),
})
