import { describe, expect, it } from 'vitest'
import { revokeOperation } from '../../../../../src/identity/did/build.js'
import { parseOperation } from '../../../../../src/identity/did/operation.js'
import { codeOf } from '../../../../support/assert/code-of.js'
import {
  credentialSpecification,
  didRules,
  type Holder,
  holder,
  Registry,
  signer,
} from '../../../../support/builders/did.js'

const ada = holder()
const bob = holder()
const eve = holder()
const id = `${ada.did}#profile`

function registryOf(...holders: readonly Holder[]): Registry {
  const registry = new Registry()
  for (const one of holders) registry.apply(one.create())
  return registry
}

describe('parsing a revoke', () => {
  const code = (text: string) => codeOf(() => parseOperation(ada.revoke(text), didRules))

  it('reads the id, and a key of the holder or of another DID', () => {
    expect(parseOperation(ada.revoke(id), didRules)).toMatchObject({ kind: 'revoke', did: ada.did, credentialId: id })
    expect(parseOperation(bob.revoke(id), didRules)).toMatchObject({ did: bob.did, signer: `${bob.did}#primary` })
    const plan = { specification: credentialSpecification, verificationMethod: '#primary' }
    const short = revokeOperation(id, plan, signer(ada.primary))
    expect(parseOperation(short, didRules)).toMatchObject({ did: ada.did, signer: `${ada.did}#primary` })
  })

  it.each([
    ['a bare fragment', '#profile'],
    ['a DID', ada.did],
    ['an empty fragment', `${ada.did}#`],
    ['two fragments', `${id}#again`],
    ['a fragment of 129 characters', `${ada.did}#${'x'.repeat(129)}`],
    ['a wrong checksum', `${ada.did.replace(/.$/, '0')}#profile`],
    ['another method', id.replace('ledger', 'elastos')],
    ['white space', `${id} `],
    ['nothing', ''],
  ])('refuses %s', (_, text) => {
    expect(code(text)).toBe('did-payload-credential')
  })

  it('refuses a bad key before the payload', () => {
    const operation = { ...ada.revoke('#profile'), verificationMethod: 'primary' }
    expect(codeOf(() => parseOperation(operation, didRules))).toBe('did-verification-method')
  })
})

describe('a revoke', () => {
  it('before a declare is open to any DID, once each, and changes no DID', () => {
    const registry = registryOf(ada, bob, eve)
    for (const one of [eve, bob, ada]) {
      const before = registry.states.get(one.did)
      const { credential, cost, reads } = registry.apply(one.revoke(id))
      expect(credential).toEqual({ id, signer: one.did, action: 'revoke' })
      expect([cost, reads.map(({ issuer }) => issuer)]).toEqual([2, [false]])
      expect(registry.states.get(one.did)).toBe(before)
      expect(codeOf(() => registry.apply(one.revoke(id)))).toBe('credential-revoked')
    }
  })

  it('of a declared credential is the right of holder and issuer, once each', () => {
    const registry = registryOf(ada, bob, eve)
    registry.apply(ada.declare(bob.issue(ada.did)))
    expect(codeOf(() => registry.apply(eve.revoke(id)))).toBe('credential-revoker')
    registry.apply(bob.revoke(id))
    registry.apply(ada.revoke(id))
    for (const one of [ada, bob]) expect(codeOf(() => registry.apply(one.revoke(id)))).toBe('credential-revoked')
    expect(codeOf(() => registry.apply(ada.declare(bob.issue(ada.did))))).toBe('credential-declared')
  })

  it('stays with the other party once one is deactivated', () => {
    const registry = registryOf(ada, bob)
    registry.apply(ada.declare(bob.issue(ada.did)))
    registry.apply(ada.deactivate())
    expect(codeOf(() => registry.apply(ada.revoke(id)))).toBe('did-deactivated')
    registry.apply(bob.revoke(id))
    const other = registryOf(ada, bob)
    other.apply(ada.declare(bob.issue(ada.did)))
    other.apply(bob.deactivate())
    expect(codeOf(() => other.apply(bob.revoke(id)))).toBe('did-deactivated')
    other.apply(ada.revoke(id))
  })

  it('needs a signer that exists, with an authentication key of its last document', () => {
    expect(codeOf(() => registryOf(ada).apply(bob.revoke(id)))).toBe('did-unknown')
    const plan = { specification: credentialSpecification, verificationMethod: `${ada.did}#other` }
    const unknown = revokeOperation(id, plan, signer(ada.primary))
    expect(codeOf(() => registryOf(ada).apply(unknown))).toBe('did-signer')
    const stolen = revokeOperation(id, { ...plan, verificationMethod: `${ada.did}#primary` }, signer(bob.primary))
    expect(codeOf(() => registryOf(ada).apply(stolen))).toBe('did-signature')
  })
})
