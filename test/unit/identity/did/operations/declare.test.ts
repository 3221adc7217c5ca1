import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../../../../src/identity/did/base64url.js'
import { declareOperation } from '../../../../../src/identity/did/build.js'
import { parseOperation, parseOperationSteps } from '../../../../../src/identity/did/operation.js'
import { fromUtf8 } from '../../../../../src/base/primitives/bytes.js'
import { codeOf } from '../../../../support/assert/code-of.js'
import {
  authenticationKey,
  credentialSpecification,
  didRules,
  type Holder,
  holder,
  issueCredential,
  Registry,
  signer,
} from '../../../../support/builders/did.js'
import { quickSigner } from '../../../../support/builders/signatures.js'

const ada = holder()
const bob = holder()
const id = `${ada.did}#profile`
const byBob = bob.issue(ada.did)

/** A chain with DIDs of these holders. */
function registryOf(...holders: readonly Holder[]): Registry {
  const registry = new Registry()
  for (const one of holders) registry.apply(one.create())
  return registry
}

const changed = (text: string, changes: Record<string, unknown>) =>
  JSON.stringify({ ...(JSON.parse(text) as object), ...changes })

describe('parsing a declare', () => {
  const read = (text: string) => parseOperation(ada.declare(text), didRules)
  const code = (text: string) => codeOf(() => read(text))

  it('reads the credential of its holder, whose key it names in full or by its fragment', () => {
    expect(read(byBob)).toMatchObject({
      kind: 'declare',
      did: ada.did,
      signer: `${ada.did}#primary`,
      credential: { id, issuer: bob.did },
    })
    const plan = { specification: credentialSpecification, verificationMethod: '#primary' }
    const short = declareOperation({ text: byBob }, plan, signer(ada.primary))
    expect(parseOperation(short, didRules)).toMatchObject({ did: ada.did, signer: `${ada.did}#primary` })
  })

  it('reads compact text, but for the id', () => {
    const { credentialSubject, ...rest } = JSON.parse(ada.issue(ada.did)) as { credentialSubject: { name: string } }
    const compact = { ...rest, issuer: undefined, credentialSubject: { name: credentialSubject.name } }
    expect(read(JSON.stringify(compact))).toMatchObject({ credential: { issuer: ada.did, subject: ada.did } })
    expect(code(changed(JSON.stringify(compact), { id: '#profile' }))).toBe('document-id')
  })

  it.each([
    ['an id of another method', { id: `did:elastos:${ada.did.slice(11)}#profile` }, 'document-id'],
    ['an id with a wrong checksum', { id: `${ada.did.replace(/.$/, '0')}#profile` }, 'document-id'],
    ['an id without fragment', { id: ada.did }, 'document-id'],
    ['no id', { id: undefined }, 'document-form'],
    ['a subject that is not the holder', { credentialSubject: { id: bob.did } }, 'credential-subject'],
    ['a member that does not exist', { status: 'revoked' }, 'document-member'],
    ['an issuer that is no DID', { issuer: 'bob' }, 'document-did'],
    ['no type', { type: [] }, 'credential-type'],
    ['no proof', { proof: undefined }, 'document-form'],
  ])('refuses %s', (_, changes, expected) => {
    expect(code(changed(byBob, changes))).toBe(expected)
  })

  it('refuses what is no credential', () => {
    expect(code('[]')).toBe('document-form')
    expect(code('{"id":1}')).toBe('document-form')
    expect(code('{')).toBe('json-syntax')
    expect(code(`{"id":"${id}","id":"${id}"}`)).toBe('json-duplicate-name')
    const payload = encodeBase64url(Uint8Array.of(0xff))
    expect(codeOf(() => parseOperation({ ...ada.declare(byBob), payload }, didRules))).toBe('json-utf8')
    const padding = `${ada.declare(byBob).payload}=`
    expect(codeOf(() => parseOperation({ ...ada.declare(byBob), payload: padding }, didRules))).toBe(
      'did-payload-encoding',
    )
  })

  it('decodes the payload, reads its JSON and builds the credential in a step each', () => {
    /** Number of steps before the one in which a payload is refused. */
    const stepsBefore = (bytes: Uint8Array) => {
      const steps = parseOperationSteps({ ...ada.declare(byBob), payload: encodeBase64url(bytes) }, didRules)
      let count = 0
      expect(
        codeOf(() => {
          while (steps.next().done !== true) count++
        }),
      ).toBeDefined()
      return count
    }
    const [tooLong, noJson, noCredential] = [new Uint8Array(128 * 1024 + 1), fromUtf8('{'), fromUtf8('{}')]
    const decoding = stepsBefore(tooLong)
    expect([noJson, noCredential].map(stepsBefore)).toEqual([decoding + 1, decoding + 2])
  })

  it('reads 128 KiB and not a byte more', () => {
    const text = (size: number) => {
      const filled = (name: string) => changed(byBob, { credentialSubject: { id: ada.did, name } })
      return filled('x'.repeat(size - filled('').length))
    }
    const { payloadBytes } = didRules.limits
    expect(fromUtf8(text(payloadBytes))).toHaveLength(payloadBytes)
    expect(code(text(payloadBytes))).toBeUndefined()
    expect(code(text(payloadBytes + 1))).toBe('did-payload-size')
  })

  it('looks at the encoding before the size', () => {
    const large = 174_768
    const codeOfPayload = (payload: string) => {
      return codeOf(() => parseOperation({ ...ada.declare(byBob), payload }, didRules))
    }
    expect(codeOfPayload('A'.repeat(large))).toBe('did-payload-size')
    const wrong = ['%'.repeat(large), `${'A'.repeat(large - 1)}=`, 'A'.repeat(large + 1), `${'A'.repeat(large + 1)}B`]
    for (const payload of wrong) expect(codeOfPayload(payload)).toBe('did-payload-encoding')
  })
})

describe('a declare', () => {
  it('says something of the credential and leaves the DID as it is', () => {
    const registry = registryOf(ada, bob)
    const before = registry.states.get(ada.did)
    const { credential, cost, reads, checks } = registry.apply(ada.declare(byBob))
    expect(credential).toEqual({ id, signer: ada.did, action: 'declare', issuer: bob.did })
    expect(cost).toBe(2)
    expect(checks.map(({ code }) => code)).toEqual(['did-signature', 'credential-proof'])
    expect(reads.map(({ issuer }) => issuer)).toEqual([false, true])
    expect(registry.states.get(ada.did)).toBe(before)
  })

  it('reads one document for a credential that the holder issued', () => {
    expect(registryOf(ada).apply(ada.declare(ada.issue(ada.did))).reads).toMatchObject([{ issuer: false }])
  })

  it('is the right of the holder alone', () => {
    const registry = registryOf(ada, bob)
    expect(codeOf(() => registry.apply(bob.declare(byBob)))).toBe('did-signer')
    const forged = declareOperation(
      { text: byBob },
      { specification: credentialSpecification, verificationMethod: '#primary' },
      signer(bob.primary),
    )
    expect(codeOf(() => registry.apply(forged))).toBe('did-signature')
  })

  it('needs a holder that exists and is not deactivated', () => {
    expect(codeOf(() => registryOf(bob).apply(ada.declare(byBob)))).toBe('did-unknown')
    const registry = registryOf(ada, bob)
    registry.apply(ada.deactivate())
    expect(codeOf(() => registry.apply(ada.declare(byBob)))).toBe('did-deactivated')
  })

  it('needs an issuer that exists and is not deactivated, whatever was when it issued', () => {
    expect(codeOf(() => registryOf(ada).apply(ada.declare(byBob)))).toBe('credential-issuer-unknown')
    const registry = registryOf(ada, bob)
    registry.apply(bob.deactivate())
    expect(codeOf(() => registry.apply(ada.declare(byBob)))).toBe('credential-issuer-deactivated')
  })

  it('needs a key that stands in authentication now: of the signer, and of the issuer', () => {
    const second = quickSigner()
    const plan = { specification: credentialSpecification, verificationMethod: `${ada.did}#second` }
    const bySecond = declareOperation({ text: byBob }, plan, signer(second))
    const registry = registryOf(ada, bob)
    const keys = [...ada.plan.keys, authenticationKey('second', second)]
    const { txid } = registry.apply(ada.update(registry.states.get(ada.did)?.lastTxid ?? '', { keys }))
    registry.apply(ada.update(txid))
    expect(codeOf(() => registry.apply(bySecond))).toBe('did-signer')

    const issued = issueCredential(bob.did, bob.recovery, ada.did, {}, `${bob.did}#recovery`)
    const rotated = bob.plan.keys.map((key) => {
      return key.fragment === 'recovery' ? authenticationKey('recovery', quickSigner()) : key
    })
    registry.apply(bob.update(registry.states.get(bob.did)?.lastTxid ?? '', { keys: rotated }))
    expect(codeOf(() => registry.apply(ada.declare(issued)))).toBe('credential-proof')
    const gone = bob.plan.keys.slice(0, 1)
    registry.apply(bob.update(registry.states.get(bob.did)?.lastTxid ?? '', { keys: gone }))
    expect(codeOf(() => registry.apply(ada.declare(issued)))).toBe('credential-key')
  })

  it('verifies the proof even if the document of the holder holds the same text', () => {
    const rotated = quickSigner()
    const issued = issueCredential(bob.did, bob.recovery, ada.did, {}, `${bob.did}#recovery`)
    const registry = registryOf(bob)
    registry.apply(ada.create({ credentials: [issued] }))
    const keys = [bob.plan.keys[0] as (typeof bob.plan.keys)[number], authenticationKey('recovery', rotated)]
    registry.apply(bob.update(registry.states.get(bob.did)?.lastTxid ?? '', { keys }))
    expect(codeOf(() => registry.apply(ada.declare(issued)))).toBe('credential-proof')
    // An update keeps it unchecked.
    registry.apply(ada.update(registry.states.get(ada.did)?.lastTxid ?? '', { credentials: [issued] }))
  })

  it('comes once, and never after a revoke by holder or issuer', () => {
    const registry = registryOf(ada, bob)
    registry.apply(ada.declare(byBob))
    expect(codeOf(() => registry.apply(ada.declare(byBob)))).toBe('credential-declared')
    for (const revoker of [ada, bob]) {
      const other = registryOf(ada, bob)
      other.apply(revoker.revoke(id))
      expect(codeOf(() => other.apply(ada.declare(byBob)))).toBe('credential-revoked')
    }
    const stranger = holder()
    const third = registryOf(ada, bob, stranger)
    third.apply(stranger.revoke(id))
    third.apply(ada.declare(byBob))
  })

  it('reads no date: an expired credential is declared', () => {
    const expired = bob.issue(ada.did, { expirationDate: '2001-01-01T00:00:00Z' })
    expect(registryOf(ada, bob).apply(ada.declare(expired)).credential).toMatchObject({ action: 'declare' })
  })
})
