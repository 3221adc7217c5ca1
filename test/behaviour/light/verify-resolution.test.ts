import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyResolution } from '../../../src/node/library/verify-resolution.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { type Holder, holder } from '../../support/builders/did.js'
import { changing, closeScene, lightIn, type Scene, sceneOf } from '../../support/builders/light-scene.js'
import { failureOf } from '../../support/builders/light-world.js'
import { ask } from '../../support/client/api.js'
import type { Json } from '../../support/fakes/light-server.js'

let scene: Scene
let gone: Holder
let versions: string[]
beforeAll(async () => {
  scene = await sceneOf(changing)
  gone = holder()
  await scene.test.publish(gone.create(), gone.did)
  await scene.test.publish(gone.deactivate(), gone.did)
  scene = { ...scene, book: await bookOf(scene.test) }
  versions = scene.book.answer(scene.alice.did, { all: true }).transaction?.map(({ txid }) => txid) ?? []
})
afterAll(() => closeScene(scene))

async function resolve(did: string, query = 'proof=true'): Promise<{ status: number; body: Json }> {
  const { status, body } = await ask(scene.server.port, `/1.0/identifiers/${did}?${query}`)
  return { status, body: body as Json }
}

describe('a result of DID Resolution with a proof', () => {
  it('is believed where it is the proved one', async () => {
    const { alice } = scene
    const light = lightIn(scene)
    const { status, body } = await resolve(alice.did)
    expect(status).toBe(200)
    expect(body.didResolutionMetadata.height).toBe(scene.test.chain.tip.header.height)
    expect(body.didDocumentMetadata.proof).toMatchObject([{ type: 'DidLedgerStateProof', answer: { did: alice.did } }])
    expect(body.didDocumentMetadata.proof[0].answer).not.toHaveProperty('context')
    expect(await verifyResolution(light, alice.did, body)).toMatchObject({ status: 0, did: alice.did })
    const whole = await resolve(alice.did, 'proof=history&transformKeys=JsonWebKey')
    expect(await verifyResolution(light, alice.did, whole.body, { transformKeys: 'JsonWebKey' })).toMatchObject({
      status: 0,
    })
  })

  it('is believed of a version, of a deactivation, and of what does not exist', async () => {
    const { alice } = scene
    const light = lightIn(scene)
    const [, versionId = ''] = versions
    const first = await resolve(alice.did, `proof=true&versionId=${versionId}`)
    expect(await verifyResolution(light, alice.did, first.body, { versionId })).toMatchObject({
      transaction: [{ txid: versionId }],
      proved: { statusUnproved: true },
    })
    const ended = await resolve(gone.did)
    expect(ended.status).toBe(410)
    expect(await verifyResolution(light, gone.did, ended.body)).toMatchObject({ status: 2 })
    const { did } = holder()
    const absent = await resolve(did)
    expect([absent.status, absent.body.didResolutionMetadata.error.title]).toEqual([404, expect.any(String)])
    expect(await verifyResolution(light, did, absent.body)).toMatchObject({ status: 3 })
    const versionTime = '2000-01-01T00:00:00Z'
    const early = await resolve(alice.did, `proof=true&versionTime=${versionTime}`)
    expect(early.status).toBe(404)
    expect(await verifyResolution(light, alice.did, early.body, { versionTime })).toMatchObject({ transaction: [] })
  })

  const lies: Readonly<Record<string, [string, (body: Json) => void]>> = {
    'another document': ['answer-document', (body) => (body.didDocument.authentication = [])],
    'no document': ['answer-document', (body) => (body.didDocument = null)],
    'a service more': ['answer-document', (body) => (body.didDocument.service = [{ id: 'x', type: 'y' }])],
    'a deactivation': ['answer-document', (body) => (body.didDocumentMetadata.deactivated = true)],
    'another version': ['answer-document', (body) => (body.didDocumentMetadata.versionId = '00'.repeat(32))],
    'another expiry': ['answer-document', (body) => (body.didDocumentMetadata.expires = '2099-01-01T00:00:00Z')],
    'no proof': ['proof-missing', (body) => delete body.didDocumentMetadata.proof],
    'an empty proof': ['proof-missing', (body) => (body.didDocumentMetadata.proof = [])],
    'no answer in its proof': ['proof-missing', (body) => delete body.didDocumentMetadata.proof[0].answer],
    'an answer without proof': ['proof-missing', (body) => delete body.didDocumentMetadata.proof[0].answer.proof],
    'an answer about another': ['answer-did', (body) => (body.didDocumentMetadata.proof[0].answer.did = gone.did)],
    'an answer of another state': ['answer-status', (body) => (body.didDocumentMetadata.proof[0].answer.status = 2)],
  }
  it.each(Object.entries(lies))('is refused with %s', async (_, [failure, change]) => {
    const { body } = await resolve(scene.alice.did)
    change(body)
    expect(await failureOf(verifyResolution(lightIn(scene), scene.alice.did, body))).toBe(failure)
  })

  it('is refused where a DID is said not to exist without proof', async () => {
    const { body } = await resolve(holder().did, '')
    expect(await failureOf(verifyResolution(lightIn(scene), scene.alice.did, body))).toBe('proof-missing')
    for (const other of [undefined, null, 'x', []]) {
      expect(await failureOf(verifyResolution(lightIn(scene), scene.alice.did, other))).toBe('proof-missing')
    }
  })

  it('is refused where the version asked for is another', async () => {
    const { body } = await resolve(scene.alice.did)
    const asked = { versionId: versions[1] ?? '' }
    expect(await failureOf(verifyResolution(lightIn(scene), scene.alice.did, body, asked))).toBe('answer-version')
  })
})

describe('the option proof', () => {
  it.each(['proof=false', 'proof=', 'proof=true&proof=true'])('%s is refused', async (query) => {
    expect((await resolve(scene.alice.did, query)).status).toBe(400)
  })

  it('works in the body of a POST', async () => {
    const { body } = await ask(scene.server.port, `/1.0/identifiers/${scene.alice.did}`, {
      method: 'POST',
      headers: { 'content-type': 'application/did-resolution' },
      body: JSON.stringify({ proof: true }),
    })
    expect(await verifyResolution(lightIn(scene), scene.alice.did, body)).toMatchObject({ status: 0 })
  })

  it('leaves a document alone as it is', async () => {
    const headers = { accept: 'application/did' }
    const { body } = await ask(scene.server.port, `/1.0/identifiers/${scene.alice.did}?proof=true`, { headers })
    expect(body).not.toHaveProperty('proof')
  })
})
