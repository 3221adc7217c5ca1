import { expect, it } from 'vitest'
import { RequestRate } from '../../../../../src/answers/api/http/request-rate.js'

it('counts each address, and many addresses shut out neither a new one nor one that goes on asking', () => {
  const rate = new RequestRate({ rateRequests: 3, rateWindow: 1000 })
  const left = (share: string) => {
    const { exceeded, left } = rate.take(share, 0)
    return exceeded ? 'exceeded' : left
  }
  expect(left('busy')).toBe(2)
  for (let i = 0; i < 30_000; i++) {
    rate.take(`crowd ${i}`, 0)
    if (i === 5_000) expect(left('busy')).toBe(1)
    if (i === 12_000) expect(left('busy')).toBe(0)
    if (i === 20_000) expect(left('busy')).toBe('exceeded')
  }
  expect(left('new')).toBe(2)
  expect(rate.take('busy', 1000).left).toBe(2)
})
