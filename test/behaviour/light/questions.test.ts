import { describe, expect, it } from 'vitest'
import { formatDate } from '../../../src/identity/did/date.js'
import { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { holder } from '../../support/builders/did.js'
import { failureOf, lightOver, lightWorld } from '../../support/builders/light-world.js'
import { type Json, type Lies, lightServers } from '../../support/fakes/light-server.js'

/** An answer is held against every parameter of its question. */

const [renewed, lapsed] = [holder(), holder()]

describe.each([
  ['validators', lightWorld({ genesis: 'questions' })],
  ['miners', lightWorld({ genesis: 'questions', miners: true })],
] as const)('on a chain of %s', (kind, { book, alice, bob, kept, revoked, dave, versions }) => {
  const isMined = kind === 'miners'
  const soon = formatDate(book.tip.time + 15)
  const late = '2040-01-01T00:00:00Z'
  const made = (operation: ReturnType<typeof renewed.create>) => {
    const block = book.make({ operations: [operation] })
    return block.transactions.at(-1)?.txid ?? ''
  }
  const first = made(renewed.create({ expires: soon }))
  const before = made(lapsed.create({ expires: late }))
  made(renewed.update(first, { expires: late }))
  made(lapsed.update(before, { expires: soon }))
  for (let i = 0; i < 8; i++) book.make()
  const tip = isMined ? book.tip.height - 6 : book.tip.height
  const at = (did: string, asked: Json) => book.answer(did, { ...asked, height: asked.height ?? tip })
  const honest: Lies = {
    answer: (right, asked) =>
      asked.did === undefined
        ? book.credential(asked.id, { ...asked, height: asked.height ?? tip })
        : at(right.did, asked),
  }
  const light = (lies: Lies = honest) => lightOver(book, lies)
  /** Another answer than the one asked for. */
  const instead = (asked: Json, did = alice.did) => light({ answer: () => at(did, asked) })

  describe('the status of a DID beside an earlier version', () => {
    it('is that of the last document', async () => {
      expect(await light().resolve(renewed.did, { versionId: first })).toMatchObject({ status: 0 })
      expect(await light().resolve(lapsed.did, { versionId: before })).toMatchObject({ status: 1 })
    })

    it.each([
      ['an expired DID valid, as of an earlier block', () => lapsed.did, () => before],
      ['a renewed DID expired, as of an earlier block', () => renewed.did, () => first],
    ])('is not that of another state: %s', async (_, did, versionId) => {
      const old = (asked: Json) => book.answer(did(), { ...asked, height: asked.height === undefined ? tip : 17 })
      const one = light({ answer: (_right, asked) => old(asked) })
      expect(await failureOf(one.resolve(did(), { versionId: versionId() }))).toBe('answer-height')
    })

    it('is that of the same block, which another server shows', async () => {
      const answer: Lies['answer'] = (_, asked) =>
        at(lapsed.did, asked.height === undefined ? asked : { ...asked, height: tip - 1 })
      const fetch = lightServers({ one: { book, lies: { answer } }, two: { book, lies: honest } })
      const both = lightOver(book, {}, { servers: ['http://one', 'http://two'], needed: 2, fetch })
      const found = await both.resolve(lapsed.did, { versionId: before })
      expect(found).toMatchObject({ status: 1, proved: { height: tip, servers: ['http://one', 'http://two'] } })
    })
  })

  it.each<[string, string, () => Promise<unknown>]>([
    ['height: a block below', 'answer-height', () => instead({ height: tip - 1 }).resolve(alice.did, { height: tip })],
    ['height: a block above', 'answer-height', () => instead({}).resolve(alice.did, { height: tip - 1 })],
    ['did', 'answer-did', () => instead({}, bob.did).resolve(alice.did)],
    ['all: the last alone', 'answer-incomplete', () => instead({}).resolve(alice.did, { all: true })],
    ['all: all instead of the last', 'answer-incomplete', () => instead({ all: true }).resolve(alice.did)],
    ['history: the last entry alone', 'answer-incomplete', () => instead({}).resolve(alice.did, { history: true })],
    [
      'history: of a version, those since alone',
      'answer-incomplete',
      () => {
        const [, versionId = ''] = versions
        return instead({ versionId }).resolve(alice.did, { versionId, history: true })
      },
    ],
    [
      'versionId: another',
      'answer-version',
      () => instead({ versionId: versions[0], proof: 'history' }).resolve(alice.did, { versionId: versions[1] ?? '' }),
    ],
    [
      'versionId: the last',
      'answer-version',
      () => instead({ proof: 'history' }).resolve(alice.did, { versionId: versions[1] ?? '' }),
    ],
    [
      'versionId: none',
      'answer-incomplete',
      () => instead({ versionId: '00'.repeat(32) }).resolve(alice.did, { versionId: versions[1] ?? '' }),
    ],
    [
      'versionTime: the last',
      'answer-version',
      () =>
        instead({ proof: 'history' }).resolve(alice.did, { versionTime: formatDate(book.page(1).block.header.time) }),
    ],
    [
      'id: another credential',
      'answer-did',
      () => light({ answer: () => book.credential(revoked, { height: tip }) }).resolveCredential(kept),
    ],
    [
      'issuer: without the leaf of who is asked for',
      'answer-incomplete',
      () =>
        light({ answer: () => book.credential(kept, { height: tip }) }).resolveCredential(kept, { issuer: bob.did }),
    ],
    [
      'issuer: another one',
      'path-root',
      () => {
        const right = book.credential(revoked, { issuer: bob.did, height: tip })
        const [own, issuer] = right.proof.maps
        const answer = () => ({ ...right, proof: { ...right.proof, maps: [own, issuer, issuer] } })
        return light({ answer }).resolveCredential(revoked, { issuer: bob.did })
      },
    ],
  ])('a server that answers another %s is refused: %s', async (_, failure, ask) => {
    expect(await failureOf(ask())).toBe(failure)
  })

  it.each<[string, Json]>([
    ['two versions', { all: true, versionId: '00'.repeat(32) }],
    ['two names of a version', { versionId: '00'.repeat(32), versionTime: late }],
    ['a date that is none', { versionTime: '2026-02-30T00:00:00Z' }],
    ['a txid that is none', { versionId: 'AB'.repeat(32) }],
    ['a height that is none', { height: -1 }],
    ['a height in words', { height: '3' }],
    ['all in words', { all: 'yes' }],
    ['a parameter that is not known', { versionHeight: 3 }],
    ['a part of a history', { skip: 1 }],
    ['a depth', { depth: 3 }],
  ])('a question with %s is refused before a server is asked', async (_, asked) => {
    const one = light({ response: () => Promise.reject(new Error('asked')) })
    expect(await failureOf(one.resolve(alice.did, asked))).toBe('form')
    expect(await failureOf(one.verifyAnswer(alice.did, at(alice.did, {}), asked))).toBe('form')
  })

  it('a DID URL, and what is no id of a credential, are refused: none of them has ever a leaf', async () => {
    expect(await failureOf(light().resolve(`${alice.did}?versionId=${first}`))).toBe('form')
    expect(await failureOf(light().resolve(`${alice.did}#primary`))).toBe('form')
    expect(await failureOf(light().resolveCredential(alice.did))).toBe('form')
    expect(await failureOf(light().resolveCredential('#profile'))).toBe('form')
    expect(await failureOf(light().resolveCredential(kept, { issuer: `${dave.did}#primary` }))).toBe('form')
  })

  describe('a bundle', () => {
    const parts = isMined ? { headers: book.headers(1, 1000) } : { changes: [] }
    const bundle = (asked: Json, answer: Json) => ({ format: 'didledger/bundle/1', asked, answer, ...parts })
    const offline = () =>
      new LightResolver({ servers: [], trust: book.trust(), now: () => book.tip.time * 1000, allowOldRoot: true })
    const [, second = ''] = versions
    const byVersion = { versionId: second }

    it.each<[string, Json, Json]>([
      ['the last', {}, {}],
      ['with proof', { proof: true }, {}],
      ['by all entries', { proof: 'history' }, { proof: 'history' }],
      ['of every version', { all: true }, { all: true }],
      ['of a version', byVersion, byVersion],
      ['of a height', { height: tip - 2 }, { height: tip - 2 }],
    ])('is taken %s', async (_, asked, given) => {
      const found = await offline().verifyBundle(bundle({ did: alice.did, ...asked }, at(alice.did, given)))
      expect(found).toMatchObject({ did: alice.did, proved: { history: { count: 3 } } })
    })

    it.each<[string, string, Json, Json]>([
      ['another height', 'answer-height', { height: tip - 2 }, {}],
      ['a height in words', 'form', { height: `${tip}` }, {}],
      ['a depth', 'form', { depth: 3 }, {}],
      ['all in words', 'form', { all: 'yes' }, { all: true }],
      ['all of 1', 'form', { all: 1 }, {}],
      ['another version', 'answer-version', byVersion, { proof: 'history' }],
      ['a version as a number', 'form', { versionId: 5 }, {}],
      ['a time that is none', 'form', { versionTime: 'yesterday' }, {}],
      ['two versions', 'form', { ...byVersion, versionTime: late }, byVersion],
      ['a version by height', 'form', { versionHeight: 3 }, {}],
      ['a part of a history', 'form', { all: true, skip: 1 }, { all: true }],
      ['all entries, and the last alone', 'answer-incomplete', { proof: 'history' }, {}],
      ['another kind of proof', 'form', { proof: 'none' }, {}],
      ['a context', 'form', { context: true }, {}],
      ['a credential beside it', 'form', { id: kept }, {}],
      ['a parameter of tomorrow', 'form', { asOf: 'yesterday' }, {}],
    ])('that asks for %s is refused: %s', async (_, failure, asked, given) => {
      const asking = bundle({ did: alice.did, ...asked }, at(alice.did, given))
      expect(await failureOf(offline().verifyBundle(asking))).toBe(failure)
    })

    it.each<[string, string, Json]>([
      ['the height of another block', 'answer-height', { height: tip - 1 }],
      ['an issuer whose leaf is not shown', 'answer-incomplete', { issuer: bob.did }],
      ['an issuer as a number', 'form', { issuer: 5 }],
      ['a parameter that is not known', 'form', { all: true }],
    ])('about a credential with %s is refused: %s', async (_, failure, asked) => {
      const answer = book.credential(kept, { height: tip })
      expect(await offline().verifyBundle(bundle({ id: kept, proof: true }, answer))).toMatchObject({ status: 0 })
      expect(await failureOf(offline().verifyBundle(bundle({ id: kept, ...asked }, answer)))).toBe(failure)
    })
  })
})
