import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { DocumentQuery } from '../../../../src/identity/did/resolution.js'
import type { Code } from '../../../../src/base/errors/error-codes.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { defined } from '../../../../src/base/primitives/defined.js'
import { addressOf, prefix, programHash } from '../../../../src/base/primitives/address.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import {
  DocumentSearch,
  type FoundDocuments,
  foundJson,
  type QueryLimits,
  queryLimits,
  readQuery,
} from '../../../../src/answers/resolver/document-search.js'
import { Resolver } from '../../../../src/answers/resolver/resolver.js'
import { tokenKind, tokenOf } from '../../../../src/identity/did-index/token.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { TokenIndexChanges } from '../../../../src/ledger/storage/rows/token-index.js'
import { memoryStore, type Store, TestChain } from '../../../support/builders/chain.js'
import { collectGarbage } from '../../../support/assert/heap-probe.js'
import { expires, type Holder, holder } from '../../../support/builders/did.js'
import type { Standing } from '../../../../src/answers/resolver/standing.js'
import { behind, inStep } from '../../../support/fakes/standing.js'

/** A database that holds these texts as documents, with their index, and nothing else of a chain. */
class Shelf {
  /** Iterators of the store that are open. */
  open = 0
  /** Texts of its index by ordinal. */
  readonly #texts = new Map<number, string>()
  #written = 0
  readonly search: DocumentSearch

  private constructor(
    readonly store: Store,
    readonly database: Database,
    limits: Partial<QueryLimits>,
  ) {
    this.search = new DocumentSearch(database, limits)
  }

  static async of(texts: readonly string[], limits: Partial<QueryLimits> = {}): Promise<Shelf> {
    const store = memoryStore()
    const shelf = new Shelf(store, await Database.over(store), limits)
    const iterator = store.iterator.bind(store)
    // Counts what is opened and closed.
    store.iterator = ((...options: Parameters<typeof iterator>) => {
      const made = iterator(...options)
      const close = made.close.bind(made)
      shelf.open++
      let closed = false
      made.close = async () => {
        await close()
        if (!closed) shelf.open--
        closed = true
      }
      return made
    }) as typeof store.iterator
    await shelf.put(texts)
    return shelf
  }

  async put(texts: readonly string[], from = 0): Promise<void> {
    const overlay = new Overlay(this.database)
    const hash = new Uint8Array(32).fill(++this.#written)
    overlay.put(meta.tip.key, meta.tip.encode({ height: from + texts.length, hash }))
    const index = new TokenIndexChanges()
    texts.forEach((text, i) => {
      const create = { height: from + i, index: 1 }
      overlay.put(tables.didDocument.key(create), fromUtf8(text))
      if (!text.endsWith('}')) return
      const before = this.#texts.get(from + i)
      if (before === undefined) index.create(overlay, from + i, create)
      const head = { status: 'valid', operationCount: 1, documentSequence: 0, ordinal: from + i } as const
      overlay.put(tables.didHead.key(programHashOf(from + i)), tables.didHead.encode(head))
      index.change(from + i, { before: before === undefined ? undefined : fromUtf8(before), after: fromUtf8(text) })
      this.#texts.set(from + i, text)
    })
    await index.put(overlay)
    await overlay.commit({ kind: 'pool', height: 0, hash: new Uint8Array(32) }, { sync: false })
  }

  async setTip(hash: Uint8Array): Promise<void> {
    await this.#commit((overlay) => overlay.put(meta.tip.key, meta.tip.encode({ hash, height: 1 })))
  }

  async drop(key: Buffer): Promise<void> {
    await this.#commit((overlay) => overlay.del(key))
  }

  async #commit(stage: (overlay: Overlay) => void): Promise<void> {
    const overlay = new Overlay(this.database)
    stage(overlay)
    await overlay.commit({ kind: 'pool', height: 0, hash: new Uint8Array(32) }, { sync: false })
  }

  /** Calls back before each read of rows by their keys, and with what it found. */
  watchReads(before: () => void | Promise<void>, found: (values: readonly (Buffer | undefined)[]) => void): void {
    const freeze = this.database.freeze.bind(this.database)
    this.database.freeze = () => {
      const rows = freeze()
      return {
        ...rows,
        getMany: async (wanted) => {
          await before()
          const values = await rows.getMany(wanted)
          found(values)
          return values
        },
      }
    }
  }

  /** Lets searches that read every document wait, until the function that it returns is called. */
  holdScans(): () => void {
    let goOn = () => {}
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    const freeze = this.database.freeze.bind(this.database)
    this.database.freeze = () => {
      const rows = freeze()
      return {
        ...rows,
        pages: async function* (...range) {
          await gate
          yield* rows.pages(...range)
        },
      }
    }
    return goOn
  }

  find(query: DocumentQuery, signal?: AbortSignal): Promise<FoundDocuments> {
    return this.search.find(readQuery(query), defined({ signal }))
  }
}

const programHashOf = (n: number) => programHash(prefix.did, fromUtf8(`${n}`))
const didOf = (n: number) => `did:ledger:${addressOf(programHashOf(n))}`
const numbered = (count: number, filler = '') =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ id: didOf(n), n, even: n % 2 === 0, filler, expires }))
const ids = ({ texts }: FoundDocuments) => texts.map((text) => (JSON.parse(text) as { n: number }).n)

async function codeOf(run: () => unknown): Promise<Code | undefined> {
  try {
    await run()
  } catch (error) {
    if (error instanceof RuleError) return error.code
    throw error
  }
  return undefined
}

describe('a search', () => {
  it('answers a page of what matches, in order', async () => {
    const shelf = await Shelf.of(numbered(10))
    const query = { even: true }
    expect(await shelf.find({ query })).toMatchObject({ total: 5, start: 0, count: 5 })
    expect(ids(await shelf.find({ query }))).toEqual([0, 2, 4, 6, 8])
    const page = await shelf.find({ query, skip: 1, limit: 2 })
    expect([page.total, page.start, page.count, ids(page)]).toEqual([5, 1, 2, [2, 4]])
    const last = await shelf.find({ query, skip: 4, limit: 2 })
    expect([last.total, last.start, last.count, ids(last)]).toEqual([5, 4, 1, [8]])
  })

  it.each<[what: string, query: DocumentQuery, total: number, start: number, count: number]>([
    ['limit 0 only counts', { query: { even: true }, limit: 0 }, 5, 0, 0],
    ['limit 0 counts everything', { query: {}, limit: 0 }, 10, 0, 0],
    ['skip to the end', { query: { even: true }, skip: 5 }, 5, 5, 0],
    ['skip beyond the end', { query: {}, skip: 99 }, 10, 99, 0],
    ['nothing matches', { query: { even: 1 } }, 0, 0, 0],
    ['nothing matches, and skip', { query: { even: 1 }, skip: 7 }, 0, 0, 0],
    [
      'the largest numbers',
      { query: {}, skip: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER },
      10,
      Number.MAX_SAFE_INTEGER,
      0,
    ],
  ])('%s', async (_, query, total, start, count) => {
    const shelf = await Shelf.of(numbered(10))
    expect(await shelf.find(query)).toMatchObject({ total, start, count })
    expect(shelf.open).toBe(0)
  })

  it.each([1, 3, 50])('finds a text that all but one in %i documents have', async (rest) => {
    const texts = numbered(300, 'often').map((text, n) => {
      if (n % rest === 0) return text.replace('"often"', n % 2 === 0 ? '"never"' : '"never","other":"often"')
      return text
    })
    const having = Array.from({ length: 300 }, (_, n) => n).filter((n) => n % rest > 0)
    const shelf = await Shelf.of(texts)
    const found = await shelf.find({ query: { filler: { $regex: 'ofte' } }, limit: 300 })
    expect([found.total, ids(found)]).toEqual([having.length, having])
  })

  it('gives so many documents unless told otherwise, and never more than so many', async () => {
    const shelf = await Shelf.of(numbered(queryLimits.documents + 5))
    expect(await shelf.find({ query: {} })).toMatchObject({ total: 1005, count: queryLimits.documentsUnasked })
    expect(await shelf.find({ query: {}, limit: 5000 })).toMatchObject({ total: 1005, count: queryLimits.documents })
  })

  it('ends a page where its bytes would be too many, and a next one goes on there', async () => {
    const filler = 'x'.repeat(queryLimits.answerBytes / 2 - 200)
    const shelf = await Shelf.of([...numbered(3, filler), ...numbered(4).slice(3)])
    const first = await shelf.find({ query: {} })
    expect([first.total, first.count, ids(first)]).toEqual([4, 2, [0, 1]])
    const second = await shelf.find({ query: {}, skip: 2 })
    expect([second.total, second.start, ids(second)]).toEqual([4, 2, [2, 3]])
  })

  it('gives one document that is larger than all bytes of an answer', async () => {
    const shelf = await Shelf.of(numbered(2, 'x'.repeat(queryLimits.answerBytes)))
    expect(await shelf.find({ query: {} })).toMatchObject({ total: 2, count: 1 })
  })

  it('sees one state, whatever is written meanwhile', async () => {
    // Several pages of documents, so that the writing comes in between.
    const texts = numbered(400, 'x'.repeat(6400))
    const shelf = await Shelf.of(texts)
    const found = shelf.find({ query: { even: true }, limit: 1 })
    await shelf.put(texts.map((text) => text.replace(/"even":\w+/, '"even":true')))
    expect(await found).toMatchObject({ total: 200 })
    expect(await shelf.find({ query: { even: true }, limit: 1 })).toMatchObject({ total: 400 })
  })

  it('lets others have their turn', async () => {
    const shelf = await Shelf.of(numbered(20_000, 'x'.repeat(200)))
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await shelf.find({ query: { even: true } })
    clearImmediate(next)
    // How many there are depends on the machine; without slices there are hardly any.
    expect(turns).toBeGreaterThan(3)
  })

  it('is the text of its answer', async () => {
    const shelf = await Shelf.of(numbered(2))
    expect(foundJson(await shelf.find({ query: { even: false } }))).toBe(
      `{"total":1,"start":0,"count":1,"document":[${numbered(2)[1]}]}`,
    )
  })
})

describe('searches', () => {
  it('wait for each other, and beyond a number are told to come back', async () => {
    const shelf = await Shelf.of(numbered(10))
    const query = { even: true }
    const asked = Array.from({ length: queryLimits.waiting + 1 }, () => shelf.find({ query }))
    expect(await codeOf(() => shelf.find({ query }))).toBe('busy')
    expect(await Promise.all(asked)).toHaveLength(queryLimits.waiting + 1)
    expect(await codeOf(() => shelf.find({ query: {} }))).toBe(undefined)
  })

  it('end when the node stops, those that wait too', async () => {
    const shelf = await Shelf.of(numbered(2000, 'x'.repeat(1000)))
    const running = shelf.find({ query: { n: -1 } })
    const waiting = shelf.find({ query: { even: true } })
    const ended = Promise.allSettled([running, waiting])
    await new Promise(setImmediate)
    await shelf.search.close()
    for (const end of await ended) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'busy' } })
    expect(await codeOf(() => shelf.find({ query: {} }))).toBe('busy')
    expect(shelf.open).toBe(0)
    await shelf.database.close()
  })

  it('end when the caller says so', async () => {
    const shelf = await Shelf.of(numbered(2000, 'x'.repeat(1000)))
    const abort = new AbortController()
    const found = shelf.find({ query: { n: -1 } }, abort.signal)
    const next = shelf.find({ query: { n: { $gte: 0 } }, limit: 0 })
    await new Promise(setImmediate)
    abort.abort(new Error('enough'))
    await expect(found).rejects.toThrow('enough')
    expect(await next).toMatchObject({ total: 2000 })
    expect(shelf.open).toBe(0)
  })

  it('that wait end at once when the caller says so, and leave their place to others', async () => {
    const shelf = await Shelf.of(numbered(2000, 'x'.repeat(1000)))
    const running = shelf.find({ query: { n: -1 } })
    const aborts = Array.from({ length: queryLimits.waiting }, () => new AbortController())
    const waiting = aborts.map(({ signal }) =>
      shelf.find({ query: { even: true } }, signal).catch((error: Error) => error.message),
    )
    expect(await codeOf(() => shelf.find({ query: { even: true } }))).toBe('busy')
    for (const abort of aborts) abort.abort(new Error('enough'))
    const first = await Promise.race([running.then(() => 'the search'), Promise.all(waiting).then((all) => all[0])])
    expect(first).toBe('enough')
    const scanned = shelf.search.scanned
    expect(await shelf.find({ query: {}, limit: 0 })).toMatchObject({ total: 2000 })
    await running
    // Those that were given up looked at nothing.
    expect(shelf.search.scanned - scanned).toBeLessThanOrEqual(4000)
  })

  it('that were given up let go of their condition while they wait', async () => {
    const shelf = await Shelf.of(numbered(10))
    const goOn = shelf.holdScans()
    const running = shelf.find({ query: { n: { $gte: 0 } } })
    const abort = new AbortController()
    const heldBy = (signal: AbortSignal) => {
      const query = readQuery({ query: { n: -1 } })
      const end = shelf.search.find(query, { signal }).catch((error: Error) => error.message)
      return { end, query: new WeakRef(query) }
    }
    const stays = heldBy(new AbortController().signal)
    const leaves = heldBy(abort.signal)
    abort.abort(new Error('enough'))
    expect(await leaves.end).toBe('enough')
    await new Promise(setImmediate)
    collectGarbage()
    expect([stays.query.deref() === undefined, leaves.query.deref() === undefined]).toEqual([false, true])
    goOn()
    expect(await running).toMatchObject({ total: 10 })
    expect(await stays.end).toMatchObject({ total: 0 })
  })

  it('name a row that is damaged', async () => {
    for (const damage of ['{"n":', '']) {
      const shelf = await Shelf.of(numbered(10))
      await shelf.put([damage], 4)
      await expect(shelf.find({ query: { n: 1 } })).rejects.toThrow(/row 0f000000040001 holds no document.*reindex/)
      expect(shelf.open).toBe(0)
    }
    const shelf = await Shelf.of(numbered(10))
    await shelf.store.put(tables.didDocument.key({ height: 4, index: 1 }), Buffer.from('{"n":1}1234'))
    await expect(shelf.find({ query: {} })).rejects.toThrow(StorageError)
    expect(shelf.open).toBe(0)
    // The next one is not kept from its turn.
    await shelf.put(numbered(1), 4)
    expect(await shelf.find({ query: {} })).toMatchObject({ total: 10 })
  })
})

describe('reading a search', () => {
  const wrong = (query: unknown) => codeOf(() => readQuery(query as DocumentQuery))

  it.each<[what: string, wrong: unknown, code: Code, right: DocumentQuery]>([
    ['no condition', {}, 'query-invalid', { query: {} }],
    ['two conditions', { service: 'T', credential: 'T' }, 'query-invalid', { service: 'T' }],
    ['two conditions, one of them null', { service: 'T', credential: null }, 'query-invalid', { credential: 'T' }],
    ['three conditions of wrong types', { service: 1, credential: 2, query: 3 }, 'query-invalid', { query: '{}' }],
    ['an empty service', { service: '' }, 'request-parameter', { service: 'T' }],
    ['an empty credential', { credential: '' }, 'request-parameter', { credential: 'T' }],
    ['a service that is no text', { service: 1 }, 'request-parameter', { service: '1' }],
    ['a condition that is neither text nor object', { query: 1 }, 'request-parameter', { query: '{}' }],
    ['a condition that is null', { query: null }, 'request-parameter', { query: {} }],
    ['a condition that is not valid', { query: '{a:{$b:1}}' }, 'query-invalid', { query: '{a:{b:1}}' }],
    ['a negative skip', { query: {}, skip: -1 }, 'request-parameter', { query: {}, skip: 0 }],
    ['a fractional limit', { query: {}, limit: 1.5 }, 'request-parameter', { query: {}, limit: 1 }],
    ['a skip too large', { query: {}, skip: 2 ** 53 }, 'request-parameter', { query: {}, skip: 2 ** 53 - 1 }],
    ['a limit that is text', { query: {}, limit: '1' }, 'request-parameter', { query: {}, limit: 1 }],
  ])('refuses %s', async (_, query, code, right) => {
    expect(await wrong(query)).toBe(code)
    expect(await wrong(right)).toBe(undefined)
  })
})

describe('the resolver', () => {
  const hub = { id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }
  const resolverOf = (test: TestChain, standing: () => Standing = () => inStep()) =>
    new Resolver({
      database: test.database,
      prover: test.prover,
      clock: test.clock,
      tip: () => test.chain.tip.header,
      standing,
    })
  const dids = async (resolver: Resolver, query: DocumentQuery) =>
    (await resolver.query(query)).document.map(({ id }) => id)

  it('searches the latest documents by service, by credential and by condition', async () => {
    const test = await TestChain.open()
    const [ada, bob, eve] = [holder(), holder(), holder()] as [Holder, Holder, Holder]
    const created = await test.publish(ada.create(), ada.did)
    await test.publish(bob.create({ services: [hub] }), bob.did)
    const doomed = { ...hub, type: 'Hub' }
    await test.publish(eve.create({ services: [doomed] }), eve.did)
    const resolver = resolverOf(test)
    expect(await dids(resolver, { query: {} })).toEqual([ada.did, bob.did, eve.did])
    expect(await dids(resolver, { service: 'Hub' })).toEqual([bob.did, eve.did])
    expect(await dids(resolver, { service: 'hub' })).toEqual([])

    const credentials = [ada.issue(ada.did, { credentialSubject: { id: ada.did, email: 'ada@example.org' } })]
    await test.publish(ada.update(created, { credentials, services: [hub] }), ada.did)
    // The order is that of the creates, whatever came later.
    expect(await dids(resolver, { service: 'Hub' })).toEqual([ada.did, bob.did, eve.did])
    expect(await dids(resolver, { credential: 'ProfileCredential' })).toEqual([ada.did])
    const query = '{credential:{type:["ProfileCredential"],subject:{email:{$exists:true}}}}'
    const found = await resolver.query({ query })
    expect(found).toMatchObject({ total: 1, start: 0, count: 1, document: [{ id: ada.did, expires }] })
    expect(found.document[0]).toMatchObject({
      service: [{ id: `${ada.did}#hub` }],
      publicKey: [{ controller: ada.did }, {}],
    })
    expect(await resolver.queryJson(readQuery({ query }))).toBe(JSON.stringify(found))
    const { height, id: blockHash } = test.chain.tip.header
    expect(await resolver.query({ query, context: true })).toEqual({ ...found, height, blockHash })

    await test.publish(eve.deactivate(), eve.did)
    expect(await dids(resolver, { service: 'Hub' })).toEqual([ada.did, bob.did])
    // Expired documents are searched like others.
    test.clock.time = Date.UTC(2031, 0, 1)
    await test.mine()
    expect((await resolver.resolve(ada.did, { all: false })).status).toBe(1)
    expect(await dids(resolver, { service: 'Hub' })).toEqual([ada.did, bob.did])
    await resolver.close()
  })

  it('answers nothing while it catches up, but says what is wrong with a search', async () => {
    const test = await TestChain.open()
    const resolver = resolverOf(test, () => behind(3, 9))
    expect(await codeOf(() => resolver.query({ service: 'Hub' }))).toBe('resolver-behind')
    expect(await codeOf(() => resolver.query({}))).toBe('query-invalid')
  })
})

describe('a search by the index', () => {
  const types = ['Hub', 'Mailbox', 'Hub', 'Other']
  const withServices = (count: number) =>
    Array.from({ length: count }, (_, n) => {
      const service = [{ type: types[n % types.length], n }]
      return JSON.stringify({ id: didOf(n), n, service, expires })
    })

  it('reads no document but those of its answer', async () => {
    const shelf = await Shelf.of(withServices(1000))
    for (const query of [{ query: {} }, { service: 'Hub' }, { query: { 'service.type': { $in: ['Hub', 'Other'] } } }]) {
      expect((await shelf.find({ ...query, skip: 100, limit: 3 })).count).toBe(3)
    }
    expect(shelf.search.scanned).toBe(0)
    expect((await shelf.find({ query: { service: { type: 'Hub', n: 6 } } })).total).toBe(1)
    expect(shelf.search.scanned).toBe(500)
  })

  it('counts once a tip, and goes on where a page ended', async () => {
    const shelf = await Shelf.of(withServices(1000))
    const hash = (byte: number) => new Uint8Array(32).fill(byte)
    const examined = async (query: object, skip: number) => {
      const before = shelf.search.scanned
      const found = await shelf.find({ query, skip, limit: 10 })
      expect([found.total, found.count]).toEqual([500, 10])
      return shelf.search.scanned - before
    }
    for (const query of [{ n: { $gte: 500 } }, { service: { type: 'Hub', n: { $gte: 0 } } }]) {
      await shelf.setTip(hash(1))
      const whole = await examined(query, 0)
      expect(whole).toBeGreaterThanOrEqual(500)
      // At most a chunk of documents is verified together.
      expect(await examined(query, 10)).toBeLessThanOrEqual(128)
      expect(await examined(query, 0)).toBeLessThan(whole)
      await shelf.setTip(hash(2))
      expect(await examined(query, 10)).toBe(whole)
    }
  })

  it('is refused where it would read too many documents, with the part that the index does not answer', async () => {
    const shelf = await Shelf.of(withServices(200), { examined: 100 })
    const refusal = (query: object) => shelf.find({ query }).catch((error: unknown) => error)
    expect(await refusal({ n: { $gte: 0 } })).toMatchObject({
      code: 'busy',
      message: expect.stringMatching(/more than 100 documents .* does not answer n;/) as string,
    })
    // It is refused before it reads one.
    expect(shelf.search.scanned).toBe(0)
    expect(await refusal({ service: { n: { $gte: 0 } } })).toMatchObject({ code: 'busy' })
    expect(await refusal({ service: { type: { $in: ['Hub', 'Mailbox'] }, n: { $gte: 0 } } })).toMatchObject({
      message: expect.stringContaining('does not answer service.n') as string,
    })
    expect((await shelf.find({ query: { service: { type: 'Mailbox', n: { $gte: 0 } } } })).total).toBe(50)
    expect((await shelf.find({ query: {} })).total).toBe(200)
  })

  it('finds what a document has beyond the number of types and claims that the index takes', async () => {
    const many = (name: string) => Array.from({ length: 1100 }, (_, i) => `${name}${i}`)
    const [ada, bob] = [didOf(0), didOf(1)]
    const credential = (id: string, type: string[], claims: string[]) => {
      const said = Object.fromEntries(claims.map((name) => [name, 1]))
      return { type, issuer: id, credentialSubject: { id, ...said } }
    }
    const shelf = await Shelf.of([
      JSON.stringify({ id: ada, expires, verifiableCredential: [credential(ada, many('T'), ['c7'])] }),
      JSON.stringify({ id: bob, expires, verifiableCredential: [credential(bob, ['T7', 'A'], many('c'))] }),
    ])
    const found = async (query: object) => {
      const { total, texts } = await shelf.find({ query })
      return [total, texts.map((text) => (JSON.parse(text) as { id: string }).id)]
    }
    expect(await found({ credential: { type: 'T7' } })).toEqual([2, [ada, bob]])
    expect(await found({ credential: { type: 'T1090' } })).toEqual([1, [ada]])
    expect(await found({ credential: { subject: { c1090: { $exists: true } } } })).toEqual([1, [bob]])
    expect(await found({ credential: { type: ['T1090'], subject: { c7: { $exists: true } } } })).toEqual([1, [ada]])
    expect(await found({ 'credential.type': { $ne: 'T1090' } })).toEqual([1, [bob]])
    expect(await found({ credential: { type: 'U' } })).toEqual([0, []])
  })

  const overflowing = (n: number, changes: { types?: number; claims?: number }) => {
    const type = [...Array.from({ length: changes.types ?? 0 }, (_, i) => `T${i}`), 'Member']
    const claims = Object.fromEntries(Array.from({ length: changes.claims ?? 0 }, (_, i) => [`c${i}`, i]))
    return JSON.stringify({
      id: didOf(n),
      expires,
      verifiableCredential: [{ type, issuer: didOf(n), credentialSubject: claims }],
    })
  }

  it('counts by one row what one token answers, and reads the documents that have too many of its kind', async () => {
    const shelf = await Shelf.of([
      ...Array.from({ length: 300 }, (_, n) => overflowing(n, { claims: n % 100 === 7 ? 300 : 1 })),
      overflowing(300, { types: 1100 }),
      overflowing(301, { types: 1023 }),
    ])
    const total = async () => (await shelf.find({ credential: 'Member', limit: 0 })).total
    expect(await total()).toBe(302)
    // That of 1100 types: those of many claims have all their types in the index.
    expect(shelf.search.scanned).toBe(1)
    const row = shelf.database.get(tables.tokenCount.key(tokenOf(tokenKind.credentialType, 'Member')))
    expect(row && tables.tokenCount.decode(row)).toBe(301)
    await shelf.drop(tables.tokenCount.key(tokenOf(tokenKind.credentialType, 'Member')))
    await shelf.setTip(new Uint8Array(32))
    expect(await total()).toBe(1)
  })

  it('says why it would read too many documents where the index answers the condition', async () => {
    const texts = Array.from({ length: 3 }, (_, n) => overflowing(n, { types: 1100 }))
    const shelf = await Shelf.of(texts, { examined: 2 })
    await expect(shelf.find({ credential: 'Member' })).rejects.toThrow(
      /more than 2 documents would have to be read: they have more types or claims of credentials than the index takes/,
    )
  })

  it('keeps no documents that its answer has no place for', async () => {
    const filler = 'x'.repeat(64 * 1024)
    const texts = Array.from({ length: 256 }, (_, n) =>
      JSON.stringify({ id: didOf(n), service: [{ type: 'Hub', n, filler }], expires }),
    )
    const shelf = await Shelf.of(texts)
    // Those that are read at once, and one or the other batch before.
    const atOnce = 150
    let [held, most] = [[] as WeakRef<Buffer>[], 0]
    shelf.watchReads(
      async () => {
        // What is held for good stays, however often garbage is collected; on a busy machine the rest goes later.
        for (let look = 0; look === 0 || (look < 5 && held.length >= atOnce); look++) {
          // A WeakRef holds its target until the turn in which it was made or asked is over.
          await nextTurn()
          collectGarbage()
          held = held.filter((buffer) => buffer.deref() !== undefined)
        }
        most = Math.max(most, held.length)
      },
      (found) => held.push(...found.flatMap((value) => (value === undefined ? [] : [new WeakRef(value)]))),
    )
    const query = { service: { type: 'Hub', n: { $gte: 0 } } }
    for (const page of [{ limit: 0 }, { limit: 10, skip: 300 }, { limit: 10 }]) {
      held = []
      expect((await shelf.find({ query, ...page })).total).toBe(256)
      await shelf.setTip(new Uint8Array(32).fill(page.limit))
    }
    expect(most).toBeLessThan(atOnce)
  })

  it('does not wait for one that reads documents', async () => {
    const shelf = await Shelf.of(numbered(10))
    const goOn = shelf.holdScans()
    let reading = true
    const slow = shelf.find({ query: { n: -1 } }).finally(() => (reading = false))
    expect((await shelf.find({ query: {} })).total).toBe(10)
    expect(reading).toBe(true)
    goOn()
    await slow
  })

  it('names rows that are damaged', async () => {
    const shelf = await Shelf.of(withServices(10))
    await shelf.drop(tables.ordinal.key(4))
    await expect(shelf.find({ query: {} })).rejects.toThrow(/row of ordinal 4 is missing.*reindex/)
    const other = await Shelf.of(withServices(10))
    await other.drop(tables.didDocument.key({ height: 4, index: 1 }))
    await expect(other.find({ query: {} })).rejects.toThrow(/row 0f000000040001 of a document is missing/)
    expect([shelf.open, other.open]).toEqual([0, 0])
  })

  it('gives what was asked for before it came to a damage elsewhere', async () => {
    const shelf = await Shelf.of(withServices(10))
    await shelf.drop(tables.ordinal.key(9))
    expect((await shelf.find({ query: {}, limit: 3 })).total).toBe(10)
  })
})
