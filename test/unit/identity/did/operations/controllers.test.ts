import { beforeEach, describe, expect, it } from 'vitest'
import { buildCreate, buildUpdate, declareOperation } from '../../../../../src/identity/did/build.js'
import { payloadText } from '../../../../support/builders/payload-text.js'
import { parseDocumentBytes } from '../../../../../src/identity/did/document.js'
import { documentText } from '../../../../../src/identity/did/canonical.js'
import { parseOperation, readOperationJson } from '../../../../../src/identity/did/operation.js'
import type { KnownDocument } from '../../../../../src/identity/did/known-document.js'
import { stillHolds } from '../../../../../src/identity/did/operations/issued-credential.js'
import { encodeTicket, parseTicket } from '../../../../../src/identity/did/ticket.js'
import { codeOf } from '../../../../support/assert/code-of.js'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'
import { fromUtf8 } from '../../../../../src/base/primitives/bytes.js'
import { type DidOperation, operationJson } from '../../../../../src/base/primitives/did-operation.js'
import {
  authenticationKey,
  credentialSpecification,
  type Holder,
  holder,
  issueCredential,
  Registry,
  signer,
  specification,
  txid,
} from '../../../../support/builders/did.js'
import {
  controlBy,
  createNamed,
  deactivateNamed,
  named,
  namedDocument,
  type NamedParts,
  namedRules,
  signedBy,
  ticketOf,
  transferNamed,
  updateNamed,
} from '../../../../support/builders/named-did.js'
import { quickSigner } from '../../../../support/builders/signatures.js'

const [ada, bob, cyd, dan] = [holder(), holder(), holder(), holder()]
let chain: Registry
beforeEach(() => {
  chain = new Registry(namedRules)
  for (const one of [ada, bob, cyd, dan]) chain.apply(one.create())
})

/** The code of a refusal. */
const refusalOf = (operation: DidOperation) => codeOf(() => chain.apply(operation))
/** Makes a DID with a name, and returns the txid of its create. */
const make = (name: string, parts: NamedParts) =>
  chain.apply(createNamed(namedDocument(name, parts), parts.by[0] as Holder)).txid
const team = { by: [ada, bob, cyd], needed: 2 }
const parsed = (text: string) => parseDocumentBytes(fromUtf8(text), { method: 'ledger', chain: true, names: true })

describe('a DID with a name', () => {
  it('lives by its controllers: create, update, transfer, deactivate', () => {
    let last = make('team', team)
    const changed = namedDocument('team', {
      ...team,
      plan: { alsoKnownAs: ['https://team.example'] },
      signers: [bob, cyd],
    })
    // Who sends it need not have signed the document.
    last = chain.apply(updateNamed(changed, last, ada)).txid
    const ticket = ticketOf('team', { to: dan, txid: last, signers: [ada, cyd] })
    const next = namedDocument('team', { by: [dan] })
    const { txid: transferred, next: state } = chain.apply(transferNamed(next, ticket, dan))
    expect(state).toMatchObject({ status: 'valid', operationCount: 3, lastTxid: transferred })
    expect(state.document.control).toEqual({ controllers: [dan.did], needed: 1 })
    expect(refusalOf(updateNamed(changed, transferred, ada))).toBe('did-controllers')
    last = chain.apply(updateNamed(namedDocument('team', { by: [dan] }), transferred, dan)).txid
    expect(chain.apply(deactivateNamed('team', dan)).next.status).toBe('deactivated')
    // Its name is gone for ever.
    expect(refusalOf(createNamed(next, dan))).toBe('did-deactivated')
    expect(last).not.toBe(transferred)
  })

  it('costs a check for each proof', () => {
    expect(chain.apply(createNamed(namedDocument('one', { by: [ada] }), ada)).cost).toBe(2)
    const { cost, checks, txid: last } = chain.apply(createNamed(namedDocument('two', team), ada))
    expect([cost, checks.length]).toEqual([3, 3])
    const ticket = ticketOf('two', { to: dan, txid: last, signers: [ada, bob] })
    const moved = chain.apply(transferNamed(namedDocument('two', { by: [dan] }), ticket, dan))
    expect([moved.cost, moved.checks.length]).toEqual([4, 4])
    const many = Array.from({ length: 8 }, holder)
    for (const one of many) chain.apply(one.create())
    const costOf = (count: number) => {
      const by = many.slice(0, count)
      return chain.apply(createNamed(namedDocument(`of${count}`, { by }), by[0] as Holder)).cost
    }
    expect([3, 4, 7, 8].map(costOf)).toEqual([2, 3, 3, 4])
  })

  it('reads back as it was written, in both forms', () => {
    for (const parts of [{ by: [ada] }, team, { by: [ada, bob], needed: 1 }]) {
      const document = namedDocument('shop', parts)
      for (const form of ['normalised', 'compact'] as const)
        expect(parsed(payloadText(document, form))).toEqual(document)
      expect(documentText(document)).toContain(parts.by.length === 1 ? `"controller":"${ada.did}"` : '"controller":[')
    }
    const operation = transferNamed(
      namedDocument('shop', { by: [dan] }),
      ticketOf('shop', { to: dan, txid: txid(9), signers: [ada, bob] }),
      dan,
    )
    const read = readOperationJson(JSON.stringify(operationJson(operation)))
    expect(read).toEqual(operation)
    expect(parseOperation(read, namedRules)).toMatchObject({ kind: 'transfer', ticket: { to: dan.did } })
  })

  it.each(['a', '7', 'foo.bar', 'a..b', 'a-', 'x_y', 'n'.repeat(30), 'n'.repeat(34), 'n'.repeat(116)])(
    'may be called %s',
    (name) => {
      expect(refusalOf(createNamed(namedDocument(name, { by: [ada] }), ada))).toBeUndefined()
    },
  )

  it.each(['Shop', '.a', '-a', '_a', 'a:b', 'a b', 'ä', '', 'i'.repeat(34), 'n'.repeat(117)])(
    'may not be called %j',
    (name) => {
      expect(() => namedDocument(name, { by: [ada] })).toThrow(expect.objectContaining({ code: 'document-did' }))
    },
  )

  it('is no other than the one of a key, and the other way round', () => {
    const text = payloadText(namedDocument('shop', { by: [bob] })).replaceAll(named('shop'), ada.did)
    expect(() => parsed(text)).toThrow(expect.objectContaining({ code: 'document-controller' }))
    const own = payloadText(ada.document()).replace('"id":"' + ada.did + '"', `"id":"${named('shop')}"`)
    expect(() => parsed(own)).toThrow(RuleError)
  })

  it('does not exist on a chain without names', () => {
    const old = { ...namedRules, names: false }
    const under = (operation: DidOperation) => codeOf(() => parseOperation(operation, old))
    expect(under(createNamed(namedDocument('shop', { by: [ada] }), ada))).toBe('did-names')
    expect(under(deactivateNamed('shop', ada))).toBe('did-names')
    const ticket = ticketOf('shop', { to: dan, txid: txid(9), signers: [ada] })
    expect(under(transferNamed(namedDocument('shop', { by: [dan] }), ticket, dan))).toBe('did-names')
  })
})

describe('controllers', () => {
  const text = payloadText(namedDocument('shop', team))
  const readingOf = (changed: string) => codeOf(() => parsed(changed))
  const list = (holders: readonly Holder[]) => `[${holders.map(({ did }) => `"${did}"`).join(',')}]`
  const sorted = [ada, bob, cyd].toSorted((a, b) => (a.did < b.did ? -1 : 1))
  const controllers = list(sorted)

  it.each<[string, (document: string) => string, string | undefined]>([
    ['as they are', (document) => document, undefined],
    ['in another order', (document) => document.replace(controllers, list(sorted.toReversed())), undefined],
    ['twice the same', (document) => document.replace(controllers, list([ada, ada, bob])), 'document-reference'],
    ['more than are named', (document) => document.replace('2:3', '2:4'), 'document-form'],
    ['more needed than there are', (document) => document.replace('2:3', '4:3'), 'document-form'],
    ['none needed', (document) => document.replace('2:3', '0:3'), 'document-form'],
    ['another writing', (document) => document.replace('2:3', '02:3'), 'document-form'],
    ['without how many sign', (document) => document.replace('"multisig":"2:3",', ''), 'document-form'],
    [
      'a name',
      (document) => document.replace(controllers, `["${named('other')}","${bob.did}","${cyd.did}"]`),
      'document-did',
    ],
    [
      'itself',
      (document) => document.replace(controllers, `["${named('shop')}","${bob.did}","${cyd.did}"]`),
      'document-did',
    ],
    [
      'a list of one',
      (document) => document.replace(controllers, list([ada])).replace('2:3', '1:1'),
      'document-controller',
    ],
  ])('%s', (_, change, code) => expect(readingOf(change(text))).toBe(code))

  it('are sixteen at most', () => {
    const many = Array.from({ length: 17 }, () => holder())
    expect(namedDocument('many', { by: many.slice(0, 16), needed: 16 }).proofs).toHaveLength(16)
    expect(() => namedDocument('many', { by: many, needed: 16 })).toThrow(
      expect.objectContaining({ code: 'document-controller' }),
    )
  })

  it('sign exactly as many times as needed, each once, and nobody else', () => {
    const proofs = (...signers: Holder[]) => readingOf(payloadText(namedDocument('shop', { ...team, signers })))
    expect(proofs(ada, cyd)).toBeUndefined()
    expect(proofs(ada)).toBe('document-proof-creator')
    expect(proofs(ada, bob, cyd)).toBe('document-proof-creator')
    expect(proofs(ada, ada)).toBe('document-proof-creator')
    expect(proofs(ada, dan)).toBe('document-proof-creator')
  })

  it('exist, and have not ended', () => {
    const stranger = holder()
    expect(refusalOf(createNamed(namedDocument('shop', { by: [ada, stranger] }), ada))).toBe('did-controller')
    chain.apply(bob.deactivate())
    expect(refusalOf(createNamed(namedDocument('shop', { by: [ada, bob] }), ada))).toBe('did-controller')
  })

  it('may end one by one: the others change the DID, and give it to others', () => {
    const last = make('team', team)
    chain.apply(bob.deactivate())
    const without = namedDocument('team', { ...team, signers: [ada, bob] })
    expect(refusalOf(updateNamed(without, last, ada))).toBe('did-controller')
    const next = chain.apply(updateNamed(namedDocument('team', { ...team, signers: [ada, cyd] }), last, ada)).txid
    expect(refusalOf(deactivateNamed('team', bob))).toBe('did-controller')
    const ticket = ticketOf('team', { to: dan, txid: next, signers: [ada, cyd] })
    expect(refusalOf(transferNamed(namedDocument('team', { by: [dan] }), ticket, dan))).toBeUndefined()
  })

  /** A state in which Bob, one of the two of `pair` and all of `shop`, has a document until a second; and the txids of what is there. */
  const untilTomorrow = () => {
    const until = Date.parse('2026-03-01T00:00:00Z') / 1000
    const bobs = chain.states.get(bob.did)?.lastTxid as string
    const renewed = chain.apply(bob.update(bobs, { expires: '2026-03-01T00:00:00Z' })).txid
    const pair = make('pair', { by: [ada, bob] })
    return { until, renewed, pair, shop: make('shop', { by: [bob] }) }
  }
  const pairOf = (signers: readonly Holder[], by = [ada, bob]) => namedDocument('pair', { by, signers })
  const shopOf = (by: readonly Holder[]) => namedDocument('shop', { by })

  it.each<[string, (last: { pair: string; shop: string }) => DidOperation]>([
    ['a create', () => createNamed(namedDocument('new', { by: [bob] }), bob)],
    ['an update', ({ shop }) => updateNamed(shopOf([bob]), shop, bob)],
    ['a document that another sends', ({ pair }) => updateNamed(pairOf([bob]), pair, ada)],
    ['an operation with the document of another', ({ pair }) => updateNamed(pairOf([ada]), pair, bob)],
    [
      'a ticket',
      ({ shop: txid }) => transferNamed(shopOf([dan]), ticketOf('shop', { to: dan, txid, signers: [bob] }), dan),
    ],
    [
      'what takes a DID over',
      ({ pair: txid }) => transferNamed(pairOf([bob], [bob]), ticketOf('pair', { to: bob, txid, signers: [ada] }), bob),
    ],
    ['a deactivation', () => deactivateNamed('shop', bob)],
    [
      'a credential',
      () => {
        const text = issueCredential(named('shop'), bob.primary, dan.did, {}, `${bob.did}#primary`)
        const by = { specification: credentialSpecification, verificationMethod: '#primary' }
        return declareOperation({ text }, by, signer(dan.primary))
      },
    ],
  ])('sign until their document expires: %s', (_, operation) => {
    const { until, renewed, ...last } = untilTomorrow()
    chain.time = until
    expect(refusalOf(operation(last))).toBe('did-controller')
    const before = new Map(chain.states)
    chain.time = until - 1
    const { issuerKeys } = chain.apply(operation(last))
    expect(issuerKeys.filter(({ expiresAt }) => expiresAt === until).map(({ issuer }) => issuer)).toContain(bob.did)
    // Who has expired can renew the own document, and sign again.
    chain.states.clear()
    for (const [did, state] of before) chain.states.set(did, state)
    chain.time = until
    chain.apply(bob.update(renewed, { expires: '2028-01-01T00:00:00Z' }))
    if (_ !== 'a credential') expect(refusalOf(operation(last))).toBeUndefined()
  })

  it('are named, and have their say, though another one of them has expired', () => {
    const { until, pair } = untilTomorrow()
    chain.time = until
    expect(
      refusalOf(createNamed(namedDocument('three', { by: [ada, bob, cyd], needed: 2, signers: [ada, cyd] }), ada)),
    ).toBe(undefined)
    const next = chain.apply(updateNamed(pairOf([ada]), pair, ada))
    expect(next.issuerKeys.some(({ issuer, expiresAt }) => issuer === bob.did && expiresAt !== undefined)).toBe(false)
    const ticket = ticketOf('pair', { to: ada, txid: next.txid, signers: [ada] })
    expect(refusalOf(transferNamed(pairOf([ada], [ada, bob]), ticket, ada))).toBeUndefined()
    expect(refusalOf(deactivateNamed('pair', ada))).toBeUndefined()
  })

  it('sign a document with the key that their DID is made of, under the id that it has at present', () => {
    const by = [ada]
    const plan = { by, signers: [] }
    const draft = namedDocument('shop', plan)
    const wrong = { ...ada, primary: ada.recovery, did: ada.did }
    expect(refusalOf(createNamed(signedBy(draft, wrong), ada))).toBe('document-proof')
    // Another key under the id of the old default key: none of those who relay it can tell what the others see.
    const keys = [authenticationKey('other', ada.primary), authenticationKey('primary', quickSigner())]
    const update = buildUpdate(
      ada.document({ keys }),
      { specification, verificationMethod: '#primary', previousTxid: txid(1) },
      signer(ada.primary),
    )
    chain.apply(update)
    expect(refusalOf(createNamed(namedDocument('shop', { by }), ada))).toBe('did-controller')
  })

  it('are what an operation rests on, by key or by being valid', () => {
    const { issuerKeys, reads } = chain.apply(createNamed(namedDocument('team', team), ada))
    // Of a controller that signs nothing no document is read, and none counted.
    expect(reads).toHaveLength(2)
    expect(issuerKeys.filter(({ payloadSize }) => payloadSize === undefined).map(({ id }) => id)).toEqual(['', '', ''])
    const facts = issuerKeys.map(({ issuer, id }) => `${issuer} ${id}`)
    expect(facts.toSorted()).toEqual(
      [ada, bob, cyd]
        .flatMap(({ did }) => [`${did} `, ...(did === cyd.did ? [] : [`${did} ${did}#primary`])])
        .toSorted(),
    )
    for (const one of issuerKeys) expect(stillHolds(one, chain.states.get(one.issuer)?.document)).toBe(true)
    for (const one of issuerKeys) expect(stillHolds(one, undefined)).toBe(false)
    // One that signed is looked at anew where its document ends earlier, one that did not is not.
    for (const one of issuerKeys) {
      const document = chain.states.get(one.issuer)?.document as KnownDocument
      const sooner = { ...document, expiresAt: document.expiresAt - 1 }
      expect(stillHolds(one, sooner)).toBe(one.expiresAt === undefined)
      expect(stillHolds(one, { ...document, expiresAt: document.expiresAt + 1 })).toBe(true)
    }
  })
})

describe('the signature of an operation', () => {
  it('is by any authentication key of a controller, or by an own one', () => {
    const key = quickSigner()
    const document = namedDocument('shop', { by: [ada], plan: { keys: [authenticationKey('own', key)] } })
    const by = (verificationMethod: string) => ({ specification, verificationMethod })
    expect(refusalOf(buildCreate(document, by('#own'), signer(quickSigner())))).toBe('did-signature')
    expect(refusalOf(buildCreate(document, by(`${bob.did}#primary`), signer(bob.primary)))).toBe('did-signer')
    expect(refusalOf(buildCreate(document, by(`${ada.did}#none`), signer(ada.primary)))).toBe('did-controller')
    const { txid: last } = chain.apply(buildCreate(document, by(`${named('shop')}#own`), signer(key)))
    const plan = { ...by(`${ada.did}#recovery`), previousTxid: last }
    expect(refusalOf(buildUpdate(document, plan, signer(ada.recovery)))).toBeUndefined()
  })

  it('ends the DID by the default key of one controller, and by nothing else', () => {
    const key = quickSigner()
    const keys = [authenticationKey('own', key)]
    make('team', { ...team, plan: { keys } })
    const own = { ...holder(), did: named('team'), primary: key }
    expect(refusalOf({ ...deactivateNamed('team', own), verificationMethod: `${named('team')}#own` })).toBe(
      'did-signer',
    )
    expect(refusalOf(deactivateNamed('team', dan))).toBe('did-signer')
    const second = { ...deactivateNamed('team', ada), verificationMethod: `${ada.did}#recovery` }
    expect(refusalOf(second)).toBe('did-controller')
    expect(refusalOf(deactivateNamed('team', cyd))).toBeUndefined()
  })
})

describe('an update', () => {
  it('neither changes the controllers nor how many of them sign', () => {
    const last = make('team', team)
    for (const parts of [
      { by: [ada] },
      { by: [ada, bob], needed: 2 },
      { ...team, needed: 1 },
      { by: [ada, bob, dan], needed: 2 },
    ]) {
      expect(refusalOf(updateNamed(namedDocument('team', parts), last, ada))).toBe('did-controllers')
    }
    expect(refusalOf(updateNamed(namedDocument('team', team), txid(999), ada))).toBe('did-previous-txid')
  })
})

describe('a ticket', () => {
  const next = namedDocument('team', { by: [dan] })
  const cases: readonly [string, (last: string) => DidOperation, string][] = [
    [
      'of one where two are needed',
      (last) => transferNamed(next, ticketOf('team', { to: dan, txid: last, signers: [ada] }), dan),
      'did-ticket',
    ],
    [
      'of three where two are needed',
      (last) => transferNamed(next, ticketOf('team', { to: dan, txid: last, signers: [ada, bob, cyd] }), dan),
      'did-ticket',
    ],
    [
      'of one twice',
      (last) => transferNamed(next, ticketOf('team', { to: dan, txid: last, signers: [ada, ada] }), dan),
      'did-ticket',
    ],
    [
      'of who gets it',
      (last) => transferNamed(next, ticketOf('team', { to: dan, txid: last, signers: [ada, dan] }), dan),
      'did-ticket',
    ],
    [
      'for another name',
      (last) => transferNamed(next, ticketOf('other', { to: dan, txid: last, signers: [ada, bob] }), dan),
      'did-ticket',
    ],
    [
      'after another operation',
      () => transferNamed(next, ticketOf('team', { to: dan, txid: txid(1), signers: [ada, bob] }), dan),
      'did-ticket',
    ],
    [
      'to one who is no controller then',
      (last) => transferNamed(next, ticketOf('team', { to: bob, txid: last, signers: [ada, bob] }), dan),
      'did-ticket',
    ],
    [
      'with a wrong signature',
      (last) =>
        transferNamed(
          next,
          ticketOf('team', { to: dan, txid: last, signers: [ada, { ...bob, primary: dan.primary }] }),
          dan,
        ),
      'did-ticket-proof',
    ],
    [
      'that is no ticket',
      (last) => ({
        ...transferNamed(next, ticketOf('team', { to: dan, txid: last, signers: [ada, bob] }), dan),
        ticket: 'e30',
      }),
      'document-form',
    ],
    [
      'in another encoding',
      (last) => ({
        ...transferNamed(next, ticketOf('team', { to: dan, txid: last, signers: [ada, bob] }), dan),
        ticket: '!',
      }),
      'did-ticket-form',
    ],
  ]
  it.each(cases)('%s', (_, operation, code) => {
    expect(refusalOf(operation(make('team', team)))).toBe(code)
  })

  it('gives the DID away once', () => {
    const last = make('team', team)
    const ticket = ticketOf('team', { to: dan, txid: last, signers: [ada, bob] })
    chain.apply(transferNamed(next, ticket, dan))
    expect(refusalOf(transferNamed(next, ticket, dan))).toBe('did-ticket')
  })

  it('is for a DID with a name alone', () => {
    const ticket = ticketOf('gone', { to: dan, txid: txid(1), signers: [ada] })
    expect(refusalOf(transferNamed(namedDocument('gone', { by: [dan] }), ticket, dan))).toBe('did-unknown')
    expect(() => ada.document({ control: controlBy([bob]) as NonNullable<ReturnType<typeof controlBy>> })).toThrow(
      RuleError,
    )
  })

  it('is read as it was written, and no longer than it may be', () => {
    const many = Array.from({ length: 16 }, () => holder())
    const ticket = ticketOf('team', { to: dan, txid: txid(1), signers: many })
    const rules = { method: 'ledger', chain: true, names: true }
    expect(parseTicket(encodeTicket(ticket), rules)).toEqual(ticket)
    const more = ticketOf('team', { to: dan, txid: txid(1), signers: [...many, holder()] })
    expect(() => parseTicket(encodeTicket(more), rules)).toThrow(expect.objectContaining({ code: 'did-ticket-form' }))
    const filled = (size: number) =>
      Buffer.from(JSON.stringify({ id: named('team'), filler: 'x'.repeat(size) })).toString('base64url')
    const readingOf = (text: string) => codeOf(() => parseTicket(text, rules))
    const least = Buffer.from(filled(0), 'base64url').length
    expect(readingOf(filled(8192 - least))).toBe('document-member')
    expect(readingOf(filled(8193 - least))).toBe('did-ticket-form')
  })
})

describe('credentials of a DID with a name', () => {
  const ofCredential = { specification: credentialSpecification }
  const declare = (text: string, by: Holder) =>
    declareOperation({ text }, { ...ofCredential, verificationMethod: `${by.did}#primary` }, signer(by.primary))

  it('are issued by a controller in its name, and declared by one in the name of the holder', () => {
    make('shop', { by: [ada] })
    make('club', { by: [bob, cyd], needed: 2 })
    const text = issueCredential(named('shop'), ada.primary, named('club'), {}, `${ada.did}#primary`)
    expect(refusalOf(declare(text, dan))).toBe('did-signer')
    const { credential, issuerKeys } = chain.apply(declare(text, cyd))
    expect(credential).toMatchObject({ signer: named('club'), issuer: named('shop') })
    expect(refusalOf(declare(text, bob))).toBe('credential-declared')
    // It rests on who controls the issuer, and on the key.
    const ofIssuer = issuerKeys.find(({ id }) => id === ada.did)
    expect(ofIssuer?.issuer).toBe(named('shop'))
    expect(stillHolds(ofIssuer ?? { id: '', key: '' }, chain.states.get(named('shop'))?.document)).toBe(true)
    expect(stillHolds(ofIssuer ?? { id: '', key: '' }, chain.states.get(named('club'))?.document)).toBe(false)
  })

  it('are not issued by one who controls another DID', () => {
    make('shop', { by: [ada] })
    const text = issueCredential(named('shop'), bob.primary, dan.did, {}, `${bob.did}#primary`)
    expect(refusalOf(declare(text, dan))).toBe('credential-key')
  })

  it('stand in its document, by a controller or by an own key', () => {
    const key = quickSigner()
    const keys = [authenticationKey('own', key)]
    const credentials = [
      issueCredential(named('shop'), ada.primary, named('shop'), { id: `${named('shop')}#a` }, `${ada.did}#primary`),
      issueCredential(named('shop'), key, named('shop'), { id: `${named('shop')}#b` }, '#own'),
    ]
    const last = make('shop', { by: [ada], plan: { keys, credentials } })
    const forged = issueCredential(named('shop'), bob.primary, named('shop'), {}, `${bob.did}#primary`)
    const document = namedDocument('shop', { by: [ada], plan: { keys, credentials: [...credentials, forged] } })
    expect(refusalOf(updateNamed(document, last, ada))).toBe('credential-key')
  })
})
