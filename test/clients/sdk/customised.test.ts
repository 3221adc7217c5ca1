import {
  DID,
  DIDDocument,
  type DIDDocument as Document,
  Issuer,
  TransferTicket,
  VerifiableCredential,
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

    await ada.deactivateTargetDID(club(), undefined as never, storePassword)
    expect(await (await onChain(club())).isDeactivated()).toBe(true)
  })
})
