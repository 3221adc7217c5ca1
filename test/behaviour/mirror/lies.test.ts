import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fetch } from '../../../src/clients/light/ask-server.js'
import { LightError } from '../../../src/clients/light/light-error.js'
import type { LightOptions, LightResolver } from '../../../src/clients/light/light-resolver.js'
import type { LightCredential, LightResult } from '../../../src/clients/light/proved-answer.js'
import { fromUtf8, joined, parseDisplayHash } from '../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { emptyHistory } from '../../../src/identity/proofs/history.js'
import { credentialMapKey, didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { lastHeadersName } from '../../../src/identity/proofs/mirror-head.js'
import { headersFile } from '../../../src/identity/proofs/mirror-headers.js'
import { readLeafFile } from '../../../src/identity/proofs/mirror-leaf.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { changing, closeScene, type Scene, sceneOf } from '../../support/builders/light-scene.js'
import {
  headIn,
  lightOverMirror,
  mirrorUrl,
  mirrorWith,
  withDeepTree,
  withHead,
  withLongHistory,
  withOwnLeaf,
} from '../../support/builders/mirror-scene.js'
import { mirrorOnce } from '../../support/builders/mirrored.js'
import { random } from '../../support/builders/random-chain.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'
import { withPassingTime } from '../../support/fakes/passing-time.js'
import { oneIn } from '../../support/process/thorough.js'

/** Mirrors that lie in each of their files: a named failure, never another answer, and none that holds a reader up. */

const honestUrl = 'http://honest'
/** The timer of the platform, which passes while a test holds the others. */
const { setTimeout: wait } = globalThis

interface World {
  readonly scene: Scene
  readonly store: MemoryMirror
  /** The mirror as of an older block. */
  readonly old: MemoryMirror
}

async function worldOf(scene: Scene): Promise<World> {
  const { test, dave } = scene
  const [old, store] = [new MemoryMirror(), new MemoryMirror()]
  await mirrorOnce(test, old)
  await test.publish(dave.update(await lastOf(scene)), dave.did)
  await test.mineEmpty(1030)
  await mirrorOnce(test, store, { allVersions: true })
  return { scene: { ...scene, book: await bookOf(test) }, store, old }
}

async function lastOf({ book, dave }: Scene): Promise<string> {
  return book
    .history(didMapKey(dave.did), book.tip.height)
    .map(({ txid }) => Buffer.from(txid).reverse().toString('hex'))
    .at(-1) as string
}

/** The failure of a question; another error than one of a light resolver is a fault. */
async function failureAt(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(LightError)
  return (error as LightError).failure
}

const ask =
  ({ alice }: Scene) =>
  (light: LightResolver) =>
    light.resolve(alice.did)
const askCredential =
  ({ ids }: Scene) =>
  (light: LightResolver) =>
    light.resolveCredential(ids.kept)

/** A mirror that answers one file by itself, beside the files that it has. */
function answering(store: MemoryMirror, isOwn: (name: string) => boolean, own: Fetch): Fetch {
  const files = store.fetch()
  return (url, init) => (isOwn(url.slice(mirrorUrl.length + 1)) ? own(url, init) : files(url, init))
}

/** The options with which a liar and an honest mirror are asked. */
function besideHonest(store: MemoryMirror, liar: Fetch): Partial<LightOptions> {
  const honest = store.fetch(`${honestUrl}/`)
  return {
    mirrors: [mirrorUrl, honestUrl],
    fetch: (url, init) => (url.startsWith(honestUrl) ? honest(url, init) : liar(url, init)),
  }
}

/** How a liar is asked, and by which servers the answer may be given that an honest mirror is asked for beside it. */
interface Asking {
  readonly question?: (light: LightResolver) => Promise<LightResult | LightCredential>
  readonly options?: Partial<LightOptions>
  readonly answering?: readonly (readonly string[])[]
}

/** Holds that a liar is refused, and that beside an honest mirror the answer is that of the honest one. */
async function refuses(
  { scene, store }: World,
  liar: Fetch,
  { question = ask(scene), options = {}, answering: possible = [[honestUrl]] }: Asking = {},
): Promise<string> {
  const failure = await failureAt(question(lightOverMirror(scene, store, { ...options, fetch: liar })))
  const { proved, ...found } = await question(
    lightOverMirror(scene, store, { ...options, ...besideHonest(store, liar) }),
  )
  const { proved: _, ...right } = await question(lightOverMirror(scene, store, options))
  expect(found).toEqual(right)
  expect(possible).toContainEqual(proved.servers)
  return failure
}

let validators: World
let miners: World

beforeAll(async () => {
  validators = await worldOf(await sceneOf(changing))
  miners = await worldOf(await sceneOf({ validators: [], producer: 'miners' }))
}, 120_000)
afterAll(() => Promise.all([closeScene(validators.scene), closeScene(miners.scene)]))

/** The files that a question reads. */
async function namesRead({ scene, store }: World, options: Partial<LightOptions> = {}): Promise<string[]> {
  const names: string[] = []
  const files = store.fetch()
  const fetch: Fetch = (url, init) => {
    names.push(url.slice(mirrorUrl.length + 1))
    return files(url, init)
  }
  await ask(scene)(lightOverMirror(scene, store, { ...options, fetch }))
  return names
}

interface Kind {
  readonly of: () => World
  readonly options?: () => Partial<LightOptions>
}

/** Each kind of file, with the chain and the options with which it is read. */
const fileKinds: Readonly<Record<string, Kind>> = {
  head: { of: () => validators },
  map: { of: () => validators },
  leaf: { of: () => validators },
  change: { of: () => validators },
  anchor: { of: () => validators, options: () => ({ checkpoint: validators.scene.book.checkpoint(1024) }) },
  headers: { of: () => miners },
  last: { of: () => miners },
}

/** What a liar puts in the place of a file. */
const replacements: Readonly<Record<string, (right: Uint8Array, roll: (sides: number) => number) => Uint8Array>> = {
  'random bytes': (right, roll) => Uint8Array.from(right, () => roll(256)),
  'nothing at all': () => new Uint8Array(0),
  'its first half': (right) => right.slice(0, right.length >> 1),
  'all but its last byte': (right) => right.slice(0, -1),
  'a null': () => fromUtf8('null'),
  'a list': () => fromUtf8('[[]]'),
  'an object': () => fromUtf8('{}'),
  'five megabytes': () => new Uint8Array(5 * 1024 * 1024).fill(32),
}

describe.each(Object.entries(fileKinds))(
  'a mirror whose files of the kind %s',
  (kind, { of, options = () => ({}) }) => {
    const isKind = (name: string) => name === kind || name.startsWith(`${kind}/`)
    // The block of a checkpoint is read of one of them; who lies about that alone answers the question all the same. So does who
    // lies about what lies behind the answer, where that was followed by the honest one before.
    const both = [mirrorUrl, honestUrl]
    const possible = kind === 'anchor' ? [both] : [[honestUrl], ...(['change', 'headers'].includes(kind) ? [both] : [])]
    const refused = (liar: Fetch) => refuses(of(), liar, { options: options(), answering: possible })

    it('are read at all', async () => {
      expect((await namesRead(of(), options())).filter(isKind).length).toBeGreaterThan(0)
    })

    it.each(Object.entries(replacements))('hold %s', async (_, replacement) => {
      const { store } = of()
      const roll = random(kind.length)
      const changed = [...store.files]
        .filter(([name]) => isKind(name))
        .map(([name, right]) => [name, replacement(right, roll)])
      await refused(mirrorWith(store, Object.fromEntries(changed) as Record<string, Uint8Array>).fetch())
    })

    it('are cut at any byte, or have one that is another', async () => {
      const { scene, store } = of()
      const roll = random(7)
      // Of the last headers there are dozens, and each question reads them all.
      const names = [...new Set((await namesRead(of(), options())).filter(isKind))].slice(-4)
      for (const name of names) {
        const right = store.files.get(name) as Uint8Array
        for (let i = 0; i < 8; i++) {
          const at = roll(right.length)
          const other = Uint8Array.from(right, (byte, place) => (place === at ? byte ^ (1 << roll(8)) : byte))
          for (const bytes of [right.slice(0, at), other]) {
            const light = lightOverMirror(scene, mirrorWith(store, { [name]: bytes }), options())
            const outcome = await ask(scene)(light).catch((error: unknown) => error)
            // Bytes that prove nothing, as the time at which a head was written, can be others.
            if (outcome instanceof LightError) continue
            const { transaction } = await ask(scene)(lightOverMirror(scene, store, options()))
            expect(outcome).toMatchObject({ status: 0, transaction })
          }
        }
      }
    })

    it('are missing', async () => {
      expect(await refused(answering(of().store, isKind, async () => new Response(null, { status: 404 })))).toMatch(
        /^(proof-missing|work-depth)$/,
      )
    })

    it('are answered by HTTP 500, by a redirect, by a broken connection', async () => {
      const broken: Fetch = () => Promise.reject(new TypeError('fetch failed'))
      const redirect: Fetch = async (_, { redirect: mode }) => {
        expect(mode).toBe('error')
        throw new TypeError('unexpected redirect')
      }
      for (const own of [
        async () => new Response('no', { status: 500 }),
        async () => new Response('', { status: 302 }),
        redirect,
        broken,
      ]) {
        expect(await refused(answering(of().store, isKind, own))).toBe('unreachable')
      }
    })

    it('have no end', async () => {
      let sent = 0
      let open = 0
      const endless: Fetch = async () => {
        open++
        const pull = (controller: ReadableStreamDefaultController) => {
          sent += 65_536
          controller.enqueue(new Uint8Array(65_536).fill(32))
        }
        return new Response(new ReadableStream({ pull, cancel: () => void open-- }))
      }
      expect(await refused(answering(of().store, isKind, endless))).toBe('mirror-file')
      expect(sent).toBeLessThan(2 * 4 * (4 * 1024 * 1024 + 1024 * 1024))
      expect(open).toBe(0)
    })

    it('never come', async () => {
      const { scene, store } = of()
      const silent = answering(store, isKind, () => new Promise<Response>(() => {}))
      await withPassingTime(async (pass) => {
        let outcome: unknown
        const light = lightOverMirror(scene, store, { ...options(), fetch: silent })
        void ask(scene)(light).catch((error: unknown) => (outcome = error))
        // Code of the mirror is loaded, and signatures are verified, by threads that know no other clock.
        for (let waited = 0; waited < 600 && outcome === undefined; waited++) {
          await pass(1000)
          await new Promise((resolve) => wait(resolve, 10))
        }
        expect(outcome).toMatchObject({ failure: 'timeout' })
      })
    })

    it('are those of another name', async () => {
      const { store } = of()
      const names = [...store.files.keys()].filter(isKind)
      if (names.length < 2) return
      const swapped = names.map((name, i) => [name, store.files.get(names[(i + 1) % names.length] as string)])
      await refused(mirrorWith(store, Object.fromEntries(swapped) as Record<string, Uint8Array>).fetch())
    })
  },
)

describe.each(['validators', 'miners'] as const)('a mirror of a chain of %s', (kind) => {
  const world = () => (kind === 'validators' ? validators : miners)

  it('with an older head answers as of that, and is refused by who has seen more', async () => {
    const { scene, store, old } = world()
    let files = store.fetch()
    const light = lightOverMirror(scene, store, { maxAge: 1e9, fetch: (url, init) => files(url, init) })
    const { proved } = await ask(scene)(light)
    files = mirrorWith(store, Object.fromEntries(old.files)).fetch()
    expect(await failureAt(ask(scene)(light))).toBe('rollback')
    expect(headIn(old).height).toBeLessThan(proved.height)
    expect(await failureAt(ask(scene)(lightOverMirror(scene, old, { maxAge: 60 })))).toBe('stale')
  })

  it('with a head and no other file', async () => {
    const { store } = world()
    const bare = new MemoryMirror()
    bare.files.set('head', store.files.get('head') as Uint8Array)
    expect(await refuses(world(), bare.fetch())).toBe('proof-missing')
  })

  it.each([
    ['another chain', { chain: 'ab'.repeat(32) }, 'chain'],
    ['a height that is none', { height: 1.5 }, 'mirror-file'],
    ['another map root', { mapRoot: 'ab'.repeat(32) }, 'proof-missing'],
    ['an empty map', { mapRoot: '00'.repeat(32) }, 'path-root'],
    ['no anchor', { anchor: undefined }, 'mirror-file'],
    ['a null for an anchor', { anchor: null }, 'mirror-file'],
    ['an empty anchor', { anchor: {} }, 'mirror-file'],
    ['an anchor of wrong types', { anchor: { header: 7, coinbase: [], confirm: {} } }, 'mirror-file'],
    ['another format', { format: 'didledger/mirror/2' }, 'mirror-file'],
  ])('with a head of %s', async (_, changes, expected) => {
    const { store } = world()
    expect(await refuses(world(), withHead(store, changes).fetch())).toBe(expected)
  })

  it('with a head of another height is answered for as of the block of its anchor', async () => {
    const { scene, store } = world()
    const { height } = headIn(store)
    const light = lightOverMirror(scene, store, { fetch: withHead(store, { height: 5 }).fetch() })
    expect(await ask(scene)(light)).toMatchObject({ status: 0, proved: { height } })
    const past = (files: Fetch) =>
      lightOverMirror(scene, store, { fetch: files }).resolve(scene.alice.did, { height: 5 })
    expect(await failureAt(past(withHead(store, { height: 5 }).fetch()))).toBe('answer-height')
    expect(await failureAt(past(store.fetch()))).toBe('proof-missing')
  })

  it.each([
    ['2^40 of each', { changes: 2 ** 40, headers: 2 ** 40 }],
    ['less than none', { changes: -1, headers: -1 }],
    ['none', { changes: 0, headers: 0 }],
  ])('with a head that counts changes and files of headers: %s', async (_, changes) => {
    const { scene, store } = world()
    let asked = 0
    const files = withHead(store, changes).fetch()
    const light = lightOverMirror(scene, store, { fetch: (url, init) => (asked++, files(url, init)) })
    const outcome = await ask(scene)(light).catch((error: unknown) => error)
    if (!(outcome instanceof LightError)) expect(outcome).toMatchObject({ status: 0 })
    expect(asked).toBeLessThan(200)
    const both = lightOverMirror(scene, store, besideHonest(store, files))
    expect(await ask(scene)(both)).toMatchObject({ status: 0 })
  })

  it('with a tree of its own, in which a key leads deeper than it goes', async () => {
    const { scene, store } = world()
    const liar = withDeepTree(store, didMapKey(scene.alice.did))
    expect(await refuses(world(), liar.fetch())).toBe('mirror-file')
  })

  it('with a history of its own that has no end', async () => {
    const { scene, store } = world()
    const { did } = scene.alice
    const liar = withLongHistory(store, didMapKey(did), 600)
    let asked = 0
    const files = liar.fetch()
    const fetch: Fetch = (url, init) => (asked++, files(url, init))
    const question = (light: LightResolver) => light.resolve(did, { history: true })
    expect(await failureAt(question(lightOverMirror(scene, store, { fetch })))).toBe('timeout')
    expect(asked).toBe(512)
    expect(await refuses(world(), liar.fetch(), { question })).toBe('timeout')
  })

  it('with a leaf of its own that holds what no operation is', async () => {
    const { scene, store } = world()
    const right = [...store.files]
      .filter(([name]) => name.startsWith('leaf/'))
      .map(([, bytes]) => readLeafFile(bytes))
      .find((leaf) => Buffer.from(leaf?.key ?? []).equals(didMapKey(scene.alice.did)))
    if (right === undefined) throw new RangeError('no leaf')
    const { entries, transactions } = right
    const junk = sha256(Uint8Array.of(1))
    const wrongs = [
      { ...right, state: 2 },
      { ...right, transactions: [] },
      { ...right, transactions: [junk] },
      { ...right, transactions: [new Uint8Array(0)] },
      { ...right, transactions: transactions.map((bytes) => bytes.slice(0, -40)) },
      { ...right, entries: entries.map(() => new Uint8Array(73).fill(255)) },
      { ...right, entries: entries.map(() => new Uint8Array(73)) },
      { ...right, entries: entries.toReversed() },
      {
        ...right,
        count: 2 ** 32 - 1,
        base: junk,
        entries: Array.from({ length: 127 }, () => entries[0] as Uint8Array),
      },
      { ...right, count: 1, base: emptyHistory, entries: entries.slice(0, 1), transactions: [junk] },
    ]
    const asked = [{}, { all: true }, { history: true }, { versionId: 'ab'.repeat(32) }]
    for (const [i, wrong] of wrongs.entries()) {
      for (const options of asked.filter((_, j) => (i + j) % oneIn(4) === 0)) {
        await refuses(world(), withOwnLeaf(store, wrong).fetch(), {
          question: (light) => light.resolve(scene.alice.did, options),
        })
      }
    }
    const key = credentialMapKey(scene.ids.kept, scene.alice.did)
    for (const wrong of [
      { ...right, key },
      { ...right, key, transactions: [junk] },
      { ...right, key, count: 1, base: emptyHistory, entries: [new Uint8Array(73).fill(255)], transactions: [junk] },
      { ...right, key, count: 1, base: emptyHistory, entries: [new Uint8Array(73).fill(4)], transactions },
    ]) {
      await refuses(world(), withOwnLeaf(store, wrong).fetch(), { question: askCredential(scene) })
    }
  })
})

describe('headers of a mirror of its own', () => {
  /** A file of last headers that leads to itself, so that no reader comes to its end. */
  function circle(store: MemoryMirror, headerLength: number, count = 1): MemoryMirror {
    const tip = parseDisplayHash(headIn(store).tip as string) as Uint8Array
    const header = joined(new Uint8Array(headerLength))
    // Version, then the hash of the block before; height at the end.
    header.set(tip, 4)
    header.fill(255, 80, 84)
    return mirrorWith(store, {
      [lastHeadersName(tip)]: headersFile(
        Array.from({ length: count }, () => ({ header, confirm: new Uint8Array(0) })),
      ),
    })
  }

  it('lead back without end', async () => {
    const { scene, store } = miners
    let asked = 0
    const files = circle(store, 84).fetch()
    const light = lightOverMirror(scene, store, { fetch: (url, init) => (asked++, files(url, init)) })
    expect(await failureAt(ask(scene)(light))).toBe('timeout')
    expect(asked).toBeLessThan(3 * 512)
    expect(await refuses(miners, files)).toBe('timeout')
  })

  it('lead back in large files: a reader takes a bounded number of bytes', async () => {
    const { scene, store } = miners
    const liar = circle(store, 2 * 1024 * 1024 - 100)
    let sent = 0
    const files = liar.fetch()
    const fetch: Fetch = async (url, init) => {
      const response = await files(url, init)
      sent += url.includes('/last/') ? 2 * 1024 * 1024 : 0
      return response
    }
    expect(await failureAt(ask(scene)(lightOverMirror(scene, store, { fetch })))).toBe('timeout')
    expect(sent).toBeLessThanOrEqual(36 * 1024 * 1024)
  })

  it('are shorter than a header', async () => {
    const { store } = miners
    const tip = parseDisplayHash(headIn(store).tip as string) as Uint8Array
    const short = headersFile([{ header: new Uint8Array(83), confirm: new Uint8Array(0) }])
    for (const bytes of [short, new Uint8Array(0)]) {
      expect(await refuses(miners, mirrorWith(store, { [lastHeadersName(tip)]: bytes }).fetch())).toBe('mirror-file')
    }
  })
})
