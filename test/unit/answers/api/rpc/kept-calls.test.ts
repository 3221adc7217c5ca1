import { describe, expect, it } from 'vitest'
import { KeptCalls } from '../../../../../src/answers/api/rpc/kept-calls.js'

function scene(bytes = 100_000) {
  const source = { answersAt: {} as object | undefined, time: 1000, now: () => source.time }
  const kept = new KeptCalls(source, bytes)
  const keep = (body: string, until = Infinity, at = source.answersAt) =>
    kept.set(body, { method: 'm', answer: Buffer.from(`answer to ${body}`), until }, at)
  const get = (body: string) => kept.get(body)?.answer.toString()
  return { source, keep, get }
}

describe('Kept answers to calls', () => {
  it('are given to the same body', () => {
    const { keep, get } = scene()
    keep('a')
    expect(get('a')).toBe('answer to a')
    expect(get('b')).toBe(undefined)
  })

  it('end with the tip', () => {
    const { source, keep, get } = scene()
    const before = source.answersAt
    keep('a')
    source.answersAt = {}
    expect(get('a')).toBe(undefined)
    // Begun before the tip moved.
    keep('b', Infinity, before)
    expect(get('b')).toBe(undefined)
    source.answersAt = before
    expect(get('a')).toBe(undefined)
  })

  it('end where a document expires', () => {
    const { source, keep, get } = scene()
    keep('a', 2000)
    source.time = 1999
    expect(get('a')).toBe('answer to a')
    source.time = 2000
    expect(get('a')).toBe(undefined)
  })

  it('are neither given nor kept while the node catches up', () => {
    const { source, keep, get } = scene()
    keep('a')
    source.answersAt = undefined
    expect(get('a')).toBe(undefined)
    keep('b')
    expect(get('b')).toBe(undefined)
  })

  it('are bounded in bytes', () => {
    const { keep, get } = scene(10_000)
    for (let i = 0; i < 200; i++) keep(`body ${i}`)
    const left = Array.from({ length: 200 }, (_, i) => get(`body ${i}`)).filter((answer) => answer !== undefined)
    expect(left.length).toBeGreaterThan(10)
    expect(left.length).toBeLessThan(35)
    expect(get('body 199')).toBe('answer to body 199')
  })
})
