import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LightResolver, LightResolveOptions } from '../../../src/clients/light/light-resolver.js'
import { formatDate } from '../../../src/identity/did/date.js'
import { headersName, lastHeadersName } from '../../../src/identity/proofs/mirror-head.js'
import { entriesInLeaf, readLeafFile } from '../../../src/identity/proofs/mirror-leaf.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf } from '../../support/builders/chain-book.js'
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
import { headIn, lightOverMirror, mirrorUrl } from '../../support/builders/mirror-scene.js'
import { mirrorOnce } from '../../support/builders/mirrored.js'
import type { SpecOverrides } from '../../support/builders/spec.js'
import { contextOf, serve } from '../../support/client/api.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'

const kinds: Readonly<Record<string, SpecOverrides>> = {
  'of validators that change': changing,
  'of miners': { validators: [], producer: 'miners' },
}

/** Asks a mirror and then a node as of the same block, whose results have to be equal but for the servers. */
async function compare(mirror: LightResolver, node: LightResolver, did: string, question: LightResolveOptions = {}) {
  const { proved, ...found } = await mirror.resolve(did, question)
  const { proved: other, ...right } = await node.resolve(did, { ...question, height: proved.height })
  expect(found).toEqual(right)
  expect({ hash: proved.hash, history: proved.history }).toEqual({ hash: other.hash, history: other.history })
  expect(proved.servers).toEqual([mirrorUrl])
  return { proved, ...found }
}

describe.each(Object.entries(kinds))('a light resolver over a mirror of a chain %s', (_, overrides) => {
  const [latest, all] = [new MemoryMirror(), new MemoryMirror()]
  const erin = holder()
  let scene: Scene
  let node: LightResolver

  beforeAll(async () => {
    const started = await sceneOf(overrides)
    const { test } = started
    await test.publish(erin.create(), erin.did)
    await test.publish(erin.deactivate(), erin.did)
    await test.mine(minedDepth + 26)
    scene = { ...started, book: await bookOf(test) }
    node = lightIn(scene)
    await mirrorOnce(test, latest)
    await mirrorOnce(test, all, { allVersions: true })
  })
  afterAll(() => closeScene(scene))

  it('answers as the node does: latest, histories, absence, deactivation', async () => {
    for (const store of [latest, all]) {
      const mirror = lightOverMirror(scene, store)
      const dids = [scene.alice.did, scene.dave.did, erin.did, holder().did]
      const statuses = await Promise.all(
        dids.map(async (did) => {
          await compare(mirror, node, did, { history: true })
          return (await compare(mirror, node, did)).status
        }),
      )
      expect(statuses).toEqual([0, 0, 2, 3])
    }
  })

  it('answers with each version by its id, by its time, and with all of them, where they are kept', async () => {
    const mirror = lightOverMirror(scene, all)
    for (const did of [scene.alice.did, erin.did]) {
      const { transaction = [] } = await compare(mirror, node, did, { all: true })
      expect(transaction).toHaveLength(2)
      for (const { txid, timestamp } of transaction) {
        const version = await compare(mirror, node, did, { versionId: txid })
        expect(version.transaction?.[0]?.txid).toBe(txid)
        expect(version.status).toBe(did === erin.did ? 2 : 0)
        await compare(mirror, node, did, { versionTime: timestamp })
      }
      await compare(mirror, node, did, { versionTime: formatDate(0) })
    }
  })

  it('says of a version without a file that it has none', async () => {
    const mirror = lightOverMirror(scene, latest)
    const { transaction = [] } = await lightOverMirror(scene, all).resolve(scene.alice.did, { all: true })
    const [newest, oldest] = transaction
    await compare(mirror, node, scene.alice.did, { versionId: newest?.txid ?? '' })
    await expect(mirror.resolve(scene.alice.did, { versionId: oldest?.txid ?? '' })).rejects.toMatchObject({
      failure: 'proof-missing',
    })
  })

  it('answers about credentials: declared, revoked, revoked by an issuer before it is declared, unknown', async () => {
    const mirror = lightOverMirror(scene, latest)
    const { kept, revoked, foreign, unknown } = scene.ids
    const issuer = scene.dave.did
    const statuses: number[] = []
    for (const [id, options] of [[kept], [revoked], [foreign, { issuer }], [foreign], [unknown]] as const) {
      const { proved, ...found } = await mirror.resolveCredential(id, options)
      const { proved: _, ...right } = await node.resolveCredential(id, options)
      expect(found).toEqual(right)
      expect(proved.servers).toEqual([mirrorUrl])
      statuses.push(found.status)
    }
    expect(statuses).toEqual([0, 2, 2, 3, 3])
  })

  it('agrees with a node, where both have to answer', async () => {
    const nodeUrl = `http://127.0.0.1:${scene.server.port}`
    const files = latest.fetch()
    const light = lightOverMirror(scene, latest, {
      servers: [nodeUrl],
      needed: 2,
      fetch: (url, init) => (url.startsWith(mirrorUrl) ? files(url, init) : fetch(url, init)),
    })
    const { status, proved } = await light.resolve(scene.alice.did)
    expect({ status, servers: proved.servers }).toEqual({ status: 0, servers: [nodeUrl, mirrorUrl] })
    latest.files.delete('head')
    await expect(light.resolve(scene.alice.did)).rejects.toMatchObject({ failure: 'quorum' })
    await mirrorOnce(scene.test, latest)
  })
})

describe('a light resolver over a mirror of a chain of miners', () => {
  const store = new MemoryMirror()
  let scene: Scene

  beforeAll(async () => {
    scene = await sceneOf({ validators: [], producer: 'miners' })
  })
  afterAll(() => closeScene(scene))

  const compareNow = async () =>
    compare(lightOverMirror(scene, store), lightIn({ ...scene, book: await bookOf(scene.test) }), scene.alice.did)

  it('is led by the last headers across files of them', async () => {
    const { test } = scene
    for (let i = 0; i < 34; i++) {
      await test.mine()
      await mirrorOnce(test, store)
      await compareNow()
    }
    expect(test.chain.tip.header.height).toBeGreaterThan(3 * 16)
    expect(headIn(store).headers).toBe(0)
    for (const height of [15, 31, 47]) {
      expect(store.files.has(lastHeadersName(test.activeHeader(height).header.hash))).toBe(true)
    }
  })

  it('is led by whole files of headers, and by the last ones above them', async () => {
    const { test } = scene
    await test.mineEmpty(600)
    await mirrorOnce(test, store)
    expect(headIn(store).headers).toBe(Math.floor((test.chain.tip.header.height + 1 - 288) / 256))
    expect(store.files.has(headersName(0))).toBe(true)
    await compareNow()
  })
})

describe('a DID that changed 300 times', () => {
  const [latest, all] = [new MemoryMirror(), new MemoryMirror()]
  const alice = holder()
  const updates = 300
  let scene: Scene

  beforeAll(async () => {
    const test = await TestChain.open({ validators: keysOf(1) })
    let version = await test.publish(alice.create(), alice.did)
    for (let i = 0; i < updates; i++) {
      version = await test.publish(alice.update(version), alice.did)
      // In steps of its own, so that every file of a version that a later one replaces is deleted.
      if (i % 7 === 0) await mirrorOnce(test, latest, { keepBlocks: 1 })
      if (i % 60 === 0) await mirrorOnce(test, all, { keepBlocks: 1, allVersions: true })
    }
    await test.mine(2)
    for (let i = 0; i < 2; i++) {
      await mirrorOnce(test, latest, { keepBlocks: 1 })
      await mirrorOnce(test, all, { keepBlocks: 1, allVersions: true })
      await test.mine()
    }
    await mirrorOnce(test, latest, { keepBlocks: 1 })
    await mirrorOnce(test, all, { keepBlocks: 1, allVersions: true })
    const server = await serve(contextOf(test))
    scene = { test, server, book: await bookOf(test), alice, dave: alice, ids: {} as Scene['ids'] }
  }, 120_000)
  afterAll(() => closeScene(scene))

  const leavesOf = ({ files }: MemoryMirror) =>
    [...files].filter(([name]) => name.startsWith('leaf/')).map(([, bytes]) => bytes)

  it('has files of bounded size, and of the old ones those alone that lead to older entries', () => {
    const counts = leavesOf(latest).map((bytes) => readLeafFile(bytes)?.count)
    expect(counts.sort((a = 0, b = 0) => a - b)).toEqual([entriesInLeaf, 2 * entriesInLeaf, updates + 1])
    expect(leavesOf(all)).toHaveLength(updates + 1)
    for (const bytes of [...leavesOf(latest), ...leavesOf(all)]) {
      const { transactions = [] } = readLeafFile(bytes) ?? {}
      expect(transactions).toHaveLength(1)
      const documents = transactions.reduce((sum, { length }) => sum + 4 + length, 0)
      expect(bytes.length - documents).toBeLessThanOrEqual(entriesInLeaf * 73 + 1 + 4 + 32 + 32 + 1)
    }
  })

  it('is answered as by the node: latest and history', async () => {
    for (const store of [latest, all]) {
      const mirror = lightOverMirror(scene, store)
      await compare(mirror, lightIn(scene), alice.did)
      const { proved } = await compare(mirror, lightIn(scene), alice.did, { history: true })
      expect(proved.history?.entries).toHaveLength(updates + 1)
    }
  })

  it('is answered as by the node: all versions, and each by its id, on both sides of each file', async () => {
    const mirror = lightOverMirror(scene, all)
    const node = lightIn(scene)
    const { transaction = [] } = await compare(mirror, node, alice.did, { all: true })
    expect(transaction).toHaveLength(updates + 1)
    const oldestFirst = transaction.toReversed()
    for (const number of [1, 2, 127, 128, 129, 130, 255, 256, 257, 300, 301]) {
      const { txid, timestamp } = oldestFirst[number - 1] as (typeof transaction)[number]
      const found = await compare(mirror, node, alice.did, { versionId: txid })
      expect(found.transaction?.[0]?.txid).toBe(txid)
      await compare(mirror, node, alice.did, { versionTime: timestamp })
    }
    expect((await compare(mirror, node, alice.did, { versionId: 'ab'.repeat(32) })).transaction ?? []).toEqual([])
  })
})
