import {
  DID,
  DIDDocument,
  type DIDDocument as Document,
  DIDURL,
  HDKey,
  Issuer,
  Mnemonic,
  TransferTicket,
  VerifiableCredential,
  VerifiablePresentation,
} from '@elastosfoundation/did-js-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Sdk, storePassword } from './sdk.js'

/** Customised DIDs as the SDK makes them: DIDs with a name, and controllers. */

let sdk: Sdk
let ada: Document
let bob: Document
let cyd: Document
beforeAll(async () => {
  sdk = await Sdk.start()
  ada = await sdk.published()
  bob = await sdk.published()
  cyd = await sdk.published()
})
afterAll(() => sdk.stop())

const onChain = (did: DID) => did.resolve(true)
/** A document as another controller gets it. */
const received = (document: Document) => DIDDocument.parseAsync(document.toString(true))
async function kept(document: Document, by: Document): Promise<Document> {
  await sdk.store.storeDid(document)
  const loaded = await sdk.store.loadDid(document.getSubject())
  loaded.setEffectiveController(by.getSubject())
  return loaded
}

describe('a customised DID of one controller', () => {
  const shop = () => DID.from('did:ledger:shop') as DID

  it('is created, updated, and issues credentials', async () => {
    const document = await ada.newCustomized(shop(), storePassword)
    await document.publish(storePassword)
    const resolved = await onChain(shop())
    expect(await resolved.isValid()).toBe(true)
    expect(resolved.toString(true)).toBe(document.toString(true))

    const builder = DIDDocument.Builder.newFromDocument(await sdk.store.loadDid(shop())).edit()
    builder.addService('#home', 'LinkedDomains', 'https://shop.example')
    await (await sdk.sealed(builder)).publish(storePassword)
    const changed = await onChain(shop())
    expect([changed.getServiceCount(), await changed.isValid()]).toEqual([1, true])

    const issued = (await Issuer.newWithDocument(await sdk.store.loadDid(shop()))).issueFor(bob.getSubject())
    issued.id('#member').type('MemberCredential').properties({ level: 1 })
    const credential = await issued.seal(storePassword)
    await sdk.store.storeCredential(credential)
    await credential.declare(bob.getDefaultPublicKeyId(), storePassword)
    expect(await credential.wasDeclared()).toBe(true)
    expect(await credential.isValid()).toBe(true)
    const found = await VerifiableCredential.resolve(credential.getId(), shop(), true)
    expect(found.toString(true)).toBe(credential.toString(true))
  })

  it('is not taken twice, nor with a name of other characters', async () => {
    const again = await bob.newCustomized(DID.from('did:ledger:stall') as DID, storePassword)
    await again.publish(storePassword)
    const loud = await bob.newCustomized(DID.from('did:ledger:Loud') as DID, storePassword)
    await expect(loud.publish(storePassword)).rejects.toThrow(/did:ledger:Loud|not a valid/)
  })
})

describe('a customised DID of two of three', () => {
  const club = () => DID.from('did:ledger:club') as DID
  /** Publishes a document by a ticket as another person gets it. */
  const publishWith = (ticket: TransferTicket, document: Document) =>
    document.publishWithTicket(
      TransferTicket.parse(ticket.toString(true)) as TransferTicket,
      undefined as never,
      storePassword,
    )
  const standing = async () => {
    const document = await onChain(club())
    return [document.getControllerCount(), document.getServiceCount(), await document.isValid()]
  }

  it('is created by two of them, and not by one', async () => {
    const others = [bob.getSubject(), cyd.getSubject()]
    const half = await ada.newCustomizedDidWithController(club(), others, 2, storePassword)
    await expect((await kept(half, ada)).publish(storePassword)).rejects.toThrow("isn't genuine")
    const full = await bob.signWithDocument(await received(half), storePassword)
    await (await kept(full, bob)).publish(storePassword)
    expect(await standing()).toEqual([3, 0, true])
  })

  it('is updated by two others', async () => {
    const builder = DIDDocument.Builder.newFromDocument(await kept(await onChain(club()), ada)).edit(ada)
    builder.addService('#chat', 'Chat', 'https://club.example')
    const change = await cyd.signWithDocument(await received(await builder.seal(storePassword)), storePassword)
    await (await kept(change, cyd)).publish(storePassword, undefined, true)
    expect(await standing()).toEqual([3, 1, true])
  })

  it('is transferred to one by a ticket that two of them signed, once', async () => {
    const source = await kept(await onChain(club()), bob)
    const ticket = await source.createTransferTicket(ada.getSubject(), storePassword)
    const alone = await ada.newCustomized(club(), storePassword, true)
    await expect(publishWith(ticket, alone)).rejects.toThrow('Invalid ticket')
    await cyd.signWithTicket(ticket, storePassword)
    await publishWith(ticket, alone)
    expect(await standing()).toEqual([1, 0, true])
    await expect(publishWith(ticket, alone)).rejects.toThrow('Invalid ticket')
  })

  it('is transferred on to two, both of whom have to sign', async () => {
    const source = await kept(await onChain(club()), ada)
    const ticket = await source.createTransferTicket(bob.getSubject(), storePassword)
    const half = await bob.newCustomizedDidWithController(club(), [cyd.getSubject()], 2, storePassword, true)
    // The SDK lets this one out.
    await expect(publishWith(ticket, await kept(half, bob))).rejects.toThrow('45009')
    const pair = await cyd.signWithDocument(await received(half), storePassword)
    await publishWith(ticket, await kept(pair, bob))
    expect(await standing()).toEqual([2, 0, true])
  })

  it('has a biography, and is ended by one', async () => {
    const biography = await club().resolveBiography()
    const operations = biography.getAllTransactions().map((one) => one.getRequest().getOperation().toString())
    expect(operations).toEqual(['transfer', 'transfer', 'update', 'create'])
    await cyd.deactivateTargetDID(club(), undefined as never, storePassword)
    expect(await (await onChain(club())).isDeactivated()).toBe(true)
  })
})

describe('a customised DID with a key of its own', () => {
  const stand = () => DID.from('did:ledger:stand') as DID
  const own = () => DIDURL.from('#own', stand()) as DIDURL
  let credential: VerifiableCredential

  it('is updated by that key', async () => {
    await (await ada.newCustomized(stand(), storePassword)).publish(storePassword)
    const key = HDKey.newWithMnemonic(Mnemonic.getInstance().generate(), '')
    await sdk.store.storePrivateKey(own(), key.serialize(), storePassword)
    const first = DIDDocument.Builder.newFromDocument(await sdk.store.loadDid(stand())).edit()
    first.addAuthenticationKey(own(), key.getPublicKeyBase58())
    await (await sdk.sealed(first)).publish(storePassword)

    const second = DIDDocument.Builder.newFromDocument(await sdk.store.loadDid(stand())).edit()
    second.addService('#help', 'Help', 'https://help.example')
    await (await sdk.sealed(second)).publish(storePassword, own())
    const changed = await onChain(stand())
    expect([changed.getServiceCount(), await changed.isValid()]).toEqual([1, true])
  })

  const issued = async (id: string, subject: DID) => {
    const issuer = await Issuer.newWithDocument(await sdk.store.loadDid(stand()), own())
    const made = await issuer
      .issueFor(subject)
      .id(id)
      .type('MemberCredential')
      .properties({ level: 1 })
      .seal(storePassword)
    await sdk.store.storeCredential(made)
    return made
  }

  it('issues a credential and revokes it, which a controller does not in its name', async () => {
    credential = await issued('#card', bob.getSubject())
    await credential.declare(bob.getDefaultPublicKeyId(), storePassword)
    expect([await credential.wasDeclared(), await credential.isValid()]).toEqual([true, true])
    const document = await sdk.store.loadDid(stand())
    await expect(
      VerifiableCredential.revoke(credential.getId(), document, ada.getDefaultPublicKeyId(), storePassword),
    ).rejects.toThrow('neither holder nor issuer')
    expect(await credential.isRevoked()).toBe(false)
    await VerifiableCredential.revoke(credential.getId(), document, own(), storePassword)
    expect([await credential.isRevoked(), await credential.isValid()]).toEqual([true, false])
  })

  it('has a revoke by a controller taken before a declare, as one of the controller, which counts for nothing', async () => {
    const badge = await issued('#badge', bob.getSubject())
    const document = await sdk.store.loadDid(stand())
    await VerifiableCredential.revoke(badge.getId(), document, ada.getDefaultPublicKeyId(), storePassword)
    const pool = await sdk.node.client.resolveCredential(badge.getId().toString(), ada.getSubject().toString())
    // Its bytes name the controller, and nothing of the DID in whose name it was meant.
    const [revoke] = pool.transaction ?? []
    expect(revoke?.operation).toMatchObject({
      header: { operation: 'revoke' },
      payload: badge.getId().toString(),
      proof: { verificationMethod: ada.getDefaultPublicKeyId().toString() },
    })
    expect(Object.keys(revoke?.operation.header ?? {})).toEqual(['specification', 'operation'])
    expect([await badge.isRevoked(), await badge.isValid()]).toEqual([false, true])
    await badge.declare(bob.getDefaultPublicKeyId(), storePassword)
    expect([await badge.wasDeclared(), await badge.isRevoked()]).toEqual([true, false])
  })

  it('declares, lists and presents a credential about itself', async () => {
    const licence = await issued('#licence', stand())
    await licence.declare(own(), storePassword)
    expect((await VerifiableCredential.list(stand())).map((id) => id.toString())).toEqual([`${stand()}#licence`])
    const builder = await VerifiablePresentation.createFor(stand(), own(), sdk.store)
    const made = await builder.credentials(licence).realm('https://market.example').nonce('1').seal(storePassword)
    expect(await VerifiablePresentation.parse(made.toString(true)).isValid()).toBe(true)
  })
})

it('a customised DID of a controller who has ended their DID is genuine, not valid, and ended by another', async () => {
  const crew = DID.from('did:ledger:crew') as DID
  const dan = await sdk.published()
  const document = await ada.newCustomizedDidWithController(crew, [dan.getSubject()], 1, storePassword)
  await (await kept(document, ada)).publish(storePassword)
  expect(await (await onChain(crew)).isValid()).toBe(true)
  await dan.deactivate(undefined as never, storePassword)
  await dan.getSubject().resolve(true)
  const left = await onChain(crew)
  expect([left.isGenuine(), await left.isValid()]).toEqual([true, false])
  await ada.deactivateTargetDID(crew, undefined as never, storePassword)
  expect(await (await onChain(crew)).isDeactivated()).toBe(true)
})
