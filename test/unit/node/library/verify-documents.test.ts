import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase64url, encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { buildCreate, buildDeactivate, buildUpdate } from '../../../../src/identity/did/build.js'
import { payloadText } from '../../../support/builders/payload-text.js'
import {
  canonicalDocument,
  verifyCredential,
  verifyDocument,
  verifyOperation,
} from '../../../../src/node/library/verify-documents.js'
import { operationJson } from '../../../../src/base/primitives/did-operation.js'
import {
  authenticationKey,
  authorizationKey,
  holder,
  signer,
  specification,
  txid,
} from '../../../support/builders/did.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { quickSigner } from '../../../support/builders/signatures.js'

const method = 'ledger'
const ada = holder()
const bob = holder()
const document = ada.document({ credentials: [bob.issue(ada.did)] })
const text = payloadText(document)
const plain = JSON.parse(text) as Record<string, unknown>
const valid = { valid: true }
const invalid = (reason: RegExp) => ({ valid: false, reason: expect.stringMatching(reason) as string })

describe('canonicalDocument', () => {
  it('gives the signing text of an object or a text, compact or normalised, with or without proof', () => {
    const { proof: _, ...unsigned } = plain
    for (const input of [plain, text, payloadText(document, 'compact'), unsigned]) {
      expect(canonicalDocument(input, { method })).toBe(document.signingText)
    }
  })

  it('normalises Unicode, as the tools that sign do', () => {
    const service = [{ id: '#s', type: 'T', serviceEndpoint: 'e\u0301' }]
    expect(canonicalDocument({ ...plain, service }, { method })).toContain('"serviceEndpoint":"\u00e9"')
  })

  it('says what is no document', () => {
    expect(codeOf(() => canonicalDocument('{', { method }))).toBe('json-syntax')
    expect(codeOf(() => canonicalDocument([], { method }))).toBe('document-form')
    expect(codeOf(() => canonicalDocument(plain, { method: 'elastos' }))).toBe('document-did')
    expect(codeOf(() => canonicalDocument(Reflect.get({}, 'missing'), { method }))).toBe('json-syntax')
  })
})

describe('verifyDocument', () => {
  it('holds for what the default key signed', () => {
    expect(verifyDocument(plain, { method })).toEqual(valid)
    expect(verifyDocument(payloadText(document, 'compact'), { method })).toEqual(valid)
  })

  it('fails, with a reason, for everything else', () => {
    expect(verifyDocument({ ...plain, expires: '2031-01-01T00:00:00Z' }, { method })).toEqual(
      invalid(/does not verify/),
    )
    expect(verifyDocument({ ...plain, proof: undefined }, { method })).toEqual(invalid(/no proof/))
    expect(verifyDocument({ ...plain, proof: [plain.proof, plain.proof] }, { method })).toEqual(invalid(/several/))
    const byRecovery = { ...(plain.proof as object), creator: `${ada.did}#recovery` }
    expect(verifyDocument({ ...plain, proof: byRecovery }, { method })).toEqual(invalid(/not by the default key/))
    expect(verifyDocument({ ...plain, surprise: 1 }, { method })).toEqual(invalid(/surprise/))
  })

  it('needs as many different controllers as multisig says', () => {
    const cleo = holder()
    const controllers = [ada, bob, cleo].map((one) => payloadText(one.document()))
    const named = {
      id: 'did:ledger:club',
      controller: [ada.did, bob.did, cleo.did],
      multisig: '2:3',
      expires: '2030-01-01T00:00:00Z',
    }
    const signingText = canonicalDocument(named, { method })
    const proofBy = (one: typeof ada) => ({
      creator: `${one.did}#primary`,
      signatureValue: encodeBase64url(signer(one.primary)(signingText)),
    })
    const check = (proof: unknown, given = controllers) =>
      verifyDocument({ ...named, proof }, { method, controllers: given })
    expect(check([proofBy(ada), proofBy(cleo)])).toEqual(valid)
    expect(check([proofBy(ada), proofBy(bob), proofBy(cleo)])).toEqual(valid)
    expect(check(proofBy(ada))).toEqual(invalid(/2 are needed/))
    expect(check([proofBy(ada), proofBy(ada)])).toEqual(invalid(/2 are needed/))
    expect(check([proofBy(ada), proofBy(bob)], controllers.slice(0, 1))).toEqual(invalid(/was not given/))
    expect(check([proofBy(ada), { ...proofBy(bob), signatureValue: proofBy(ada).signatureValue }])).toEqual(
      invalid(/does not verify/),
    )
    expect(check([proofBy(ada), proofBy(holder())])).toEqual(invalid(/not a controller/))
    const byRecovery = {
      creator: `${bob.did}#recovery`,
      signatureValue: encodeBase64url(signer(bob.recovery)(signingText)),
    }
    expect(check([proofBy(ada), byRecovery])).toEqual(invalid(/not by the default key/))
    for (const multisig of ['0:3', '4:3', '2:2', '2', '1:1', undefined]) {
      expect(verifyDocument({ ...named, multisig, proof: [] }, { method, controllers })).toEqual(invalid(/multisig/))
    }
  })
})

describe('verifyCredential', () => {
  const credential = bob.issue(ada.did)
  const issuer = payloadText(bob.document())

  it('holds under an authentication key of the issuer', () => {
    expect(verifyCredential(credential, issuer, { method })).toEqual(valid)
    expect(verifyCredential(JSON.parse(credential) as object, issuer, { method })).toEqual(valid)
  })

  it('fails, with a reason, for everything else', () => {
    const members = JSON.parse(credential) as { proof: Record<string, unknown> }
    expect(verifyCredential({ ...members, issuanceDate: '2025-01-01T00:00:00Z' }, issuer, { method })).toEqual(
      invalid(/did not make the signature/),
    )
    expect(verifyCredential(credential, text, { method })).toEqual(invalid(/the issuer is/))
    const named = (verificationMethod: string) => ({ ...members, proof: { ...members.proof, verificationMethod } })
    expect(verifyCredential(named('#nobody'), issuer, { method })).toEqual(invalid(/no authentication key/))
    expect(verifyCredential(named(`${ada.did}#primary`), issuer, { method })).toEqual(invalid(/not a controller/))
    expect(verifyCredential({ ...members, credentialSubject: {}, id: '#a' }, issuer, { method })).toEqual(
      invalid(/credentialSubject.id/),
    )
    expect(verifyCredential('{}', issuer, { method }).valid).toBe(false)
    expect(verifyCredential(credential, '', { method }).valid).toBe(false)
  })
})

describe('verifyOperation', () => {
  const delegate = quickSigner()
  const listed = quickSigner()
  const keys = [
    ...ada.plan.keys,
    authorizationKey('delegate', delegate, bob.did),
    { ...authenticationKey('listed', listed), use: 'none' as const },
  ]
  const before = payloadText(ada.document({ keys }))
  const by = (fragment: string) => ({ specification, verificationMethod: fragment, previousTxid: txid(1) })
  const check = (operation: object, given: string | undefined = before) => verifyOperation(operation, given, { method })

  it('create: by a key of the document in the payload', () => {
    const create = operationJson(ada.create())
    expect(verifyOperation(create, undefined, { method })).toEqual(valid)
    expect(verifyOperation(JSON.stringify(create), payloadText(ada.document(), 'compact'), { method })).toEqual(
      invalid(/not the one in the payload/),
    )
    const payload = Buffer.from(create.payload, 'base64url').toString()
    expect(verifyOperation(create, payload, { method })).toEqual(valid)
    const stranger = operationJson(
      buildCreate(ada.document({ keys }), { specification, verificationMethod: '#listed' }, signer(listed)),
    )
    expect(verifyOperation(stranger, undefined, { method })).toEqual(invalid(/may not sign/))
  })

  it('update: by a key of the document before, whatever the new one says', () => {
    const next = ada.document({ expires: '2031-01-01T00:00:00Z' })
    expect(check(operationJson(buildUpdate(next, by('#recovery'), signer(ada.recovery))))).toEqual(valid)
    expect(check(operationJson(buildUpdate(next, by('#delegate'), signer(delegate))))).toEqual(invalid(/may not sign/))
    expect(check(operationJson(buildUpdate(next, by('#listed'), signer(listed))))).toEqual(invalid(/may not sign/))
    const thief = quickSigner()
    const taken = ada.document({ keys: [...ada.plan.keys, authenticationKey('thief', thief)] })
    expect(check(operationJson(buildUpdate(taken, by('#thief'), signer(thief))))).toEqual(invalid(/may not sign/))
    const update = operationJson(ada.update(txid(1)))
    expect(check(update, payloadText(bob.document()))).toEqual(invalid(/is not about/))
    expect(verifyOperation(update, undefined, { method })).toEqual(invalid(/document before/))
    expect(check({ ...update, header: { ...update.header, previousTxid: txid(2) } })).toEqual(
      invalid(/does not verify/),
    )
    expect(check({ ...update, header: { ...update.header, previousTxid: 'x' } })).toEqual(invalid(/previousTxid/))
  })

  it('deactivate: by the owner or a delegate', () => {
    for (const [name, key] of [
      ['#primary', ada.primary],
      ['#recovery', ada.recovery],
      ['#delegate', delegate],
    ] as const) {
      expect(
        check(operationJson(buildDeactivate(ada.did, { specification, verificationMethod: name }, signer(key)))),
      ).toEqual(valid)
    }
    const byListed = buildDeactivate(ada.did, { specification, verificationMethod: '#listed' }, signer(listed))
    expect(check(operationJson(byListed))).toEqual(invalid(/may not sign/))
    expect(check(operationJson(bob.deactivate()))).toEqual(invalid(/is not about/))
  })

  it('declares by the holder, and revokes by any DID, with the document of who signs', () => {
    const declare = operationJson(ada.declare(bob.issue(ada.did)))
    expect(check(declare, text)).toEqual(valid)
    expect(check(operationJson(bob.declare(bob.issue(ada.did))), payloadText(bob.document()))).toEqual(
      invalid(/only the holder/),
    )
    const revoke = operationJson(bob.revoke(`${ada.did}#profile`))
    expect(check(revoke, payloadText(bob.document()))).toEqual(valid)
    expect(check(revoke, text)).toEqual(invalid(/is one of did:ledger/))
    for (const id of ['x#y', `${ada.did}#`, `${ada.did}x#y`, `${ada.did}#y y`]) {
      expect(check(operationJson(bob.revoke(id)), payloadText(bob.document()))).toEqual(invalid(/is no id/))
    }
    expect(verifyOperation(revoke, undefined, { method })).toEqual(invalid(/document of the signer/))
    expect(check({ ...declare, payload: 'e30' }, text)).toEqual(invalid(/names no credential/))
    const { signature } = revoke.proof
    expect(check({ ...declare, proof: { ...declare.proof, signature } }, text)).toEqual(invalid(/does not verify/))
  })

  it('nothing else', () => {
    const create = operationJson(ada.create())
    expect(check({ ...create, header: { ...create.header, operation: 'declare' } })).toEqual(
      invalid(/names no credential/),
    )
    expect(check({ ...create, header: { ...create.header, operation: 'transfer' } })).toEqual(invalid(/header.ticket/))
    expect(check({ ...create, proof: { ...create.proof, type: 'x' } }, undefined).valid).toBe(false)
    const padded = Buffer.from(decodeBase64url(create.proof.signature) as Uint8Array).toString('base64')
    expect(
      verifyOperation({ ...create, proof: { ...create.proof, signature: padded } }, undefined, { method }),
    ).toEqual(invalid(/86/))
  })
})

describe('bad input', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]

  it.each([
    ['a circular object', circular],
    ['a BigInt', { id: 1n }],
    ['very deep nesting', deep],
    ['null', null],
    ['undefined', undefined],
    ['a function', () => 0],
    ['a number', 1],
    ['text', 'nothing'],
    [
      'a throwing toJSON',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
  ])('%s is an answer, never an exception', (_, input) => {
    const bad = input as object
    for (const answer of [
      verifyDocument(bad, { method }),
      verifyDocument(plain, { method, controllers: [bad] }),
      verifyCredential(bad, plain, { method }),
      verifyCredential(bob.issue(ada.did), bad, { method }),
      verifyOperation(bad, plain, { method }),
      verifyOperation(operationJson(ada.update(txid(1))), bad, { method }),
    ]) {
      expect(answer.valid).toBe(false)
      expect(answer.reason).toMatch(/./)
    }
  })

  it('so is anything else', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withMap: true }), (input) => {
        const bad = input as object
        expect(verifyDocument(bad, { method }).valid).toBe(false)
        expect(verifyCredential(bad, bad, { method }).valid).toBe(false)
        expect(verifyOperation(bad, bad, { method }).valid).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  it('one changed character of a document never verifies as another document', () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 0x20, max: 0x7e }), (index, unit) => {
        const changed = text.slice(0, index) + String.fromCharCode(unit) + text.slice(index + 1)
        if (changed === text) return
        // A date inside the proof is the one thing that is not signed.
        const { valid: verified } = verifyDocument(changed, { method })
        if (verified) expect(canonicalDocument(changed, { method })).toBe(document.signingText)
      }),
      { numRuns: 1000 },
    )
  })
})
