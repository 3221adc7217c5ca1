import { Database } from '../../src/ledger/storage/database.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Anchors, type AnchorAge } from '../../src/answers/prover/anchors.js'
import { didMapProof } from '../../src/answers/prover/map-proofs.js'
import { identifierOf, credentialIdOf } from '../../src/answers/resolver/did-key.js'
import { DocumentSearch, queryLimits, readQuery } from '../../src/answers/resolver/document-search.js'
import { readHistory } from '../../src/answers/resolver/history.js'
import { historyLimits } from '../../src/answers/resolver/history-limits.js'
import { readResolveRequest } from '../../src/answers/resolver/resolve-request.js'
import { SearchQueue } from '../../src/answers/resolver/search-queue.js'
import { WorkSlots } from '../../src/base/runtime/work-slots.js'
import { everythingToken } from '../../src/identity/did-index/token.js'
import { Overlay } from '../../src/ledger/storage/write/overlay.js'
import { type Key, meta, tables } from '../../src/ledger/storage/rows/tables.js'
import { memoryStore } from '../support/builders/chain.js'
import { fakeHeader } from '../support/builders/votes.js'
import { rest } from '../support/fakes/manual-time.js'
import { withPassingTime } from '../support/fakes/passing-time.js'
import { each, everyDoor, failureOf, limit, onlyFor } from './limit.js'

/** Reads a history of so many operations, of these bytes each. */
const history = (count: number, bytes: (i: number) => number, slice?: { skip: number; limit: number }) =>
  readHistory({
    did: 'did:ledger:a',
    count,
    slice,
    places: new WorkSlots(1, 1, 'histories'),
    read: (start: number, end: number) => Promise.resolve(each(end - start, (i) => ({ bytes: bytes(end - 1 - i) }))),
  } as never)

/** A place among those of a queue that is full but for so many. */
async function queued(enter: () => Promise<unknown>, count: number): Promise<string | undefined> {
  const outcomes = each(count, () => failureOf(enter()))
  return Promise.race([...outcomes.slice(1), rest().then(() => undefined)])
}

/** A search over rows that say how many documents there are. */
async function searchOver(documents: number): Promise<DocumentSearch> {
  const database = await Database.over(memoryStore())
  const overlay = new Overlay(database)
  overlay.put(meta.tip.key, meta.tip.encode({ height: 0, hash: zeroHash }))
  overlay.put(tables.tokenCount.key(everythingToken), tables.tokenCount.encode(documents))
  await overlay.commit({ kind: 'pool', height: 0, hash: zeroHash }, { sync: false })
  return new DocumentSearch(database)
}

/** A condition that the index does not answer. */
const unindexed = readQuery({ query: { n: { $gte: 0 } } })

/** A search that waits for another one, which leaves after so many milliseconds. */
function searchAfter(milliseconds: number): Promise<string | undefined> {
  return withPassingTime(async (pass) => {
    const search = await searchOver(0)
    let leave = () => {}
    const left = new Promise<void>((resolve) => (leave = resolve))
    const first = search.find(unindexed, { admit: () => left })
    const second = failureOf(search.find(unindexed))
    await pass(milliseconds)
    leave()
    await first
    return second
  })
}

/** Asks for the anchors of as many blocks, the confirms of which never come; a refusal where one of them does not wait. */
async function anchors(count: number, age: AnchorAge): Promise<string | undefined> {
  const rows = each(count, (i) => fakeHeader(i, `block ${i}`))
  const rowOf = ({ bytes }: (typeof rows)[number]) =>
    tables.header.encode({
      header: bytes,
      auxPow: new Uint8Array(0),
      status: 'active',
      chainWork: 1n,
      transactionCount: 1,
      size: 1,
      arrival: 1,
    })
  const byKey = new Map(rows.map((header) => [tables.header.key(header.hash).toString('hex'), rowOf(header)]))
  const made = new Anchors({
    database: { get: (key: Key) => byKey.get(key.toString('hex')) } as never,
    spec: { hasValidators: true } as never,
    confirm: () => new Promise(() => {}),
  })
  return Promise.race([
    ...rows.map(({ height, hash }) => failureOf(made.at({ height, hash }, age))),
    rest().then(() => undefined),
  ])
}

/** Proves a DID with so many operations, of which the rows are missing. */
async function proved(count: number): Promise<void> {
  const did = new Uint8Array(21) as never
  const head = tables.didHead.encode({ status: 'valid', operationCount: count, documentSequence: 0, ordinal: 0 })
  const operation = tables.didOperation.encode({
    ...{ height: 1, index: 0, operation: 0, time: 0 },
    ...{ txid: zeroHash, payloadHash: zeroHash, digest: zeroHash },
  } as never)
  const database = {
    get: (key: Key) => (key.equals(tables.didHead.key(did)) ? head : operation),
    rows: () => Promise.resolve([]),
  }
  await didMapProof({ database, pages: {} } as never, { did: 'did:ledger:a', key: did, height: 1, from: 0 })
}

export const resolverLimits = [
  limit({
    name: 'answers/prover/anchors.anchorsWaiting',
    unit: 'count',
    value: 64,
    // Beside the one that is being made.
    feed: everyDoor(
      (n) => anchors(1 + n, 'recent'),
      (n) => anchors(1 + n, 'old'),
    ),
    refusal: /too many anchors wait.*\ntoo many anchors of old blocks/,
  }),
  limit({
    name: 'answers/prover/map-proofs.maxProvedEntries',
    unit: 'count',
    value: 10_000,
    feed: onlyFor(/^history-size/, proved),
    refusal: 'history-size: the proof would show 10001 operations',
  }),
  limit({
    name: 'answers/resolver/document-search.queryLimits.duration',
    unit: 'ms',
    value: 60_000,
    feed: searchAfter,
    refusal: 'the search takes more than 60 seconds',
  }),
  limit({
    name: 'answers/resolver/document-search.queryLimits.examined',
    unit: 'count',
    value: 500_000,
    feed: async (n) => void (await (await searchOver(n)).find(unindexed)),
    refusal: 'busy: more than 500000 documents would have to be read',
  }),
  limit({
    name: 'answers/resolver/did-key.maxDidLength',
    unit: 'characters',
    value: 256,
    feed: everyDoor(
      (n) => void identifierOf('a'.repeat(n)),
      (n) => void credentialIdOf('did:ledger:a#'.padEnd(n, 'f')),
    ),
    refusal: /did: 1 to 256 characters[^]*id: 1 to 256 characters/,
  }),
  limit({
    name: 'answers/resolver/document-search.queryLimits.documents',
    unit: 'count',
    value: 1000,
    feed: (n) => (readQuery({ query: {}, limit: n }).limit === n ? undefined : 'fewer are given'),
    refusal: 'fewer are given',
  }),
  limit({
    name: 'answers/resolver/document-search.queryLimits.waiting',
    unit: 'count',
    value: 128,
    feed: (n) => {
      const queue = new SearchQueue(queryLimits.waiting)
      return queued(() => queue.enter('documents'), n + 1)
    },
    refusal: '128 searches are waiting already',
  }),
  limit({
    name: 'answers/resolver/history-limits.historyLimits.slice',
    unit: 'count',
    value: 1000,
    feed: (n) => void readResolveRequest({ all: true, limit: n }),
    refusal: 'at most 1000 operations are given at once',
  }),
  limit({
    name: 'answers/resolver/history-limits.historyLimits.operations',
    unit: 'count',
    value: 10_000,
    feed: async (n) => void (await history(n, () => 100)),
    refusal: 'history-size: did:ledger:a has 10001 operations',
  }),
  limit({
    name: 'answers/resolver/history-limits.historyLimits.bytes',
    unit: 'bytes',
    value: 8 * 1024 * 1024,
    feed: async (n) => void (await history(9, (i) => (i > 0 ? 1_000_000 : n - 8_000_000))),
    refusal: 'history-size',
  }),
  limit({
    name: 'answers/resolver/history-limits.historyLimits.waiting',
    unit: 'count',
    value: 128,
    feed: (n) => {
      const places = new WorkSlots(historyLimits.places, historyLimits.waiting, 'histories')
      const taken = each(historyLimits.places - 1, () => places.take())
      return Promise.all(taken).then(() => queued(() => places.take(), n + 1))
    },
    refusal: 'too many histories wait',
  }),
  limit({
    name: 'answers/resolver/resolve-request.maxVersionHeight',
    unit: 'number',
    value: 0xffffffff,
    feed: everyDoor(
      (n) => void readResolveRequest({ versionHeight: n }),
      (n) => void readResolveRequest({ proof: true, height: n }),
    ),
    refusal: /versionHeight: a height is[^]*height: an integer from 0/,
  }),
]
