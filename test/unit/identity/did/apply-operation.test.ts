import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeBase64url, encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { buildCreate, buildDeactivate, buildDocument, buildUpdate } from '../../../../src/identity/did/build.js'
import { payloadText } from '../../../support/builders/payload-text.js'
import { documentText } from '../../../../src/identity/did/canonical.js'
import { credentialsOfPayload, documentOfPayload, keysOfPayload } from '../../../../src/identity/did/known-document.js'
import type { DidDocument } from '../../../../src/identity/did/model.js'
import { parseOperation } from '../../../../src/identity/did/operation.js'
import { applyOperation } from '../../../../src/identity/did/apply-operation.js'
import { type DidState } from '../../../../src/identity/did/state.js'
import { InvariantError, RuleError } from '../../../../src/base/errors/rule-error.js'
import { fromUtf8, toHex } from '../../../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import {
  authenticationKey,
  authorizationKey,
  didRules,
  type Holder,
  holder,
  Registry,
  signer,
  specification,
  txid,
} from '../../../support/builders/did.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { quickSigner } from '../../../support/builders/signatures.js'

const p256Order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')

/** The other valid form of a signature. */
function negated(signature: string): string {
  const bytes = decodeBase64url(signature) as Uint8Array
  const s = p256Order - BigInt(`0x${toHex(bytes.subarray(32))}`)
  return encodeBase64url(Buffer.from(toHex(bytes.subarray(0, 32)) + s.toString(16).padStart(64, '0'), 'hex'))
}

/** All of a state as text. */
function spelled(state: DidState | undefined): string {
  if (state === undefined) return 'none'
  const { document, ...head } = state
  const { id, authentication, authorization, credentials } = document
  return JSON.stringify([head, id, [...authentication], [...authorization], [...credentials]])
}

let ada: Holder
let bob: Holder
beforeAll(() => {
  ada = holder()
  bob = holder()
})

const byKey = (fragment: string) => ({ specification, verificationMethod: fragment })

describe('create, update, deactivate', () => {
  it('follow each other', () => {
    const chain = new Registry()
    const first = chain.apply(ada.create())
    expect(first.next).toMatchObject({ status: 'valid', operationCount: 1, lastTxid: txid(1), documentTxid: txid(1) })
    expect(first.checks.map(({ code }) => code)).toEqual(['did-signature', 'document-proof'])
    expect(first.cost).toBe(2)
    const second = chain.apply(ada.update(txid(1), { expires: '2031-01-01T00:00:00Z' }))
    expect(second.next).toMatchObject({ status: 'valid', operationCount: 2, lastTxid: txid(2), documentTxid: txid(2) })
    expect(second.document?.expires).toBe('2031-01-01T00:00:00Z')
    const third = chain.apply(ada.deactivate())
    expect(third.next).toMatchObject({
      status: 'deactivated',
      operationCount: 3,
      lastTxid: txid(3),
      documentTxid: txid(2),
      document: { id: ada.did, authentication: new Map(), authorization: new Map(), credentials: new Set() },
    })
    expect(third.checks).toHaveLength(1)
    expect(third.cost).toBe(2)
  })

  it('are refused in every other state', () => {
    const chain = new Registry()
    expect(codeOf(() => chain.apply(ada.update(txid(1))))).toBe('did-unknown')
    expect(codeOf(() => chain.apply(ada.deactivate()))).toBe('did-unknown')
    chain.apply(ada.create())
    expect(codeOf(() => chain.apply(ada.create()))).toBe('did-exists')
    chain.apply(ada.deactivate())
    for (const operation of [ada.create(), ada.update(txid(1)), ada.update(txid(2)), ada.deactivate()]) {
      expect(codeOf(() => chain.apply(operation))).toBe('did-deactivated')
    }
  })

  it('an update names the last operation, not an earlier one', () => {
    const chain = new Registry()
    chain.apply(ada.create())
    const late = ada.update(txid(1), { expires: '2032-01-01T00:00:00Z' })
    chain.apply(ada.update(txid(1)))
    expect(codeOf(() => chain.apply(late))).toBe('did-previous-txid')
    chain.apply(ada.update(txid(2)))
  })

  it('no clock is read: a document that expired long ago can be published and renewed', () => {
    const chain = new Registry()
    chain.apply(ada.create({ expires: '1970-01-01T00:00:00Z', created: '1970-01-01T00:00:00Z' }))
    chain.apply(ada.update(txid(1)))
  })

  it('compact and normalised payloads make the same document', () => {
    const document = ada.document({ credentials: [ada.issue(ada.did)] })
    const states = (['compact', 'normalised'] as const).map((form) => {
      const chain = new Registry()
      return chain.apply(
        buildCreate(document, { ...byKey('#primary'), text: payloadText(document, form) }, signer(ada.primary)),
      )
    })
    expect(states[0]?.document).toEqual(states[1]?.document)
    expect(documentText(states[0]?.document as DidDocument)).toBe(payloadText(document))
  })

  it('takes signatures with s in the upper and in the lower half', () => {
    const operation = ada.create()
    new Registry().apply(operation)
    new Registry().apply({ ...operation, signature: negated(operation.signature) })
  })

  it('an empty proof type is as good as the only one', () => {
    new Registry().apply({ ...ada.create(), proofType: '' })
    const chain = new Registry()
    chain.apply(ada.create())
    chain.apply({ ...ada.deactivate(), proofType: 'ECDSAsecp256r1' })
  })

  it('a caller that mixes up two DIDs is stopped', () => {
    const { next } = new Registry().apply(ada.create())
    const operation = parseOperation(bob.deactivate(), didRules)
    expect(() =>
      applyOperation(next, operation, {
        ...didRules,
        txid: txid(9),
        time: 0,
        issuer: () => undefined,
        credential: () => undefined,
        otherCredential: () => undefined,
      }),
    ).toThrow(InvariantError)
  })
})

describe('who may sign', () => {
  it('create: any authentication key of the document, by its full or its short name', () => {
    for (const name of ['#recovery', `${ada.did}#recovery`]) {
      new Registry().apply(buildCreate(ada.document(), byKey(name), signer(ada.recovery)))
    }
  })

  it('create: no key that is only listed, and none of an authorization', () => {
    const other = quickSigner()
    const listed = { fragment: 'other', publicKey: other.publicKey, use: 'none' } as const
    for (const key of [listed, authorizationKey('other', other, bob.did)]) {
      const document = ada.document({ keys: [...ada.plan.keys, key] })
      expect(codeOf(() => new Registry().apply(buildCreate(document, byKey('#other'), signer(other))))).toBe(
        'did-signer',
      )
    }
  })

  it('create: the default key is an authentication key even where the list does not name it', () => {
    const keys = ada.plan.keys.map((key) => (key.fragment === 'primary' ? ({ ...key, use: 'none' } as const) : key))
    const { next } = new Registry().apply(ada.create({ keys }))
    expect([...next.document.authentication.keys()]).toEqual([`${ada.did}#primary`, `${ada.did}#recovery`])
  })

  it('update: an authentication key of the document before', () => {
    const chain = new Registry()
    chain.apply(ada.create())
    const plan = { ...byKey('#recovery'), previousTxid: txid(1) }
    chain.apply(buildUpdate(ada.document(), plan, signer(ada.recovery)))
  })

  it('update: a stranger cannot take a DID over by putting a key of theirs into the new document', () => {
    const chain = new Registry()
    chain.apply(ada.create())
    const thief = quickSigner()
    const keys = [...ada.plan.keys, authenticationKey('thief', thief)]
    // Even with a genuine proof inside, which the owner may have made for another purpose.
    const document = ada.document({ keys })
    const stolen = buildUpdate(document, { ...byKey('#thief'), previousTxid: txid(1) }, signer(thief))
    expect(codeOf(() => chain.apply(stolen))).toBe('did-signer')
    // Nor by giving that key the name of the owner's.
    const renamed = keys.map((key) =>
      key.fragment === 'recovery'
        ? { ...key, fragment: 'old' }
        : key.fragment === 'thief'
          ? { ...key, fragment: 'recovery' }
          : key,
    )
    const disguised = ada.document({ keys: renamed })
    const plan = { ...byKey('#recovery'), previousTxid: txid(1) }
    expect(codeOf(() => chain.apply(buildUpdate(disguised, plan, signer(thief))))).toBe('did-signature')
  })

  it('update: a revoked key cannot bring an old document back', () => {
    const chain = new Registry()
    const old = ada.document()
    chain.apply(ada.create())
    chain.apply(ada.update(txid(1), { keys: ada.plan.keys.slice(0, 1) }))
    const replay = buildUpdate(old, { ...byKey('#recovery'), previousTxid: txid(2) }, signer(ada.recovery))
    expect(codeOf(() => chain.apply(replay))).toBe('did-signer')
    // The old operation itself is bound to its place.
    expect(codeOf(() => chain.apply(ada.update(txid(1))))).toBe('did-previous-txid')
  })

  it('update: an authorization key may not', () => {
    const chain = new Registry()
    const keys = [...ada.plan.keys, authorizationKey('delegate', bob.primary, bob.did)]
    chain.apply(ada.create({ keys }))
    const plan = { ...byKey('#delegate'), previousTxid: txid(1) }
    expect(codeOf(() => chain.apply(buildUpdate(ada.document({ keys }), plan, signer(bob.primary))))).toBe('did-signer')
  })

  it('deactivate: default, authentication or authorization key of the last document', () => {
    const keys = [...ada.plan.keys, authorizationKey('delegate', bob.primary, bob.did)]
    for (const [fragment, key] of [
      ['#primary', ada.primary],
      ['#recovery', ada.recovery],
      ['#delegate', bob.primary],
      [`${ada.did}#delegate`, bob.primary],
    ] as const) {
      const chain = new Registry()
      chain.apply(ada.create({ keys }))
      expect(chain.apply(buildDeactivate(ada.did, byKey(fragment), signer(key))).next.status).toBe('deactivated')
    }
  })

  it('deactivate: the delegate needs no DID on the chain, and its current keys do not count', () => {
    const delegate = quickSigner()
    const chain = new Registry()
    chain.apply(bob.create())
    chain.apply(ada.create({ keys: [...ada.plan.keys, authorizationKey('delegate', delegate, bob.did)] }))
    const byCurrent = buildDeactivate(ada.did, byKey('#delegate'), signer(bob.primary))
    expect(codeOf(() => chain.apply(byCurrent))).toBe('did-signature')
    const byOwnName = buildDeactivate(ada.did, byKey(`${bob.did}#primary`), signer(bob.primary))
    expect(codeOf(() => chain.apply(byOwnName))).toBe('did-signer')
    chain.apply(buildDeactivate(ada.did, byKey('#delegate'), signer(delegate)))
  })

  it('deactivate: no listed key, no key of an earlier document', () => {
    const chain = new Registry()
    const other = quickSigner()
    chain.apply(ada.create({ keys: [...ada.plan.keys, authenticationKey('other', other)] }))
    const listed = { fragment: 'other', publicKey: other.publicKey, use: 'none' } as const
    chain.apply(ada.update(txid(1), { keys: [...ada.plan.keys, listed] }))
    const byListed = buildDeactivate(ada.did, byKey('#other'), signer(other))
    expect(codeOf(() => chain.apply(byListed))).toBe('did-signer')
    chain.apply(ada.update(txid(2)))
    expect(codeOf(() => chain.apply(byListed))).toBe('did-signer')
  })

  it("the document's own proof is the default key's", () => {
    const document = buildDocument(ada.plan, signer(ada.recovery))
    const operation = buildCreate(document, byKey('#primary'), signer(ada.primary))
    expect(codeOf(() => new Registry().apply(operation))).toBe('document-proof')
  })
})

describe('credentials', () => {
  it('self-issued ones verify under an authentication key of the same document', () => {
    const applied = new Registry().apply(ada.create({ credentials: [ada.issue(ada.did)] }))
    expect(applied.cost).toBe(3)
    expect(applied.reads).toEqual([])
    expect(applied.checks.at(-1)).toMatchObject({ code: 'credential-proof' })
  })

  it('others verify under the last document of their issuer', () => {
    const chain = new Registry()
    const issuer = chain.apply(bob.create())
    const applied = chain.apply(
      ada.create({
        credentials: [
          bob.issue(ada.did),
          bob.issue(ada.did, { id: `${ada.did}#second` }),
          ada.issue(ada.did, { id: `${ada.did}#own` }),
        ],
      }),
    )
    expect(applied.cost).toBe(5)
    expect(applied.reads).toEqual([{ txid: issuer.txid, payloadSize: issuer.next.documentPayloadSize, issuer: true }])
  })

  it('the issuer has to exist and to be active', () => {
    const chain = new Registry()
    const operation = ada.create({ credentials: [bob.issue(ada.did)] })
    expect(codeOf(() => chain.apply(operation))).toBe('credential-issuer-unknown')
    chain.apply(bob.create())
    chain.apply(bob.deactivate())
    expect(codeOf(() => chain.apply(operation))).toBe('credential-issuer-deactivated')
  })

  it('one that stood in the last document stays, whatever became of its issuer', () => {
    const chain = new Registry()
    chain.apply(bob.create())
    const credential = bob.issue(ada.did)
    chain.apply(ada.create({ credentials: [credential] }))
    chain.apply(bob.deactivate())
    const kept = chain.apply(ada.update(txid(2), { credentials: [credential], expires: '2031-01-01T00:00:00Z' }))
    expect(kept.cost).toBe(2)
    expect(kept.reads).toMatchObject([{ txid: txid(2), issuer: false }])
    expect(kept.checks).toHaveLength(2)
    // Letter by letter: the same credential with another proof is a new one.
    const again = bob.issue(ada.did)
    expect(codeOf(() => chain.apply(ada.update(txid(4), { credentials: [again] })))).toBe(
      'credential-issuer-deactivated',
    )
    // And once dropped it does not come back.
    chain.apply(ada.update(txid(4)))
    const back = ada.update(txid(5), { credentials: [credential] })
    expect(codeOf(() => chain.apply(back))).toBe('credential-issuer-deactivated')
  })

  it('one whose issuer changed its key is refused when it is new', () => {
    const chain = new Registry()
    const spare = quickSigner()
    chain.apply(bob.create({ keys: [...bob.plan.keys, authenticationKey('spare', spare)] }))
    const credential = JSON.parse(bob.issue(ada.did)) as { proof: { verificationMethod: string } }
    credential.proof.verificationMethod = '#spare'
    expect(codeOf(() => chain.apply(ada.create({ credentials: [credential] })))).toBe('credential-proof')
    chain.apply(bob.update(txid(1)))
    expect(codeOf(() => chain.apply(ada.create({ credentials: [credential] })))).toBe('credential-key')
  })
})

describe('what storage keeps', () => {
  it('restores the state before', () => {
    const chain = new Registry()
    const operation = ada.create({ credentials: [ada.issue(ada.did)] })
    const { next } = chain.apply(operation)
    const { credentials, ...stored } = next.document
    expect(keysOfPayload(operation.payload, 'ledger')).toEqual(stored)
    expect(credentialsOfPayload(operation.payload, 'ledger')).toEqual(credentials)
  })

  it('names a damaged payload', () => {
    expect(() => documentOfPayload('!', 'ledger')).toThrow(InvariantError)
    for (const read of [documentOfPayload, keysOfPayload]) {
      for (const text of ['{}', '{', '[]', 'null']) {
        expect(() => read(encodeBase64url(fromUtf8(text)), 'ledger')).toThrow(InvariantError)
      }
    }
  })
})

describe('any sequence of operations', () => {
  // The machine never verifies, so nothing has to be signed for it: a signature of zeros stands in.
  const unsigned = () => new Uint8Array(64)
  const fragments = ['#primary', '#recovery', '#delegate', '#stranger']
  const step = fc.record({
    who: fc.constantFrom(0, 1),
    operation: fc.constantFrom('create', 'update', 'update', 'update', 'deactivate'),
    signer: fc.constantFrom('#primary', '#primary', ...fragments),
    previous: fc.constantFrom('last', 'last', 'last', 'first', 'none'),
    keys: fc.integer({ min: 1, max: 3 }),
    credential: fc.constantFrom('none', 'own', 'foreign'),
  })

  it('keeps the invariants', () => {
    const holders = [ada, bob] as const
    const documents = holders.map((owner, index) => {
      const other = holders[1 - index] as Holder
      const all = [...owner.plan.keys, authorizationKey('delegate', other.primary, other.did)]
      const issuedBy = { none: [], own: [owner.issue(owner.did)], foreign: [other.issue(owner.did)] }
      return [1, 2, 3].map((count) => {
        const build = (credentials: unknown[]) =>
          buildDocument({ ...owner.plan, keys: all.slice(0, count), credentials }, unsigned)
        return { none: build(issuedBy.none), own: build(issuedBy.own), foreign: build(issuedBy.foreign) }
      })
    })
    const refusals = new Set<string>()
    const plain = { signer: '#primary', previous: 'last', keys: 1, credential: 'none' } as const
    // Random ones miss this refusal once in a while.
    const ofDeactivatedIssuer = [
      { ...plain, who: 1, operation: 'create' },
      { ...plain, who: 1, operation: 'deactivate' },
      { ...plain, who: 0, operation: 'create', credential: 'foreign' },
    ] as const
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const states = new Map<string, DidState>()
        steps.forEach(({ who, operation, signer: verificationMethod, previous, keys, credential }, index) => {
          const owner = holders[who] as Holder
          const document = documents[who]?.[keys - 1]?.[credential] as DidDocument
          const before = states.get(owner.did)
          const previousTxid = previous === 'last' ? (before?.lastTxid ?? txid(0)) : txid(previous === 'first' ? 1 : 0)
          const plan = { specification, verificationMethod, previousTxid }
          const built: DidOperation =
            operation === 'create'
              ? buildCreate(document, { specification, verificationMethod }, unsigned)
              : operation === 'update'
                ? buildUpdate(document, plan, unsigned)
                : buildDeactivate(owner.did, { specification, verificationMethod }, unsigned)
          const parsed = parseOperation(built, didRules)
          const context = {
            ...didRules,
            txid: txid(index + 1),
            time: 0,
            issuer: (did: string) => states.get(did),
            credential: () => undefined,
            otherCredential: () => undefined,
          }
          const snapshot = new Map(states)
          const fingerprint = spelled(before)
          try {
            const applied = applyOperation(before, parsed, context)
            expect(before?.status).not.toBe('deactivated')
            expect(applied.next.operationCount).toBe((before?.operationCount ?? 0) + 1)
            expect(applied.next.lastTxid).toBe(context.txid)
            expect(applied.next.document.id).toBe(owner.did)
            expect(applied.cost).toBe(2 + applied.checks.filter(({ code }) => code === 'credential-proof').length)
            states.set(owner.did, applied.next)
          } catch (error) {
            if (!(error instanceof RuleError)) throw error
            refusals.add(error.code)
            expect(states).toEqual(snapshot)
          }
          // Neither way touches the state it was given.
          expect(spelled(before)).toBe(fingerprint)
        })
      }),
      { numRuns: 1000, examples: [[[...ofDeactivatedIssuer]]] },
    )
    expect([...refusals].sort()).toEqual([
      'credential-issuer-deactivated',
      'credential-issuer-unknown',
      'did-deactivated',
      'did-exists',
      'did-previous-txid',
      'did-signer',
      'did-unknown',
    ])
  })
})
