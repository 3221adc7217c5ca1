import type { Protocol, Topic } from '../link.js'
import { addressesExchange } from './addresses.js'
import { blocksExchange } from './blocks.js'
import { blockSubject, headersExchange } from './headers.js'
import { poolExchange } from './pool.js'
import { statusExchange } from './status.js'
import { transactionsExchange, transactionSubject } from './transactions.js'
import { candidateSubject, proposalSubject, voteSubject, votesExchange } from './votes.js'

/** Everything that nodes say to each other: what a transport has to know beforehand. */
export const protocols: readonly Protocol[] = [
  statusExchange,
  addressesExchange,
  headersExchange,
  blocksExchange,
  transactionsExchange,
  poolExchange,
  votesExchange,
].map(({ protocol }) => protocol)

export const topics: readonly Topic[] = [
  transactionSubject,
  blockSubject,
  candidateSubject,
  proposalSubject,
  voteSubject,
].map(({ topic }) => topic)
