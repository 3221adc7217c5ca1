import { fromUtf8 } from '../../src/base/primitives/bytes.js'
import { MirrorServer } from '../../src/clients/light/mirror-server.js'
import { FileBudget } from '../../src/clients/light/mirror-files.js'
import { didMapKey } from '../../src/identity/proofs/map-tree.js'
import {
  cosignedName,
  headName,
  lastHeadersName,
  type MirrorHead,
  mirrorCosignedFormat,
  mirrorFormat,
} from '../../src/identity/proofs/mirror-head.js'
import { headersFile } from '../../src/identity/proofs/mirror-headers.js'
import { pageName } from '../../src/identity/proofs/mirror-page.js'
import { OwnFiles } from '../../src/ledger/mirror/own-files.js'
import { WriterMark } from '../../src/ledger/mirror/writer-mark.js'
import { systemRandom } from '../../src/base/runtime/system-random.js'
import { lightWorld } from '../support/builders/light-world.js'
import { mirrorUrl, withLongHistory } from '../support/builders/mirror-scene.js'
import { mirrorOnce } from '../support/builders/mirrored.js'
import { TestChain } from '../support/builders/chain.js'
import { MemoryMirror } from '../support/fakes/memory-mirror.js'
import { withPassingTime } from '../support/fakes/passing-time.js'
import { closing, limit, onlyFor, refusalOf } from './limit.js'

const did = 'did:ledger:limits'
const { book } = lightWorld({ genesis: 'limits' })
const zeros = '00'.repeat(32)
const chain = 'ab'.repeat(32)

/** A head of an empty map, as a mirror may show it. */
const head: MirrorHead = {
  format: mirrorFormat,
  ...{ chain, hash: zeros, mapRoot: zeros, didRoot: zeros },
  ...{ height: 1, changes: 0, headers: 0 },
  anchor: book.answer(did).proof.anchor as MirrorHead['anchor'],
  written: '2026-01-01T00:00:00Z',
}

function storeOf(changes: object = {}): MemoryMirror {
  const store = new MemoryMirror()
  store.files.set(headName, fromUtf8(JSON.stringify({ ...head, ...changes })))
  return store
}

const serverOf = (store: MemoryMirror) => new MirrorServer(mirrorUrl, store.fetch(), () => 0)
const ask = (store: MemoryMirror, params: object = {}) => serverOf(store).call('resolvedid', { did, ...params })

/** A file with white space up to so many bytes. */
function stretch(store: MemoryMirror, name: string, size: number): MemoryMirror {
  store.files.set(
    name,
    fromUtf8(
      Buffer.from(store.files.get(name) ?? [])
        .toString()
        .padEnd(size),
    ),
  )
  return store
}

/** Files of last headers, each of which leads to the next by a name, of so many bytes in all with the head. */
function longHeaders(size: number): MemoryMirror {
  const files = 20
  const nameOf = (number: number) => new Uint8Array(32).fill(number)
  const store = storeOf({ tip: '01'.repeat(32) })
  const each = Math.floor((size - (store.files.get(headName)?.length ?? 0)) / files)
  for (let number = 1; number <= files; number++) {
    const isLast = number === files
    const left = size - [...store.files.values()].reduce((sum, { length }) => sum + length, 0)
    const header = new Uint8Array((isLast ? left : each) - 8)
    header.set(nameOf(number + 1), 4)
    if (!isLast) header.fill(255, 80, 84)
    store.files.set(lastHeadersName(nameOf(number)), headersFile([{ header, confirm: new Uint8Array(0) }]))
  }
  return store
}

/** A store in which a file has so many bytes, which nobody could hold at once in a test. */
class HollowMirror extends MemoryMirror {
  readonly #name: string
  readonly #size: number

  constructor(name: string, size: number) {
    super()
    this.#name = name
    this.#size = size
  }

  override async get(name: string, most: number): Promise<Uint8Array | undefined> {
    if (name !== this.#name) return super.get(name, most)
    if (this.#size > most) throw new RangeError(`${name} has ${this.#size} bytes`)
    return fromUtf8('none')
  }
}

const test = await TestChain.open()
closing.push(() => test.close())

/** Opens a mirror beside whose files there is one of so many bytes, as it should be. */
async function extra(size: number): Promise<string | undefined> {
  const page = { name: 'page.html', bytes: new Uint8Array(size).fill(32) }
  const store = new MemoryMirror()
  await store.replace(page)
  let written = false
  store.before = (name) => void (written ||= name === page.name)
  await mirrorOnce(test, store, { pages: new Map([[page.name, page.bytes]]) })
  return written ? 'it is written again' : undefined
}

export const mirrorLimits = [
  limit({
    name: 'clients/light/mirror-files.longestHead',
    unit: 'bytes',
    value: 262_144,
    feed: async (n) => void (await ask(stretch(storeOf(), headName, n))),
    refusal: 'mirror-file: the file head of http://mirror has more than 262144 bytes',
  }),
  limit({
    name: 'identity/proofs/mirror-head.mostCosignedHeads',
    unit: 'count',
    value: 4,
    feed: async (n) => {
      const store = storeOf()
      const heads = Array.from({ length: n }, () => head)
      store.files.set(cosignedName, fromUtf8(JSON.stringify({ format: mirrorCosignedFormat, heads })))
      await serverOf(store).get('witnessed')
    },
    refusal: 'mirror-file: the file cosigned of http://mirror has more than 4 heads',
  }),
  limit({
    name: 'clients/light/mirror-files.longestPage',
    unit: 'bytes',
    value: 1061,
    feed: onlyFor(/more than/, async (n) => {
      const store = storeOf({ mapRoot: chain })
      store.files.set(pageName(Buffer.from(chain, 'hex')), new Uint8Array(n))
      await ask(store)
    }),
    refusal: /^mirror-file: .*more than 1061 bytes/,
  }),
  limit({
    name: 'clients/light/mirror-files.mostFiles',
    unit: 'count',
    value: 512,
    feed: onlyFor(/^timeout/, async (n) => {
      // The head, the page, and a history of which every file is needed; its document is missing then.
      await ask(withLongHistory(storeOf(), didMapKey(did), n - 2), { proof: 'history' })
    }),
    refusal: 'timeout: http://mirror has no answer within 512 files',
  }),
  limit({
    name: 'clients/light/mirror-files.mostBytes',
    unit: 'bytes',
    value: 33_554_432,
    feed: async (n) => void (await serverOf(longHeaders(n)).get('headers/0/10')),
    refusal: /^timeout: .*33554432 bytes/,
  }),
  limit({
    name: 'clients/light/mirror-files.filesTime',
    unit: 'ms',
    value: 60_000,
    feed: (n) =>
      withPassingTime(async (pass) => {
        const budget = new FileBudget()
        // The last file is asked for in the last of so many milliseconds.
        await pass(n - 1)
        return refusalOf(() => budget.take(mirrorUrl))
      }),
    refusal: /^timeout: .*60 s/,
  }),
  limit({
    name: 'ledger/mirror/own-files.longestHead',
    unit: 'bytes',
    value: 262_144,
    feed: async (n) => void (await OwnFiles.open(stretch(storeOf(), headName, n), chain)),
    refusal: 'head has 262145 bytes',
  }),
  limit({
    name: 'ledger/mirror/own-files.longestList',
    unit: 'bytes',
    value: 268_435_456,
    feed: async (n) => void (await OwnFiles.open(new HollowMirror('own/intent', n), chain)),
    refusal: 'own/intent has 268435457 bytes',
  }),
  limit({
    name: 'ledger/mirror/writer-mark.longestMark',
    unit: 'bytes',
    value: 256,
    feed: onlyFor(/ bytes$/, async (n) => {
      const store = storeOf()
      const mark = await WriterMark.set(store, systemRandom)
      await mark.require()
      stretch(store, 'own/writer', n)
      await mark.require()
    }),
    refusal: 'own/writer has 257 bytes',
  }),
  limit({
    name: 'ledger/mirror/mirror.longestExtra',
    unit: 'bytes',
    value: 4_194_304,
    feed: extra,
    refusal: 'it is written again',
  }),
]
