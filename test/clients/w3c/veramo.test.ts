import { randomBytes } from 'node:crypto'
import {
  createAgent,
  type ICredentialPlugin,
  type IDIDManager,
  type IKeyManager,
  type IResolver,
  type VerifiableCredential,
  type VerifiablePresentation,
} from '@veramo/core'
import { CredentialProviderJWT } from '@veramo/credential-jwt'
import { CredentialPlugin } from '@veramo/credential-w3c'
import { DIDManager, MemoryDIDStore } from '@veramo/did-manager'
import { DIDResolverPlugin, getUniversalResolverFor } from '@veramo/did-resolver'
import { KeyManager, MemoryKeyStore, MemoryPrivateKeyStore } from '@veramo/key-manager'
import { KeyManagementSystem } from '@veramo/kms-local'
import { Resolver } from 'did-resolver-4'
import { getResolver, HttpResolver } from 'didledger/resolver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DidOperation, operationJson } from '../../../src/base/primitives/did-operation.js'
import { authenticationKey, type Holder, holderOf } from '../../support/builders/did.js'
import {
  createNamed,
  deactivateNamed,
  named,
  namedDocument,
  ticketOf,
  transferNamed,
  updateNamed,
} from '../../support/builders/named-did.js'
import { type QuickSigner, quickSigner } from '../../support/builders/signatures.js'
import { CommandProcess, NodeProcess } from '../../support/process/spawn.js'
import { publish } from '../support/publish.js'

/**
 * Veramo with DIDs that have a name: its agents keep the keys, issue and verify. A verifier asks the chain through each door that it may
 * have: this package's method for did-resolver, and Veramo's client of the Universal Resolver at a node and at a driver.
 */

/** A key that a Veramo agent holds, and that signs documents here. */
interface Key {
  readonly hex: string
  readonly signer: QuickSigner
}

function newKey(): Key {
  const secret = randomBytes(32)
  return { hex: secret.toString('hex'), signer: quickSigner(secret) }
}

let node: NodeProcess
let driver: CommandProcess
let driverUrl: string
const adaKey = newKey()
const bobKey = newKey()
const ada = holderOf(adaKey.signer, quickSigner())
const bob = holderOf(bobKey.signer, quickSigner())
const send = (operation: DidOperation) => publish(node, JSON.stringify(operationJson(operation)))

beforeAll(async () => {
  node = await NodeProcess.start('devnet')
  driver = new CommandProcess(['driver', '--port', '0', '--host', '127.0.0.1', '--json'], {
    env: { DIDLEDGER_RPC: node.line.rpc },
  })
  const line = JSON.parse((await driver.firstLine()) ?? 'null') as { listens: [string] }
  driverUrl = line.listens[0]
  await send(ada.create())
  await send(bob.create())
})
afterAll(async () => {
  driver.kill('SIGTERM')
  await driver.finished
  await node.stop()
})

const documentOf = (name: string, by: readonly Holder[], keys: readonly Key[]) =>
  namedDocument(name, {
    by,
    needed: by.length,
    plan: { keys: keys.map(({ signer }, index) => authenticationKey(`own${index}`, signer)) },
  })

/** An agent that holds a DID with this one key of it. */
async function holding(did: string, key: Key) {
  const agent = createAgent<IDIDManager & IKeyManager & ICredentialPlugin>({
    plugins: [
      new KeyManager({
        store: new MemoryKeyStore(),
        kms: { local: new KeyManagementSystem(new MemoryPrivateKeyStore()) },
      }),
      new DIDManager({ store: new MemoryDIDStore(), defaultProvider: 'did:ledger', providers: {} }),
      new CredentialPlugin([new CredentialProviderJWT()]),
    ],
  })
  const keys = [{ kid: 'held', kms: 'local', type: 'Secp256r1' as const, privateKeyHex: key.hex }]
  await agent.didManagerImport({ did, provider: 'did:ledger', keys })
  return agent
}

async function issue(issuer: string, key: Key, subject: string): Promise<VerifiableCredential> {
  const agent = await holding(issuer, key)
  return agent.createVerifiableCredential({
    credential: { issuer: { id: issuer }, credentialSubject: { id: subject, member: true } },
    proofFormat: 'jwt',
  })
}

async function present(holder: string, key: Key, credential: VerifiableCredential): Promise<VerifiablePresentation> {
  const agent = await holding(holder, key)
  return agent.createVerifiablePresentation({
    presentation: { holder, verifiableCredential: [credential] },
    proofFormat: 'jwt',
  })
}

const universal = (url: string) => getUniversalResolverFor(['ledger'], `${url}/1.0/identifiers/`)
const doors = [
  ['getResolver', () => getResolver(new HttpResolver(node.line.rpc))],
  ['the Universal Resolver client at a node', () => universal(node.line.rest)],
  ['the Universal Resolver client at a driver', () => universal(driverUrl)],
] as const

/** The name of an error, which DID Resolution over HTTP gives as an object with a type, and did-resolver as a text. */
function errorName(error: unknown): unknown {
  const { type = '' } = error as { type?: string }
  if (!type.startsWith('https://www.w3.org/ns/did#')) return error
  const [first, ...words] = type
    .slice(type.indexOf('#') + 1)
    .toLowerCase()
    .split('_')
  return [first, ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}

describe.each(doors)('Veramo through %s', (door, methods) => {
  /** Names of their own for each door. */
  const name = (start: string) => `${start}-${doors.findIndex(([other]) => other === door)}`
  const agent = () =>
    createAgent<IResolver & ICredentialPlugin>({
      plugins: [
        new DIDResolverPlugin({ resolver: new Resolver(methods()) }),
        new CredentialPlugin([new CredentialProviderJWT()]),
      ],
    })
  const verifies = async (credential: VerifiableCredential) => (await agent().verifyCredential({ credential })).verified

  it('resolves a DID with a name: its controllers, and none of their keys', async () => {
    const own = newKey()
    await send(createNamed(documentOf(name('pair'), [ada, bob], [own]), ada))
    const { didDocument } = await agent().resolveDid({ didUrl: named(name('pair')) })
    const id = `${named(name('pair'))}#own0`
    expect(didDocument).toMatchObject({
      id: named(name('pair')),
      controller: [ada.did, bob.did].sort(),
      verificationMethod: [{ id, controller: named(name('pair')) }],
      authentication: [id],
      assertionMethod: [id],
    })
  })

  it('resolves names of all characters that names have, and of the longest length', async () => {
    const names = [name('x_y.z'), `${name('a')}.`, name('a..b'), name('4'), name('x'.repeat(28))]
    expect(names.at(-1)).toHaveLength(30)
    for (const each of names) {
      await send(createNamed(documentOf(each, [ada], []), ada))
      const { didDocument, didResolutionMetadata } = await agent().resolveDid({ didUrl: named(each) })
      expect([didDocument?.id, didDocument?.controller, didResolutionMetadata.error]).toEqual([
        named(each),
        ada.did,
        undefined,
      ])
    }
  })

  it('verifies what such a DID issues by its own key, and refuses it by the key of a controller', async () => {
    const [own, stranger] = [newKey(), newKey()]
    const did = named(name('shop'))
    await send(createNamed(documentOf(name('shop'), [ada], [own]), ada))
    const credential = await issue(did, own, bob.did)
    expect(credential.issuer).toEqual({ id: did })
    expect(await verifies(credential)).toBe(true)
    expect(await verifies({ ...credential, credentialSubject: { id: bob.did, member: false } })).toBe(false)
    for (const key of [adaKey, bobKey, stranger]) expect(await verifies(await issue(did, key, bob.did))).toBe(false)
    // The controller's key issues in the name of the controller, and of none else.
    expect(await verifies(await issue(ada.did, adaKey, bob.did))).toBe(true)
    expect(await verifies(await issue(ada.did, own, bob.did))).toBe(false)
  })

  it('verifies a credential about such a DID, and its presentation by its own key alone', async () => {
    const own = newKey()
    const did = named(name('seller'))
    await send(createNamed(documentOf(name('seller'), [ada], [own]), ada))
    const credential = await issue(bob.did, bobKey, did)
    expect(credential.credentialSubject.id).toBe(did)
    expect(await verifies(credential)).toBe(true)
    for (const [key, verified] of [
      [own, true],
      [adaKey, false],
    ] as const) {
      const presentation = await present(did, key, credential)
      expect((await agent().verifyPresentation({ presentation })).verified).toBe(verified)
    }
  })

  it('refuses what a key signed once an update has removed it', async () => {
    const [first, second] = [newKey(), newKey()]
    const did = named(name('kiosk'))
    const txid = await send(createNamed(documentOf(name('kiosk'), [ada], [first]), ada))
    const credential = await issue(did, first, bob.did)
    const later = await issue(did, second, bob.did)
    expect([await verifies(credential), await verifies(later)]).toEqual([true, false])
    await send(updateNamed(documentOf(name('kiosk'), [ada], [second]), txid, ada))
    expect([await verifies(credential), await verifies(later)]).toEqual([false, true])
  })

  it('refuses what keys of before signed once the DID was transferred, and all once it is deactivated', async () => {
    const [before, after] = [newKey(), newKey()]
    const did = named(name('club'))
    const txid = await send(createNamed(documentOf(name('club'), [ada], [before]), ada))
    const credential = await issue(did, before, bob.did)
    expect(await verifies(credential)).toBe(true)
    const ticket = ticketOf(name('club'), { to: bob, txid, signers: [ada] })
    await send(transferNamed(documentOf(name('club'), [bob], [after]), ticket, bob))
    const later = await issue(did, after, ada.did)
    expect([await verifies(credential), await verifies(later)]).toEqual([false, true])
    await send(deactivateNamed(name('club'), bob))
    expect([await verifies(credential), await verifies(later)]).toEqual([false, false])
  })

  it('says of a name that is free, of one with capitals and of one that is too long that there is none', async () => {
    for (const [text, error] of [
      [named(name('free')), 'notFound'],
      [named('Shop'), 'invalidDid'],
      [named('x'.repeat(117)), 'invalidDid'],
    ] as const) {
      const { didDocument, didResolutionMetadata } = await agent().resolveDid({ didUrl: text })
      expect([didDocument, errorName(didResolutionMetadata.error)]).toEqual([null, error])
    }
  })
})
