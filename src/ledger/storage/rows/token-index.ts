import { type DocumentTokens, tokenSteps } from '../../../identity/did-index/document-tokens.js'
import { changedChunk, chunkOf, chunkPosting, type PostingChange } from '../../../identity/did-index/posting-chunk.js'
import { isCounted, type Token } from '../../../identity/did-index/token.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { equalBytes } from '../../../base/primitives/bytes.js'
import { entrySteps, type Steps } from '../../../base/primitives/steps.js'
import { forEachCooperatively, runCooperatively } from '../../../base/runtime/cooperative.js'
import { putOrDelete, type RowReader, type StagedRows } from './row-reader.js'
import { indexUndoSteps, type RowBefore } from './index-tables.js'
import { type Key, type Location, meta, tables } from './tables.js'

/** The rows by which a search finds documents: ordinals, postings, numbers of documents. */

/**
 * A reorganisation goes no deeper. Without a row of its own a block is taken back by its documents.
 * @tuning count: blocks above and with a block for which the rows of its index before it are kept
 */
export const indexUndoHeights = 288

/**
 * The height from which blocks have left the row that takes their index back, all those that changed the index; blocks below it may
 * lack theirs. It rises where a block leaves none, and where one is taken back whose rows far below are dropped already.
 */
export function indexUndoFrom(view: RowReader): number {
  return meta.indexUndo.get(view) ?? 0
}

export function putIndexUndoFrom(overlay: StagedRows, height: number): void {
  if (height !== indexUndoFrom(overlay)) meta.indexUndo.put(overlay, height)
}

/** How far below the end of what a node connects a block is: deep ones need no rows to take them back. */
export interface IndexDepth {
  /** Height to which the chain is known to go on. */
  readonly knownHeight: number
}

/** Rows loaded in one call. */
const rowsAtOnce = 1024

/** Tokens worked on in one step. */
const stepTokens = 64

const noPostings = new Uint16Array(0)
const noTokens: DocumentTokens = new Map()

/** The ordinal of the next DID: ordinals are dense, so the end of their rows is found by halving. */
export function nextOrdinal(rows: { get(key: Key): Uint8Array | undefined }): number {
  const isThere = (ordinal: number) => rows.get(tables.ordinal.key(ordinal)) !== undefined
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

/** The document of a DID before and after an operation: its row, or its tokens where they are known; undefined: none. */
interface ChangedDocument {
  readonly before: Uint8Array | DocumentTokens | undefined
  readonly after: Uint8Array | DocumentTokens | undefined
  /** Gets the tokens of the document after it. */
  readonly found?: ((tokens: DocumentTokens) => void) | undefined
}

/** Changes of the index by the documents of a block, each row read and written once. */
export class TokenIndexChanges {
  #documents: (ChangedDocument & { readonly ordinal: number })[] = []
  /** Changes by chunk and token. */
  readonly #chunks = new Map<number, Map<Token, PostingChange[]>>()
  readonly #counts = new Map<Token, number>()
  readonly #created: Key[] = []

  /** Stages the row of a new DID. */
  create(overlay: StagedRows, ordinal: number, create: Location): void {
    const key = tables.ordinal.key(ordinal)
    overlay.put(key, tables.location.encode(create))
    this.#created.push(key)
  }

  /** Notes that the document of a DID has changed; undefined: there is none. */
  change(ordinal: number, { before, after, found }: ChangedDocument): void {
    if (before instanceof Uint8Array && after instanceof Uint8Array && equalBytes(before, after)) return
    this.#documents.push({ ordinal, before, after, found })
  }

  /** Works out what the documents noted so far change. */
  *#noteSteps(): Steps {
    const documents = this.#documents
    this.#documents = []
    for (const { ordinal, before, after, found } of documents) {
      const from = before instanceof Uint8Array ? yield* tokenSteps(before) : (before ?? noTokens)
      const to = after instanceof Uint8Array ? yield* tokenSteps(after) : (after ?? noTokens)
      found?.(to)
      const chunk = this.#chunk(chunkOf(ordinal))
      yield* entrySteps(
        from,
        (elements, token) => {
          const kept = to.get(token)
          note(chunk, token, ordinal, kept, elements, (posting) => ~posting)
          if (kept === undefined) this.#count(token, -1)
        },
        stepTokens,
      )
      yield* entrySteps(
        to,
        (elements, token) => {
          const had = from.get(token)
          note(chunk, token, ordinal, had, elements, (posting) => posting)
          if (had === undefined) this.#count(token, 1)
        },
        stepTokens,
      )
      yield
    }
  }

  #chunk(chunk: number): Map<Token, PostingChange[]> {
    let changes = this.#chunks.get(chunk)
    if (changes === undefined) this.#chunks.set(chunk, (changes = new Map()))
    return changes
  }

  #count(token: Token, by: number): void {
    if (isCounted(token)) this.#counts.set(token, (this.#counts.get(token) ?? 0) + by)
  }

  /** Stages the changes with the row that takes them back, and drops the row of the block that is now too deep. */
  async stage(
    overlay: StagedRows,
    height: number,
    { knownHeight }: IndexDepth = { knownHeight: height },
  ): Promise<void> {
    const before = await this.put(overlay)
    const created = this.#created.map((key) => ({ key, value: undefined }))
    const rows = [...created, ...before]
    const isDeep = height <= knownHeight - indexUndoHeights
    if (rows.length > 0) {
      if (isDeep) putIndexUndoFrom(overlay, height + 1)
      else overlay.put(tables.indexUndo.key(height), await runCooperatively(indexUndoSteps(rows)))
    }
    if (height < indexUndoHeights) return
    const old = tables.indexUndo.key(height - indexUndoHeights)
    if (overlay.get(old) !== undefined) overlay.del(old)
  }

  /** Stages the changes; returns the rows as they were. `areNew`: no chunk of them has a posting so far. */
  async put(overlay: StagedRows, { areNew = false } = {}): Promise<RowBefore[]> {
    await runCooperatively(this.#noteSteps())
    const before: RowBefore[] = []
    for (const changes of inPortions(this.#changedPostings())) {
      const rows = areNew ? undefined : (await overlay.getMany(changes.map(({ key }) => key))).values()
      await forEachCooperatively(changes, (change) => putPostings(overlay, change, rows?.next().value, before))
    }
    for (const changes of inPortions(this.#changedCounts())) {
      const rows = (await overlay.getMany(changes.map(({ key }) => key))).values()
      await forEachCooperatively(changes, (change) => putCount(overlay, change, rows.next().value, before))
    }
    return before
  }

  *#changedPostings(): Generator<ChangedPostings, void> {
    for (const [chunk, tokens] of this.#chunks) {
      for (const [token, changes] of tokens) yield { key: tables.posting.key(token, chunk), changes }
    }
  }

  *#changedCounts(): Generator<ChangedCount, void> {
    for (const [token, by] of this.#counts) if (by !== 0) yield { key: tables.tokenCount.key(token), by }
  }
}

/** Notes the elements of a document's token that are not among others. */
function note(
  chunk: Map<Token, PostingChange[]>,
  token: Token,
  ordinal: number,
  others: readonly number[] | undefined,
  elements: readonly number[],
  changeOf: (posting: number) => PostingChange,
): void {
  let changes = chunk.get(token)
  for (const element of elements) {
    if (others?.includes(element) === true) continue
    if (changes === undefined) chunk.set(token, (changes = []))
    changes.push(changeOf(chunkPosting(ordinal, element)))
  }
}

interface ChangedPostings {
  readonly key: Key
  readonly changes: readonly PostingChange[]
}

function putPostings(
  overlay: StagedRows,
  { key, changes }: ChangedPostings,
  value: Uint8Array | undefined,
  before: RowBefore[],
): void {
  const changed = changedChunk(value === undefined ? noPostings : tables.posting.decode(value), changes)
  const after = changed.length === 0 ? undefined : tables.posting.encode(changed)
  // A later operation of the block may undo what an earlier one did.
  if (isSameRow(value, after)) return
  before.push({ key, value })
  putOrDelete(overlay, key, after)
}

function isSameRow(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return equalBytes(one, other)
}

interface ChangedCount {
  readonly key: Key
  readonly by: number
}

function putCount(
  overlay: StagedRows,
  { key, by }: ChangedCount,
  value: Uint8Array | undefined,
  before: RowBefore[],
): void {
  before.push({ key, value })
  const count = (value === undefined ? 0 : tables.tokenCount.decode(value)) + by
  if (count < 0) throw new InvariantError('fewer than no documents would have a token')
  putOrDelete(overlay, key, count === 0 ? undefined : tables.tokenCount.encode(count))
}

/** Items in arrays of as many as are loaded in one call. */
function* inPortions<T>(items: Iterable<T>): Generator<T[], void> {
  let some: T[] = []
  for (const item of items) {
    some.push(item)
    if (some.length < rowsAtOnce) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** A document of a block that is taken back. */
export interface TakenBack {
  readonly ordinal: number
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** Whether the DID exists without the block. */
  readonly exists: boolean
}

/**
 * Stages the index as it was before a block: from the row that the block left, or where that is gone from the documents, which
 * gives the same rows.
 */
export async function putIndexBack(
  overlay: StagedRows,
  height: number,
  documents: readonly TakenBack[],
): Promise<void> {
  const dropped = height - indexUndoHeights
  putIndexUndoFrom(overlay, Math.min(height, Math.max(indexUndoFrom(overlay), dropped + 1)))
  if (documents.length === 0) return
  const rows = tables.indexUndo.get(overlay, height)
  if (rows !== undefined) {
    await forEachCooperatively(rows, ({ key, value }) => putOrDelete(overlay, key, value))
    overlay.del(tables.indexUndo.key(height))
    return
  }
  const changes = new TokenIndexChanges()
  await forEachCooperatively(documents, ({ ordinal, before, after, exists }) => {
    changes.change(ordinal, { before, after })
    if (!exists) overlay.del(tables.ordinal.key(ordinal))
  })
  await changes.put(overlay)
}
