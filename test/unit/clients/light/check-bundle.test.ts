import { describe, expect, it } from 'vitest'
import { failureOf, lightOver, lightWorld } from '../../../support/builders/light-world.js'
import type { Json } from '../../../support/fakes/light-server.js'

const { book, alice, bob, kept, dave } = lightWorld({ changeAt: 9 })
const strange = lightWorld({ genesis: 'strange', changeAt: 9 }).book
const { changes } = book.changes(0)

const bundle = (asked: object, answer: object, more: object = {}) => ({
  ...{ format: 'didledger/bundle/1', asked, answer, changes },
  ...more,
})
const checked = (given: object | string, options: object = {}, asked: { maxAge?: number } = {}) =>
  lightOver(book, {}, { servers: [], ...options }).verifyBundle(given, asked) as Promise<Json>
const answer = book.answer(alice.did)

describe('a bundle', () => {
  it.each<[string, object, object]>([
    ['the latest state', {}, answer],
    ['the latest state, with a proof', { proof: true }, answer],
    ['the latest state, with its history', { proof: 'history' }, book.answer(alice.did, { proof: 'history' })],
  ])('proves %s', async (_, asked, given) => {
    expect(await checked(bundle({ did: alice.did, ...asked }, given))).toMatchObject({
      ...{ did: alice.did, status: 0 },
      proved: { height: book.tip.height, servers: [], history: { count: 3 } },
    })
  })

  it('proves what was said of a credential', async () => {
    const given = bundle({ id: kept, proof: true }, book.credential(kept))
    expect(await checked(given)).toMatchObject({
      ...{ id: kept, status: 0 },
      proved: { height: book.tip.height, said: [{ signer: alice.did, as: 'holder' }, { signer: dave.did }] },
    })
  })

  it.each<[string, string, object]>([
    ['another format', 'form', bundle({ did: alice.did }, answer, { format: 'didledger/bundle/2' })],
    ['no proof asked for', 'form', bundle({ did: alice.did, proof: false }, answer)],
    ['a proof of another kind', 'form', bundle({ did: alice.did, proof: 'all' }, answer)],
    ['no proof given', 'proof-missing', bundle({ did: alice.did }, { ...answer, proof: undefined })],
    ['a proof that is none', 'form', bundle({ did: alice.did }, { ...answer, proof: 5 })],
    ['an answer of another chain', 'chain', bundle({ did: alice.did }, strange.answer(alice.did))],
    [
      'all that another chain has',
      'chain',
      bundle({ did: alice.did }, strange.answer(alice.did), { changes: strange.changes(0).changes }),
    ],
    ['an answer to another question', 'answer-did', bundle({ did: bob.did }, answer)],
    ['a question that is not known', 'form', bundle({ did: alice.did, more: 1 }, answer)],
    ['a credential that is none', 'form', bundle({ id: 'x' }, book.credential(kept))],
    [
      'too little of a history',
      'answer-incomplete',
      bundle({ did: alice.did, proof: 'history' }, { ...answer, transaction: [] }),
    ],
  ])('is refused with %s: %s', async (_, failure, given) => {
    expect(await failureOf(checked(given))).toBe(failure)
  })

  it('is old only where that is asked for, and never of the future', async () => {
    const given = bundle({ did: alice.did }, answer)
    const at = (seconds: number) => ({ now: () => (book.tip.time + seconds) * 1000 })
    const { age } = (await checked(given, at(5_000))).proved
    expect(age).toBe(5_000)
    expect(await failureOf(checked(given, at(5_000), { maxAge: 5_000 }).then(() => 'fine'))).toBe('fine')
    expect(await failureOf(checked(given, at(5_001), { maxAge: 5_000 }))).toBe('stale')
    expect(await failureOf(checked(given, at(-65)).then(() => 'fine'))).toBe('fine')
    expect(await failureOf(checked(given, at(-66)))).toBe('future')
  })

  it('says where the root is old, if that is allowed', async () => {
    const given = bundle({ did: alice.did }, answer)
    const late = { now: () => (book.tip.time + 40 * 24 * 3600) * 1000 }
    expect(await failureOf(checked(given, late))).toBe('trust-expired')
    expect((await checked(given, { ...late, allowOldRoot: true })).proved).toMatchObject({ oldRoot: true })
    expect((await checked(given, { allowOldRoot: true })).proved).not.toHaveProperty('oldRoot')
    expect((await checked(given, { ...late, checkpoint: book.checkpoint(4) })).proved).not.toHaveProperty('oldRoot')
  })
})
