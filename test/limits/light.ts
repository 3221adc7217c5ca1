import { quickSigner } from '../../src/base/crypto/quick-signer.js'
import { NodeServer } from '../../src/clients/light/ask-server.js'
import { catchingUp } from '../../src/clients/light/time-limited-server.js'
import { bundledLists, followChanges } from '../../src/clients/light/follow-changes.js'
import { loadMemory, stateFormat } from '../../src/clients/light/light-memory.js'
import type { LightResolver } from '../../src/clients/light/light-resolver.js'
import { Signatures } from '../../src/clients/light/signatures.js'
import { displayHash, toHex } from '../../src/base/primitives/bytes.js'
import { keysHash } from '../../src/identity/proofs/anchor.js'
import { readTrust } from '../../src/identity/proofs/trust-root.js'
import { host, lightOver, lightWorld, worldTime } from '../support/builders/light-world.js'
import { paperGenesis, ProofBook } from '../support/builders/proof-book.js'
import { type Json, lightServers } from '../support/fakes/light-server.js'
import { withPassingTime } from '../support/fakes/passing-time.js'
import { everyDoor, failureOf, limit, onlyFor } from './limit.js'

const world = lightWorld({ genesis: 'limits' })
const { book, alice, kept, versions } = world
/** Validators change at block 8, so that a resolver asks for changes. */
const changed = lightWorld({ genesis: 'limits', changeAt: 8 })
const mined = lightWorld({ genesis: 'limits', miners: true })

/** Changes an answer, without making it wrong. */
type Stretch = (text: string) => string

/** A question to a server whose answers to requests like this are stretched. */
function asking(question: (light: LightResolver) => Promise<unknown>, of: LightPlan, stretch: Stretch): Promise<void> {
  const honest = lightServers({ node: { book: of.book } })
  const fetch: typeof honest = async (url, init) => {
    const text = await (await honest(url, init)).text()
    return new Response(of.stretched(url, init) ? stretch(text) : text)
  }
  return question(lightOver(of.book, {}, { fetch })).then(() => {})
}

interface LightPlan {
  readonly book: ProofBook
  stretched(url: string, init: RequestInit): boolean
}

const calls: LightPlan = { book, stretched: (_, init) => init.method === 'POST' }
const changes: LightPlan = { book: changed.book, stretched: (url) => url.includes('/changes/') }

const latest = (stretch: Stretch) => asking((light) => light.resolve(alice.did), calls, stretch)
const history = (stretch: Stretch) => asking((light) => light.resolve(alice.did, { history: true }), calls, stretch)
const everyVersion = (stretch: Stretch) => asking((light) => light.resolve(alice.did, { all: true }), calls, stretch)
const version = (stretch: Stretch) => {
  const versionId = versions[0] as string
  // The state is asked for as well, by a question of its own.
  const stretched: LightPlan['stretched'] = (_, { body }) => typeof body === 'string' && body.includes(versionId)
  return asking((light) => light.resolve(alice.did, { versionId }), { book, stretched }, stretch)
}
const credential = (stretch: Stretch) => asking((light) => light.resolveCredential(kept), calls, stretch)
const followed = (stretch: Stretch) => asking((light) => light.resolve(alice.did), changes, stretch)

/** White space up to so many bytes. */
const long = (size: number): Stretch => {
  return (text) => text.padEnd(size)
}

/** An unknown member with so many tokens more that there are so many. */
const tokens = (count: number): Stretch => {
  return (text) => {
    const own = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/[[\]{},:]/g)?.length ?? 0
    // A comma, a colon and two brackets.
    const more = `,"other":[${new Array(count - own - 3).fill(0).join(',')}]}`
    return text.slice(0, -1) + more
  }
}

/** An unknown member that makes it so deep. */
const deep = (levels: number): Stretch => {
  return (text) => `${text.slice(0, -1)},"other":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
}

/** A server that shows changes of validators, each in an answer of its own. */
async function followAnswers(count: number): Promise<void> {
  const teams = Array.from({ length: count + 1 }, (_, i) => ({ height: i + 1, signers: [signer] }))
  const many = new ProofBook(paperGenesis('many', worldTime), teams)
  while (many.pages.length <= count + 1) many.make()
  const lists = [{ height: 1, keys: many.keys(1) }]
  const server = {
    url: host,
    get: (path: string) => Promise.resolve(copy(many.changes(Number(path.split('/')[1]), 1))),
  }
  const found = await followChanges(server, lists, {
    genesis: many.genesis,
    signatures: new Signatures(),
    keep: () => {},
  })
  if (found.length !== count + 1) throw new TypeError(`${found.length} lists after ${count} changes`)
}

const signer = quickSigner()
const copy = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

export const lightLimits = [
  limit({
    name: 'clients/light/answer-bounds.documentBytes',
    unit: 'bytes',
    value: 4 * 1024 * 1024,
    feed: everyDoor(
      (n) => latest(long(n)),
      (n) => credential(long(n)),
    ),
    refusal: /^form: .*more than 4194304 bytes/,
  }),
  limit({
    name: 'clients/light/answer-bounds.historyBytes',
    unit: 'bytes',
    value: 8 * 1024 * 1024,
    feed: everyDoor(
      (n) => history(long(n)),
      (n) => everyVersion(long(n)),
      (n) => version(long(n)),
    ),
    refusal: /^form: .*more than 8388608 bytes/,
  }),
  limit({
    name: 'clients/light/answer-bounds.chainBytes',
    unit: 'bytes',
    value: 2 * 1024 * 1024,
    feed: everyDoor(
      (n) => followed(long(n)),
      (n) => {
        const headers = { book: mined.book, stretched: (url: string) => url.includes('/headers/') }
        return asking((light) => light.resolve(alice.did).catch(notDeep), headers, long(n))
      },
    ),
    refusal: /^form: .*more than 2097152 bytes/,
  }),
  limit({
    name: 'clients/light/answer-bounds.documentTokens',
    unit: 'count',
    value: 256,
    feed: everyDoor(
      (n) => latest(tokens(n)),
      (n) => credential(tokens(2 * n)),
      (n) => version(tokens(n)),
    ),
    refusal: /^form: .*more than (256|512) values/,
  }),
  limit({
    name: 'clients/light/answer-bounds.historyTokens',
    unit: 'count',
    value: 524_288,
    feed: (n) => everyVersion(tokens(n)),
    refusal: /^form: .*more than 524288 values/,
  }),
  limit({
    name: 'clients/light/answer-bounds.chainTokens',
    unit: 'count',
    value: 16_384,
    feed: (n) => followed(tokens(n)),
    refusal: /^form: .*more than 16384 values/,
  }),
  limit({
    name: 'clients/light/ask-server.patience',
    unit: 'ms',
    value: 10_000,
    feed: (n) =>
      withPassingTime(async (pass) => {
        // An answer that comes in the last of so many milliseconds.
        const fetch = () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response('{}')), n - 1))
        const outcome = failureOf(new NodeServer(host, fetch).get('changes/1'))
        await pass(n)
        return outcome
      }),
    refusal: 'did not answer within 10 s',
  }),
  limit({
    name: 'clients/light/block-age.trustPeriod',
    unit: 's',
    value: 30 * 24 * 60 * 60,
    feed: onlyFor(/^trust-expired/, async (n) => {
      await lightOver(book, {}, { now: () => (worldTime + n) * 1000, maxAge: 2 * n }).resolve(alice.did)
    }),
    refusal: 'trust-expired: the believed block is 2592001 s old',
  }),
  limit({
    name: 'clients/light/time-limited-server.catchUpTime',
    unit: 'ms',
    value: 120_000,
    feed: (n) =>
      withPassingTime(async (pass) => {
        const server = catchingUp({ url: host, get: () => Promise.resolve({}) })
        // A request in the last of so many milliseconds.
        await pass(n - 1)
        await server.get('changes/1')
      }),
    refusal: 'timeout: http://node has more to show after 120 s',
  }),
  limit({
    name: 'clients/light/follow-changes.maxBundled',
    unit: 'count',
    value: 10_000,
    feed: async (n) => {
      const change = changed.book.change(8)
      const all = Array.from({ length: n }, (_, i) => ({ ...change, height: 2 + i }))
      const checkpoint = {
        height: n + 1,
        hash: changed.book.tip.hash,
        keysHash: keysHash(changed.book.keys(1)),
      }
      await bundledLists(readTrust(changed.book.trust()), all, checkpoint, new Signatures())
    },
    refusal: 'form: 10001 elements, at most 10000',
  }),
  limit({
    name: 'clients/light/follow-changes.maxAnswers',
    unit: 'count',
    value: 100,
    feed: followAnswers,
    refusal: 'changes-order: http://node has changes without end',
  }),
  limit({
    name: 'clients/light/json-scan.maxDepth',
    unit: 'levels',
    value: 32,
    feed: everyDoor(
      (n) => latest(deep(n)),
      (n) => followed(deep(n)),
    ),
    refusal: /^form: .*more than 32 levels/,
  }),
  limit({
    name: 'clients/light/light-memory.maxRemembered',
    unit: 'count',
    value: 1_100_000,
    // That many lists would take minutes to make: what is read counts them before it looks at one.
    feed: onlyFor(/elements, at most/, async (n) => {
      const { header } = book.page(1).block
      const state = {
        format: stateFormat,
        chain: displayHash(book.genesis),
        header: toHex(header.bytes),
        height: 1,
        hash: displayHash(header.hash),
        time: header.time,
        // With fewer characters for each it would be refused before it is parsed.
        lists: new Array(n).fill('no list'),
      }
      await loadMemory(JSON.stringify(state), { trust: readTrust(book.trust()), signatures: new Signatures() })
    }),
    refusal: 'form: 1100001 elements, at most 1100000',
  }),
]

/** Lets pass that the block of an answer is not deep enough: the headers were read. */
function notDeep(error: Error & { failure?: string }): void {
  if (error.failure !== 'work-depth') throw error
}
