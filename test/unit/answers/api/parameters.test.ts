import { describe, expect, it } from 'vitest'
import { parameterKinds, readParameter } from '../../../../src/answers/api/parameters.js'
import { didUrlForm } from '../../../../src/answers/identifiers/did-url.js'
import { maxDidLength } from '../../../../src/answers/resolver/did-key.js'

/** The rest is held by test/behaviour/api/openapi.test.ts, with texts made from the schemas. */

describe('patterns of texts with a checksum', () => {
  it.each([
    ['an address', parameterKinds.address.schema.pattern ?? '', ''],
    ['a DID URL', didUrlForm, 'did:ledger:i'],
  ])('take base58 of one length alone: %s', (_, pattern, start) => {
    const form = new RegExp(pattern)
    const identifier = '2'.repeat(start === '' ? 34 : 33)
    expect(form.test(start + identifier)).toBe(true)
    for (const other of [
      identifier.slice(1),
      `${identifier}2`,
      ...[...'0OIl-é '].map((one) => identifier.slice(1) + one),
    ]) {
      expect([other, form.test(start + other)]).toEqual([other, false])
    }
  })
})

it('ids are as long as schemas count, in code points', () => {
  const id = (length: number) => `did:ledger:a#${'🙂'.repeat(length - 'did:ledger:a#'.length)}`
  expect(readParameter('credentialId', 'id', id(maxDidLength))).toBe(id(maxDidLength))
  expect(() => readParameter('credentialId', 'id', id(maxDidLength + 1))).toThrow('characters are needed, not 257')
})
