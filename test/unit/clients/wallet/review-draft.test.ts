import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentOf } from '../../../../src/clients/wallet/did-identity.js'
import {
  changedDraft,
  draftText,
  type NamedDraft,
  namedDraft,
  readDraft,
  signDraft,
  ticketFor,
} from '../../../../src/clients/wallet/named-identity.js'
import { requireTicketFollows, reviewDraft } from '../../../../src/clients/wallet/review-draft.js'
import { RuleError, UserError } from '../../../../src/base/errors/rule-error.js'
import { shownDraft } from '../../../../src/explorer/did/draft.js'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { payloadText } from '../../../support/builders/payload-text.js'
import type { DidDocument } from '../../../../src/identity/did/model.js'
import { addTicketProof } from '../../../../src/identity/did/ticket.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { generatePrivateKey } from '../../../../src/base/crypto/keys.js'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { authenticationKey, created, expires, holder, signer, txid } from '../../../support/builders/did.js'
import { named, namedDocument } from '../../../support/builders/named-did.js'

const [ada, bob, cyd] = [holder(), holder(), holder()]
const work = quickSigner()
const last = txid(1)
const club = (plan = {}, by = [ada, bob]) => namedDocument('club', { by, needed: by.length, plan })
/** As a resolver gives it. */
const current = (document: DidDocument) => ({
  document: documentOf(encodeBase64url(fromUtf8(payloadText(document)))),
  txid: last,
})
const site = { id: '#site', type: 'LinkedDomains', serviceEndpoint: 'https://club.example' }
const update = (document: DidDocument, changes: Partial<NamedDraft> = {}): NamedDraft => {
  return readDraft(draftText({ operation: 'update', document, previousTxid: last, ...changes }))
}

describe('what a draft changes', () => {
  it('is every member and entry of a new document', () => {
    const plan = { did: named('club'), controllers: [ada.did, bob.did], needed: 2, services: [site], expires }
    expect(reviewDraft(namedDraft(plan, created), undefined)).toEqual([
      { member: 'id', after: named('club') },
      ...[ada.did, bob.did].toSorted().map((did) => ({ member: 'controller', id: did, after: did })),
      { member: 'multisig', after: '2:2' },
      { member: 'service', id: '#site', after: { ...site, id: `${named('club')}#site` } },
      { member: 'expires', after: expires },
    ])
  })

  it('is what an update adds, removes and replaces', () => {
    const before = current(club({ services: [site], keys: [authenticationKey('work', work)] }))
    const changes = {
      removeServices: ['site'],
      addServices: [{ ...site, id: '#other' }],
      removeKeys: ['work'],
      expires: '2029-01-01T00:00:00Z',
    }
    const found = reviewDraft(changedDraft(before, changes, created), before)
    expect(found.map(({ member, id, ...values }) => [member, id, Object.keys(values)])).toEqual([
      ['service', '#other', ['after']],
      ['expires', undefined, ['before', 'after']],
      ['publicKey', '#work', ['before']],
      ['authentication', '#work', ['before']],
      ['service', '#site', ['before']],
    ])
  })

  it('is another value under the same id', () => {
    const [before, other] = [current(club({ services: [site] })), { ...site, serviceEndpoint: 'https://evil.example' }]
    const id = `${named('club')}#site`
    expect(reviewDraft(update(club({ services: [other] })), before)).toEqual([
      { member: 'service', id: '#site', before: { ...site, id }, after: { ...other, id } },
    ])
    expect(reviewDraft(update(club({ services: [site] })), before)).toEqual([])
  })

  it('is the order of contexts, and a name that begins as the DID does', () => {
    const contexts = ['https://www.w3.org/ns/did/v1', 'https://x.example']
    const before = current(club({ context: contexts }))
    const changes = reviewDraft(
      update(club({ context: contexts.toReversed(), alsoKnownAs: ['did:ledger:clubs'] })),
      before,
    )
    expect(changes).toEqual([
      { member: '@context', before: contexts, after: contexts.toReversed() },
      { member: 'alsoKnownAs', id: 'did:ledger:clubs', after: 'did:ledger:clubs' },
    ])
  })

  it('is nothing exactly if the texts that are signed are equal', () => {
    const uris = ['https://a.example', 'https://b.example', 'did:ledger:clubs', 'did:ledger:club#site']
    const plans = fc.record({
      services: fc.subarray([site, { ...site, id: '#b' }, { id: '#c', type: 'X', serviceEndpoint: { a: ['1', '2'] } }]),
      alsoKnownAs: fc.subarray(uris),
      keys: fc.subarray([authenticationKey('work', work), authenticationKey('site2', quickSigner())]),
      expires: fc.constantFrom(expires, '2031-01-01T00:00:00Z'),
      context: fc.subarray(['https://www.w3.org/ns/did/v1', 'https://x.example']),
    })
    fc.assert(
      fc.property(plans, plans, (one, other) => {
        const [before, draft] = [current(club(one)), update(club(other))]
        const isEqual = before.document.signingText === draft.document.signingText
        expect(reviewDraft(draft, before).length === 0).toBe(isEqual)
      }),
    )
  })
})

describe('a draft is refused', () => {
  const before = current(club())
  it.each<[string, NamedDraft, typeof before | undefined, RegExp]>([
    ['that creates what exists', update(club(), { operation: 'create' }), before, /exists on this chain already/],
    ['that updates what does not exist', update(club()), undefined, /does not exist/],
    ['that follows another operation', update(club(), { previousTxid: txid(9) }), before, /begin again/],
    ['that follows none', readDraft(draftText({ operation: 'update', document: club() })), before, /begin again/],
    ['that changes controllers by an update', update(club({}, [ada, cyd])), before, /other controllers.*a ticket/],
    ['that changes how many sign', update(namedDocument('club', { by: [ada, bob] })), before, /other controllers/],
    ['that takes a DID without a ticket', update(club(), { operation: 'transfer' }), before, /ticket/],
    ['that ends a DID', update(club(), { operation: 'deactivate' }), before, /exists on this chain already/],
  ])('%s', (_, draft, chain, fault) => {
    expect(() => reviewDraft(draft, chain)).toThrow(fault)
  })

  it('whose ticket is of another DID, or of an operation before', () => {
    const taking = (document: DidDocument, id = before.txid) => {
      const ticket = ticketFor({ document, txid: id }, cyd.did)
      const signed = addTicketProof(ticket, { key: `${ada.did}#primary`, created }, signer(ada.primary))
      return namedDraft({ did: named('club'), controllers: [cyd.did], services: [], expires }, created, signed)
    }
    const changes = reviewDraft(taking(club()), before)
    expect(changes).toContainEqual({ member: 'controller', id: cyd.did, after: cyd.did })
    expect(changes).toContainEqual({ member: 'controller', id: ada.did, before: ada.did })
    expect(changes).toContainEqual({ member: 'multisig', before: '2:2' })
    expect(() => reviewDraft(taking(club(), txid(9)), before)).toThrow('make another ticket')
    expect(() => reviewDraft(taking(namedDocument('shop', { by: [ada] })), before)).toThrow('its ticket for')
    expect(() => requireTicketFollows({ id: named('club'), txid: txid(9) }, before)).toThrow('make another ticket')
  })

  it('that would have a controller sign a document of the own DID', () => {
    const text = draftText(update(namedDocument('club', { by: [ada] }))).replaceAll(named('club'), ada.did)
    const controller = {
      pair: { ...ada.primary, privateKey: generatePrivateKey(new SeededRandom(1)) },
      key: `${ada.did}#primary`,
    }
    expect(() => signDraft(readDraft(text), controller, created)).toThrow('is not a DID with a name')
  })
})

it('whatever a draft says, it is shown or refused, by the page too', () => {
  const plan = { services: [site], keys: [authenticationKey('work', work)], alsoKnownAs: ['https://club.example'] }
  const known = current(club(plan))
  const text = draftText({ operation: 'update', document: club(plan), previousTxid: last })
  const values = fc.oneof(
    fc.constantFrom(null, true, 0, '', '#x', 'did:ledger:club', [], [[]], {}, [{}], [null], { id: 1 }, [{ id: '#a' }]),
    fc.jsonValue({ maxDepth: 3 }),
  )
  /** Replaces the member at one of all places of a JSON. */
  const changed = (value: unknown, at: { left: number }, by: unknown): unknown => {
    if (at.left-- === 0) return by
    if (Array.isArray(value)) return value.map((one) => changed(one, at, by))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, changed(one, at, by)]))
  }
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), values), { minLength: 1, maxLength: 3 }), (changes) => {
      const draft = changes.reduce((value, [left, by]) => changed(value, { left }, by), JSON.parse(text) as unknown)
      const given = JSON.stringify(draft)
      const shown = shownDraft(given, { did: named('club'), exists: true, last })
      expect(shown === undefined || 'fault' in shown || 'document' in shown).toBe(true)
      try {
        reviewDraft(readDraft(given), known)
      } catch (error) {
        if (!(error instanceof UserError) && !(error instanceof RuleError)) throw error
      }
    }),
    { numRuns: 2000 },
  )
})
