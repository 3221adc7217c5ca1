import { expect, it } from 'vitest'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { documentOf, payloadObject } from '../../../../src/explorer/did/payload.js'
import { operationJson } from '../../../../src/base/primitives/did-operation.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { holder } from '../../../support/builders/did.js'

const encoded = (text: string) => encodeBase64url(fromUtf8(text))

it('the document of an operation is normalised', () => {
  const { did, create } = holder()
  const document = documentOf(operationJson(create()))
  expect(document).toMatchObject({ id: did, authentication: [`${did}#primary`, `${did}#recovery`] })
  expect(Object.keys(document ?? {})).toContain('proof')
})

it('a document that the rules refuse is shown as it stands', () => {
  const header = { specification: 'ledger/did/1.0', operation: 'create' as const }
  const operation = {
    header,
    payload: encoded('{"id":"x","other":1}'),
    proof: { verificationMethod: '#a', signature: '' },
  }
  expect(documentOf(operation)).toEqual({ id: 'x', other: 1 })
  expect(documentOf({ ...operation, header: { ...header, operation: 'deactivate' } })).toBeUndefined()
})

it.each(['did:ledger:x', '', encoded('no json'), encoded('[1]'), encoded('"text"'), '_w', 'a=b'])(
  '%j holds no object',
  (payload) => {
    expect(payloadObject(payload)).toBeUndefined()
  },
)
