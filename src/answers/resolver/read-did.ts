import { parseDate } from '../../identity/did/date.js'
import type {
  GivenUpOperation,
  OperationMoment,
  ResolveContext,
  ResolvedTransaction,
} from '../../identity/did/resolution.js'
import type { StateProof } from '../../identity/did/state-proof.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { provedEntry } from '../prover/map-proofs.js'
import type { Prover } from '../prover/prover.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { present } from '../../ledger/storage/rows/row-reader.js'
import type { TipRow } from '../../ledger/storage/rows/tables.js'
import type { ConsistentReader } from './consistent-reader.js'
import { activeBlock, DidVersions, expiryOf, type ReadOperation } from './did-versions.js'
import { type HistoryOptions, LongHistory, readHistory } from './history.js'
import { historyLimits } from './history-limits.js'
import type { ResolveRequest, Slice } from './resolve-request.js'

/** State of a DID in the rows, regardless of the clock. */
export interface KnownDid {
  /** Whether it exists: an answer that it does not is known with its proof alone. */
  readonly exists: boolean
  readonly deactivated: boolean
  /** When the last document expires, in Unix seconds; meaningless once deactivated. */
  readonly expiresAt: number
  readonly transactions: readonly ResolvedTransaction[]
  /** Operations that were asked for, and of which only this is there. */
  readonly givenUp?: readonly GivenUpOperation[]
  /** Position of a part of a history. */
  readonly slice?: { readonly total: number; readonly start: number; readonly count: number }
  readonly context?: ResolveContext
  readonly proof?: StateProof
  /** Hash of the tip at which it holds. */
  readonly tip: Hash
}

/** A DID in full, and the key that it is of; undefined for a text that no key can have. */
export interface AskedDid {
  readonly did: string
  readonly key: ProgramHash | undefined
}

/** Reads DIDs from the rows, each as of one tip, or of a block below it where that is proved. */
export class DidReader {
  readonly #database: RowSource
  readonly #reader: ConsistentReader
  readonly #prover: Prover
  readonly #places = new WorkSlots(historyLimits.places, historyLimits.waiting, 'histories')

  constructor(database: RowSource, reader: ConsistentReader, prover: Prover) {
    this.#database = database
    this.#reader = reader
    this.#prover = prover
  }

  /**
   * Reads the requested versions of a DID; undefined if it does not exist, unless that is to be proved. `key`: undefined for a text that no
   * key can have. `busy` if blocks arrive faster than it can be read.
   */
  read(asked: AskedDid, request: ResolveRequest, options: HistoryOptions = {}): Promise<KnownDid | undefined> {
    if (!request.all) return this.#reader.read((tip) => this.#version(asked, request, tip, options))
    return this.#reader.untilStable(() => this.#history(asked, request, options))
  }

  async #version(
    asked: AskedDid,
    request: ResolveRequest & { all: false },
    tip: TipRow,
    { most }: HistoryOptions,
  ): Promise<KnownDid | undefined> {
    const { version, context, withDocument, proof } = request
    const block = proof === undefined ? tip : await this.#prover.block(tip, proof)
    const rows = this.#rows(asked, proof && block)
    if (rows === undefined) return proof && this.#absent(asked, { block, tip })
    const sequence = version === undefined ? rows.count - 1 : rows.find(version)
    const found = await this.#found(rows, sequence, withDocument)
    const isDocument = sequence !== undefined && sequence <= rows.documentSequence
    const shown = isDocument ? expiryOf((found[0] as ReadOperation).operation) : undefined
    const isLast = sequence === rows.documentSequence
    const last = rows.deactivated ? undefined : isLast ? shown : await rows.lastExpiry()
    return {
      ...stateOf(rows, last),
      transactions: found.map(({ resolved }) => resolved),
      tip: tip.hash,
      ...(context
        ? { context: this.#context(rows, sequence, shown ?? (await lastExpiry(rows, last)), found, block) }
        : {}),
      ...(proof && { proof: await this.#proof({ ...asked, rows, most }, block, proof.history ? 0 : (sequence ?? 0)) }),
    }
  }

  #rows({ key, did }: AskedDid, block: TipRow | undefined): DidVersions | undefined {
    return key && DidVersions.of(this.#database, key, did, block?.height)
  }

  /** That there is no such DID, with its proof. */
  async #absent(asked: AskedDid, { block, tip }: { block: TipRow; tip: TipRow }): Promise<KnownDid> {
    const proof = await this.#proof(asked, block, 0)
    return { exists: false, deactivated: false, expiresAt: 0, transactions: [], proof, tip: tip.hash }
  }

  async #proof(
    { did, key, rows, most = Infinity }: AskedDid & { rows?: DidVersions; most?: number | undefined },
    block: TipRow,
    from: number,
  ): Promise<StateProof> {
    if (rows !== undefined && (rows.count - from) * provedEntry > most) throw new LongHistory()
    return this.#prover.proof(block, [await this.#prover.didMap(block, { did, key, from })])
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
    asked: AskedDid,
    { slice, context, proof }: ResolveRequest & { all: true },
    options: HistoryOptions,
  ): Promise<KnownDid | undefined> {
    const opened = await this.#reader.read(async (tip) => {
      const block = proof === undefined ? tip : await this.#prover.block(tip, proof)
      const rows = this.#rows(asked, proof && block)
      if (rows === undefined) return proof && (await this.#absent(asked, { block, tip }))
      const last = rows.deactivated ? undefined : await rows.lastExpiry()
      return { rows, last, tip, block, newest: context ? await lastExpiry(rows, last) : '' }
    })
    if (opened === undefined || 'exists' in opened) return opened
    const { rows, last, tip, block, newest } = opened
    const { count } = rows
    const asOf = <T>(read: () => T | Promise<T>) => this.#reader.readAsOf(block, read)
    const read = (start: number, end: number) => asOf(() => rows.operations(start, end))
    const { did } = asked
    // A proof shows all that was asked for.
    const had = proof === undefined ? await asOf(() => rows.firstHad) : 0
    const found = await readHistory({ ...options, did, count, slice, first: had, places: this.#places, read })
    const first = found[0]
    const start = slice?.skip ?? 0
    const givenUp = await asOf(() => givenUpBefore(rows, { had, slice, found: found.length }))
    const sequence = first === undefined ? undefined : count - 1 - start
    const isDocument = first !== undefined && sequence !== undefined && sequence <= rows.documentSequence
    const expires = isDocument ? expiryOf(first.operation) : newest
    const oldest = proof?.history === true || sequence === undefined ? 0 : sequence + 1 - found.length
    return {
      ...stateOf(rows, last),
      transactions: found.map(({ resolved }) => resolved),
      ...(givenUp.length > 0 && { givenUp }),
      ...(slice === undefined ? {} : { slice: { total: count, start, count: found.length + givenUp.length } }),
      tip: tip.hash,
      ...(context ? { context: await asOf(() => this.#context(rows, sequence, expires, found, block)) } : {}),
      ...(proof && { proof: await asOf(() => this.#proof({ ...asked, rows, most: options.most }, block, oldest)) }),
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

/** The operations asked for that are older than the first one had; none where the part ended before it. */
function givenUpBefore(
  rows: DidVersions,
  { had, slice, found }: { readonly had: number; readonly slice: Slice | undefined; readonly found: number },
): GivenUpOperation[] {
  const newest = Math.max(0, rows.count - (slice?.skip ?? 0))
  const oldest = slice === undefined ? 0 : Math.max(0, newest - slice.limit)
  const end = newest - found
  return end > had ? [] : rows.givenUp(oldest, end)
}

function stateOf(
  { deactivated }: DidVersions,
  last: string | undefined,
): Pick<KnownDid, 'exists' | 'deactivated' | 'expiresAt'> {
  const expiresAt = last === undefined ? 0 : present(parseDate(last), 'the expiry of a document')
  return { exists: true, deactivated, expiresAt }
}

/** When the last document expires; that of a deactivated DID is in its transaction alone. */
async function lastExpiry(rows: DidVersions, known: string | undefined): Promise<string> {
  return known ?? expiryOf((await rows.operation(rows.documentSequence)).operation)
}
