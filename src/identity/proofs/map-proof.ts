import { decodeBase64url, encodeBase64url } from '../did/base64url.js'
import type { MapProofJson } from '../did/state-proof.js'
import { concat, equalBytes, fromHex, pieces, toHex } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { emptyHistory, type Entry, entrySize, extendHistory, leafValue, readEntry, stateAfter } from './history.js'
import type { HistoryOrder } from './history-order.js'
import { bitAt, didRoot, emptyNode, innerHash, type Leaf, leafHash, type MapKey, sharePath } from './map-tree.js'
import { fail } from './proof-failure.js'
import { members, number, optionalText, text } from './read-json.js'

/** End of a key's way through the map, and the siblings on that way, from which anyone computes the root again. */

/** Bits of a key: the greatest depth. */
const keyBits = 256
const hashSize = 32

/** The last entries of a history. */
export interface HistoryPart {
  readonly state: number
  /** Entries of the whole history. */
  readonly count: number
  /** Oldest first, each in {@link entrySize} bytes; at least one. */
  readonly entries: readonly Uint8Array[]
  /** Digest of the entries before these; undefined when there are none. */
  readonly base: Hash | undefined
}

/** A MapProof in bytes. */
export interface MapProof {
  /** Siblings on the way, the one below the root first; as many as the depth. */
  readonly siblings: readonly Hash[]
  readonly leaf?: Leaf
  readonly history?: HistoryPart
}

/** The texts of a proof. */
export function mapProofJson({ siblings, leaf, history }: MapProof): MapProofJson {
  const depth = siblings.length
  const bitmap = new Uint8Array(Math.ceil(depth / 8))
  const met: Hash[] = []
  for (const [i, sibling] of siblings.entries()) {
    if (equalBytes(sibling, emptyNode)) continue
    bitmap[i >> 3] = (bitmap[i >> 3] as number) | (0x80 >> (i & 7))
    met.push(sibling)
  }
  return {
    depth,
    path: encodeBase64url(concat(bitmap, ...met)),
    ...(leaf && { leaf: encodeBase64url(concat(leaf.key, leaf.value)) }),
    ...(history && { history: historyJson(history) }),
  }
}

function historyJson({ state, count, entries, base }: HistoryPart): NonNullable<MapProofJson['history']> {
  return { state, count, entries: encodeBase64url(concat(...entries)), ...(base && { base: toHex(base) }) }
}

/** A history that the map holds. */
export interface ProvedHistory {
  readonly state: 1 | 2
  readonly count: number
  /** The last ones, oldest first; all when there are `count`. */
  readonly entries: readonly Entry[]
  /** Digest of the history before these. */
  readonly base: Hash
}

/** Key to prove, and the commitment that its proof must lead to. */
export interface MapQuestion {
  /** Computed by the asker. */
  readonly key: MapKey
  readonly order: HistoryOrder
  /** Hash of the genesis block, internal order. */
  readonly genesis: Hash
  /** Entry 02 of the coinbase. */
  readonly didRoot: Hash
  /** Height of that coinbase: no entry is above it. */
  readonly height: number
  /** Time of its block: no entry is later. */
  readonly time?: number
}

/**
 * Checks what was sent as a MapProof. Returns the history of the key; undefined: it is proved that there is none. Throws a `ProofError`.
 */
export function checkMapProof(sent: unknown, question: MapQuestion): ProvedHistory | undefined {
  const fields = readFields(sent)
  const siblings = readPath(fields)
  if (fields.leaf !== undefined && fields.history !== undefined) fail('path-form', 'both a leaf and a history')
  const leaf = fields.leaf === undefined ? undefined : readLeaf(fields.leaf, siblings.length, question.key)
  const history = fields.history === undefined ? undefined : readHistory(fields.history)
  const proof = { siblings, ...(leaf && { leaf }), ...(history && { history }) }
  if (!equalBytes(didRoot(question.genesis, mapRootOf(proof, question.key)), question.didRoot)) {
    fail('path-root', 'the way leads to another root')
  }
  return history && readOrder(history, question)
}

/** The root of the map in which a key has the end that the proof shows. */
export function mapRootOf({ siblings, leaf, history }: MapProof, key: MapKey): Hash {
  let node = emptyNode
  if (leaf !== undefined) node = leafHash(leaf)
  if (history !== undefined) node = leafHash({ key, value: historyValue(history) })
  for (let depth = siblings.length - 1; depth >= 0; depth--) {
    const sibling = siblings[depth] as Hash
    node = bitAt(key, depth) === 1 ? innerHash(sibling, node) : innerHash(node, sibling)
  }
  return node
}

function historyValue({ state, count, base = emptyHistory, entries }: HistoryPart): Uint8Array {
  return leafValue({ state, count, digest: entries.reduce(extendHistory, base) })
}

interface Fields {
  readonly depth: number
  readonly path: string
  readonly leaf: string | undefined
  readonly history: HistoryFields | undefined
}

interface HistoryFields {
  readonly state: number
  readonly count: number
  readonly entries: string
  readonly base: string | undefined
}

/** A map proof as it was sent, without members that are not known. */
export function knownMembers(sent: unknown): MapProofJson {
  const { depth, path, leaf, history } = readFields(sent)
  return { depth, path, ...defined({ leaf, history: history && defined(history) }) } as MapProofJson
}

/** Members of the right types; others are ignored. */
function readFields(sent: unknown): Fields {
  const { depth, path, leaf, history } = members(sent, 'a map proof')
  return {
    depth: number(depth),
    path: text(path),
    leaf: optionalText(leaf),
    history: history === undefined ? undefined : readHistoryFields(history),
  }
}

function readHistoryFields(sent: unknown): HistoryFields {
  const { state, count, entries, base } = members(sent, 'a history')
  return { state: number(state), count: number(count), entries: text(entries), base: optionalText(base) }
}

function readPath({ depth, path }: Fields): Hash[] {
  if (!Number.isInteger(depth) || depth < 0 || depth > keyBits) fail('path-form', `depth ${depth}`)
  const bytes = path === '' ? new Uint8Array(0) : decodeBase64url(path)
  const bitmap = Math.ceil(depth / 8)
  if (bytes === undefined || bytes.length < bitmap) return fail('path-form', 'no base64url of the depth')
  const siblings: Hash[] = []
  let at = bitmap
  for (let i = 0; i < bitmap * 8; i++) {
    const isSet = ((bytes[i >> 3] as number) & (0x80 >> (i & 7))) !== 0
    if (i >= depth) {
      if (isSet) fail('path-form', `bit ${i} behind the depth`)
      continue
    }
    const sibling = isSet ? bytes.subarray(at, (at += hashSize)) : emptyNode
    if (sibling.length !== hashSize) fail('path-form', 'siblings are missing')
    if (isSet && equalBytes(sibling, emptyNode)) fail('path-form', 'a sibling of zeros')
    siblings.push(sibling)
  }
  if (at !== bytes.length) fail('path-form', 'bytes follow the siblings')
  if (depth > 0 && siblings[depth - 1] === emptyNode) fail('path-form', 'the way goes on where nothing else is')
  return siblings
}

function readLeaf(sent: string, depth: number, asked: MapKey): Leaf {
  const bytes = decodeBase64url(sent)
  if (bytes?.length !== 2 * hashSize) return fail('path-form', 'a leaf of another size')
  const leaf = { key: bytes.subarray(0, hashSize), value: bytes.subarray(hashSize) }
  if (equalBytes(leaf.key, asked)) fail('path-foreign', 'it is the asked leaf itself')
  if (!sharePath(leaf.key, asked, depth)) fail('path-foreign', 'the leaf is not on the way')
  return leaf
}

function readHistory({ state, count, entries, base }: HistoryFields): HistoryPart {
  const bytes = decodeBase64url(entries)
  if (state !== 1 && state !== 2) return fail('history-form', `state ${state}`)
  if (!Number.isInteger(count) || count < 1 || count > 0xffffffff) return fail('history-form', `count ${count}`)
  if (bytes === undefined || bytes.length % entrySize !== 0) return fail('history-form', 'no whole entries')
  const parts = pieces(bytes, entrySize)
  const given = parts.length
  if (given > count) return fail('history-form', 'more entries than counted')
  const before = base === undefined ? undefined : baseOf(base)
  if ((before !== undefined) !== given < count) return fail('history-form', 'a base exactly where entries are left out')
  return { state, count, entries: parts, base: before }
}

/** 64 lowercase hex digits. */
function baseOf(sent: string): Hash {
  const bytes = /^[0-9a-f]{64}$/.test(sent) ? fromHex(sent) : undefined
  return bytes ?? fail('history-form', 'the base is no hash')
}

/** Checks that the operations of a history can follow each other. */
function readOrder(
  { state, count, entries: parts, base = emptyHistory }: HistoryPart,
  question: MapQuestion,
): ProvedHistory {
  const { order, height, time = Infinity } = question
  const entries = parts.map(readEntry)
  const wrong = (reason: string): never => fail('history-order', reason)
  const operations = entries.map(({ operation }) => operation)
  const last = entries.at(-1) as Entry
  if (stateAfter(last.operation) !== state) wrong('the state is not that after the last operation')
  order({ state, count, operations })
  for (const [i, entry] of entries.entries()) {
    const before = entries[i - 1]
    if (entry.height > height || entry.time > time) wrong('an entry above the block')
    if (before !== undefined && (entry.height < before.height || entry.time < before.time)) wrong('entries go back')
  }
  return { state: state as 1 | 2, count, entries, base }
}
