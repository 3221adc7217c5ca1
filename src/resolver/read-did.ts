import { parseDate } from '../did/date.js'
import type { OperationMoment, ResolveContext, ResolvedTransaction } from '../did/resolution.js'
import type { ProgramHash } from '../primitives/address.js'
import { displayHash } from '../primitives/bytes.js'
import { defined } from '../primitives/defined.js'
import type { Hash } from '../primitives/hash.js'
import type { Database } from '../storage/database.js'
import { present } from '../storage/did-rows.js'
import type { TipRow } from '../storage/schema.js'
import type { ConsistentReader } from './consistent-reader.js'
import { activeBlock, DidVersions, expiryOf, type ReadOperation } from './did-versions.js'
import { type HistoryOptions, readHistory } from './history.js'
import { historyLimits } from './history-limits.js'
import { Places } from './places.js'
import type { ResolveRequest } from './resolve-request.js'

/** What the rows say of a DID, regardless of the clock. */
export interface KnownDid {
  readonly deactivated: boolean
  /** When the last document expires, in Unix seconds; meaningless once deactivated. */
  readonly expiresAt: number
  readonly transactions: readonly ResolvedTransaction[]
  /** Of a part of a history. */
  readonly slice?: { readonly total: number; readonly start: number; readonly count: number }
  readonly context?: ResolveContext
  /** Hash of the tip at which it holds. */
  readonly tip: Hash
}

/** Reads DIDs from the rows, each as of one tip. */
export class DidReader {
  readonly #database: Database
  readonly #reader: ConsistentReader
  readonly #places = new Places(historyLimits.places, historyLimits.waiting, 'histories')

  constructor(database: Database, reader: ConsistentReader) {
    this.#database = database
    this.#reader = reader
  }

  /** What is asked for of a DID; undefined where it does not exist. `busy` where blocks arrive faster than it can be read. */
  read(
    key: ProgramHash,
    did: string,
    request: ResolveRequest,
    options: HistoryOptions = {},
  ): Promise<KnownDid | undefined> {
    if (!request.all) return this.#reader.read((tip) => this.#version(key, did, request, tip))
    return this.#reader.untilStable(() => this.#history(key, did, request, options))
  }

  async #version(
    key: ProgramHash,
    did: string,
    { version, context, withDocument }: ResolveRequest & { all: false },
    tip: TipRow,
  ): Promise<KnownDid | undefined> {
    const rows = DidVersions.of(this.#database, key, did)
    if (rows === undefined) return undefined
    const sequence = version === undefined ? rows.count - 1 : rows.find(version)
    const found = await this.#found(rows, sequence, withDocument)
    const isDocument = sequence !== undefined && sequence <= rows.documentSequence
    const shown = isDocument ? expiryOf((found[0] as ReadOperation).operation) : undefined
    const last = rows.deactivated ? undefined : sequence === rows.documentSequence ? shown : rows.lastExpiry()
    return {
      ...stateOf(rows, last),
      transactions: found.map(({ resolved }) => resolved),
      tip: tip.hash,
      ...(context
        ? { context: this.#context(rows, sequence, shown ?? (await lastExpiry(rows, last)), found, tip) }
        : {}),
    }
  }

  /** The operation of a version; `withDocument`: a deactivation with the last document after it. */
  async #found(
    rows: DidVersions,
    sequence: number | undefined,
    withDocument: boolean,
  ): Promise<readonly ReadOperation[]> {
    if (sequence === undefined) return []
    const start = withDocument ? Math.min(sequence, rows.documentSequence) : sequence
    return rows.operations(start, sequence + 1)
  }

  async #history(
    key: ProgramHash,
    did: string,
    { slice, context }: ResolveRequest & { all: true },
    options: HistoryOptions,
  ): Promise<KnownDid | undefined> {
    const opened = await this.#reader.read(async (tip) => {
      const rows = DidVersions.of(this.#database, key, did)
      if (rows === undefined) return undefined
      const last = rows.deactivated ? undefined : rows.lastExpiry()
      return { rows, last, tip, newest: context ? await lastExpiry(rows, last) : '' }
    })
    if (opened === undefined) return undefined
    const { rows, last, tip, newest } = opened
    const { count } = rows
    const read = (start: number, end: number) => this.#reader.readAsOf(tip, () => rows.operations(start, end))
    const found = await readHistory({ ...options, did, count, slice, places: this.#places, read })
    const first = found[0]
    const start = slice?.skip ?? 0
    const sequence = first === undefined ? undefined : count - 1 - start
    const isDocument = first !== undefined && sequence !== undefined && sequence <= rows.documentSequence
    const expires = isDocument ? expiryOf(first.operation) : newest
    return {
      ...stateOf(rows, last),
      transactions: found.map(({ resolved }) => resolved),
      ...(slice === undefined ? {} : { slice: { total: count, start, count: found.length } }),
      tip: tip.hash,
      ...(context
        ? { context: await this.#reader.readAsOf(tip, () => this.#context(rows, sequence, expires, found, tip)) }
        : {}),
    }
  }

  /** `sequence`: of the version, the first of those found; undefined without one. `expires`: of its document. */
  #context(
    rows: DidVersions,
    sequence: number | undefined,
    expires: string,
    found: readonly ReadOperation[],
    tip: TipRow,
  ): ResolveContext {
    const update = sequence === undefined ? 0 : Math.min(sequence, rows.documentSequence)
    const next = sequence === undefined || sequence + 1 === rows.count ? undefined : rows.moment(sequence + 1)
    const momentOf = (at: number): OperationMoment => {
      const known = sequence === undefined ? undefined : found[sequence - at]?.resolved
      return known === undefined ? rows.moment(at) : { txid: known.txid, timestamp: known.timestamp }
    }
    return {
      height: tip.height,
      blockHash: displayHash(tip.hash),
      time: activeBlock(this.#database, tip.height).time,
      count: rows.count,
      created: momentOf(0),
      ...defined({ updated: update === 0 ? undefined : momentOf(update), next }),
      expires,
      at: found.map(({ block }) => ({
        height: block.height,
        blockHash: displayHash(block.hash),
        confirmations: tip.height - block.height + 1,
      })),
    }
  }
}

function stateOf({ deactivated }: DidVersions, last: string | undefined): { deactivated: boolean; expiresAt: number } {
  return { deactivated, expiresAt: last === undefined ? 0 : present(parseDate(last), 'the expiry of a document') }
}

/** When the last document expires; that of a deactivated DID is in its transaction alone. */
async function lastExpiry(rows: DidVersions, known: string | undefined): Promise<string> {
  return known ?? expiryOf((await rows.operation(rows.documentSequence)).operation)
}
