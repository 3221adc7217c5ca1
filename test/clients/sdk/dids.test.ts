import { DIDBiographyStatus, DIDDocument, DIDURL, HDKey, type DID } from '@elastosfoundation/did-js-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { multikeyText } from '../../../src/identity/did/agreement-key.js'
import { payloadText } from '../../support/builders/payload-text.js'
import { holder } from '../../support/builders/did.js'
import { Sdk, storePassword } from './sdk.js'

let sdk: Sdk
beforeAll(async () => {
  sdk = await Sdk.start()
})
afterAll(() => sdk.stop())

/** Asks the node, not the cache of the SDK. */
const onChain = (did: DID) => did.resolve(true)

/** A document with one more authentication key, whose private key lies in the store; not published. */
async function withSecondKey(document: DIDDocument): Promise<{ changed: DIDDocument; id: DIDURL }> {
  const id = DIDURL.from('#second', document.getSubject()) as DIDURL
  const key = HDKey.newWithMnemonic('legal winner thank year wave sausage worth useful legal winner thank yellow', '')
  const derived = key.deriveWithPath(HDKey.DERIVE_PATH_PREFIX + '0')
  await sdk.store.storePrivateKey(id, derived.serialize(), storePassword)
  const builder = DIDDocument.Builder.newFromDocument(document)
  builder.addAuthenticationKey(id, derived.getPublicKeyBase58())
  return { changed: await sdk.sealed(builder), id }
}

describe('a document with members of DID Core', () => {
  const ada = holder()

  it('is none where an endpoint is no text', async () => {
    for (const serviceEndpoint of [{ uri: 'https://example.org' }, ['https://example.org']]) {
      const text = payloadText(ada.document({ services: [{ id: '#s', type: 'T', serviceEndpoint }] }))
      await expect(DIDDocument.parseAsync(text)).rejects.toThrow('Invalid service')
    }
  })

  it('is read without keys for encryption and other names, and called not genuine', async () => {
    const publicKeyMultibase = multikeyText({ curve: 'X25519', publicKey: new Uint8Array(32).fill(9) })
    const changes = [
      { keyAgreement: [{ fragment: 'enc', publicKeyMultibase }] },
      { alsoKnownAs: ['https://example.org'] },
    ]
    expect((await DIDDocument.parseAsync(payloadText(ada.document()))).isGenuine()).toBe(true)
    for (const change of changes) {
      const read = await DIDDocument.parseAsync(payloadText(ada.document(change)))
      expect(read.toString(true)).not.toMatch(/keyAgreement|alsoKnownAs/)
      expect(read.isGenuine()).toBe(false)
    }
  })
})

describe('a DID', () => {
  it('is created and resolved', async () => {
    const document = await sdk.published()
    const resolved = await onChain(document.getSubject())
    expect(resolved.toString(true)).toBe(document.toString(true))
    expect(await resolved.isValid()).toBe(true)
  })

  it('that does not exist is null', async () => {
    const draft = await sdk.identity.newDid(storePassword)
    expect(await onChain(draft.getSubject())).toBeNull()
  })

  it('is updated by each of two keys, and has a biography', async () => {
    const document = await sdk.published()
    const did = document.getSubject()
    const { changed, id } = await withSecondKey(document)
    await changed.publish(storePassword)
    const builder = DIDDocument.Builder.newFromDocument(await sdk.store.loadDid(did))
    builder.addService('#home', 'LinkedDomains', 'https://example.org')
    await (await sdk.sealed(builder)).publish(storePassword, id)

    const resolved = await onChain(did)
    expect(resolved.getServiceCount()).toBe(1)
    expect(resolved.isAuthenticationKey(id)).toBe(true)
    const biography = await did.resolveBiography()
    expect(biography.getStatus()).toBe(DIDBiographyStatus.VALID)
    const requests = biography.getAllTransactions().map((entry) => entry.getRequest())
    expect(requests.map((request) => request.getOperation().toString())).toEqual(['update', 'update', 'create'])
    expect(requests[0]?.getProof().getVerificationMethod().toString()).toBe(id.toString())
  })

  it('is not updated on top of anything but its last operation', async () => {
    const document = await sdk.published()
    const did = document.getSubject()
    const builder = DIDDocument.Builder.newFromDocument(document)
    builder.addService('#home', 'LinkedDomains', 'https://example.org')
    const changed = await sdk.sealed(builder)
    await changed.publish(storePassword)
    const old = { previousTxid: (await did.resolveBiography()).getTransaction(1).getTransactionId() }
    const second = DIDDocument.Builder.newFromDocument(await sdk.store.loadDid(did))
    second.removeService('#home')
    const refused = sdk.updateOnTopOf(await sdk.sealed(second), old.previousTxid)
    await expect(refused).rejects.toThrow('the last operation of')
    expect((await onChain(did)).getServiceCount()).toBe(1)
  })

  it('is deactivated by its owner', async () => {
    const document = await sdk.published()
    const did = document.getSubject()
    await document.deactivate(document.getDefaultPublicKeyId(), storePassword)
    const resolved = await onChain(did)
    expect(await resolved.isDeactivated()).toBe(true)
    expect((await did.resolveBiography()).getStatus()).toBe(DIDBiographyStatus.DEACTIVATED)
  })

  it('is deactivated by the DID that it authorises', async () => {
    const document = await sdk.published()
    const delegate = await sdk.published()
    const id = DIDURL.from('#recovery', document.getSubject()) as DIDURL
    const builder = DIDDocument.Builder.newFromDocument(document)
    await builder.authorizeDid(id, delegate.getSubject(), delegate.getDefaultPublicKeyId())
    await (await sdk.sealed(builder)).publish(storePassword)
    const did = document.getSubject()
    await delegate.deactivateTargetDID(did, delegate.getDefaultPublicKeyId(), storePassword)
    expect(await (await onChain(did)).isDeactivated()).toBe(true)
    expect(await (await onChain(delegate.getSubject())).isDeactivated()).toBe(false)
  })
})

describe('a store', () => {
  it('gets every DID of a mnemonic back from the chain', async () => {
    const dids = [(await sdk.published()).getSubject().toString(), (await sdk.published()).getSubject().toString()]
    const { store, identity } = await sdk.emptyStore()
    await identity.synchronize()
    const found = (await store.listDids()).map((did) => did.toString())
    expect(found).toEqual(expect.arrayContaining(dids))
    for (const did of dids) {
      expect((await store.loadDid(did)).toString(true)).toBe((await sdk.store.loadDid(did)).toString(true))
    }
  })

  it('gets the changes of its DIDs', async () => {
    const document = await sdk.published()
    const { store, identity } = await sdk.emptyStore()
    await identity.synchronize()
    const builder = DIDDocument.Builder.newFromDocument(document)
    builder.addService('#home', 'LinkedDomains', 'https://example.org')
    await (await sdk.sealed(builder)).publish(storePassword)
    await store.synchronize()
    expect((await store.loadDid(document.getSubject())).getServiceCount()).toBe(1)
  })
})
