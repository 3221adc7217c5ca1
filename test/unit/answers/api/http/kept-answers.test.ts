import { describe, expect, it } from 'vitest'
import {
  KeptAnswers,
  type KeptFor,
  type KeptSource,
  longestQuestion,
} from '../../../../../src/answers/api/http/kept-answers.js'
import { entryOverhead } from '../../../../../src/base/runtime/byte-cache.js'
import { heldBytes } from '../../../../support/assert/heap-probe.js'

function scene(bytes = 100_000) {
  const tip = () => ({}) as KeptSource['chain']['tip']
  const chain = { tip: tip(), prunedHeight: 0, supersededHeight: 0, joinedHeight: 0, verifiedHeight: 0 }
  const resolver = { answersAt: {} as object | undefined, time: 1000, now: () => resolver.time }
  const kept = new KeptAnswers({ chain, resolver }, bytes)
  const keep = (question: string, until = Infinity, holds: KeptFor = 'step', state = kept.state(holds)) =>
    kept.set(question, { body: Buffer.from(`answer to ${question}`), until }, state)
  const get = (question: string) => kept.get(question)?.body.toString()
  const move = () => {
    chain.tip = tip()
    resolver.answersAt &&= {}
  }
  return { chain, resolver, kept, keep, get, move }
}

describe('Kept answers', () => {
  it('are given to the same question', () => {
    const { keep, get } = scene()
    keep('a')
    expect(get('a')).toBe('answer to a')
    expect(get('b')).toBe(undefined)
  })

  it.each(['chain', 'step'] as const)('end with the tip, and leave no byte: of %s', (holds) => {
    const { kept, keep, get, move, chain } = scene()
    const [before, tip] = [kept.state(holds), chain.tip]
    keep('a', Infinity, holds)
    expect(kept.bytes).toBeGreaterThan(0)
    move()
    expect(get('a')).toBe(undefined)
    expect(kept.bytes).toBe(0)
    // Begun before the tip moved.
    keep('b', Infinity, holds, before)
    expect(get('b')).toBe(undefined)
    chain.tip = tip
    expect(get('a')).toBe(undefined)
    keep('b', Infinity, holds, before)
    expect(get('b')).toBe(undefined)
  })

  it.each(['prunedHeight', 'supersededHeight', 'joinedHeight', 'verifiedHeight'] as const)('end with %s', (name) => {
    const { chain, kept, keep, get } = scene()
    const before = kept.state('chain')
    keep('a', Infinity, 'chain')
    chain[name]++
    expect(get('a')).toBe(undefined)
    keep('a', Infinity, 'chain', before)
    expect(get('a')).toBe(undefined)
  })

  it('end where a document expires', () => {
    const { resolver, keep, get } = scene()
    keep('a', 2000)
    resolver.time = 1999
    expect(get('a')).toBe('answer to a')
    resolver.time = 2000
    expect(get('a')).toBe(undefined)
  })

  it('are neither given nor kept out of step, but for those of the rows alone', () => {
    const { resolver, kept, keep, get } = scene()
    const before = kept.state('step')
    keep('a')
    keep('of rows', Infinity, 'chain')
    const { answersAt } = resolver
    resolver.answersAt = undefined
    expect([get('a'), get('of rows')]).toEqual([undefined, 'answer to of rows'])
    expect(kept.state('step')).toBe(undefined)
    keep('b', Infinity, 'step', before)
    resolver.answersAt = answersAt
    expect([get('a'), get('b')]).toEqual(['answer to a', undefined])
  })

  it('end where cosignatures come, but for those of the rows alone', () => {
    const { resolver, keep, get } = scene()
    keep('a')
    keep('of rows', Infinity, 'chain')
    resolver.answersAt = {}
    expect([get('a'), get('of rows')]).toEqual([undefined, 'answer to of rows'])
  })

  it('are bounded in bytes: an answer of n is kept, one of n + 1 is not, and the oldest goes first', () => {
    const capacity = 80_000
    const { kept } = scene(capacity)
    const keep = (question: string, length: number, beside = 0) =>
      kept.set(question, { body: Buffer.alloc(length), headers: { etag: '"x"' }, beside }, kept.state('chain'))
    const most = capacity / 8 - entryOverhead - 'q'.length - 'etag"x"'.length
    keep('q', most)
    expect(kept.get('q')?.body.length).toBe(most)
    keep('r', most + 1)
    expect(kept.get('r')).toBe(undefined)
    keep('s', most - 100, 101)
    expect(kept.get('s')).toBe(undefined)
    for (const question of 'abcdefgh') keep(question, most)
    expect(kept.bytes).toBe(capacity)
    expect([kept.get('q'), kept.get('a') === undefined]).toEqual([undefined, false])
    keep('i', most)
    expect(kept.bytes).toBe(capacity)
    expect(kept.get('b')).toBe(undefined)
  })

  it('are kept for questions of bounded length', () => {
    const { keep, get } = scene()
    const [longest, longer] = ['q'.repeat(longestQuestion), 'q'.repeat(longestQuestion + 1)]
    keep(longest)
    keep(longer)
    expect([get(longest), get(longer)]).toEqual([`answer to ${longest}`, undefined])
  })

  it('are found by every character of a question', () => {
    const { keep, get } = scene()
    keep('\u0181')
    expect([get('\u0181'), get('\u0081'), get('\u0001')]).toEqual(['answer to \u0181', undefined, undefined])
  })

  it('hold nothing of the requests they were for', () => {
    const { kept } = scene(16 * 1024 * 1024)
    const [answers, rest] = [2000, 'q'.repeat(16_000)]
    const before = heldBytes()
    for (let i = 0; i < answers; i++) {
      const request = `/api/v1/block/${i}?${rest}`
      const question = request.slice(0, request.indexOf('?'))
      kept.set(question, { body: Buffer.from(`{"Result":${i}}`) }, kept.state('chain'))
    }
    expect(heldBytes() - before).toBeLessThan((answers * rest.length) / 4)
    expect(kept.get('/api/v1/block/7')?.body.buffer.byteLength).toBe('{"Result":7}'.length)
  })
})
