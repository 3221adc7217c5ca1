import { expect, it } from 'vitest'
import { bytesOf } from '../../../../src/ledger/engine/postgres-values.js'

const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

/** As PostgreSQL writes it with `bytea_output = 'escape'`. */
function escaped(bytes: Buffer): string {
  const one = (byte: number) => {
    if (byte === 0x5c) return '\\\\'
    return byte < 0x20 || byte > 0x7e ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte)
  }
  return [...bytes].map(one).join('')
}

it.each([
  ['every byte', all],
  ['nothing', Buffer.alloc(0)],
  ['what looks like an escape', Buffer.from('\\x41 \\101 \\\\')],
])('reads %s in both forms of bytea', (_, bytes) => {
  expect(bytesOf(`\\x${bytes.toString('hex')}`)).toEqual(bytes)
  expect(bytesOf(escaped(bytes))).toEqual(bytes)
})
