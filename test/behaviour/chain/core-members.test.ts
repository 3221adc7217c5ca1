import { afterEach, describe, expect, it } from 'vitest'
import { multikeyText } from '../../../src/identity/did/agreement-key.js'
import { documentOf } from '../../../src/clients/wallet/did-identity.js'
import type { W3cDocument } from '../../../src/identity/did/w3c.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { lightIn } from '../../support/builders/light-scene.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'

/** Documents with members of DID Core on a chain that takes them from a height on. */

const from = 3
const spec = { didCore: undefined, upgrades: [{ height: from, name: 'members', parameters: { didCore: true } }] }
const ada = holder()
const members = {
  services: [
    { id: '#didcomm', type: 'DIDCommMessaging', serviceEndpoint: { uri: 'https://a.example', accept: ['didcomm/v2'] } },
    { id: '#site', type: 'LinkedDomains', serviceEndpoint: { origins: ['https://ada.example'] } },
    { id: '#many', type: 'LinkedVerifiablePresentation', serviceEndpoint: ['https://ada.example/1', '/relative'] },
    { id: '#lost', type: 'Mailbox', serviceEndpoint: 'nowhere' },
  ],
  keyAgreement: [
    { fragment: 'enc', publicKeyMultibase: multikeyText({ curve: 'X25519', publicKey: new Uint8Array(32).fill(9) }) },
  ],
  alsoKnownAs: ['https://ada.example/about'],
}

let test: TestChain
afterEach(() => test.close())

const codeFrom = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: { code?: string }) => error.code ?? error,
  )

describe.each([
  ['an endpoint that is no text', { services: members.services }],
  ['a key for encryption', { keyAgreement: members.keyAgreement }],
  ['another name', { alsoKnownAs: members.alsoKnownAs }],
])('a document with %s', (_, changes) => {
  it('is refused by pool and block below that height, and taken from it on', async () => {
    test = await TestChain.open({ ...withoutValidators, ...spec })
    const carried = await test.carry(ada.create(changes), ada.did)
    await test.mine(from - 2)
    expect(await codeFrom(test.send(carried))).toBe('document-core')
    expect(await codeFrom(test.accept(craftBlock(test.chain, { transactions: [carried] })))).toBe('document-core')
    await test.mine()
    expect(await codeFrom(test.send(carried))).toBeUndefined()
    await test.mine()
    expect(test.chain.state.did(ada.did)?.status).toBe('valid')
  })
})

it('is resolved, proved, searched by paths into its endpoints, and shown in the form of the W3C', async () => {
  test = await TestChain.open(oneValidator())
  await test.publish(ada.create(members), ada.did)
  await test.mine(2)
  const server = await serve(contextOf(test))
  const resolved = await askJson(server.port, '/', {
    id: 1,
    method: 'resolvedid',
    params: { did: ada.did, all: false },
  })
  const [{ operation }] = (resolved.body as { result: { transaction: { operation: { payload: string } }[] } }).result
    .transaction as [{ operation: { payload: string } }]
  const document = documentOf(operation.payload)
  expect(document.keyAgreement).toMatchObject([{ id: `${ada.did}#enc`, curve: 'X25519' }])
  expect(document.alsoKnownAs).toEqual(members.alsoKnownAs)

  const found = async (condition: object) => {
    const { body } = await askJson(server.port, '/', {
      id: 1,
      method: 'query',
      params: { query: JSON.stringify(condition) },
    })
    if (!('result' in (body as object))) throw new Error(JSON.stringify([condition, body]))
    return (body as { result: { total: number } }).result.total
  }
  expect(await found({ service: { type: 'DIDCommMessaging', serviceEndpoint: { uri: 'https://a.example' } } })).toBe(1)
  expect(await found({ 'service.serviceEndpoint.origins': 'https://ada.example' })).toBe(1)
  expect(await found({ service: { serviceEndpoint: 'https://ada.example/1' } })).toBe(1)
  expect(await found({ service: { type: 'DIDCommMessaging', serviceEndpoint: { uri: 'https://b.example' } } })).toBe(0)
  expect(await found({ alsoKnownAs: 'https://ada.example/about' })).toBe(1)
  expect(await found({ 'keyAgreement.publicKeyMultibase': { $regex: '^z6LS' } })).toBe(1)

  const { body } = await ask(server.port, `/1.0/identifiers/${ada.did}`)
  const { didDocument } = body as { didDocument: W3cDocument }
  expect(didDocument).toMatchObject({ alsoKnownAs: members.alsoKnownAs, keyAgreement: [{ id: `${ada.did}#enc` }] })
  expect(didDocument.service?.map(({ serviceEndpoint }) => serviceEndpoint)).toEqual([
    { accept: ['didcomm/v2'], uri: 'https://a.example' },
    ['https://ada.example/1'],
    { origins: ['https://ada.example'] },
  ])
  const location = async (query: string) => {
    const headers = { accept: 'text/uri-list' }
    return (await ask(server.port, `/1.0/identifiers/${ada.did}?service=${query}`, { headers })).headers['location']
  }
  expect(await location('didcomm')).toBe('https://a.example')
  expect(await location('many')).toBe('https://ada.example/1')
  expect(await location('site')).toBeUndefined()
  const key = await ask(
    server.port,
    `/1.0/identifiers/${encodeURIComponent(`${ada.did}?verificationRelationship=keyAgreement#enc`)}`,
  )
  expect(key.text).toContain('"publicKeyMultibase"')

  const light = lightIn({ server, book: await bookOf(test) })
  expect(await light.resolve(ada.did)).toMatchObject({ status: 0 })
  await server.close()
})
