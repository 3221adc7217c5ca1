import { describe, expect, it } from 'vitest'
import type { LightOptions } from '../../../../src/clients/light/light-resolver.js'
import { failureOf, lightOver, lightWorld } from '../../../support/builders/light-world.js'
import { type Json, type Lies, lightServers } from '../../../support/fakes/light-server.js'

const { book, alice, bob, kept } = lightWorld()
const tip = book.tip.height
const absent = 'did:ledger:absent'

/** A server that answers as of a height. */
const asOf = (height: () => number): Lies => ({
  answer: (right: Json, asked: Json) =>
    right.id === undefined
      ? book.answer(right.did, { ...asked, height: asked.height ?? height() })
      : book.credential(right.id, { height: height() }),
})
/** A resolver of two servers. */
const between = (one: Lies, two: Lies, options: Partial<LightOptions> = {}) =>
  lightOver(
    book,
    {},
    {
      servers: ['http://one', 'http://two'],
      fetch: lightServers({ one: { book, lies: one }, two: { book, lies: two } }),
      ...options,
    },
  )
/** The height of an answer, or its failure. */
const heightOf = (answer: Promise<{ proved: { height: number } }>) =>
  failureOf(answer.then(({ proved }) => proved.height))

describe('what is proved besides an answer', () => {
  it('has all operations where they are asked for, or the answer came from elsewhere', async () => {
    const light = lightOver(book)
    expect((await light.resolve(alice.did)).proved).not.toHaveProperty('history')
    expect((await light.resolve(alice.did, { history: true })).proved).toMatchObject({ history: { count: 3 } })
    expect((await light.verifyAnswer(alice.did, book.answer(alice.did))).proved).toMatchObject({
      history: { count: 3, entries: [{}] },
    })
    expect((await light.verifyAnswer(absent, book.answer(absent))).proved).toMatchObject({
      history: { count: 0, entries: [] },
    })
  })

  it('is nothing of a credential that was never declared', async () => {
    const found = await lightOver(book).resolveCredential(`${alice.did}#none`)
    expect(found).toMatchObject({ status: 3 })
    expect(found).not.toHaveProperty('transaction')
  })
})

describe('the block of an answer', () => {
  it('is ahead of the clock by no more than clocks may differ', async () => {
    const at = (seconds: number) => lightOver(book, {}, { now: () => (book.tip.time + seconds) * 1000 })
    expect(await heightOf(at(-65).resolve(alice.did))).toBe(tip)
    expect(await heightOf(at(-66).resolve(alice.did))).toBe('future')
  })

  it('is no older than is allowed, unless it was asked for', async () => {
    const light = lightOver(
      book,
      asOf(() => 9),
      { maxAge: 30 },
    )
    expect(await heightOf(light.resolve(alice.did))).toBe('stale')
    expect(await heightOf(light.resolveCredential(kept))).toBe('stale')
    expect(await heightOf(light.resolve(alice.did, { height: 3 }))).toBe(3)
  })

  it('is not below one that was seen, unless it was asked for', async () => {
    let height = tip
    const light = lightOver(
      book,
      asOf(() => height),
    )
    expect(await heightOf(light.resolve(alice.did))).toBe(tip)
    expect(await heightOf(light.resolve(alice.did, { height: 3 }))).toBe(3)
    expect(await heightOf(light.resolve(bob.did, { height: 4 }))).toBe(4)
    height = tip - 1
    expect(await heightOf(light.resolve(alice.did))).toBe('rollback')
    expect(await heightOf(light.resolveCredential(kept))).toBe('rollback')
  })

  it('says nothing of a server, and may be older than what was seen, where the answer came from elsewhere', async () => {
    const light = lightOver(book)
    const given = (height: number) => heightOf(light.verifyAnswer(alice.did, book.answer(alice.did, { height })))
    expect([await given(tip), await given(9), await given(tip)]).toEqual([tip, 9, tip])
  })

  it('is not below one that the same server has shown, whatever another one shows', async () => {
    let height = tip
    const light = between(
      {},
      asOf(() => height),
    )
    expect((await light.resolve(alice.did)).proved.servers).toEqual(['http://one', 'http://two'])
    height = tip - 1
    expect((await light.resolve(alice.did)).proved.servers).toEqual(['http://one'])
    // A server that was always behind is no liar.
    expect(
      (
        await between(
          {},
          asOf(() => height),
        ).resolve(alice.did)
      ).proved.servers,
    ).toHaveLength(2)
  })

  it('is shown by as many servers as are needed, one unless told otherwise', async () => {
    const broken: Lies = { answer: ({ did }: Json) => ({ did, status: 3 }) }
    expect(await heightOf(between({}, broken).resolve(alice.did))).toBe(tip)
    expect(await heightOf(between({}, broken, { needed: 2 }).resolve(alice.did))).toBe('quorum')
    expect(await heightOf(between(broken, broken).resolve(alice.did))).toBe('proof-missing')
  })
})

describe('a checkpoint beside a state that was kept', () => {
  const keptAt = async (height: number) => {
    let state = ''
    await lightOver(
      book,
      asOf(() => height),
      { save: (text) => void (state = text) },
    ).resolve(alice.did)
    return { load: () => state }
  }

  it('counts where it is higher, and else not: no answer is below either', async () => {
    const kept = await keptAt(10)
    const from = (checkpoint: number, height: number) =>
      heightOf(
        lightOver(
          book,
          asOf(() => height),
          { ...kept, checkpoint: book.checkpoint(checkpoint) },
        ).resolve(alice.did),
      )
    expect([await from(4, 9), await from(4, 10)]).toEqual(['rollback', 10])
    expect([await from(10, 9), await from(10, 10)]).toEqual(['rollback', 10])
    expect([await from(12, 11), await from(12, 12)]).toEqual(['changes-missing', 12])
  })
})
