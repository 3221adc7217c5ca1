import { Script } from 'node:vm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LightCredential, LightResult } from '../../../src/clients/light/proved-answer.js'
import { provedCredential, provedDid } from '../../../src/explorer/verify/proved-view.js'
import { holder } from '../../support/builders/did.js'
import { changing, closeScene, type Scene, sceneOf } from '../../support/builders/light-scene.js'
import type { Json } from '../../support/fakes/light-server.js'
import { oneIn } from '../../support/process/thorough.js'
import { bundleForBrowser } from '../../support/web/bundle.js'
import { type Change, changesOf } from '../../support/web/changed-json.js'

/** What pages draw as proved, asked from a node that changes any one member of any of its answers. */

/** As `src/explorer/verify/chain-check.ts` has it, which only browsers can type. */
interface ChainCheck {
  checkDid(did: string): Promise<Outcome<LightResult>>
  checkCredential(id: string): Promise<Outcome<LightCredential>>
}
type Outcome<T> =
  | { readonly state: 'proved'; readonly checked: { readonly result: T; readonly believed: object } }
  | { readonly state: 'unproved' | 'refused'; readonly failure: string }

/** An answer of the node, by the method or the path that was asked. */
interface Exchange {
  readonly asked: string
  readonly result: Json
}

type Lie = (exchange: Exchange) => Json

let scene: Scene
const realFetch = globalThis.fetch
let seen: Exchange[] = []
let lie: Lie = ({ result }) => result

beforeAll(async () => {
  const time = Math.floor(Date.now() / 1000) - 5
  const timing = { minInterval: 1_000, emptyInterval: 900_000, maxDrift: 5_000, propose: 3_000, delta: 500 }
  scene = await sceneOf({ ...changing, time, timing })
})
beforeEach(() => {
  seen = []
  lie = ({ result }) => result
  vi.stubGlobal('document', { baseURI: `http://127.0.0.1:${scene.server.port}/#/did/x` })
  vi.stubGlobal('fetch', lyingFetch)
})
afterEach(() => vi.unstubAllGlobals())
afterAll(() => closeScene(scene))

const lyingFetch: typeof fetch = async (url, init) => {
  const response = await realFetch(url, init)
  const answer = (await response.json()) as Json
  const isCall = typeof init?.body === 'string'
  const asked = isCall
    ? (JSON.parse(init.body as string) as { method: string }).method
    : new URL(String(url)).pathname.replace(/\d+/g, 'N')
  const exchange = { asked, result: isCall ? answer.result : answer }
  seen.push(exchange)
  const changed = lie(exchange)
  return Response.json(isCall ? { jsonrpc: '2.0', id: 1, result: changed } : changed)
}

interface Page extends ChainCheck {
  readonly chainClock: { offset: number }
}

const bundle = bundleForBrowser(
  `export * from './src/explorer/verify/chain-check.ts'
  export { chainClock } from './src/explorer/ask/chain-clock.ts'`,
  { format: 'iife', globalName: 'page', jsx: 'automatic', jsxImportSource: 'preact' },
)
const script = new Script(`(() => { ${bundle.text}; return page })()`)

/** The modules as a page loads them anew: they remember nothing. */
function freshPage(): Page {
  return script.runInThisContext() as Page
}

interface Subject {
  readonly name: string
  /** Of so many changes one is tried: other subjects have the same members, and a thorough run tries all of them here. */
  readonly oneOf: number
  /** What a page draws as proved; undefined: nothing. */
  draw(): Promise<object | undefined>
}

const part = { skip: 0, rows: 20 }
const subjects: readonly Subject[] = [
  { name: 'a DID with two operations', oneOf: oneIn(3), draw: () => drawDid(scene.alice.did) },
  { name: 'a DID with one operation', oneOf: 4, draw: () => drawDid(scene.dave.did) },
  { name: 'a DID that does not exist', oneOf: 2, draw: () => drawDid(unknown) },
  { name: 'a declared credential', oneOf: 4, draw: () => drawCredential(scene.ids.kept) },
  { name: 'a revoked credential', oneOf: oneIn(3), draw: () => drawCredential(scene.ids.revoked) },
]
const unknown = holder().did

async function drawDid(did: string): Promise<object | undefined> {
  const outcome = await freshPage().checkDid(did)
  if (outcome.state !== 'proved') return undefined
  const { result } = outcome.checked
  return { ...provedDid(did, result, part), block: blockOf(result) }
}

async function drawCredential(id: string): Promise<object | undefined> {
  const outcome = await freshPage().checkCredential(id)
  if (outcome.state !== 'proved') return undefined
  const { result } = outcome.checked
  return { ...provedCredential(id, result), block: blockOf(result) }
}

function blockOf({ proved: { height, hash, time } }: LightResult | LightCredential) {
  return { height, hash, time }
}

/** A drawing without signers: one that was not checked is missing, which says nothing false. */
function withoutSigners(drawn: object | undefined): Json {
  return JSON.parse(JSON.stringify(drawn, (name, value: unknown) => (name === 'signer' ? undefined : value)))
}

/** The mark, or its absence, that a lie leads to; an error is a page without mark as well. */
async function drawnUnder(subject: Subject, how: Lie): Promise<object | undefined> {
  lie = how
  try {
    return await subject.draw()
  } catch {
    return undefined
  }
}

describe.each(subjects)('$name', (subject) => {
  it('is drawn as it was with answers changed in any one member, or without the mark', async () => {
    const right = await subject.draw()
    expect(right).toBeDefined()
    const answers = new Map(seen.map(({ asked, result }) => [asked, result]))
    expect([...answers.keys()]).toContain('light_trust')
    let [refused, same] = [0, 0]
    for (const [asked, result] of answers) {
      const changes = [...changesOf(result)].filter((_, i) => i % subject.oneOf === 0)
      for (const change of changes) {
        const drawn = await drawnUnder(subject, changed(asked, change))
        if (drawn === undefined) refused++
        else {
          expect(withoutSigners(drawn), `${asked} ${change.name}`).toEqual(withoutSigners(right))
          same++
        }
      }
    }
    // Both happen: most members are proved, and some say nothing.
    expect(refused).toBeGreaterThan(50 / subject.oneOf)
    expect(same).toBeGreaterThan(0)
  })
})

function changed(asked: string, change: Change): Lie {
  return (exchange) => (exchange.asked === asked ? change.apply(exchange.result) : exchange.result)
}

describe('the answer about another subject', () => {
  it('is never drawn, with its own proof or with that of the right one', async () => {
    const [alice, dave] = [subjects[0] as Subject, subjects[1] as Subject]
    await dave.draw()
    const other = seen.findLast(({ asked }) => asked === 'resolvedid')?.result
    for (const change of [
      () => other,
      (right: Json) => ({ ...other, did: right.did }),
      (right: Json) => ({ ...other, did: right.did, proof: right.proof }),
      (right: Json) => ({ ...right, transaction: other.transaction }),
      (right: Json) => ({ ...right, did: other.did }),
    ]) {
      const drawn = await drawnUnder(alice, ({ asked, result }) => (asked === 'resolvedid' ? change(result) : result))
      expect(drawn).toBeUndefined()
    }
  })
})

describe('the clock', () => {
  it('of the page is not moved by a node that claims to be a devnet in its methods alone', async () => {
    const { chainClock, checkDid } = freshPage()
    chainClock.offset = 10 * 365 * 86_400
    expect(await checkDid(scene.alice.did)).toMatchObject({ state: 'proved', checked: { result: { status: 0 } } })
  })
})
