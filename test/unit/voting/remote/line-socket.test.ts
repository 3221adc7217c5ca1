import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { lineSocket } from '../../../../src/voting/remote/line-socket.js'

/** The lines that are taken of the pieces, and why the socket was closed. */
function taken(most: number, ...pieces: string[]) {
  const lines: unknown[] = []
  let closed: string | undefined
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    setNoDelay: () => {},
    destroy: () => {
      socket.destroyed = true
      socket.emit('close')
    },
  })
  lineSocket(socket as unknown as Socket, most, {
    line: (value) => lines.push(value),
    closed: (reason) => (closed = reason),
  })
  for (const piece of pieces) socket.emit('data', Buffer.from(piece))
  return { lines, closed }
}

it('takes lines of so many bytes, however they arrive', () => {
  expect(taken(7, '{"a":1}\n[1]\n', '{"b"', ':2}\n')).toEqual({ lines: [{ a: 1 }, [1], { b: 2 }], closed: undefined })
})

it.each([
  ['that ends in the piece that is too long', '{"a":10}\n'],
  ['that ends in a later piece', '{"a":1', '0}\n'],
  ['without an end', '{"a":1', '0}'],
])('refuses a longer one %s', (_, ...pieces) => {
  expect(taken(7, '[]\n', ...pieces)).toEqual({ lines: [[]], closed: 'a line has more than 7 bytes' })
})
