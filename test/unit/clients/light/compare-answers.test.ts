import { describe, expect, it } from 'vitest'
import type { FollowedChain } from '../../../../src/clients/light/followed-chain.js'
import {
  agreeing,
  type Failed,
  type ProvedAnswer,
  type Question,
  requireAgreement,
  requireRise,
  requireState,
  settled,
  tooFew,
} from '../../../../src/clients/light/compare-answers.js'
import { LightError, type LightFailure } from '../../../../src/clients/light/light-error.js'
import type { ProvedLeaf } from '../../../../src/identity/proofs/proof-answer.js'
import { ProofError } from '../../../../src/identity/proofs/proof-failure.js'
import { lightWorld } from '../../../support/builders/light-world.js'

const { book } = lightWorld()
const other = lightWorld({ plan: (height) => (height > 10 ? { padding: 3 } : {}) }).book

interface Answer extends ProvedAnswer {
  readonly said: readonly ProvedLeaf[]
}

/** An answer as of a block, with what was said by then of each name: so many entries. */
function answerAt(height: number, said: Readonly<Record<string, number>> = {}, of = book): Answer {
  const { block, confirm } = of.page(height)
  const leaves = Object.entries(said).map(([did, count]) => ({
    name: did.includes(' ') ? { id: did.split(' ')[0], signer: did.split(' ')[1] } : { did },
    history: count === 0 ? undefined : { state: 1, count, base: new Uint8Array(32), entries: [] },
  }))
  return { block: { header: block.header, confirm } as ProvedAnswer['block'], said: leaves as unknown as ProvedLeaf[] }
}

const question = (changes: Partial<Question<Answer>> = {}): Question<Answer> => ({
  ask: () => Promise.resolve(undefined),
  check: () => {
    throw new TypeError('nothing is checked')
  },
  leaves: ({ said }) => said,
  asOf: () => question(changes),
  isPast: false,
  result: () => ({ proved: {} }),
  ...changes,
})

const outcome = (act: () => unknown): unknown => {
  try {
    act()
    return 'holds'
  } catch (error) {
    return (error as LightError).failure
  }
}
const failed = (server: string, failure: LightFailure): Failed => ({ server, error: new LightError(failure, server) })

describe('two answers', () => {
  const agree = (lower: Answer, higher: Answer) => outcome(() => requireAgreement(lower, higher, question()))

  it.each<[string, Answer, Answer, string]>([
    ['histories that grow', answerAt(3, { a: 1 }), answerAt(5, { a: 2 }), 'holds'],
    ['a history that shrinks', answerAt(3, { a: 2 }), answerAt(5, { a: 1 }), 'contradiction'],
    ['a history that ends', answerAt(3, { a: 1 }), answerAt(5, { a: 0 }), 'contradiction'],
    ['histories of two DIDs', answerAt(3, { a: 2 }), answerAt(5, { b: 1 }), 'holds'],
    ['what two say of a credential', answerAt(3, { 'c x': 2 }), answerAt(5, { 'c y': 1 }), 'holds'],
    ['what one says of two credentials', answerAt(3, { 'c x': 2 }), answerAt(5, { 'd x': 1 }), 'holds'],
    ['what one says of a credential', answerAt(3, { 'c x': 2 }), answerAt(5, { 'd x': 3, 'c x': 1 }), 'contradiction'],
    ['one block', answerAt(12), answerAt(12), 'holds'],
    ['two blocks of one height', answerAt(12), answerAt(12, {}, other), 'contradiction'],
    ['blocks of two heights', answerAt(12), answerAt(13, {}, other), 'holds'],
  ])('with %s', (_, lower, higher, expected) => {
    expect(agree(lower, higher)).toBe(expected)
  })

  it('are of one state where the second completes the first', () => {
    const state = (proved: Answer, sameAs?: Answer) =>
      outcome(() => requireState(proved, question(sameAs && { sameAs })))
    expect(state(answerAt(5))).toBe('holds')
    expect(state(answerAt(5, { a: 1 }), answerAt(5, { a: 1 }))).toBe('holds')
    expect(state(answerAt(5, { a: 2 }), answerAt(5, { a: 1 }))).toBe('contradiction')
    expect(state(answerAt(5, { a: 1 }), answerAt(5, { a: 2 }))).toBe('contradiction')
    expect(state(answerAt(6), answerAt(5))).toBe('answer-height')
  })

  it('do not go back below what was seen', () => {
    const seen = { header: book.page(5).block.header }
    const at = (height: number) => outcome(() => requireRise(answerAt(height).block, seen))
    expect([at(4), at(5), at(6)]).toEqual(['rollback', 'holds', 'holds'])
  })
})

describe('the answers of several servers', () => {
  it('hold while their blocks have work enough, after what others have shown', () => {
    const requireWork = ({ height }: { height: number }) => {
      if (height > 5) throw new ProofError('work-depth', 'for the test')
    }
    const asked = [
      { server: 'one', proved: answerAt(5) },
      { server: 'two', proved: answerAt(6) },
      failed('three', 'form'),
    ]
    const of = (known: object) => {
      const { held, failed: not } = settled(asked, { known } as unknown as FollowedChain)
      return [held.map(({ server }) => server), not.map(({ server, error }) => `${server} ${error.failure}`)]
    }
    expect(of({ requireWork })).toEqual([['one'], ['two work-depth', 'three form']])
    expect(of({})).toEqual([['one', 'two'], ['three form']])
  })

  it('agree with the highest, in the order of the servers; those that do not are left out', () => {
    const given = [answerAt(3, { a: 1 }), answerAt(5, { a: 2 }), answerAt(4, { a: 3 }), answerAt(5, { a: 2 })]
    const held = given.map((proved, i) => ({ server: `server ${i}`, proved }))
    const { best, agreed, excluded } = agreeing(held, question())
    expect([best, agreed.map(({ server }) => server)]).toEqual([given[1], ['server 0', 'server 1', 'server 3']])
    expect(excluded).toMatchObject([{ server: 'server 2', error: { failure: 'contradiction' } }])
    expect(agreeing([], question())).toEqual({ best: undefined, agreed: [], excluded: [] })
  })

  it('are too few by the one name of all failures, else by a list of them', () => {
    const [one, two] = [failed('one', 'form'), failed('two', 'form')]
    expect(tooFew([one, two], 0)).toBe(one.error)
    expect(tooFew([one], 1)).toMatchObject({ failure: 'quorum', failures: [{ server: 'one', failure: 'form' }] })
    const several = tooFew([one, failed('three', 'stale')], 0)
    expect(several).toMatchObject({
      failure: 'quorum',
      failures: [
        { server: 'one', failure: 'form', message: 'one' },
        { server: 'three', failure: 'stale' },
      ],
    })
    expect(tooFew([], 0)).toMatchObject({ failure: 'quorum', failures: [] })
  })
})
