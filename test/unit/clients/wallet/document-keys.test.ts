import { describe, expect, it } from 'vitest'
import { formatPrivateKey, formatPublicKey, keyForms } from '../../../../src/base/crypto/key-forms.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import type { SigningAccount } from '../../../../src/clients/wallet/accounts.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { buildDeclare, buildRevoke } from '../../../../src/clients/wallet/did-credential.js'
import {
  createIdentity,
  type CurrentIdentity,
  deactivateIdentity,
  type DocumentChanges,
  documentOf,
  rebaseUpdate,
  signer,
  updateIdentity,
} from '../../../../src/clients/wallet/did-identity.js'
import { signCredential } from '../../../../src/identity/did/build.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { created, credentialSpecification, expires, Registry, specification } from '../../../support/builders/did.js'

const [ada, bob, eve] = [0, 1, 2].map(devnetAccount) as [SigningAccount, SigningAccount, SigningAccount]
const context = { account: ada, specification, created }
const recovery = ada.recovery as NonNullable<typeof ada.recovery>

/** A DID whose operations a chain judges. */
class Subject {
  readonly registry = new Registry()
  current: CurrentIdentity

  constructor() {
    this.current = this.apply(
      createIdentity(context, { services: [], expires, recovery: { publicKey: recovery.publicKey } }),
    )
  }

  apply(operation: DidOperation): CurrentIdentity {
    const { txid } = this.registry.apply(operation)
    return { document: documentOf(operation.payload), txid }
  }

  update(changes: DocumentChanges, signWith?: Uint8Array): CurrentIdentity {
    const signing = signWith === undefined ? {} : { signWith }
    this.current = this.apply(updateIdentity({ ...context, ...signing }, this.current, changes))
    return this.current
  }

  names(list: 'authentication' | 'authorization'): string[] {
    return [...this.current.document[list].keys()].map((id) => id.slice(id.indexOf('#')))
  }
}

describe('keys of a document', () => {
  it('are added in any form, sign updates, and are removed', () => {
    for (const form of keyForms) {
      const did = new Subject()
      did.update({ addKeys: [{ name: '#laptop', publicKey: formatPublicKey(bob.publicKey, form) }] })
      expect(did.names('authentication')).toEqual(['#laptop', '#primary', '#recovery'])
      did.update({ expires: '2031-01-01T00:00:00Z' }, bob.privateKey)
      did.update({ removeKeys: ['laptop'] }, bob.privateKey)
      expect(did.names('authentication')).toEqual(['#primary', '#recovery'])
      expect(() => did.update({ expires }, bob.privateKey)).toThrow(
        `the key to sign with may not sign an update of ${ada.did}; those that may are #primary, #recovery`,
      )
    }
  })

  it('that were removed are refused by the chain, whatever an older document says', () => {
    const did = new Subject()
    const before = did.update({ addKeys: [{ name: 'laptop', publicKey: bob.publicKey }] })
    const { txid } = did.update({ removeKeys: ['laptop'] })
    const replayed = updateIdentity({ ...context, signWith: bob.privateKey }, { ...before, txid }, { expires })
    expect(codeOf(() => did.apply(replayed))).toBe('did-signer')
  })

  it('are replaced in one update', () => {
    const did = new Subject()
    did.update({ removeKeys: ['recovery'], addKeys: [{ name: 'recovery', publicKey: bob.publicKey }] })
    expect(did.names('authentication')).toEqual(['#primary', '#recovery'])
    did.update({ expires }, bob.privateKey)
  })

  it('of other DIDs may deactivate once authorised, and no more once that is revoked', () => {
    const did = new Subject()
    did.update({ authorize: [{ name: 'helper', controller: bob.did, publicKey: bob.publicKey }] })
    expect(did.names('authorization')).toEqual(['#helper'])
    const { document } = did.current
    expect(() => updateIdentity({ ...context, signWith: bob.privateKey }, did.current, { expires })).toThrow('may not')
    const deactivate = deactivateIdentity({ account: eve, specification, signWith: bob.privateKey }, document)
    expect(deactivate.verificationMethod).toBe('#helper')
    did.update({ revokeAuthorizations: ['helper'] })
    expect(did.current.document.keys).toHaveLength(2)
    expect(codeOf(() => did.registry.apply(deactivate))).toBe('did-signer')
    did.update({ authorize: [{ name: 'helper', controller: bob.did, publicKey: bob.publicKey }] })
    did.registry.apply(deactivate)
    expect(codeOf(() => did.update({ expires }))).toBe('did-deactivated')
  })

  it('with another controller are listed and may do nothing', () => {
    const did = new Subject()
    did.update({ addKeys: [{ name: 'shown', publicKey: bob.publicKey, controller: bob.did }] })
    expect([did.names('authentication'), did.names('authorization')]).toEqual([['#primary', '#recovery'], []])
    expect(did.current.document.keys.find(({ id }) => id.endsWith('#shown'))?.controller).toBe(bob.did)
    expect(() => deactivateIdentity({ account: bob, specification }, did.current.document)).toThrow('may deactivate')
    did.update({ removeKeys: ['shown'] })
  })

  it.each<[string, DocumentChanges, string]>([
    ['the default key is removed', { removeKeys: ['primary'] }, '#primary is the default key, from which'],
    ['an unknown key is removed', { removeKeys: ['x'] }, 'has no key #x; there are #primary, #recovery'],
    ['an unknown authorization is revoked', { revokeAuthorizations: ['x'] }, 'has no key #x'],
    ['another key is revoked', { revokeAuthorizations: ['recovery'] }, '#recovery is no authorization'],
    ['a name is taken', { addKeys: [{ name: 'recovery', publicKey: bob.publicKey }] }, 'has a key #recovery already'],
    ['a name is none', { addKeys: [{ name: 'a b', publicKey: bob.publicKey }] }, 'a b is no name of a key'],
    ['there is no name', { addKeys: [{ publicKey: bob.publicKey } as never] }, 'a name is needed'],
    ['a key is there', { addKeys: [{ name: 'x', publicKey: ada.publicKey }] }, 'in the document already, as #primary'],
    ['a key is private', { addKeys: [{ name: 'x', publicKey: bob.privateKey }] }, 'the key #x is a private key'],
    ['a controller is no DID', { addKeys: [{ name: 'x', publicKey: bob.publicKey, controller: 'bob' }] }, 'is no DID'],
    [
      'the DID itself is authorised',
      { authorize: [{ name: 'x', controller: ada.did, publicKey: bob.publicKey }] },
      'only another DID can be authorised',
    ],
    ['a member is misspelt', { addKey: [] } as never, 'addKey is no option of updateIdentity; there are addServices'],
    ['a member of a key is misspelt', { addKeys: [{ name: 'x', key: '' } as never] }, 'key is no option of addKeys'],
    ['one of an authorization is', { authorize: [{ name: 'x', did: '' } as never] }, 'did is no option of authorize'],
  ])('are refused where %s', (_, changes, fault) => {
    expect(() => updateIdentity(context, new Subject().current, changes)).toThrow(fault)
  })

  it('are removed by the ids that readers of the document see', () => {
    const did = new Subject()
    did.update({ removeKeys: [`${ada.did}#recovery`], addKeys: [{ name: `${ada.did}#new`, publicKey: bob.publicKey }] })
    expect(did.names('authentication')).toEqual(['#new', '#primary'])
    expect(() => did.update({ removeKeys: [`${bob.did}#new`] })).toThrow(`has no key #${bob.did}#new`)
  })

  it('that an authorization has are removed by its own name alone', () => {
    const did = new Subject()
    did.update({ authorize: [{ name: 'helper', controller: bob.did, publicKey: bob.publicKey }] })
    expect(() => did.update({ removeKeys: ['helper'] })).toThrow('#helper is an authorization')
  })
})

describe('operations signed with another key', () => {
  it('are declares and revokes too', () => {
    const did = new Subject()
    did.update({ addKeys: [{ name: 'laptop', publicKey: bob.publicKey }] })
    const signed = {
      account: eve,
      specification: credentialSpecification,
      signWith: formatPrivateKey(bob.privateKey, 'jwk'),
    }
    const members = { id: `${ada.did}#d`, type: ['D'], issuanceDate: created, credentialSubject: { id: ada.did, n: 1 } }
    const credential = signCredential(members, { method: 'ledger', key: '#primary' }, signer(ada))
    did.registry.apply(buildDeclare(signed, did.current.document, credential))
    const revoke = buildRevoke(signed, did.current.document, `${ada.did}#d`)
    expect(revoke.verificationMethod).toBe(`${ada.did}#laptop`)
    did.registry.apply(revoke)
    const stranger = { ...signed, signWith: eve.privateKey }
    expect(() => buildRevoke(stranger, did.current.document, `${ada.did}#d`)).toThrow('may not sign for credentials')
  })

  it('are rebased updates, without the default key', () => {
    const did = new Subject()
    const prepared = updateIdentity(context, did.current, { expires: '2032-01-01T00:00:00Z' })
    did.update({ expires: '2031-01-01T00:00:00Z' })
    const rebased = rebaseUpdate(eve, did.current, prepared, recovery.privateKey)
    expect(did.apply(rebased).document.expires).toBe('2032-01-01T00:00:00Z')
    expect(() => rebaseUpdate(eve, did.current, prepared)).toThrow('which is not that of this account')
  })

  it('need the default key for a new document all the same', () => {
    const did = new Subject()
    const signed = { ...context, account: bob, signWith: recovery.privateKey }
    expect(() => updateIdentity(signed, did.current, { expires })).toThrow(
      `the document of ${ada.did} needs the proof of its default key #primary, which is not that of this account`,
    )
  })

  it('are refused with members that nothing reads', () => {
    const did = new Subject()
    const odd = { ...context, signwith: ada.privateKey } as never
    for (const build of [
      () => createIdentity(odd, { services: [], expires }),
      () => updateIdentity(odd, did.current, { expires }),
      () => deactivateIdentity(odd, did.current.document),
      () => buildRevoke(odd, did.current.document, `${ada.did}#d`),
      () => buildDeclare(odd, did.current.document, '{}'),
    ]) {
      expect(build).toThrow('signwith is no option of the context of')
    }
    expect(() => createIdentity(context, { services: [], expires, keys: [] } as never)).toThrow('keys is no option')
    const misspelt = { key: bob.publicKey } as never
    expect(() => createIdentity(context, { services: [], expires, recovery: misspelt })).toThrow(
      'key is no option of recovery',
    )
  })
})
