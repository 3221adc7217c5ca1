import { decodeBase64url } from '../../identity/did/base64url.js'
import { formatDate } from '../../identity/did/date.js'
import type { GivenUpOperation, OperationMoment, ResolvedTransaction } from '../../identity/did/resolution.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { displayHash, equalBytes, toHex, utf8 } from '../../base/primitives/bytes.js'
import { type DidOperation, nameOfNumber } from '../../base/primitives/did-operation.js'
import type { Hash } from '../../base/primitives/hash.js'
import { payloadOf } from '../../base/primitives/transaction-parts.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { didOperation, firstHad, operationOf, operationsUpTo } from '../../ledger/storage/rows/did-reader.js'
import { presentAt } from '../../ledger/storage/rows/prune-rows.js'
import { blockTime } from '../../ledger/storage/rows/header-rows.js'
import { present } from '../../ledger/storage/rows/row-reader.js'
import { type DidHeadRow, type DidOperationRow, type Location, tables } from '../../ledger/storage/rows/tables.js'
import type { VersionRequest } from './resolve-request.js'
import { shownOperation } from '../../identity/did/shown-operation.js'

/** A block of the active chain. */
export interface ActiveBlock {
  readonly height: number
  readonly hash: Hash
  /** Unix seconds. */
  readonly time: number
}

/** An operation with its transaction and its block. */
export interface ReadOperation {
  readonly operation: DidOperation
  readonly resolved: ResolvedTransaction
  readonly block: ActiveBlock
  /** Bytes of the transaction. */
  readonly bytes: number
}

/** Operations of one DID, by its rows; the caller sees to it that they are of one state of the chain. */
export class DidVersions {
  readonly #database: RowSource
  readonly #key: ProgramHash
  readonly #did: string
  /** Number of operations. */
  readonly count: number
  readonly deactivated: boolean
  /** Sequence number of the last create or update. */
  readonly documentSequence: number
  /** Whether no operation is above the block. */
  readonly #isLatest: boolean

  private constructor(database: RowSource, key: ProgramHash, did: string, head: DidHeadRow, isLatest: boolean) {
    this.#database = database
    this.#key = key
    this.#did = did
    this.count = head.operationCount
    this.deactivated = head.status === 'deactivated'
    this.documentSequence = head.documentSequence
    this.#isLatest = isLatest
  }

  /** Those up to a height; undefined where the DID does not exist there. */
  static of(database: RowSource, key: ProgramHash, did: string, height = Infinity): DidVersions | undefined {
    const head = tables.didHead.get(database, key)
    if (head === undefined) return undefined
    const count = height === Infinity ? head.operationCount : operationsUpTo(database, key, height)
    if (count === head.operationCount) return new DidVersions(database, key, did, head, true)
    // Nothing follows a deactivation.
    const before = { ...head, status: 'valid', operationCount: count, documentSequence: count - 1 } as const
    return count === 0 ? undefined : new DidVersions(database, key, did, before, false)
  }

  /** The operations from number `start` on, before number `end`, newest first. */
  async operations(start: number, end: number): Promise<ReadOperation[]> {
    const numbers = Array.from({ length: end - start }, (_, i) => end - 1 - i)
    await this.#database.load(() => numbers.map((number) => tables.didOperation.key(this.#key, number)))
    const rows = numbers.map((number) => this.#row(number))
    const wanted = rows.map(({ height, index }) => tables.transaction.key(height, index))
    // A single read is cheaper on this thread; many reads belong on the threads of the database.
    const found =
      wanted.length === 1 ? wanted.map((one) => this.#database.get(one)) : await this.#database.getMany(wanted)
    await this.#database.load(() => rows.map(({ height }) => tables.active.key(height)))
    return rows.map(({ height, index, txid }, i) => {
      const at = { height, index }
      const transaction = presentAt(this.#database, at, found[i], 'the transaction of an operation')
      const operation = operationOf(payloadOf(transaction))
      const block = this.#block(height)
      const timestamp = formatDate(block.time)
      const resolved = { txid: displayHash(txid), timestamp, operation: shownOperation(operation, this.#did) }
      return { operation, resolved, block, bytes: transaction.length }
    })
  }

  async operation(sequence: number): Promise<ReadOperation> {
    const [read] = await this.operations(sequence, sequence + 1)
    return present(read, 'an operation')
  }

  /** Number of the first operation from which on all transactions are there. */
  get firstHad(): number {
    return Math.min(firstHad(this.#database, this.#key), this.documentSequence)
  }

  /** The hashes of the operations from number `start` on, before number `end`, whose transactions are not there; newest first. */
  givenUp(start: number, end: number): GivenUpOperation[] {
    return Array.from({ length: Math.max(0, end - start) }, (_, i) => {
      const { height, operation, payloadHash } = this.#row(end - 1 - i)
      const moment = this.moment(end - 1 - i)
      return { ...moment, height, operation: nameOfNumber(operation), payloadHash: toHex(payloadHash) }
    })
  }

  moment(sequence: number): OperationMoment {
    const { txid, height } = this.#row(sequence)
    return { txid: displayHash(txid), timestamp: formatDate(this.#block(height).time) }
  }

  /** When the last document expires; of a DID that is not deactivated. Reads the normalised document where that is the last one. */
  async lastExpiry(): Promise<string> {
    if (!this.#isLatest) return expiryOf((await this.operation(this.documentSequence)).operation)
    const row = this.#database.get(tables.didDocument.key(this.#row(0)))
    return expiryIn(utf8(present(row, 'the document')) ?? '')
  }

  /** Sequence number of the version that is asked for; undefined if there is none. A binary search over the operations. */
  find(version: VersionRequest): number | undefined {
    if (version.by === 'id') return this.#withTxid(version.txid)
    const isLater =
      version.by === 'height'
        ? ({ height }: Location) => height > version.height
        : ({ height }: Location) => this.#block(height).time > version.seconds
    const later = this.#firstWith(isLater)
    return later === 0 ? undefined : later - 1
  }

  #withTxid(txid: Hash): number | undefined {
    const location = tables.location.get(this.#database, txid)
    if (location === undefined) return undefined
    const { height, index } = location
    const at = this.#firstWith((other) => other.height > height || (other.height === height && other.index >= index))
    return at < this.count && equalBytes(this.#row(at).txid, txid) ? at : undefined
  }

  /** The least sequence number whose operation meets a condition that all later ones meet too; `count` without one. */
  #firstWith(condition: (row: DidOperationRow) => boolean): number {
    let [low, high] = [0, this.count]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (condition(this.#row(middle))) high = middle
      else low = middle + 1
    }
    return low
  }

  #row(sequence: number): DidOperationRow {
    return didOperation(this.#database, this.#key, sequence)
  }

  #block(height: number): ActiveBlock {
    return activeBlock(this.#database, height)
  }
}

/** The block of the active chain at a height that has one. */
export function activeBlock(database: RowSource, height: number): ActiveBlock {
  const hash = present(database.get(tables.active.key(height)), 'an active block')
  return { height, hash, time: blockTime(database, hash) }
}

/** When the document of a create or update expires. */
export function expiryOf({ payload }: DidOperation): string {
  return expiryIn(utf8(decodeBase64url(payload) ?? new Uint8Array(0)) ?? '')
}

/** Every JSON parser reads an accepted document the same way, so the fastest one is used. */
function expiryIn(text: string): string {
  const { expires } = JSON.parse(text) as { expires: string }
  return present(expires, 'the expiry of a document')
}
