import { expect, it } from 'vitest'
import { linksTo } from '../../../../src/identity/credentials/domain-linkage.js'
import { holder } from '../../../support/builders/did.js'

const ada = holder()
const document = (serviceEndpoint: unknown, type = 'LinkedDomains') =>
  ada.document({ services: [{ id: '#site', type, serviceEndpoint }] })

it.each([
  ['an address', 'https://ada.example'],
  ['an address with a path', 'https://ada.example/about'],
  ['a list with it', ['https://other.example', 'https://ada.example']],
  ['an object with origins', { origins: ['https://other.example', 'https://ada.example/'] }],
  ['a list with such an object', [{ origins: ['https://ada.example'] }]],
])('a document leads to an origin by %s', (_, endpoint) => {
  expect(linksTo(document(endpoint), 'https://ada.example')).toBe(true)
})

it.each([
  ['another address', 'https://other.example'],
  ['another port', 'https://ada.example:8443'],
  ['no address', 'ada.example'],
  ['an object with another member', { uri: 'https://ada.example' }],
  ['origins that are no list', { origins: 'https://other.example' }],
  ['origins that are no texts', { origins: [7, null, { a: 1 }] }],
])('a document does not lead to an origin by %s', (_, endpoint) => {
  expect(linksTo(document(endpoint), 'https://ada.example')).toBe(false)
})

it('only services of the type LinkedDomains count', () => {
  expect(linksTo(document('https://ada.example', 'Website'), 'https://ada.example')).toBe(false)
})
