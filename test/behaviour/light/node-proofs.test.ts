import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namedDid } from '../../../src/identity/did/named-did.js'
import type { LightOptions } from '../../../src/clients/light/light-resolver.js'
import { trustOf } from '../../../src/identity/proofs/make-trust.js'
import { credentialMapKey, didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { provedHeights } from '../../../src/ledger/storage/rows/map/map-rows.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf, shorten } from '../../support/builders/chain-book.js'
import { holder } from '../../support/builders/did.js'
import {
  changing,
  closeScene,
  keysOf,
  lightIn,
  minedDepth,
  type Scene,
  sceneOf,
} from '../../support/builders/light-scene.js'
import type { DidAsked, ProofBook } from '../../support/builders/proof-book.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import type { SpecOverrides } from '../../support/builders/spec.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'
import { rounds } from '../../support/process/thorough.js'
import { behind } from '../../support/fakes/standing.js'

const kinds: Readonly<Record<string, SpecOverrides>> = {
  'without validators': { validators: [], producer: 'miners' },
  'with validators': { validators: keysOf(4) },
}

describe.each(Object.entries(kinds))('proofs of a node on a chain %s', (_, overrides) => {
  it.each(Array.from({ length: rounds(1, 10) }, (_, i) => i + 1))(
    'are those that follow from its blocks, at every height: seed %i',
    async (seed) => {
      const roll = random(seed)
      const test = await TestChain.open(overrides)
      const isMined = !test.spec.hasValidators
      const crowd = new Crowd(roll)
      for (let i = 0; i < 12; i++) {
        for (let n = roll(6); n > 0; n--) await crowd.act(test)
        // Confirmed blocks stay.
        if (isMined && roll(4) === 0 && test.chain.tip.header.height > 3) await shorten(test, 1 + roll(3))
        else await test.mine()
        crowd.look(test)
      }
      await test.mine(minedDepth)
      const book = await bookOf(test)
      const rpc = new RpcClient(contextOf(test))
      const tip = book.tip.height
      const usual = isMined ? tip - minedDepth : tip
      for (const did of [...didsOf(book), 'did:ledger:nobody']) {
        expect(await rpc.call('resolvedid', { did, all: false, proof: true })).toEqual(
          book.answer(did, { height: usual }),
        )
        for (let height = 1; height <= tip; height++) {
          const versions = book.history(didMapKey(did), height)
          const asked: DidAsked[] = [
            {},
            { proof: 'history' },
            { all: true },
            ...versions.map(({ txid }) => ({ versionId: Buffer.from(txid).reverse().toString('hex') })),
            { versionTime: '2000-01-01T00:00:00Z' },
          ]
          for (const one of asked) {
            const params = { did, all: false, proof: true, height, ...one }
            expect(await rpc.call('resolvedid', params)).toEqual(book.answer(did, { ...one, height }))
          }
          const { proof } = book.answer(did, { height })
          expect(await rpc.call('did_prove', { did, height })).toEqual(proof)
          expect(await rpc.call('did_prove', { did, depth: tip - height, history: true })).toEqual(
            book.answer(did, { height, proof: 'history' }).proof,
          )
        }
      }
      await test.close()
    },
  )
})

function didsOf(book: ProofBook): Set<string> {
  const found = new Set<string>()
  for (const { payload } of book.transactions.values()) {
    const did = payload.type === 10 ? namedDid(payload.operation) : undefined
    if (did !== undefined) found.add(did)
  }
  return found
}

describe.each(
  Object.entries({ 'without validators': kinds['without validators'], 'whose validators change': changing }),
)('a node on a chain %s', (_, overrides = {}) => {
  let scene: Scene
  let rpc: RpcClient
  let tip: number
  const light = (options: Partial<LightOptions> = {}) => lightIn(scene, options)
  const isMined = () => !scene.test.spec.hasValidators
  const usual = () => (isMined() ? tip - minedDepth : tip)

  beforeAll(async () => {
    scene = await sceneOf(overrides)
    rpc = new RpcClient(contextOf(scene.test))
    tip = scene.book.tip.height
  })
  afterAll(() => closeScene(scene))

  it('proves credentials and that there are none, at every height', async () => {
    const { book, ids, dave } = scene
    for (const id of Object.values(ids)) {
      for (const issuer of [undefined, dave.did]) {
        const asked = issuer === undefined ? { id } : { id, issuer }
        expect(await rpc.call('did_resolveCredential', { ...asked, proof: true })).toEqual(
          book.credential(id, { issuer, height: usual() }),
        )
        for (let height = 1; height <= tip; height++) {
          const right = book.credential(id, { issuer, height })
          expect(await rpc.call('did_resolveCredential', { ...asked, proof: true, height })).toEqual(right)
          expect(await rpc.call('did_proveCredential', { ...asked, height })).toEqual(right.proof)
        }
      }
    }
    expect(book.history(credentialMapKey(ids.revoked, dave.did), tip)).toHaveLength(1)
  })

  it('serves anchors, changes and headers, to light resolvers by GET as by JSON-RPC', async () => {
    const { book, server } = scene
    const get = async (path: string) => (await ask(server.port, `/light/1/${path}`)).body
    for (let height = 1; height <= tip; height++) {
      const right = isMined() ? { height: height + 1, anchor: book.anchor(height, true) } : book.change(height + 1)
      expect(await rpc.call('light_anchor', { height })).toEqual(right)
      expect(await get(`anchor/${height}`)).toEqual(right)
      const changes = book.changes(height)
      expect(await rpc.call('light_changes', { from: height })).toEqual(changes)
      expect(await get(`changes/${height}`)).toEqual(changes)
    }
    expect(await get('trust')).toEqual(trustOf(scene.test.spec))
    expect(await rpc.call('light_trust')).toEqual(await get('trust'))
    expect(await get('anchor')).toEqual(await rpc.call('light_anchor', { height: usual() }))
    expect(await get('changes/0')).toEqual(book.changes(0))
    expect(await get('headers/0/2000')).toEqual(book.headers(0, 2000))
    expect(await rpc.call('light_headers', { from: 2, count: 3 })).toEqual(book.headers(2, 3))
    expect(await get(`headers/${tip + 1}/5`)).toEqual([])
    expect(await get('headers/4294967295/2000')).toEqual([])
  })

  it('answers proofs by GET', async () => {
    const { book, server, alice, ids, dave } = scene
    const get = async (path: string) => (await ask(server.port, `/light/1/${path}`)).body
    expect(await get(`did/${alice.did}`)).toEqual(book.answer(alice.did, { height: usual() }).proof)
    expect(await get(`did/${alice.did}?history&height=5`)).toEqual(
      book.answer(alice.did, { height: 5, proof: 'history' }).proof,
    )
    expect(await get(`did/${encodeURIComponent(alice.did)}?depth=2`)).toEqual(
      book.answer(alice.did, { height: tip - 2 }).proof,
    )
    expect(await get(`credential/${encodeURIComponent(ids.revoked)}?issuer=${dave.did}&height=7`)).toEqual(
      book.credential(ids.revoked, { issuer: dave.did, height: 7 }).proof,
    )
  })

  it('tells caches what holds for ever, and lets pages of any origin read', async () => {
    const { server, alice } = scene
    const headers = { origin: 'https://app.example' }
    const fixed = await ask(server.port, `/light/1/did/${alice.did}?height=5`, { headers })
    expect(fixed.headers['cache-control']).toBe(isMined() ? 'no-cache' : 'public, max-age=31536000, immutable')
    expect(fixed.headers['access-control-allow-origin']).toBe('*')
    const latest = await ask(server.port, `/light/1/did/${alice.did}`)
    expect(latest.headers['cache-control']).toBe('no-cache')
    const refused = await ask(server.port, `/light/1/did/${alice.did}?height=${tip + 1}`)
    expect([refused.status, refused.headers['cache-control']]).toEqual([404, 'no-cache'])
  })

  it.each([
    ['did/x?height=99', 404, -32012],
    ['did/x?height=0', 404, -32012],
    ['did/x?depth=99', 404, -32012],
    ['did/x?depth=1&height=1', 400, -32602],
    ['did/x?height=1.5', 400, -32602],
    ['did/x?height=1&height=1', 400, -32602],
    ['did/x?history=no', 400, -32602],
    ['did/x?proof=true', 400, -32602],
    ['did/x%20y', 400, -32602],
    ['did/%', 400, -32602],
    [`did/${'x'.repeat(300)}`, 400, -32602],
    ['credential/x', 400, -32602],
    ['credential/did:ledger:x%23y?issuer=did:other:x', 400, -32602],
    ['anchor/-1', 400, -32602],
    ['anchor/99', 404, -32012],
    ['anchor/0', 404, -32012],
    ['changes/x', 400, -32602],
    ['changes', 404, -32601],
    ['headers/0/2001', 400, -32602],
    ['headers/0', 404, -32601],
    ['nothing', 404, -32601],
  ])('refuses %s with HTTP %i', async (path, status, code) => {
    const answer = await ask(scene.server.port, `/light/1/${path}`)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ error: { code, data: expect.stringMatching(/\S/) as unknown } })
  })

  it('takes GET and HEAD alone there', async () => {
    const answer = await ask(scene.server.port, '/light/1/anchor', { method: 'POST', body: '{}' })
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD'])
    expect((await ask(scene.server.port, '/light/1/anchor', { method: 'HEAD' })).status).toBe(200)
  })

  it.each([
    [{ depth: 1 }, 'depth, height: only with proof'],
    [{ proof: true, depth: 1, height: 1 }, 'depth, height: at most one'],
    [{ proof: 'all' }, 'proof:'],
    [{ proof: true, height: -1 }, 'height:'],
  ])('refuses %j of resolvedid', async (options, data) => {
    const { code, data: said } = await rpc.refusal('resolvedid', { did: scene.alice.did, all: false, ...options })
    expect([code, said]).toEqual([-32602, expect.stringContaining(data)])
  })

  it.each(['did_resolveDID', 'did_resolveCredential'])(
    'refuses a proof in the shape of other clients: %s',
    async (name) => {
      const asked = { did: scene.alice.did, id: scene.ids.kept }
      expect(await rpc.refusal(name, [{ ...asked, proof: true }])).toMatchObject({
        code: -32602,
        data: expect.stringMatching(/^proof:/) as unknown,
      })
      expect(await rpc.call(name, [asked])).toMatchObject({ status: 0 })
    },
  )

  it('says which blocks it can prove', async () => {
    const params = { did: scene.alice.did, all: false, proof: true, height: 99 }
    const { code, data } = await rpc.refusal('resolvedid', params)
    expect([code, data]).toEqual([-32012, `this node proves blocks 1 to ${tip}, not the one of height 99`])
  })

  it('answers with a context as of the same block', async () => {
    const { alice } = scene
    const params = { did: alice.did, all: false, proof: true, height: 2, context: true }
    const { context } = await rpc.call<{ context: Record<string, unknown> }>('resolvedid', params)
    expect(context).toMatchObject({ height: 2, count: 1, at: [{ height: 1, confirmations: 2 }] })
    expect(context).not.toHaveProperty('next')
  })

  it('convinces a light resolver over real sockets', async () => {
    const { alice, dave, ids, book } = scene
    const resolver = light()
    const found = await resolver.resolve(alice.did)
    expect(found).toMatchObject({ status: 0, proved: { height: usual(), hash: book.page(usual()).block.header.id } })
    expect((await resolver.resolve(alice.did, { all: true })).transaction).toHaveLength(2)
    const [, create] = (await resolver.resolve(alice.did, { all: true })).transaction ?? []
    const first = await resolver.resolve(alice.did, { versionId: create?.txid ?? '' })
    expect(first.transaction).toEqual([create])
    expect(await resolver.resolve(holder().did)).toMatchObject({ status: 3 })
    expect(await resolver.resolveCredential(ids.kept)).toMatchObject({ status: 0 })
    expect(await resolver.resolveCredential(ids.revoked)).toMatchObject({ status: 2 })
    expect(await resolver.resolveCredential(ids.foreign)).toMatchObject({ status: 3 })
    expect(await resolver.resolveCredential(ids.foreign, { issuer: dave.did })).toMatchObject({ status: 2 })
    expect(await resolver.resolveCredential(ids.unknown)).toMatchObject({ status: 3 })
  })

  it('lets one begin at a checkpoint', async () => {
    const { alice, book } = scene
    for (const height of [1, 3, 7, usual()]) {
      const resolver = light({ checkpoint: book.checkpoint(height) })
      expect(await resolver.resolve(alice.did)).toMatchObject({ status: 0 })
    }
  })
})

describe('a node', () => {
  it('that catches up proves nothing', async () => {
    const test = await TestChain.open()
    await test.mine()
    const rpc = new RpcClient(contextOf(test, { standing: () => behind(1, 9) }))
    const asked: [string, object][] = [
      ['resolvedid', { did: 'x', all: false, proof: true }],
      ['did_prove', { did: 'x' }],
      ['did_proveCredential', { id: 'did:ledger:x#y' }],
      ['light_anchor', {}],
      ['light_changes', { from: 0 }],
      ['light_headers', { from: 0, count: 1 }],
    ]
    for (const [method, params] of asked) expect((await rpc.refusal(method, params)).code).toBe(-32001)
    await test.close()
  })

  it('on a chain without commitments says so', async () => {
    const test = await TestChain.open({ didRoot: undefined })
    await test.mine()
    const rpc = new RpcClient(contextOf(test))
    const { code, data } = await rpc.refusal('did_prove', { did: 'x' })
    expect([code, data]).toEqual([-32012, expect.stringContaining('none ever will')])
    expect((await rpc.refusal('light_trust')).code).toBe(-32012)
    expect((await rpc.refusal('light_changes', { from: 0 })).code).toBe(-32012)
    await test.close()
  })

  it('on a chain whose blocks commit from a height on proves from there', async () => {
    const parameters = { didRoot: true }
    const test = await TestChain.open({ didRoot: undefined, upgrades: [{ height: 3, name: 'map', parameters }] })
    const ada = holder()
    await test.publish(ada.create(), ada.did)
    await test.mine()
    const rpc = new RpcClient(contextOf(test))
    expect((await rpc.refusal('did_prove', { did: ada.did })).data).toContain('blocks from 3 on do, the tip is at 2')
    await test.mine(2)
    const book = await bookOf(test)
    for (const height of [3, 4]) {
      expect(await rpc.call('did_prove', { did: ada.did, height })).toEqual(book.answer(ada.did, { height }).proof)
    }
    expect((await rpc.refusal('did_prove', { did: ada.did, height: 2 })).data).toContain('blocks 3 to 4')
    await test.close()
  })
})

describe('the states that a node proves', () => {
  it('are those of the tip and 288 blocks below, also when one is dropped in the midst', async () => {
    const test = await TestChain.open({ validators: keysOf(1) })
    const ada = holder()
    await test.publish(ada.create(), ada.did)
    await test.mine(provedHeights)
    const rpc = new RpcClient(contextOf(test))
    const lowest = test.chain.tip.header.height - provedHeights
    const book = await bookOf(test)
    expect(lowest).toBe(1)
    expect(await rpc.call('did_prove', { did: ada.did, height: lowest })).toEqual(
      book.answer(ada.did, { height: lowest }).proof,
    )
    await test.mine()
    expect(await rpc.refusal('did_prove', { did: ada.did, height: lowest })).toMatchObject({ code: -32012 })
    // The block was chosen before the last one came.
    const { hash } = test.activeHeader(lowest).header
    const chosen = { height: lowest, hash }
    await expect(test.prover.didMap(chosen, { did: ada.did, key: undefined, from: 0 })).rejects.toMatchObject({
      code: 'proof-unavailable',
    })
    await expect(test.prover.credentialMap(chosen, { id: `${ada.did}#x`, signer: ada.did })).rejects.toMatchObject({
      code: 'proof-unavailable',
    })
    await test.close()
  })
})

describe('a devnet', () => {
  it('lets no cache keep a block, which it may replace', async () => {
    const test = await TestChain.open({ validators: keysOf(1), devnet: true })
    await test.mine(2)
    const server = await serve(contextOf(test))
    const { headers } = await ask(server.port, '/light/1/anchor/1')
    expect(headers['cache-control']).toBe('no-cache')
    await server.close()
    await test.close()
  })
})
