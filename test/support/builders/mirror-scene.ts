import { LightResolver, type LightOptions } from '../../../src/clients/light/light-resolver.js'
import { concat, fromUtf8, joined, toHex } from '../../../src/base/primitives/bytes.js'
import { emptyHistory, extendHistory } from '../../../src/identity/proofs/history.js'
import type { MapKey } from '../../../src/identity/proofs/map-tree.js'
import { headName, type MirrorHead } from '../../../src/identity/proofs/mirror-head.js'
import { leafFile, leafName, type MirrorLeaf, valueOfLeaf } from '../../../src/identity/proofs/mirror-leaf.js'
import {
  type MirrorPage,
  pageFile,
  pageName,
  type PagePlace,
  readPageFile,
} from '../../../src/identity/proofs/mirror-page.js'
import type { MirrorFile } from '../../../src/ledger/mirror/mirror-store.js'
import { MemoryMirror } from '../fakes/memory-mirror.js'
import type { Scene } from './light-scene.js'

/** Mirrors of real chains, light resolvers over them, and files that a liar makes so that their names fit. */

export const mirrorUrl = 'http://mirror'

/** A light resolver that knows the mirror of a chain alone. */
export function lightOverMirror(
  { test, book }: Pick<Scene, 'test' | 'book'>,
  store: MemoryMirror,
  options: Partial<LightOptions> = {},
): LightResolver {
  return new LightResolver({
    mirrors: [mirrorUrl],
    trust: book.trust(),
    now: () => test.chain.tip.header.time * 1000,
    allowOldRoot: true,
    fetch: store.fetch(),
    ...options,
  })
}

/** The head of a mirror. */
export function headIn({ files }: MemoryMirror): MirrorHead {
  return JSON.parse(Buffer.from(files.get(headName) ?? []).toString()) as MirrorHead
}

/** A mirror with the same files, of which some are replaced; undefined: taken away. */
export function mirrorWith(
  { files }: MemoryMirror,
  changes: Readonly<Record<string, Uint8Array | undefined>>,
): MemoryMirror {
  const changed = new MemoryMirror()
  for (const [name, bytes] of files) changed.files.set(name, bytes)
  for (const [name, bytes] of Object.entries(changes)) {
    if (bytes === undefined) changed.files.delete(name)
    else changed.files.set(name, bytes)
  }
  return changed
}

/** The same with other members in its head. */
export function withHead(store: MemoryMirror, changes: object): MemoryMirror {
  return mirrorWith(store, { [headName]: fromUtf8(JSON.stringify({ ...headIn(store), ...changes })) })
}

/** The same whose tree holds one leaf, under the name that fits. */
export function withOwnLeaf(store: MemoryMirror, leaf: MirrorLeaf, more: readonly MirrorFile[] = []): MemoryMirror {
  const value = valueOfLeaf(leaf)
  const place = { depth: 0, key: leaf.key }
  const page = pageWith(place, { kind: 1, bytes: concat(leaf.key, value) })
  const liar = withHead(store, { mapRoot: toHex(page.hash) })
  liar.files.set(pageName(page.hash), page.bytes)
  liar.files.set(leafName(value), leafFile(leaf))
  for (const { name, bytes } of more) liar.files.set(name, bytes)
  return liar
}

/** The same with a tree in which a key leads from page to page, deeper than any key goes. */
export function withDeepTree(store: MemoryMirror, key: MapKey): MemoryMirror {
  let hash: Uint8Array = new Uint8Array(32).fill(7)
  const pages: MirrorFile[] = []
  for (let depth = 252; depth >= 0; depth -= 4) {
    const page = pageWith({ depth, key }, { kind: 2, bytes: hash })
    pages.push({ name: pageName(page.hash), bytes: page.bytes })
    hash = page.hash
  }
  const liar = withHead(store, { mapRoot: toHex(hash) })
  for (const { name, bytes } of pages) liar.files.set(name, bytes)
  return liar
}

/** The same with a history of so many whole files, each of which leads to the one before. */
export function withLongHistory(store: MemoryMirror, key: MapKey, wholes: number): MemoryMirror {
  const entries = Array.from({ length: 128 }, () => new Uint8Array(73).fill(2))
  const files: MirrorFile[] = []
  let base = emptyHistory
  let leaf: MirrorLeaf | undefined
  for (let number = 1; number <= wholes; number++) {
    leaf = { state: 1, count: 128 * number, key, base, entries, transactions: [] }
    files.push({ name: leafName(valueOfLeaf(leaf)), bytes: leafFile(leaf) })
    base = digestOf(leaf)
  }
  return withOwnLeaf(store, leaf as MirrorLeaf, files)
}

function digestOf({ base, entries }: MirrorLeaf): typeof emptyHistory {
  return entries.reduce(extendHistory, base)
}

function pageWith(
  place: PagePlace,
  { kind, bytes }: { kind: number; bytes: Uint8Array },
): MirrorPage & { bytes: Uint8Array } {
  const { depth, key } = place
  const slot = ((key[depth >> 3] as number) >> (depth % 8 === 0 ? 4 : 0)) & 15
  const file = pageFile(place, joined((kind << (2 * slot)) >>> 0, bytes))
  return { ...(readPageFile(file, place) as MirrorPage), bytes: file }
}
