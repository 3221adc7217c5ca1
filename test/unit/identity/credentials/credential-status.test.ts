import fc from 'fast-check'
import { expect, it } from 'vitest'
import { requireStatus, statusOf } from '../../../../src/identity/credentials/credential-status.js'
import { fromPlain } from '../../../../src/identity/did/plain-json.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { didRules, holder } from '../../../support/builders/did.js'

const { did } = holder()
const rules = { method: didRules.method, chain: true }
const id = `${did}#degree`
const check = (status: unknown, of: string | undefined) => codeOf(() => requireStatus(fromPlain(status), of, rules))

it('a status is that of one id, whatever characters are in it', () => {
  const fragment = fc.stringMatching(/^[A-Za-z0-9._:@!$'()*+,;=~-]{1,128}$/)
  fc.assert(
    fc.property(fragment, fragment, (one, other) => {
      const status = statusOf(`${did}#${one}`)
      expect(() => new URL(status.id)).not.toThrow()
      expect(check(status, `${did}#${one}`)).toBeUndefined()
      if (one !== other) expect(check(status, `${did}#${other}`)).toBe('document-id')
    }),
    runs,
  )
})

it.each([
  ['of another type', { ...statusOf(id), type: 'StatusList2021Entry' }, 'document-form'],
  ['without a type', { id: statusOf(id).id }, 'document-form'],
  ['without an id', { type: statusOf(id).type }, 'document-id'],
  ['that is one of several', [statusOf(id)], 'document-form'],
])('a status %s is refused', (_, status, code) => {
  expect(check(status, id)).toBe(code)
})

it('a credential with a status has an id on the chain', () => {
  expect(check(statusOf(id), undefined)).toBe('document-id')
  expect(check(statusOf(id), 'urn:uuid:1')).toBe('document-id')
})
