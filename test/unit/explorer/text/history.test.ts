import { expect, it } from 'vitest'
import { endText, historyText, lackText } from '../../../../src/explorer/text/history.js'

it('says how far a node is that took a state, and nothing of another one', () => {
  expect(historyText({})).toBeUndefined()
  expect(lackText({})).toBeUndefined()
  expect(historyText({ joined: 10_080, verified: 4_199 })).toBe(
    'state of height 10\u202f080 taken and checked; 41 % of the blocks below verified',
  )
  expect(historyText({ joined: 3, verified: 3 })).toContain('100 %')
  expect(lackText({ joined: 42 })).toBe(
    'This node does not have that yet, since it lies too far back: state of height 42 taken and checked; 0 % of the blocks below verified.',
  )
  expect(endText(42)).toContain('the state of block 42')
})
