import type { Protocol, Topic } from '../link.js'
import { addressesExchange } from './addresses-message.js'
import { blocksExchange } from './blocks-message.js'
import { blockSubject, headersExchange } from './headers-message.js'
import { poolExchange } from './pool-message.js'
import { statusExchange } from './status-message.js'
import { transactionsExchange, transactionSubject } from './transactions-message.js'
import { candidateSubject, proposalSubject, voteSubject, votesExchange } from './votes-message.js'

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
