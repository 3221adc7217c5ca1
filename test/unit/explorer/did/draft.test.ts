import { expect, it } from 'vitest'
import { draftText } from '../../../../src/clients/wallet/named-identity.js'
import { differencesOf } from '../../../../src/explorer/did/differences.js'
import { shownDraft } from '../../../../src/explorer/did/draft.js'
import { documentJsonLimits } from '../../../../src/identity/did/document.js'
import { expires, holder, txid } from '../../../support/builders/did.js'
import { named, namedDocument } from '../../../support/builders/named-did.js'

const [ada, bob] = [holder(), holder()]
const club = named('club')
const document = namedDocument('club', { by: [ada, bob], needed: 2, signers: [ada] })
const text = draftText({ operation: 'update', document, previousTxid: txid(1) })
const exists = (last: string | undefined) => ({ did: club, exists: true, last })
const free = { did: club, exists: false, last: undefined }

it('a draft is shown in full, as its controllers sign it', () => {
  const shown = shownDraft(text, exists(txid(1)))
  expect(shown).toEqual({ operation: 'update', document: JSON.parse(document.signingText) as object })
  expect(shownDraft(text, exists(undefined))).toEqual(shown)
  const added = differencesOf({}, (shown as { document: object }).document).map(({ path }) => path[0])
  expect(added).toEqual(['id', 'controller', 'multisig', 'expires'])
})

it.each([
  ['what is no JSON', 'x', /./],
  ['what is no draft', '{}', /is no draft/],
  ['a list', '[]', /is no draft/],
  ['an operation alone', '{"operation": "create"}', /is no draft/],
  ['a document alone', JSON.stringify({ document: {} }), /is no draft/],
  ['a member that stands twice', text.replace('"operation"', '"operation": "create", "operation"'), /operation/],
  ['a document that the rules refuse', JSON.stringify({ operation: 'create', document: { id: club } }), /expires/],
  ['a draft of another DID', text.replaceAll(club, named('shop')), /^This is a draft of did:ledger:shop/],
  ['a draft that creates what there is', text.replace('"update"', '"create"'), /exists already/],
  ['an operation that there is not', text.replace('"update"', '"rename"'), /none of a DID/],
  ['a draft of another operation', text.replace(txid(1), txid(2)), /follows another operation/],
])('%s is said to be none for this DID', (_, given, fault) => {
  expect(shownDraft(given, exists(txid(1)))).toEqual({ fault: expect.stringMatching(fault) as string })
})

it('a change of a DID that does not exist is said to be none', () => {
  expect(shownDraft(text, free)).toEqual({ fault: `${club} does not exist: there is nothing to update.` })
})

it('nothing is said of an empty text', () => {
  expect(shownDraft(' \n', free)).toBeUndefined()
})

it('a document nested as deeply as a chain takes is shown', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) })
  const draft = (levels: number) => {
    const services = [{ id: '#deep', type: 'Deep', serviceEndpoint: nested(levels) }]
    return JSON.stringify({
      operation: 'create',
      document: { id: club, controller: ada.did, service: services, expires },
    })
  }
  // The object, the list and the service are three levels of the document.
  const most = documentJsonLimits.depth - 3
  expect(shownDraft(draft(most), free)).toMatchObject({ operation: 'create' })
  expect(shownDraft(draft(most + 1), free)).toMatchObject({ fault: expect.stringMatching(/deep|nest/) })
})
