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
    // In lower case it would be a name.
    const identifier = 'K'.repeat(start === '' ? 34 : 33)
    expect(form.test(start + identifier)).toBe(true)
    for (const other of [
      identifier.slice(1),
      `${identifier}K`,
      ...[...'0OIl-é '].map((one) => identifier.slice(1) + one),
    ]) {
      expect([other, form.test(start + other)]).toEqual([other, false])
    }
  })
})

it.each([
  ['a', true],
  ['ada.lovelace', true],
  ['a'.repeat(116), true],
  ['a'.repeat(117), false],
  ['Ada', false],
  ['-a', false],
])('a DID URL may have a name: %s', (name, taken) => {
  const form = new RegExp(didUrlForm)
  for (const rest of ['', '#primary', '?versionId=1']) expect(form.test(`did:ledger:${name}${rest}`)).toBe(taken)
})

it('ids are as long as schemas count, in code points', () => {
  const id = (length: number) => `did:ledger:a#${'🙂'.repeat(length - 'did:ledger:a#'.length)}`
  expect(readParameter('credentialId', 'id', id(maxDidLength))).toBe(id(maxDidLength))
  expect(() => readParameter('credentialId', 'id', id(maxDidLength + 1))).toThrow('characters are needed, not 257')
})
