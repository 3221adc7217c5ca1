import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { messageId } from '../../../../src/clients/watch/watch-message.js'

const parts = ['apply', 'did:ledger:a', 'ab'.repeat(32), 7, 0] as const

it('is named by its parts alone, in 64 hex digits: a receiver can know a repetition by it', () => {
  const text = ['didledger/watch/1', ...parts].join('\n')
  expect(messageId(parts)).toBe(createHash('sha256').update(text).digest('hex'))
  expect(messageId([...parts])).toBe(messageId(parts))
})

it('has another id where any part differs, is missing, or is joined to the next one', () => {
  const others = [
    ...parts.map((_, i) => parts.with(i, 'x')),
    ...parts.map((_, i) => parts.toSpliced(i, 1)),
    ...parts.slice(1).map((part, i) => parts.toSpliced(i, 2, `${parts[i]}${part}`)),
    [...parts, ''],
    [],
  ]
  expect(new Set([parts, ...others].map(messageId)).size).toBe(others.length + 1)
})
