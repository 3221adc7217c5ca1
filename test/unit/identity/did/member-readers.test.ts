import { describe, expect, it } from 'vitest'
import { nameRule } from '../../../../src/base/primitives/did-name.js'
import { isDid } from '../../../../src/identity/did/identifier.js'
import { didText } from '../../../../src/identity/did/member-readers.js'
import { holder } from '../../../support/builders/did.js'

const { did } = holder()
const rules = { method: 'ledger', chain: true }
const withNames = { ...rules, names: true }
const withoutNames = { ...rules, names: false }
const unread = 'controller is not a valid did:ledger: identifier (form, length or checksum)'

describe('a DID in a member', () => {
  it.each([
    ['of a key', did, withoutNames],
    ['of a key, where names are taken', did, withNames],
    ['with a name, where names are taken', 'did:ledger:shop', withNames],
  ])('%s is read', (_, text, given) => {
    expect(didText(text, 'controller', given)).toBe(text)
  })

  it.each([
    [
      'capitals in a name',
      'did:ledger:Shop',
      withNames,
      `${unread}, nor a name (${nameRule}; names have no capitals, as in shop)`,
    ],
    ['117 characters', `did:ledger:${'x'.repeat(117)}`, withNames, `${unread}, nor a name (${nameRule})`],
    ['a name where the DID of a key is needed', 'did:ledger:shop', withoutNames, `${unread}; a name is not taken here`],
    ['a text that is no name either', 'did:ledger:Shop', withoutNames, unread],
    ['a reader that has no names', 'did:ledger:shop', rules, unread],
    ['a name of another method', 'did:other:shop', withoutNames, unread],
  ])('is refused with what would be taken: %s', (_, text, given, message) => {
    expect(isDid(text, given)).toBe(false)
    expect(() => didText(text, 'controller', given)).toThrow(`${message}: ${text.slice(0, 80)}`)
  })
})
