import { RequestClient } from '../../src/network/transport/request-client.js'
import { transportLimits } from '../../src/network/transport/transport-limits.js'
import { addressesExchange } from '../../src/network/wire/addresses-message.js'
import { blocksExchange } from '../../src/network/wire/blocks-message.js'
import type { Codec, Exchange, GossipTopic } from '../../src/network/wire/exchange.js'
import {
  blockTopic,
  headersExchange,
  type HeaderUnit,
  headerUnitCodec,
} from '../../src/network/wire/headers-message.js'
import { poolExchange } from '../../src/network/wire/pool-message.js'
import { type StateList, stateListExchange, stateSliceExchange } from '../../src/network/wire/state-message.js'
import { statusExchange } from '../../src/network/wire/status-message.js'
import { askForState } from '../../src/network/join/state-offers.js'
import { transactionsExchange, transactionTopic } from '../../src/network/wire/transactions-message.js'
import { candidateTopic, proposalTopic, votesExchange, voteTopic } from '../../src/network/wire/votes-message.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { FakeStream, framed } from '../support/fakes/fake-stream.js'
import { ManualTime, rest } from '../support/fakes/manual-time.js'
import { idleStatus } from '../support/fakes/stubs.js'
import { startNode, type TestNode, until } from '../support/network/transport.js'
import { closing, everyDoor, limit, onlyFor, refusalOf } from './limit.js'

const tooMany = /peer-message: .*a count or length of \d+ where at most/

/** Decodes what a codec makes of a list of so many equal items. */
function listOf<T>(codec: Codec<readonly T[]>, item: T): (n: number) => void {
  return (n) => void codec.decode(codec.encode(Array.from({ length: n }, () => item)))
}

/** Values up to which the other side may go, where it keeps no bound. */
const boundless = 2 ** 26

const exchanges = [
  addressesExchange,
  blocksExchange,
  headersExchange,
  poolExchange,
  stateListExchange,
  stateSliceExchange,
  statusExchange,
  transactionsExchange,
  votesExchange,
].map(({ protocol }) => protocol)

/** A node that bounds requests as it does, one that answers with any number of bytes, and one that asks them. */
let nodes: Promise<{ readonly strict: TestNode; readonly generous: TestNode; readonly asking: TestNode }> | undefined

async function openNodes() {
  const strict = await startNode({ protocols: exchanges })
  const generous = await startNode({ protocols: exchanges.map((protocol) => ({ ...protocol, answer: boundless })) })
  const asking = await startNode({ protocols: [] })
  closing.push(() => Promise.all([strict, generous, asking].map((node) => node.close())))
  return { strict, generous, asking }
}

/** A request of so many bytes reaches a node over a connection. */
function request({ protocol }: Pick<Exchange<unknown, unknown>, 'protocol'>): (n: number) => Promise<void> {
  return async (n) => {
    const { strict, asking } = await (nodes ??= openNodes())
    strict.owner.answering = () => Promise.resolve(new Uint8Array(0))
    const link = await asking.transport.dial(strict.address)
    await link.request({ ...protocol, request: boundless }, new Uint8Array(n))
  }
}

/** A node accepts an answer of so many bytes. */
function answer({ protocol }: Pick<Exchange<unknown, unknown>, 'protocol'>): (n: number) => Promise<void> {
  return async (n) => {
    const { generous, asking } = await (nodes ??= openNodes())
    generous.owner.answering = () => Promise.resolve(new Uint8Array(n))
    const link = await asking.transport.dial(generous.address)
    await link.request(protocol, new Uint8Array(0))
  }
}

/** A message of so many bytes, which a node hears of a peer that keeps no bound. */
function gossip({ topic }: Pick<GossipTopic<unknown>, 'topic'>): (n: number) => Promise<string | undefined> {
  return async (n) => {
    const [one, two] = [
      await startNode({ topics: [topic] }),
      await startNode({ topics: [{ ...topic, size: boundless }] }),
    ]
    try {
      await two.transport.dial(one.address)
      let round = 0
      const say = (size: number) => {
        const message = new Uint8Array(size).fill(0x61)
        new DataView(message.buffer).setUint32(size - 4, 0x61616161 + (round++ % 16))
        two.transport.broadcast({ ...topic, size: boundless }, message)
      }
      const heard = (size: number) => one.owner.heardMessages.some(({ length }) => length === size)
      await until(() => (say(8), heard(8)))
      await until(() => (say(n), heard(n) || one.owner.links.length === 0))
      return heard(n) ? undefined : 'the connection was closed'
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  }
}

/** Decodes a message of so many bytes, which may be none of the voting. */
function opaque({ message }: typeof voteTopic): (n: number) => Promise<string | undefined> {
  return onlyFor(/^peer-message/, (n) => void message.decode(new Uint8Array(n)))
}

/** An answer that comes in the last of so many milliseconds after its request. */
function late({ protocol }: Pick<Exchange<unknown, unknown>, 'protocol'>): (n: number) => Promise<string | undefined> {
  return async (n) => {
    const time = new ManualTime()
    const stream = new FakeStream()
    const line = { closed: false, timers: time, limits: transportLimits, open: () => Promise.resolve(stream) }
    const client = new RequestClient(line, protocol)
    const outcome = refusalOf(() => client.ask(new Uint8Array(0)).then(() => undefined))
    await rest()
    await time.advance(n - 1)
    stream.arrive(framed(new Uint8Array(1)))
    await rest()
    await time.advance(1)
    return outcome
  }
}

/** The list of a state with nothing in it but this. */
function stateList(some: Partial<StateList>): StateList {
  return { head: new Uint8Array(0), header, chainWork: 0n, total: 0, parts: [], ...some }
}

const header = new Header({
  version: 0,
  previous: zeroHash,
  merkleRoot: zeroHash,
  time: 0,
  bits: 0,
  nonce: 0,
  height: 1,
})
const unit: HeaderUnit = { header, auxPow: new Uint8Array(1), confirm: new Uint8Array(0), size: 1 }
const address = { address: '1.2.3.4:5', publicKey: zeroHash, lastSeen: 1 }
const name = { txid: zeroHash, digest: zeroHash }

export const wireLimits = [
  limit({
    name: 'network/wire/addresses-message.addressesAtOnce',
    unit: 'count',
    value: 256,
    feed: listOf(addressesExchange.answer, address),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/addresses-message.addressesAnswer',
    unit: 'bytes',
    value: 32 * 1024,
    feed: answer(addressesExchange),
    refusal: 'where 32768 are allowed',
  }),
  limit({
    name: 'network/wire/addresses-message.addressesTimeout',
    unit: 'ms',
    value: 5_000,
    feed: late(addressesExchange),
    refusal: 'timeout: no answer to a addresses request within 5000 ms',
  }),
  limit({
    name: 'network/wire/addresses-message.wireAddress',
    unit: 'bytes',
    value: 64,
    feed: (n) => listOf(addressesExchange.answer, { ...address, address: 'x'.repeat(n) })(1),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/blocks-message.blocksAtOnce',
    unit: 'count',
    value: 128,
    feed: everyDoor(listOf(blocksExchange.question, zeroHash), listOf(blocksExchange.answer, zeroHash)),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/blocks-message.blocksRequest',
    unit: 'bytes',
    value: 8 * 1024,
    feed: request(blocksExchange),
    refusal: 'the other side ended the stream',
  }),
  limit({
    name: 'network/wire/blocks-message.blocksAnswer',
    unit: 'bytes',
    value: 14 * 1024 * 1024,
    feed: answer(blocksExchange),
    refusal: 'where 14680064 are allowed',
  }),
  limit({
    name: 'network/wire/blocks-message.blocksTimeout',
    unit: 'ms',
    value: 30_000,
    feed: late(blocksExchange),
    refusal: 'timeout: no answer to a blocks request within 30000 ms',
  }),
  limit({
    name: 'network/wire/headers-message.locatorHashes',
    unit: 'count',
    value: 64,
    feed: (n) => {
      const { encode, decode } = headersExchange.question
      decode(encode({ locator: Array.from({ length: n }, () => zeroHash), count: 1 }))
    },
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/headers-message.headersAtOnce',
    unit: 'count',
    value: 1000,
    feed: everyDoor(listOf(headersExchange.answer, unit), (n) => {
      const { encode, decode } = headersExchange.question
      decode(encode({ locator: [], count: n }))
    }),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/headers-message.headersRequest',
    unit: 'bytes',
    value: 4 * 1024,
    feed: request(headersExchange),
    refusal: 'the other side ended the stream',
  }),
  limit({
    name: 'network/wire/headers-message.headersAnswer',
    unit: 'bytes',
    value: 2 * 1024 * 1024,
    feed: answer(headersExchange),
    refusal: 'where 2097152 are allowed',
  }),
  limit({
    name: 'network/wire/headers-message.headersTimeout',
    unit: 'ms',
    value: 10_000,
    feed: late(headersExchange),
    refusal: 'timeout: no answer to a headers request within 10000 ms',
  }),
  limit({
    name: 'network/wire/headers-message.confirmBytesAtMost',
    unit: 'bytes',
    value: 16 * 1024,
    feed: (n) => void headerUnitCodec.decode(headerUnitCodec.encode({ ...unit, confirm: new Uint8Array(n) })),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/headers-message.headerUnitBytes',
    unit: 'bytes',
    value: 36 * 1024,
    feed: gossip(blockTopic),
    refusal: 'the connection was closed',
  }),
  limit({
    name: 'network/wire/pool-message.poolNames',
    unit: 'count',
    value: 50_000,
    feed: listOf(poolExchange.answer, name),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/pool-message.poolAnswer',
    unit: 'bytes',
    value: 4 * 1024 * 1024,
    feed: answer(poolExchange),
    refusal: 'where 4194304 are allowed',
  }),
  limit({
    name: 'network/wire/pool-message.poolTimeout',
    unit: 'ms',
    value: 10_000,
    feed: late(poolExchange),
    refusal: 'timeout: no answer to a pool request within 10000 ms',
  }),
  limit({
    name: 'network/wire/state-message.partsListed',
    unit: 'count',
    value: 4096,
    feed: (n) => {
      const part = { kind: 2, number: 0, length: 1, hash: zeroHash }
      stateListExchange.answer.decode(stateListExchange.answer.encode(stateList({ parts: Array(n).fill(part) })))
    },
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/state-message.statePartsAtMost',
    unit: 'count',
    value: 200_000,
    feed: onlyFor(/parts, at most/, (total) => {
      const peer = { ask: () => Promise.resolve(stateList({ head: new Uint8Array(1), total })) }
      return askForState(peer as never, {} as never)
    }),
    refusal: 'peer-state: the list of a state: 200001 parts, at most 200000',
  }),
  limit({
    name: 'network/wire/state-message.headBytes',
    unit: 'bytes',
    value: 20 * 1024,
    feed: (n) => {
      stateListExchange.answer.decode(stateListExchange.answer.encode(stateList({ head: new Uint8Array(n) })))
    },
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/state-message.listAnswer',
    unit: 'bytes',
    value: 256 * 1024,
    feed: answer(stateListExchange),
    refusal: 'where 262144 are allowed',
  }),
  limit({
    name: 'network/wire/state-message.listTimeout',
    unit: 'ms',
    value: 10_000,
    feed: late(stateListExchange),
    refusal: 'timeout: no answer to a state-list request within 10000 ms',
  }),
  limit({
    name: 'network/wire/state-message.sliceBytes',
    unit: 'bytes',
    value: 1024 * 1024,
    feed: answer(stateSliceExchange),
    refusal: 'where 1048576 are allowed',
  }),
  limit({
    name: 'network/wire/state-message.sliceTimeout',
    unit: 'ms',
    value: 30_000,
    feed: late(stateSliceExchange),
    refusal: 'timeout: no answer to a state request within 30000 ms',
  }),
  limit({
    name: 'network/wire/status-message.statusBytes',
    unit: 'bytes',
    value: 256,
    feed: everyDoor(request(statusExchange), answer(statusExchange)),
    refusal: /the other side ended the stream\n.*where 256 are allowed/,
  }),
  limit({
    name: 'network/wire/status-message.statusTimeout',
    unit: 'ms',
    value: 5_000,
    feed: late(statusExchange),
    refusal: 'timeout: no answer to a status request within 5000 ms',
  }),
  limit({
    name: 'network/wire/status-message.agentBytes',
    unit: 'bytes',
    value: 64,
    feed: (n) => {
      const { encode, decode } = statusExchange.question
      decode(encode({ ...idleStatus, agent: 'x'.repeat(n) }))
    },
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/transactions-message.transactionsAtOnce',
    unit: 'count',
    value: 256,
    feed: everyDoor(listOf(transactionsExchange.question, zeroHash), listOf(transactionsExchange.answer, zeroHash)),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/transactions-message.transactionsRequest',
    unit: 'bytes',
    value: 16 * 1024,
    feed: request(transactionsExchange),
    refusal: 'the other side ended the stream',
  }),
  limit({
    name: 'network/wire/transactions-message.transactionsAnswer',
    unit: 'bytes',
    value: 14 * 1024 * 1024,
    feed: answer(transactionsExchange),
    refusal: 'where 14680064 are allowed',
  }),
  limit({
    name: 'network/wire/transactions-message.transactionsTimeout',
    unit: 'ms',
    value: 10_000,
    feed: late(transactionsExchange),
    refusal: 'timeout: no answer to a transactions request within 10000 ms',
  }),
  limit({
    name: 'network/wire/transactions-message.announcedAtOnce',
    unit: 'count',
    value: 512,
    feed: (n) => {
      const { encode, decode } = transactionTopic.message
      decode(encode({ salt: 1, names: Array.from({ length: n }, () => name) }))
    },
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/transactions-message.announcementBytes',
    unit: 'bytes',
    value: 36 * 1024,
    feed: gossip(transactionTopic),
    refusal: 'the connection was closed',
  }),
  limit({
    name: 'network/wire/votes-message.summaryBytes',
    unit: 'bytes',
    value: 64 * 1024,
    feed: everyDoor(request(votesExchange), (n) => void votesExchange.question.decode(new Uint8Array(n))),
    refusal: /the other side ended the stream\npeer-message: 65537 bytes/,
  }),
  limit({
    name: 'network/wire/votes-message.maxMissingVotes',
    unit: 'count',
    value: 4096,
    feed: listOf(votesExchange.answer, zeroHash),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/votes-message.missingVoteBytes',
    unit: 'bytes',
    value: 512 * 1024,
    feed: (n) => listOf(votesExchange.answer, new Uint8Array(n))(1),
    refusal: tooMany,
  }),
  limit({
    name: 'network/wire/votes-message.votesAnswer',
    unit: 'bytes',
    value: 512 * 1024 + 16 * 1024,
    feed: answer(votesExchange),
    refusal: 'where 540672 are allowed',
  }),
  limit({
    name: 'network/wire/votes-message.votesTimeout',
    unit: 'ms',
    value: 5_000,
    feed: late(votesExchange),
    refusal: 'timeout: no answer to a votes request within 5000 ms',
  }),
  limit({
    name: 'network/wire/votes-message.proposalMessage',
    unit: 'bytes',
    value: 64 * 1024,
    feed: everyDoor(gossip(proposalTopic), opaque(proposalTopic)),
    refusal: /the connection was closed\npeer-message: 65537 bytes/,
  }),
  limit({
    name: 'network/wire/votes-message.voteMessage',
    unit: 'bytes',
    value: 512,
    feed: everyDoor(gossip(voteTopic), opaque(voteTopic)),
    refusal: /the connection was closed\npeer-message: 513 bytes/,
  }),
  limit({
    name: 'network/wire/votes-message.candidateBytes',
    unit: 'bytes',
    value: 20 * 1024,
    feed: gossip(candidateTopic),
    refusal: 'the connection was closed',
  }),
]
