import { elementOfPosting, type Posting, postingSteps, tokenOfPosting } from '../did-index/document-tokens.js'
import { changedChunk, chunkOf, chunkPosting, decodeChunk, encodeChunk } from '../did-index/posting-chunk.js'
import { isCounted, type Token } from '../did-index/token.js'
import { InvariantError } from '../errors/rule-error.js'
import { Reader, Writer } from '../primitives/codec.js'
import { eachSteps, type Steps } from '../primitives/steps.js'
import { forEachCooperatively, runCooperatively } from '../runtime/cooperative.js'
import type { Overlay } from './overlay.js'
import { indexUndoSteps, type Key, keys, type Location, type RowBefore, values } from './schema.js'

/** The rows by which a search finds documents: ordinals, postings, numbers of documents. */

/**
 * A reorganisation goes no deeper. Without a row of its own a block is taken back by its documents.
 * @limit count: blocks above and with a block for which the rows of its index before it are kept
 */
export const indexUndoHeights = 288

/**
 * The height from which blocks have left the row that takes their index back, all those that changed the index; blocks below it may
 * lack theirs. It rises where a block leaves none, and where one is taken back whose rows far below are dropped already.
 */
export function indexUndoFrom(view: Pick<Overlay, 'get'>): number {
  const row = view.get(keys.meta('indexUndo'))
  return row === undefined ? 0 : new Reader(row).u32()
}

export function putIndexUndoFrom(overlay: Overlay, height: number): void {
  if (height !== indexUndoFrom(overlay)) overlay.put(keys.meta('indexUndo'), new Writer(4).u32(height).finish())
}

/** How far below the end of what a node connects a block is: deep ones need no rows to take them back. */
export interface IndexDepth {
  /** Height to which the chain is known to go on. */
  readonly knownHeight: number
}

/** Rows loaded in one call. */
const rowsAtOnce = 1024

const noPostings = new Uint16Array(0)
const noSet: ReadonlySet<Posting> = new Set()

/** The ordinal of the next DID: ordinals are dense, so the end of their rows is found by halving. */
export function nextOrdinal(rows: { get(key: Key): Uint8Array | undefined }): number {
  const isThere = (ordinal: number) => rows.get(keys.ordinal(ordinal)) !== undefined
  if (!isThere(0)) return 0
  let there = 0
  let absent = 1
  for (; isThere(absent); absent *= 2) there = absent
  while (absent - there > 1) {
    const middle = Math.floor((there + absent) / 2)
    if (isThere(middle)) there = middle
    else absent = middle
  }
  return absent
}

/** Changes of one chunk of a token. A document of the largest size has thousands of tokens. */
interface ChunkChange {
  readonly token: Token
  readonly chunk: number
  /** Postings to put in (true) and to take out (false). */
  readonly postings: Map<number, boolean>
}

/** The document of a DID before and after a block; undefined: none. */
interface ChangedDocument {
  readonly ordinal: number
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Changes of the index by the documents of a block, each row read and written once. */
export class TokenIndexChanges {
  #documents: ChangedDocument[] = []
  readonly #chunks = new Map<string, ChunkChange>()
  readonly #counts = new Map<Token, number>()
  readonly #created: Key[] = []

  /** Stages the row of a new DID. */
  create(overlay: Overlay, ordinal: number, create: Location): void {
    const key = keys.ordinal(ordinal)
    overlay.put(key, values.location.encode(create))
    this.#created.push(key)
  }

  /** Notes that the document of a DID has changed; undefined: there is none. */
  change(ordinal: number, before: string | undefined, after: string | undefined): void {
    if (before !== after) this.#documents.push({ ordinal, before, after })
  }

  /** Works out what the documents noted so far change. */
  *#noteSteps(): Steps {
    const documents = this.#documents
    this.#documents = []
    for (const { ordinal, before, after } of documents) {
      const from = before === undefined ? noSet : yield* postingSteps(before)
      const to = after === undefined ? noSet : yield* postingSteps(after)
      yield* eachSteps(from, (posting) => {
        if (!to.has(posting)) this.#note(ordinal, posting, false)
      })
      yield* eachSteps(to, (posting) => {
        if (!from.has(posting)) this.#note(ordinal, posting, true)
      })
      this.#count(tokensOf(from), tokensOf(to))
    }
  }

  #note(ordinal: number, posting: Posting, isAdded: boolean): void {
    const [token, chunk] = [tokenOfPosting(posting), chunkOf(ordinal)]
    const id = token + String.fromCharCode(chunk >>> 16, chunk & 0xffff)
    let change = this.#chunks.get(id)
    if (change === undefined) this.#chunks.set(id, (change = { token, chunk, postings: new Map() }))
    const number = chunkPosting(ordinal, elementOfPosting(posting))
    // What an earlier operation of the block did is undone by a later one.
    if (change.postings.get(number) === !isAdded) change.postings.delete(number)
    else change.postings.set(number, isAdded)
  }

  #count(from: ReadonlySet<Token>, to: ReadonlySet<Token>): void {
    const add = (token: Token, by: number) => this.#counts.set(token, (this.#counts.get(token) ?? 0) + by)
    for (const token of from) if (!to.has(token)) add(token, -1)
    for (const token of to) if (!from.has(token)) add(token, 1)
  }

  /** Stages the changes with the row that takes them back, and drops the row of the block that is now too deep. */
  async stage(overlay: Overlay, height: number, { knownHeight }: IndexDepth = { knownHeight: height }): Promise<void> {
    const before = await this.put(overlay)
    const created = this.#created.map((key) => ({ key, value: undefined }))
    const rows = [...created, ...before]
    const isDeep = height <= knownHeight - indexUndoHeights
    if (rows.length > 0) {
      if (isDeep) putIndexUndoFrom(overlay, height + 1)
      else overlay.put(keys.indexUndo(height), await runCooperatively(indexUndoSteps(rows)))
    }
    if (height < indexUndoHeights) return
    const old = keys.indexUndo(height - indexUndoHeights)
    if (overlay.get(old) !== undefined) overlay.del(old)
  }

  /** Stages the changes; returns the rows as they were. */
  async put(overlay: Overlay): Promise<RowBefore[]> {
    await runCooperatively(this.#noteSteps())
    const before: RowBefore[] = []
    const chunks = inPortions(this.#chunks.values(), ({ postings }) => postings.size > 0)
    for (const some of chunks) {
      const changes = some.map(({ token, chunk, postings }) => ({ key: keys.posting(token, chunk), postings }))
      await overlay.load(changes.map(({ key }) => key))
      await forEachCooperatively(changes, ({ key, postings }) => {
        const value = overlay.get(key)
        before.push({ key, value })
        const changed = changedChunk(value === undefined ? noPostings : decodeChunk(value), postings)
        if (changed.length === 0) overlay.del(key)
        else overlay.put(key, encodeChunk(changed))
      })
    }
    for (const some of inPortions(this.#counts, ([, by]) => by !== 0)) {
      const changes = some.map(([token, by]) => ({ key: keys.tokenCount(token), by }))
      await overlay.load(changes.map(({ key }) => key))
      await forEachCooperatively(changes, (change) => this.#putCount(overlay, change, before))
    }
    return before
  }

  #putCount(overlay: Overlay, { key, by }: { readonly key: Key; readonly by: number }, before: RowBefore[]): void {
    const value = overlay.get(key)
    before.push({ key, value })
    const count = (value === undefined ? 0 : values.tokenCount.decode(value)) + by
    if (count < 0) throw new InvariantError('fewer than no documents would have a token')
    if (count === 0) overlay.del(key)
    else overlay.put(key, values.tokenCount.encode(count))
  }
}

/** The items that are wanted, in arrays of as many as are loaded in one call. */
function* inPortions<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T[], void> {
  let some: T[] = []
  for (const item of items) {
    if (!isWanted(item)) continue
    some.push(item)
    if (some.length < rowsAtOnce) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** Tokens of postings whose documents are counted. */
function tokensOf(postings: ReadonlySet<Posting>): ReadonlySet<Token> {
  const tokens = new Set<Token>()
  for (const posting of postings) if (isCounted(posting)) tokens.add(tokenOfPosting(posting))
  return tokens
}

/** A document of a block that is taken back. */
export interface TakenBack {
  readonly ordinal: number
  readonly before: string | undefined
  readonly after: string | undefined
  /** Whether the DID exists without the block. */
  readonly exists: boolean
}

/**
 * Stages the index as it was before a block: from the row that the block left, or where that is gone from the documents, which
 * gives the same rows.
 */
export async function putIndexBack(overlay: Overlay, height: number, documents: readonly TakenBack[]): Promise<void> {
  const dropped = height - indexUndoHeights
  putIndexUndoFrom(overlay, Math.min(height, Math.max(indexUndoFrom(overlay), dropped + 1)))
  if (documents.length === 0) return
  const row = overlay.get(keys.indexUndo(height))
  if (row !== undefined) {
    const rows = values.indexUndo.decode(row)
    await forEachCooperatively(rows, ({ key, value }) => {
      if (value === undefined) overlay.del(key)
      else overlay.put(key, value)
    })
    overlay.del(keys.indexUndo(height))
    return
  }
  const changes = new TokenIndexChanges()
  await forEachCooperatively(documents, ({ ordinal, before, after, exists }) => {
    changes.change(ordinal, before, after)
    if (!exists) overlay.del(keys.ordinal(ordinal))
  })
  await changes.put(overlay)
}
