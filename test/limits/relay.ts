import { EventEmitter } from 'node:events'
import { TransactionFetcher } from '../../src/network/fetch/transaction-fetcher.js'
import { CandidateRelay } from '../../src/network/relay/candidates-relay.js'
import { TransactionRelay } from '../../src/network/relay/transactions-relay.js'
import { serveChain } from '../../src/network/serve-chain.js'
import { Announcements } from '../../src/network/sync/announcements.js'
import { headersExchange } from '../../src/network/wire/headers-message.js'
import { serveState } from '../../src/network/join/serve-state.js'
import { stateSliceExchange } from '../../src/network/wire/state-message.js'
import { candidateTopic, type Candidate } from '../../src/network/wire/votes-message.js'
import { transactionsExchange } from '../../src/network/wire/transactions-message.js'
import { sha256, sha256d, zeroHash } from '../../src/base/primitives/hash.js'
import { quietLog } from '../support/builders/chain.js'
import { fakeHeader } from '../support/builders/votes.js'
import { FakePeer, FakePeers } from '../support/fakes/fake-peers.js'
import { ManualTime, rest } from '../support/fakes/manual-time.js'
import { each, failureOf, limit } from './limit.js'

const bytesOf = (i: number) => sha256(`transaction ${i}`)
const wanted = (i: number) => ({ txid: bytesOf(i), digest: sha256d(bytesOf(i)) })

/** A fetcher of transactions that takes all that it gets. */
function fetcher(): TransactionFetcher {
  return new TransactionFetcher({
    timers: new ManualTime(),
    log: quietLog(),
    paused: () => false,
    isUseless: () => false,
    unmined: (some) => Promise.resolve(some),
    take: () => Promise.resolve(),
  })
}

/** A peer that announces transactions, of which it hands out the first. */
async function withholding(handedOut: number, withheld: number): Promise<string | undefined> {
  const peer = new FakePeer('peer')
  peer.other = {
    answer: () => {
      const answer = each(handedOut + withheld, (i) => (i < handedOut ? bytesOf(i) : new Uint8Array(0)))
      return Promise.resolve(transactionsExchange.answer.encode(answer))
    },
    hear: () => {},
  }
  const fetching = fetcher()
  fetching.want(peer, each(handedOut + withheld, wanted))
  await rest()
  await fetching.idle()
  return peer.penalties[0]
}

/** Peers that join and never tell what is in their pools, all of them late. */
async function silentPools(count: number): Promise<string | undefined> {
  const time = new ManualTime()
  const peers = new FakePeers('node')
  const events = new EventEmitter()
  const sync = { events, progress: () => ({ catchingUp: false }) }
  new TransactionRelay({
    chain: { events },
    mempool: { events },
    peers,
    sync,
    timers: time,
    clock: time,
  } as never).start()
  const silent = each(count, (i) => peers.stranger(`peer ${i}`, { pool: () => new Promise(() => {}) }))
  await time.advance(2_000 * count)
  return silent.every(({ questions }) => questions.includes('pool')) ? undefined : 'not asked for'
}

/** Candidates of a peer at once, after so many before and a second. */
async function candidates(count: number): Promise<string | undefined> {
  const time = new ManualTime()
  const peers = new FakePeers('node')
  const relay = new CandidateRelay({
    chain: { events: new EventEmitter() } as never,
    peers,
    votes: { addSource: () => {}, fetch: () => Promise.resolve(undefined) },
    voting: { events: new EventEmitter(), offerCandidate: () => true } as never,
    clock: time,
  })
  relay.start()
  const peer = peers.stranger('peer')
  const hear = (i: number) => {
    const candidate: Candidate = { header: fakeHeader(1, `block ${i}`), auxPow: new Uint8Array(1) }
    return peers.hear(peer, candidateTopic, candidate)
  }
  for (let i = 0; i < 8; i++) await hear(i)
  await time.advance(1000)
  for (let i = 0; i < count; i++) if ((await hear(8 + i)) !== 'accept') return 'a candidate is not looked at'
  return undefined
}

export const relayLimits = [
  limit({
    name: 'network/join/serve-state.slicesWaiting',
    unit: 'count',
    value: 64,
    feed: async (n) => {
      const peers = new FakePeers('node')
      const committing = { header: fakeHeader(1, 'committing') }
      const keeper = { latest: { state: { read: () => new Promise<never>(() => {}) }, committing }, drop: () => {} }
      serveState(peers, { chain: {} as never, keeper: keeper as never, behind: () => false })
      const other = new FakePeers('other')
      other.connect(peers)
      const [peer] = other.all()
      const question = { block: committing.header.hash, index: 0, from: 0 }
      const asked = each(n, () => peer && failureOf(peer.ask(stateSliceExchange, question)))
      return Promise.race([...asked, rest().then(() => undefined)])
    },
    refusal: '64 blocks are waiting already',
  }),
  limit({
    name: 'network/serve-chain.answersWaiting',
    unit: 'count',
    value: 128,
    feed: async (n) => {
      const peers = new FakePeers('node')
      const never = new Promise<never>(() => {})
      const chain = {
        headers: { get: () => undefined },
        genesis: { header: fakeHeader(0, 'genesis') },
        database: { rows: () => never },
      }
      serveChain(peers, { chain: chain as never, mempool: { entries: () => [], get: () => undefined } as never })
      const other = new FakePeers('other')
      other.connect(peers)
      const [peer] = other.all()
      const question = { locator: [zeroHash], count: 1 }
      const asked = each(n, () => peer && failureOf(peer.ask(headersExchange, question)))
      return Promise.race([...asked, rest().then(() => undefined)])
    },
    refusal: '128 blocks are waiting already',
  }),
  limit({
    name: 'network/fetch/transaction-fetcher.announcedByPeer',
    unit: 'count',
    value: 2048,
    feed: (n) => {
      const peer = new FakePeer('peer')
      peer.other = { answer: () => new Promise(() => {}), hear: () => {} }
      return fetcher().want(peer, each(n, wanted)) ? undefined : 'the rest is not noted'
    },
    refusal: 'the rest is not noted',
  }),
  limit({
    name: 'network/fetch/transaction-fetcher.withheldFree',
    unit: 'count',
    value: 16,
    feed: (n) => withholding(0, n),
    refusal: 'peer-slow',
  }),
  limit({
    name: 'network/fetch/transaction-fetcher.withheldShare',
    unit: 'count',
    value: 4,
    // So many that are handed out make up for one more, and fewer do not.
    beyond: 3,
    feed: (n) => withholding(n, 17),
    refusal: 'peer-slow',
  }),
  limit({
    name: 'network/relay/transactions-relay.poolsAwaited',
    unit: 'count',
    value: 10,
    feed: silentPools,
    refusal: 'not asked for',
  }),
  limit({
    name: 'network/sync/announcements.announcementsAtOnce',
    unit: 'count',
    value: 64,
    feed: async (n) => {
      const spec = { hasValidators: true }
      const chain = { headers: { get: () => undefined }, spec, tip: { header: fakeHeader(5, 'tip') } }
      const owner = { emit: () => {}, isAvoided: () => false }
      const options = { chain, clock: { now: () => 0 } }
      const checking = { chain, verifier: {}, clock: options.clock, assumed: () => false, ahead: () => {} }
      const all = new Announcements(options as never, { closed: false } as never, {} as never, checking as never, owner)
      const peer = new FakePeer('peer')
      const outcomes = each(n, (i) => {
        const unit = {
          header: fakeHeader(9, `block ${i}`),
          auxPow: new Uint8Array(1),
          confirm: new Uint8Array(1),
          size: 1,
        }
        return all.take(peer, unit).then(
          () => undefined,
          (error: Error & { code?: string }) => (error.code === 'busy' ? error.message : undefined),
        )
      })
      return (await Promise.all(outcomes)).find((refusal) => refusal !== undefined)
    },
    refusal: '64 new tips are being looked at',
  }),
  limit({
    name: 'network/relay/candidates-relay.candidateRate',
    unit: 'count/s',
    value: 1,
    feed: candidates,
    refusal: 'a candidate is not looked at',
  }),
]
