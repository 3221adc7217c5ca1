import { expect, it } from 'vitest'
import type { DidOperation } from '../../../../../src/base/primitives/did-operation.js'
import { codeOf } from '../../../../support/assert/code-of.js'
import { type Holder, holder, issueCredential, Registry } from '../../../../support/builders/did.js'

const ada = holder()
const bob = holder()
const eve = holder()
const id = `${ada.did}#profile`
const byBob = bob.issue(ada.did)
/** The proof names a key that no document of bob has. */
const byUnknownKey = issueCredential(bob.did, bob.primary, ada.did, {}, `${bob.did}#other`)
/** Right in form; it verifies under no key. */
const noSignature = 'A'.repeat(86)

function unsigned(operation: DidOperation): DidOperation {
  return { ...operation, signature: noSignature }
}

/** An operation by a key that the document of its signer has not. */
function withoutKey(operation: DidOperation): DidOperation {
  return { ...operation, verificationMethod: operation.verificationMethod.replace(/#.*/, '#other') }
}

function registryOf(...holders: readonly Holder[]): Registry {
  const registry = new Registry()
  for (const one of holders) registry.apply(one.create())
  return registry
}

/** DIDs that exist, what was done, and an operation that breaks rules of the two rows of the title. */
type Faulty = readonly [
  rows: string,
  code: string,
  holders: readonly Holder[],
  done: readonly DidOperation[],
  operation: DidOperation,
]

it.each<Faulty>([
  ['4, 5', 'json-syntax', [ada, bob], [], bob.declare('{')],
  ['4, 6', 'did-payload-credential', [], [], bob.revoke('#profile')],
  ['5, 6 unknown', 'did-signer', [ada], [], bob.declare(byBob)],
  ['5, 6 deactivated', 'did-signer', [ada, bob], [bob.deactivate()], bob.declare(byBob)],
  ['5, 8', 'did-signer', [ada, bob], [ada.declare(byBob)], bob.declare(byBob)],
  ['6 unknown, 7', 'did-unknown', [bob], [], withoutKey(ada.declare(byBob))],
  ['6 deactivated, 7', 'did-deactivated', [ada, bob], [ada.deactivate()], withoutKey(ada.declare(byBob))],
  ['6 unknown, 7 of a revoke', 'did-unknown', [ada], [], withoutKey(eve.revoke(id))],
  ['6 deactivated, 7 of a revoke', 'did-deactivated', [eve], [eve.deactivate()], withoutKey(eve.revoke(id))],
  ['6, 8', 'did-deactivated', [ada, bob], [ada.declare(byBob), ada.deactivate()], ada.declare(byBob)],
  ['6, 9 of a revoke', 'did-deactivated', [eve], [eve.revoke(id), eve.deactivate()], eve.revoke(id)],
  ['7, 8', 'did-signer', [ada, bob], [ada.declare(byBob)], withoutKey(ada.declare(byBob))],
  ['7, 9', 'did-signer', [ada, bob], [bob.revoke(id)], withoutKey(ada.declare(byBob))],
  ['7, 9 of a revoke', 'did-signer', [eve], [eve.revoke(id)], withoutKey(eve.revoke(id))],
  ['7, 10', 'did-signer', [ada, bob, eve], [ada.declare(byBob)], withoutKey(eve.revoke(id))],
  ['8, 9', 'credential-declared', [ada, bob], [ada.declare(byBob), bob.revoke(id)], ada.declare(byBob)],
  ['8, 11', 'credential-declared', [ada, bob], [ada.declare(byBob), bob.deactivate()], ada.declare(byBob)],
  ['8, 13', 'credential-declared', [ada, bob], [ada.declare(byBob)], unsigned(ada.declare(byBob))],
  ['9, 10', 'credential-revoked', [ada, bob, eve], [eve.revoke(id), ada.declare(byBob)], eve.revoke(id)],
  ['9 by the holder, 11', 'credential-revoked', [ada], [ada.revoke(id)], ada.declare(byBob)],
  ['9 by the issuer, 11', 'credential-revoked', [ada, bob], [bob.revoke(id), bob.deactivate()], ada.declare(byBob)],
  ['9, 12', 'credential-revoked', [ada, bob], [bob.revoke(id)], ada.declare(byUnknownKey)],
  ['9, 13 of a revoke', 'credential-revoked', [eve], [eve.revoke(id)], unsigned(eve.revoke(id))],
  ['10, 13', 'credential-revoker', [ada, bob, eve], [ada.declare(byBob)], unsigned(eve.revoke(id))],
  ['11 deactivated, 12', 'credential-issuer-deactivated', [ada, bob], [bob.deactivate()], ada.declare(byUnknownKey)],
  ['11 unknown, 13', 'credential-issuer-unknown', [ada], [], unsigned(ada.declare(byBob))],
  ['11 deactivated, 13', 'credential-issuer-deactivated', [ada, bob], [bob.deactivate()], unsigned(ada.declare(byBob))],
  ['12, 13', 'credential-key', [ada, bob], [], unsigned(ada.declare(byUnknownKey))],
  [
    '13 twice',
    'did-signature',
    [ada, bob],
    [],
    unsigned(ada.declare(issueCredential(bob.did, eve.primary, ada.did, {}))),
  ],
])('of two faults the first decides, in the order of the rules: %s', (_, code, holders, done, operation) => {
  const registry = registryOf(...holders)
  for (const one of done) registry.apply(one)
  expect(codeOf(() => registry.apply(operation))).toBe(code)
})

it('each of those operations is accepted without its faults', () => {
  const registry = registryOf(ada, bob, eve)
  registry.apply(eve.revoke(`${ada.did}#other`))
  registry.apply(ada.declare(byBob))
  registry.apply(bob.revoke(id))
})
