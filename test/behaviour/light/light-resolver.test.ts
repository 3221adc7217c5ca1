import { Resolver } from 'did-resolver'
import { describe, expect, it } from 'vitest'
import { didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { host, failureOf, lightOver, lightWorld } from '../../support/builders/light-world.js'
import { getResolver } from '../../../src/node/library/light-entry.js'
import { holder } from '../../support/builders/did.js'
import { type Lies, lightServers } from '../../support/fakes/light-server.js'
import { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { formatDate } from '../../../src/identity/did/date.js'

describe.each([
  ['validators', lightWorld({ changeAt: 9 })],
  ['miners', lightWorld({ miners: true })],
] as const)('a light resolver on a chain of %s', (kind, { book, alice, bob, carol, dave, kept, revoked, versions }) => {
  const tip = book.tip.height
  const isMined = kind === 'miners'
  const answer = (right: { did?: string; id?: string }, params: { all?: boolean; issuer?: string }) => {
    const height = tip - 6
    const { did, id } = right
    return did === undefined
      ? book.credential(id as string, { ...params, height })
      : book.answer(did, { ...params, height })
  }
  const lies = isMined ? { answer } : {}
  const light = () => lightOver(book, lies)

  it('proves the latest state, with the block and who said so', async () => {
    const found = await light().resolve(alice.did)
    expect(found).toMatchObject({ did: alice.did, status: 0, transaction: [{ txid: versions[2] }] })
    const height = isMined ? tip - 6 : tip
    expect(found.proved).toMatchObject({ height, hash: book.page(height).block.header.id, servers: [host] })
    expect(await light().resolve(alice.did.slice('did:ledger:'.length))).toMatchObject({ did: alice.did, status: 0 })
  })

  it('proves deactivation, expiry and absence', async () => {
    expect(await light().resolve(bob.did)).toMatchObject({ status: 2, transaction: [{}] })
    expect(await light().resolve(carol.did)).toMatchObject({ status: 1, transaction: [{}] })
    const absent = await light().resolve('did:ledger:nobody')
    expect(absent).toMatchObject({ did: 'did:ledger:nobody', status: 3 })
    expect(absent).not.toHaveProperty('transaction')
  })

  it('proves every version, and that there is none', async () => {
    const one = light()
    expect((await one.resolve(alice.did, { all: true })).transaction?.map(({ txid }) => txid)).toEqual(
      [...versions].reverse(),
    )
    const [first, second] = book.history(didMapKey(alice.did), tip)
    for (const versionId of versions) {
      expect(await one.resolve(alice.did, { versionId })).toMatchObject({
        status: 0,
        transaction: [{ txid: versionId }],
      })
    }
    const byTime = async (time: number) => (await one.resolve(alice.did, { versionTime: formatDate(time) })).transaction
    expect(await byTime((first?.time ?? 0) - 1)).toEqual([])
    expect(await byTime(first?.time ?? 0)).toMatchObject([{ txid: versions[0] }])
    expect(await byTime((second?.time ?? 0) + 1)).toMatchObject([{ txid: versions[1] }])
    expect((await one.resolve(alice.did, { versionId: '00'.repeat(32) })).transaction).toEqual([])
  })

  it('tells the status of a DID, whichever version is asked for', async () => {
    const [created] = book.history(didMapKey(carol.did), tip)
    const one = light()
    const before = formatDate((created?.time ?? 0) - 1)
    expect(await one.resolve(carol.did, { versionTime: before })).toMatchObject({ status: 1, transaction: [] })
  })

  it('proves what was said of credentials', async () => {
    const one = light()
    expect(await one.resolveCredential(kept)).toMatchObject({ id: kept, status: 0, transaction: [{}] })
    expect(await one.resolveCredential(kept, { issuer: bob.did })).toMatchObject({ status: 0 })
    const found = await one.resolveCredential(revoked)
    expect(found).toMatchObject({ status: 2, transaction: [{}, {}] })
    expect(found.transaction?.map(({ operation }) => operation.header.operation)).toEqual(['revoke', 'declare'])
    expect(await one.resolveCredential(`${dave.did}#none`)).toMatchObject({ status: 3 })
  })

  it('works without WebCrypto', async () => {
    const found = await lightOver(book, lies, { subtle: null }).resolve(alice.did)
    expect(found).toMatchObject({ status: 0 })
  })

  it('goes on from a checkpoint, and from what it kept', async () => {
    let kept = ''
    const save = (state: string) => void (kept = state)
    const from = 8
    expect(await lightOver(book, lies, { checkpoint: book.checkpoint(from), save }).resolve(alice.did)).toMatchObject({
      status: 0,
    })
    let asked = 0
    const counted = {
      ...lies,
      changes: (right: unknown) => (asked++, right),
      headers: (right: string[]) => (asked++, right),
    }
    const one = lightOver(book, counted, { load: () => kept })
    expect(await one.resolve(alice.did)).toMatchObject({ status: 0 })
    expect(asked).toBe(0)
  })

  it('believes the block of a checkpoint itself, whose validators it does not know, and none beside it', async () => {
    if (isMined) return
    let kept = ''
    const save = (state: string) => void (kept = state)
    const checkpoint = book.checkpoint(book.tip.height)
    const found = await lightOver(book, {}, { checkpoint, save }).resolve(alice.did)
    expect(found).toMatchObject({ status: 0, proved: { height: book.tip.height } })
    expect(await lightOver(book, {}, { load: () => kept }).resolve(alice.did)).toMatchObject({ status: 0 })
    const below = { answer: () => book.answer(alice.did, { height: book.tip.height - 1 }) }
    expect(await failureOf(lightOver(book, below, { checkpoint }).resolve(alice.did))).toBe('changes-missing')
  })

  it('follows headers of which few come at once', async () => {
    if (!isMined) return
    const short = { ...lies, headers: (right: string[]) => right.slice(0, 5) }
    expect(await lightOver(book, short).resolve(alice.did)).toMatchObject({ status: 0 })
  })

  it('refuses an old root, unless that is allowed', async () => {
    const later = () => (book.tip.time + 31 * 24 * 3600) * 1000
    const old = (options: object) => lightOver(book, lies, { now: later, maxAge: 1e9, ...options })
    if (isMined) return
    expect(await failureOf(old({}).resolve(alice.did))).toBe('trust-expired')
    expect((await old({ allowOldRoot: true }).resolve(alice.did)).proved).toMatchObject({ oldRoot: true })
    expect(await failureOf(old({ checkpoint: book.checkpoint(8) }).resolve(alice.did))).toBe('trust-expired')
    expect(await old({ trustPeriod: 32 * 24 * 3600 }).resolve(alice.did)).toMatchObject({ status: 0 })
  })

  it('asks several servers, of which so many must agree', async () => {
    const servers = ['http://one', 'http://two', 'http://three']
    const world = { one: { book, lies }, two: { book, lies: { answer: () => ({}) } } }
    const options = { servers, trust: book.trust(), fetch: lightServers(world), now: () => book.tip.time * 1000 }
    const found = await new LightResolver(options).resolve(alice.did)
    expect(found.proved.servers).toEqual(['http://one'])
    const failed = await new LightResolver({ ...options, needed: 2 })
      .resolve(alice.did)
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({
      failure: 'quorum',
      failures: [
        { server: 'http://two', failure: 'proof-missing' },
        { server: 'http://three', failure: 'unreachable' },
      ],
    })
  })

  it('takes answers of nodes that are a block apart, for earlier versions too, but none of a node that goes back', async () => {
    const depth = isMined ? 6 : 0
    let tops: readonly [number, number] = [tip - 1, tip]
    const at = (place: 0 | 1): Lies => ({
      answer: (_, params) => {
        const height = Math.min(params.height ?? Infinity, tops[place] - depth)
        return book.answer(params.did, { ...params, height })
      },
    })
    const servers = { one: { book, lies: at(0) }, two: { book, lies: at(1) } }
    const options = { servers: ['http://one', 'http://two'], needed: 2, fetch: lightServers(servers) }
    const light = lightOver(book, {}, options)
    for (const next of [
      [tip - 1, tip],
      [tip - 1, tip],
      [tip, tip],
    ] as const) {
      tops = next
      const { proved } = await light.resolve(alice.did)
      expect([proved.servers, proved.height]).toEqual([['http://one', 'http://two'], tip - depth])
      expect(await light.resolve(alice.did, { versionId: versions[0] ?? '' })).toMatchObject({ status: 0 })
    }
    tops = [tip - 1, tip - 1]
    expect(await failureOf(light.resolve(alice.did))).toBe('rollback')
  })

  it('saves its state when it has changed alone', async () => {
    const saved: string[] = []
    const light = lightOver(book, lies, { save: (text) => void saved.push(text) })
    for (let i = 0; i < 3; i++) await light.resolve(alice.did)
    expect(saved).toHaveLength(1)
  })

  it('checks a given answer without any server, by what it knows', async () => {
    let kept = ''
    await lightOver(book, lies, { save: (state) => void (kept = state) }).resolve(alice.did)
    const offline = (options: object) => lightOver(book, {}, { servers: [], ...options })
    const given = book.answer(alice.did, { height: isMined ? tip - 6 : tip })
    const knowing = offline({ load: () => kept })
    expect(await knowing.verifyAnswer(alice.did, given)).toMatchObject({ status: 0, proved: { servers: [] } })
    const lie = { ...given, status: 2 }
    expect(await failureOf(knowing.verifyAnswer(alice.did, lie))).toBe('answer-status')
    // Validators or headers that followed are known to servers alone.
    expect(await failureOf(offline({}).verifyAnswer(alice.did, given))).toBe('unreachable')
    expect(await failureOf(knowing.resolve(alice.did))).toBe('unreachable')
  })

  it('checks a bundle without any server', async () => {
    const parts = isMined ? { headers: book.headers(1, 1000) } : { changes: book.changes(0).changes }
    const height = isMined ? tip - 6 : tip
    const bundle = (asked: object, answer: object) => ({ format: 'didledger/bundle/1', asked, answer, ...parts })
    const offline = (options: object = {}) =>
      lightOver(book, {}, { fetch: () => Promise.reject(new Error('no network')), ...options })
    const about = bundle({ did: alice.did }, book.answer(alice.did, { height }))
    expect(await offline().verifyBundle(about)).toMatchObject({ did: alice.did, status: 0 })
    expect(await offline().verifyBundle(JSON.stringify(about))).toMatchObject({ status: 0 })
    expect(await offline({ checkpoint: book.checkpoint(12) }).verifyBundle(about)).toMatchObject({ status: 0 })
    expect(await offline({ checkpoint: book.checkpoint(3) }).verifyBundle(about)).toMatchObject({ status: 0 })
    expect(await offline({ checkpoint: book.checkpoint(height) }).verifyBundle(about)).toMatchObject({ status: 0 })
    const credential = bundle({ id: revoked }, book.credential(revoked, { height }))
    expect(await offline().verifyBundle(credential)).toMatchObject({ id: revoked, status: 2 })
    const later = { now: () => (book.tip.time + 5000) * 1000 }
    expect(await offline(later).verifyBundle(about)).toMatchObject({ status: 0 })
    expect(await failureOf(offline(later).verifyBundle(about, { maxAge: 3600 }))).toBe('stale')
    const earlier = { now: () => (book.page(height).block.header.time - 66) * 1000 }
    // Headers of miners are tested for it in any case.
    expect(await failureOf(offline(earlier).verifyBundle(about))).toBe('future')
    expect(await failureOf(offline(earlier).verifyBundle(about, { maxAge: 3600 }))).toBe('future')
    expect(await failureOf(offline().verifyBundle(bundle({ did: bob.did }, book.answer(alice.did))))).toBe('answer-did')
    const without = { ...about, changes: [], headers: [] }
    expect(await failureOf(offline().verifyBundle(without))).toBe(isMined ? 'work-chain' : 'confirm-signature')
  })
})

describe('did-resolver over a light resolver', () => {
  const { book, alice, bob, carol, versions } = lightWorld({ changeAt: 9 })
  const tip = book.tip.height
  const resolver = (lies = {}) => new Resolver(getResolver(lightOver(book, lies)))

  it('gives documents with what is proved of them', async () => {
    const found = await resolver().resolve(alice.did)
    const { id } = book.tip
    expect(found.didResolutionMetadata).toMatchObject({
      contentType: 'application/did+ld+json',
      height: tip,
      blockHash: id,
    })
    expect(found.didDocument).toMatchObject({ id: alice.did, service: [{ id: `${alice.did}#two` }] })
    expect(found.didDocumentMetadata).toMatchObject({ versionId: versions[2], height: 5 })
    expect(found.didDocumentMetadata).not.toHaveProperty('blockHash')
    const [first, second, third] = book.history(didMapKey(alice.did), tip).map(({ time }) => formatDate(time))
    expect(found.didDocumentMetadata).toMatchObject({ created: first, updated: third })
    const older = await resolver().resolve(`${alice.did}?versionId=${versions[1]}`)
    expect(older.didDocumentMetadata).toMatchObject({ updated: second, nextVersionId: versions[2], nextUpdate: third })
  })

  it('says what there is none of, or what is not believed', async () => {
    expect((await resolver().resolve(bob.did)).didDocumentMetadata).toMatchObject({ deactivated: true })
    expect((await resolver().resolve(carol.did)).didResolutionMetadata.error).toBe('expired')
    const absent = holder().did
    expect((await resolver().resolve(absent)).didResolutionMetadata.error).toBe('notFound')
    const told = await resolver({ answer: () => ({ did: alice.did, status: 3 }) }).resolve(alice.did)
    expect(told.didResolutionMetadata.error).toBe('internalError')
  })
})
