import { expect, it } from 'vitest'
import { throughDoor } from '../../../../src/program/console/door.js'
import { TextLines } from '../../../../src/program/console/text-line.js'

const now = new Date(2030, 0, 2, 3, 4, 5).getTime()
const plain = new TextLines(false)

it('begins with local time and kind', () => {
  expect(plain.live(now, 'blocks', { text: '7 ab' })).toBe('03:04:05 block 7 ab')
  expect(plain.live(now + 1000, 'calls', { text: 'getblock' })).toBe('03:04:06 call  getblock')
})

it('shows the fields of a line with a level', () => {
  const fields = { height: 3n, peer: '12D3', reason: 'two words', gone: undefined, list: [1] }
  expect(plain.levelled(now, 'warn', 'a peer is banned', fields)).toBe(
    '03:04:05 warn  a peer is banned  height="3" peer=12D3 reason="two words" list=[1]',
  )
  expect(plain.levelled(now, 'error', 'no fields', {})).toBe('03:04:05 error no fields')
})

it('colours nothing that a client chose', () => {
  const coloured = new TextLines(true)
  const line = coloured.live(now, 'calls', { text: '\x1b[2Jevil', failed: true })
  expect(throughDoor(line)).toBe('\x1b[2m03:04:05\x1b[0m \x1b[36mcall \x1b[0m \x1b[31m\\u001b[2Jevil\x1b[0m')
})

it('is one bounded line, whatever is in it', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const line = plain.levelled(now, 'warn', 'm\n'.repeat(1_000), { a: '\x9b\n'.repeat(100_000), circular })
  expect(line).not.toMatch(/\p{Cc}/u)
  expect(line.length).toBeLessThan(25_000)
})
