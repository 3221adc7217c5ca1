import { describe, expect, it } from 'vitest'
import { KeptAnswers } from '../../../../../src/answers/api/http/kept-answers.js'
import { heldBytes } from '../../../../support/assert/heap-probe.js'

function scene(bytes = 100_000) {
  const source = { answersAt: {} as object | undefined, time: 1000, now: () => source.time }
  const kept = new KeptAnswers(source, bytes)
  const keep = (body: string, until = Infinity, at = source.answersAt) =>
    kept.set(body, { method: 'm', body: Buffer.from(`answer to ${body}`), until }, at)
  const get = (body: string) => kept.get(body)?.body.toString()
  return { source, kept, keep, get }
}

describe('Kept answers', () => {
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

  it('hold nothing of the requests they were for', () => {
    const { source, kept } = scene(16 * 1024 * 1024)
    const [answers, rest] = [2000, 'q'.repeat(16_000)]
    const before = heldBytes()
    for (let i = 0; i < answers; i++) {
      const request = `/api/v1/block/${i}?${rest}`
      kept.set(request.slice(0, request.indexOf('?')), { body: Buffer.from(`{"Result":${i}}`) }, source.answersAt)
    }
    expect(heldBytes() - before).toBeLessThan((answers * rest.length) / 4)
    expect(kept.get('/api/v1/block/7')?.body.buffer.byteLength).toBe('{"Result":7}'.length)
  })
})
