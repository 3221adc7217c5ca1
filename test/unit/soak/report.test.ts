import { afterEach, describe, expect, it, vi } from 'vitest'
import { judgeLoad } from '../../../scripts/soak/report.js'

describe('the load of a soak', () => {
  const visits = { whole: 3, torn: 1, 'brief in vain (it is full)': 2 }
  const users = { transactions: 5, requests: 9 }
  const peers = { 'those that joined': 4 }
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  afterEach(() => print.mockClear())

  it('is one where each kind succeeded', () => {
    expect(judgeLoad({ visits, users, peers })).toBe(0)
    expect(print).not.toHaveBeenCalled()
  })

  it.each([
    ['visits: not one of torn', { visits: { ...visits, torn: 0 }, users, peers }],
    ['users: not one of requests', { visits, users: { ...users, requests: 0 }, peers }],
    ['peers: not one of those that joined', { visits, users, peers: { 'those that joined': 0 } }],
    ['visits: nothing is known of them', { visits: {}, users, peers }],
  ])('is none with %s', (what, counts) => {
    expect(judgeLoad(counts)).toBe(1)
    expect(print.mock.calls.flat().join('\n')).toContain(what)
  })
})
