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

  it('is created, updated by others of them, transferred by a ticket, and ended by one', async () => {
    const half = await ada.newCustomizedDidWithController(
      club(),
      [bob.getSubject(), cyd.getSubject()],
      2,
      storePassword,
    )
    const full = await bob.signWithDocument(await received(half), storePassword)
    await (await kept(full, bob)).publish(storePassword)
    const created = await onChain(club())
    expect([created.getControllerCount(), await created.isValid()]).toEqual([3, true])

    const builder = DIDDocument.Builder.newFromDocument(await kept(created, ada)).edit(ada)
    builder.addService('#chat', 'Chat', 'https://club.example')
    const change = await cyd.signWithDocument(await received(await builder.seal(storePassword)), storePassword)
    await (await kept(change, cyd)).publish(storePassword, undefined, true)
    expect((await onChain(club())).getServiceCount()).toBe(1)

    const source = await kept(await onChain(club()), bob)
    const ticket = await source.createTransferTicket(ada.getSubject(), storePassword)
    await cyd.signWithTicket(ticket, storePassword)
    const alone = await ada.newCustomized(club(), storePassword, true)
    await alone.publishWithTicket(
      TransferTicket.parse(ticket.toString(true)) as TransferTicket,
      undefined as never,
      storePassword,
    )
    const moved = await onChain(club())
    expect([moved.getControllerCount(), await moved.isValid()]).toEqual([1, true])
    const biography = await club().resolveBiography()
    expect(biography.getAllTransactions().map((one) => one.getRequest().getOperation().toString())).toEqual([
      'transfer',
      'update',
      'create',
    ])

    await expect(
      alone.publishWithTicket(
        TransferTicket.parse(ticket.toString(true)) as TransferTicket,
        undefined as never,
        storePassword,
      ),
    ).rejects.toThrow('Invalid ticket')

    const back = await (await kept(moved, ada)).createTransferTicket(bob.getSubject(), storePassword)
    const begun = await bob.newCustomizedDidWithController(club(), [cyd.getSubject()], 2, storePassword, true)
    const pair = await kept(await cyd.signWithDocument(await received(begun), storePassword), bob)
    await pair.publishWithTicket(
      TransferTicket.parse(back.toString(true)) as TransferTicket,
      undefined as never,
      storePassword,
    )
    const two = await onChain(club())
    expect([two.getControllerCount(), await two.isValid()]).toEqual([2, true])

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
  expect([await left.isGenuine(), await left.isValid()]).toEqual([true, false])
  await ada.deactivateTargetDID(crew, undefined as never, storePassword)
  expect(await (await onChain(crew)).isDeactivated()).toBe(true)
})
