import { expect, it } from 'vitest'
import { clearLine, clearLines, coloured, lineThroughDoor, throughDoor } from '../../../../src/program/console/door.js'

it('writes out what steers a terminal, and leaves line ends', () => {
  expect(throughDoor('one\x1b[31m\ntwo\u202e\n')).toBe('one\\u001b[31m\ntwo\\u202e\n')
  expect(lineThroughDoor('one\ntwo')).toBe('one\\u000atwo\n')
})

it('lets out marks of the program, and none that a text holds', () => {
  expect(throughDoor([clearLine, clearLines(3), ...coloured(31, 'a\x1b[0mb')])).toBe(
    '\r\x1b[K\x1b[3A\r\x1b[J\x1b[31ma\\u001b[0mb\x1b[0m',
  )
  // Text in the form of what was let out before is a text like any other.
  expect(throughDoor(throughDoor([clearLine]))).toBe('\\u000d\\u001b[K')
})

it('takes no object of a document for a mark', () => {
  const forged = JSON.parse('{"sequence": "\\u001b[2J"}') as string
  expect(() => throughDoor([forged])).toThrow(TypeError)
})
