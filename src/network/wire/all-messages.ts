import type { Protocol, TopicInfo } from '../link.js'
import { addressesExchange } from './addresses-message.js'
import { blocksExchange } from './blocks-message.js'
import { blockTopic, headersExchange } from './headers-message.js'
import { poolExchange } from './pool-message.js'
import { stateListExchange, stateSliceExchange } from './state-message.js'
import { statusExchange } from './status-message.js'
import { transactionsExchange, transactionTopic } from './transactions-message.js'
import { candidateTopic, proposalTopic, voteTopic, votesExchange } from './votes-message.js'

/** All exchanges and topics, which a transport has to register before it starts. */
export const protocols: readonly Protocol[] = [
  statusExchange,
  addressesExchange,
  headersExchange,
  blocksExchange,
  transactionsExchange,
  poolExchange,
  votesExchange,
  stateListExchange,
  stateSliceExchange,
].map(({ protocol }) => protocol)

export const topics: readonly TopicInfo[] = [
  transactionTopic,
  blockTopic,
  candidateTopic,
  proposalTopic,
  voteTopic,
].map(({ topic }) => topic)
