import { InvariantError } from '../../base/errors/rule-error.js'
import type { EngineRow } from './row-engine.js'

/** Values as PostgreSQL sends and takes them. */

/** Number of the type bytea. */
const byteaType = 17

/** An array of byte strings in the binary form: as text each would be written in hex. */
export function byteArray(values: readonly Uint8Array[]): Buffer {
  const size = values.reduce((sum, { length }) => sum + 4 + length, 20)
  const bytes = Buffer.allocUnsafe(size)
  // Of one dimension, without nulls; that dimension begins at 1.
  for (const [i, field] of [1, 0, byteaType, values.length, 1].entries()) bytes.writeInt32BE(field, 4 * i)
  let at = 20
  for (const value of values) {
    at = bytes.writeInt32BE(value.length, at)
    bytes.set(value, at)
    at += value.length
  }
  return bytes
}

/** A byte string as text: \\x and hex, or characters with escapes, where `bytea_output` of the database or of the user says so. */
export function bytesOf(text: string): Buffer {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex')
  const character = (_: string, octal: string | undefined) =>
    octal === undefined ? '\\' : String.fromCharCode(Number.parseInt(octal, 8))
  return Buffer.from(text.replace(/\\(?:\\|([0-7]{3}))/g, character), 'latin1')
}

/** An integer of 64 bits as text. */
export function integerOf(text: string | number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new InvariantError(`a shard has the number ${text}`)
  return value
}

/** Begins a binary COPY: signature, no flags, no extension. */
export const copyHead = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
/** Ends it. */
export const copyEnd = Buffer.from([0xff, 0xff])

/** Rows of two columns in a binary COPY. */
export function copyRows(rows: readonly EngineRow[]): Buffer {
  const size = rows.reduce((sum, [key, sealed]) => sum + 10 + key.length + sealed.length, 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const row of rows) {
    at = bytes.writeInt16BE(row.length, at)
    for (const column of row) {
      at = bytes.writeInt32BE(column.length, at)
      bytes.set(column, at)
      at += column.length
    }
  }
  return bytes
}
