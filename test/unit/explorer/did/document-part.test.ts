import { expect, it } from 'vitest'
import { documentPart } from '../../../../src/explorer/did/document-part.js'

const did = 'did:ledger:shop'
const document = {
  id: did,
  publicKey: [{ id: `${did}#primary` }],
  authorization: [{ id: `${did}#recovery` }],
  keyAgreement: [{ id: `${did}#secret` }],
  service: [{ id: `${did}#hub` }],
  verifiableCredential: [{ id: `${did}#profile` }],
}

it.each([
  ['primary', 'key'],
  ['recovery', 'key'],
  ['secret', 'key'],
  ['hub', 'service'],
  ['profile', 'credential'],
  ['other', undefined],
  ['', undefined],
])('#%s is a %s of the document', (name, kind) => expect(documentPart(document, `${did}#${name}`)).toBe(kind))
