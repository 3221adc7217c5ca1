import { RuleError } from '../../src/base/errors/rule-error.js'
import { concat } from '../../src/base/primitives/bytes.js'
import { Writer } from '../../src/base/primitives/codec.js'
import { type Hash, sha256, zeroHash } from '../../src/base/primitives/hash.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { Database } from '../../src/ledger/storage/database.js'
import { CheckedBlocks } from '../../src/voting/checked-blocks.js'
import { type Contradiction, Evidence } from '../../src/voting/evidence.js'
import { BodySearch } from '../../src/voting/height/body-search.js'
import { VoteFilter } from '../../src/voting/height/vote-filter.js'
import { ProposedBodies } from '../../src/voting/proposed-bodies.js'
import { encodeMessage, parseMessage } from '../../src/voting/tendermint/message.js'
import { encodeSignState, freshSignState, parseSignState } from '../../src/voting/tendermint/sign-state.js'
import { encodeSummary, parseSummary } from '../../src/voting/tendermint/summary.js'
import { memoryStore, oneValidator, quietLog } from '../support/builders/chain.js'
import { testPublicKey, testSpec } from '../support/builders/spec.js'
import { fakeHeader, fakeSignature, Voters } from '../support/builders/votes.js'
import { rest } from '../support/fakes/manual-time.js'
import { TestNet, type TestNode } from '../support/network/voting-net.js'
import { each, everyDoor, limit, onlyFor } from './limit.js'

const spec = parseSpec(testSpec())
const tip = () => ({ height: 0, hash: zeroHash })

/** A filter of height 1 for votes whose signatures count as verified. */
function filter() {
  const clock = { time: 1_000_000, now: () => clock.time }
  const verified = { unknown: () => [], add: () => {} }
  const verifier = { verifyAll: () => Promise.resolve(-1) }
  const options = { spec, genesis: zeroHash, height: 1, previous: zeroHash, clock, verified, verifier }
  const votes = new VoteFilter(options as never)
  const prevote = (view: number, blockHash?: Hash) => {
    const signature = fakeSignature('vote')
    return votes.accept({ kind: 'prevote', height: 1, view, blockHash, signer: testPublicKey(0), signature })
  }
  return { clock, prevote }
}

/** Whether a validator's votes in so many views are all accepted, after as many as it may send at once and a second. */
async function viewsOf(count: number, before: number): Promise<string | undefined> {
  const { clock, prevote } = filter()
  for (let view = 0; view < before; view++) await prevote(view)
  clock.time += before > 0 ? 1000 : 0
  for (let i = 0; i < count; i++) if (!(await prevote(before + i))) return 'a vote is not taken'
  return undefined
}

/** Evidence against signers, with the bytes of both messages of each piece. */
async function evidence(pieces: readonly { signer: number; bytes?: number }[]): Promise<string | undefined> {
  const kept = await Evidence.open(await Database.over(memoryStore()), tip)
  for (const [i, { signer, bytes = 200 }] of pieces.entries()) {
    const half = Math.floor(bytes / 2)
    const one: Contradiction = {
      height: i,
      view: 0,
      kind: 'prevote',
      signer: concat(Uint8Array.of(2), sha256(`signer ${signer}`)),
      first: new Uint8Array(half),
      second: new Uint8Array(bytes - half),
    }
    await kept.add(one)
  }
  const { length } = kept.list()
  return length === pieces.length ? undefined : `${length} pieces are kept`
}

/** Puts bodies of these sizes; a refusal where the first is dropped. */
async function bodies(sizes: readonly number[]): Promise<string | undefined> {
  const kept = await ProposedBodies.open(await Database.over(memoryStore()), tip)
  const headers = sizes.map((_, i) => fakeHeader(1, `block ${i}`))
  const memory = new Uint8Array(Math.max(...sizes))
  for (const [i, header] of headers.entries()) {
    memory.set(header.bytes)
    await kept.put(header, memory.subarray(0, sizes[i]))
  }
  return headers.every(({ hash }) => kept.has(hash)) ? undefined : 'the oldest is dropped'
}

/** A search for bodies, whose requests to peers are counted; the writer is `busy` or never asked. */
function search(fetched: (hash: Hash) => Promise<Uint8Array | undefined>) {
  const asked: Hash[] = []
  const fetch = (hash: Hash) => {
    asked.push(hash)
    return fetched(hash)
  }
  const options = {
    chain: { prepare: () => Promise.reject(new RuleError('busy', 'the queue is full')), sanity: {} },
    clock: { now: () => 0 },
    log: quietLog(),
    network: { fetch },
    bodies: { has: () => false, get: () => undefined },
    height: 1,
    wanted: () => false,
    keep: () => Promise.resolve(),
    found: () => {},
    after: () => () => {},
    track: (work: Promise<void>) => void work,
  }
  return { asked, bodySearch: new BodySearch(options as never) }
}

const voters = new Voters(4, 1)
const header = fakeHeader(1, 'block')
const signature = fakeSignature('prevote')
const prevotes = (count: number, view: number) =>
  each(count, (i) => ({
    kind: 'prevote' as const,
    height: 1,
    view,
    blockHash: header.hash,
    signer: concat(Uint8Array.of(2), sha256(`key ${i}`)),
    signature,
  }))
const nobits = new Uint8Array(0)
const summary = { height: 1, view: 0, step: 'prevote' as const, validView: -1, views: [] }
const view = (number: number, bits = nobits) => ({ view: number, proposal: false, prevotes: bits, precommits: bits })

const owner = { genesis: zeroHash, publicKey: testPublicKey(0) }

/** Reads a sign state whose list of messages is this. */
function readState(messages: (writer: Writer) => Writer): void {
  const empty = encodeSignState(freshSignState(1), owner)
  const writer = new Writer(1024).bytes(empty.subarray(0, -33))
  const body = messages(writer).finish()
  parseSignState(concat(body, sha256(body)), owner)
}

const nil = encodeMessage(voters.nilPrecommit(0, 0))

/** The vote of a chain's only validator, whose sign state is written once `written` resolves. */
async function onVote<T>(run: (node: TestNode) => Promise<T>, written = Promise.resolve()): Promise<T> {
  const net = new TestNet(oneValidator())
  const signStore = { load: () => Promise.resolve(undefined), save: () => written }
  const verifier = { verifyAll: () => Promise.resolve(-1), close: () => Promise.resolve() }
  const node = await net.add({ person: 0 }, false, { signStore, verifier } as never)
  try {
    return await run(node)
  } finally {
    await net.close()
  }
}

/** Reports of the heights of peers, each of which has the vote look at its sign state while that is being written. */
async function reports(count: number): Promise<string | undefined> {
  let write = () => {}
  const written = new Promise<void>((resolve) => (write = resolve))
  return onVote(async ({ test, voting }) => {
    // The first report comes with the node.
    for (let i = 1; i < count; i++) voting.setBestPeerHeight(0)
    await rest()
    write()
    return test.log.errors.map(({ fields }) => String(fields['reason']))[0]
  }, written)
}

export const votingLimits = [
  limit({
    name: 'voting/voting.queueLimit',
    unit: 'count',
    value: 4096,
    feed: reports,
    refusal: '4096 blocks are waiting already',
  }),
  limit({
    name: 'voting/voting.maxReceiving',
    unit: 'count',
    value: 1024,
    feed: onlyFor(/^busy/, (n) =>
      onVote(async ({ voting }) => {
        const message = voters.nilPrecommit(0, 0)
        await Promise.all(each(n, () => voting.receive(message)))
        return undefined
      }),
    ),
    refusal: 'busy: 1024 messages wait already',
  }),
  limit({
    name: 'voting/checked-blocks.maxVerdicts',
    unit: 'count',
    value: 64,
    feed: (n) => {
      const checked = new CheckedBlocks()
      const headers = each(n, (i) => fakeHeader(1, `block ${i}`))
      headers.forEach((one) => checked.add(one, 'valid'))
      return headers.every(({ hash }) => checked.verdict(hash)) ? undefined : 'the oldest has left'
    },
    refusal: 'the oldest has left',
  }),
  limit({
    name: 'voting/evidence.maxEvidence',
    unit: 'count',
    value: 1000,
    feed: (n) => evidence(each(n, (i) => ({ signer: Math.floor(i / 16) }))),
    refusal: '1000 pieces are kept',
  }),
  limit({
    name: 'voting/evidence.evidencePerSigner',
    unit: 'count',
    value: 16,
    feed: (n) => evidence(each(n, () => ({ signer: 1 }))),
    refusal: '16 pieces are kept',
  }),
  limit({
    name: 'voting/evidence.maxEvidenceBytes',
    unit: 'bytes',
    value: 4 * 1024 * 1024,
    feed: (n) => evidence(each(100, (i) => ({ signer: Math.floor(i / 16), bytes: i < 99 ? 42_000 : n - 99 * 42_000 }))),
    refusal: '99 pieces are kept',
  }),
  limit({
    name: 'voting/proposed-bodies.maxBodies',
    unit: 'count',
    value: 16,
    feed: (n) => bodies(each(n, () => 1000)),
    refusal: 'the oldest is dropped',
  }),
  limit({
    name: 'voting/proposed-bodies.maxBodyBytes',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: (n) => bodies(each(9, (i) => (i < 8 ? 8_000_000 : n - 64_000_000))),
    refusal: 'the oldest is dropped',
  }),
  limit({
    name: 'voting/height/body-search.maxSought',
    unit: 'count',
    value: 16,
    feed: (n) => {
      const { asked, bodySearch } = search(() => new Promise(() => {}))
      const headers = each(n, (i) => fakeHeader(1, `block ${i}`))
      for (const one of headers) bodySearch.seek(one.hash, one)
      const [first] = headers
      // What is still searched for is not asked for again.
      if (first !== undefined) bodySearch.seek(first.hash, first)
      return asked.length === n ? undefined : 'the oldest search is given up'
    },
    refusal: 'the oldest search is given up',
  }),
  limit({
    name: 'voting/height/body-search.maxUnchecked',
    unit: 'count',
    value: 2,
    feed: async (n) => {
      const headers = each(n, (i) => fakeHeader(1, `block ${i}`))
      const bytesOf = (hash: Hash) => headers.find((one) => Buffer.from(one.hash).equals(hash))?.bytes
      const { asked, bodySearch } = search((hash) => Promise.resolve(bytesOf(hash)))
      for (const one of headers) {
        bodySearch.seek(one.hash, one)
        await rest()
      }
      await bodySearch.body(headers[0]?.hash ?? zeroHash)
      return asked.length === n ? undefined : 'the oldest has left'
    },
    refusal: 'the oldest has left',
  }),
  limit({
    name: 'voting/height/vote-filter.valuesPerStep',
    unit: 'count',
    value: 2,
    feed: async (n) => {
      const { prevote } = filter()
      for (let i = 0; i < n; i++) if (!(await prevote(0, sha256(`block ${i}`)))) return 'a vote is not taken'
      return undefined
    },
    refusal: 'a vote is not taken',
  }),
  limit({
    name: 'voting/height/vote-filter.valuesPerSigner',
    unit: 'count',
    value: 256,
    feed: async (n) => {
      const { clock, prevote } = filter()
      for (let i = 0; i < n; i++) {
        await prevote(i)
        clock.time += 1000
      }
      // A vote that is remembered adds nothing.
      return (await prevote(0)) ? 'the oldest is forgotten' : undefined
    },
    refusal: 'the oldest is forgotten',
  }),
  limit({
    name: 'voting/height/vote-filter.valueRate',
    unit: 'count/s',
    value: 20,
    feed: (n) => viewsOf(n, 64),
    refusal: 'a vote is not taken',
  }),
  limit({
    name: 'voting/height/vote-filter.valueBurst',
    unit: 'count',
    value: 64,
    feed: (n) => viewsOf(n, 0),
    refusal: 'a vote is not taken',
  }),
  limit({
    name: 'voting/tendermint/message.maxView',
    unit: 'number',
    value: 0x7fffffff,
    feed: everyDoor(
      (n) => void parseMessage(encodeMessage(voters.prevote(0, n, header.hash))),
      (n) => void parseMessage(encodeMessage(voters.nilPrecommit(0, n))),
      (n) => void parseMessage(encodeMessage(voters.precommit(0, n, header))),
      (n) => void parseMessage(encodeMessage({ kind: 'proof', height: 1, view: n, header, prevotes: [] })),
      (n) => void parseSummary(encodeSummary({ ...summary, view: n })),
      (n) => void parseSummary(encodeSummary({ ...summary, views: [view(n)] })),
    ),
    refusal: 'vote-malformed',
  }),
  limit({
    name: 'voting/tendermint/message.maxPrevotes',
    unit: 'count',
    value: 100,
    feed: everyDoor(
      (n) => void parseMessage(encodeMessage(voters.proposal(1, header, prevotes(n, 0)))),
      (n) => void parseMessage(encodeMessage({ kind: 'proof', height: 1, view: 0, header, prevotes: prevotes(n, 0) })),
    ),
    refusal: /vote-malformed: .*a count or length of 101/,
  }),
  limit({
    name: 'voting/tendermint/sign-state.maxSigned',
    unit: 'count',
    value: 512,
    feed: (n) =>
      readState((writer) => {
        writer.varuint(n)
        for (let i = 0; i < n; i++) writer.varbytes(nil)
        return writer
      }),
    refusal: 'a count or length of 513',
  }),
  limit({
    name: 'voting/tendermint/sign-state.maxMessageSize',
    unit: 'bytes',
    value: 16_384,
    // No message is as long: the size is looked at first.
    feed: onlyFor(/a count or length/, (n) => readState((writer) => writer.varuint(1).varbytes(new Uint8Array(n)))),
    refusal: 'a count or length of 16385',
  }),
  limit({
    name: 'voting/tendermint/summary.maxViews',
    unit: 'count',
    value: 101,
    feed: (n) => void parseSummary(encodeSummary({ ...summary, views: each(n, (i) => view(i)) })),
    refusal: /vote-malformed: .*a count or length of 102/,
  }),
  limit({
    name: 'voting/tendermint/summary.maxBitmap',
    unit: 'bytes',
    value: 13,
    feed: everyDoor(
      (n) => void parseSummary(encodeSummary({ ...summary, views: [{ ...view(0), prevotes: new Uint8Array(n) }] })),
      (n) => void parseSummary(encodeSummary({ ...summary, views: [{ ...view(0), precommits: new Uint8Array(n) }] })),
    ),
    refusal: /vote-malformed: .*a count or length of 14/,
  }),
]
