import type { Static } from '@sinclair/typebox'
import type { SnapshotBlock, ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import { didPart } from '../../../identity/did/identifier.js'
import { namedCredential, namedDid } from '../../../identity/did/named-did.js'
import { InvariantError } from '../../../base/errors/rule-error.js'
import { defined } from '../../../base/primitives/defined.js'
import type { OperationName } from '../../../base/primitives/did-operation.js'
import { txType } from '../../../base/primitives/payload.js'
import type { Transaction } from '../../../base/primitives/transaction.js'
import { typeIn } from '../../../base/primitives/transaction-parts.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { joinedHeight, supersededHeight } from '../../../ledger/storage/rows/prune-rows.js'
import { type Location, tables, transactionsBefore } from '../../../ledger/storage/rows/tables.js'
import { operationCountSteps } from '../../../ledger/storage/rows/undo-record.js'
import type { ApiContext } from '../api-context.js'
import { type ApiLimits, apiLimits } from '../api-limits.js'
import type { listedOperations } from '../schemas/did-schemas.js'
import type { Sink, StreamedAnswer } from '../streams/streamed-answer.js'
import type { PageRequest } from './address-history.js'
import { snapshotAnswer } from './snapshot-answer.js'
import { withDecoded } from './transaction-text.js'

type ListedOperation = Static<typeof listedOperations>['operations'][number]

/** Bytes of rows read in one step. */
const pieceBytes = 64 * 1024
/** Bytes of memory for the rows of a scan: of a full block, and as many read ahead. */
const scanMemory = 16 * 1024 * 1024

/**
 * Operations of the chain, newest first. Undo records tell which blocks have any, so others are passed over unread. A page ends after
 * so many blocks, or bytes of rows, with what it found.
 */
export function didOperations({ reader, limits }: ApiContext, { before, limit }: PageRequest): StreamedAnswer {
  const bounds = { ...apiLimits, ...limits }
  const key = ['operations', limit, before?.height ?? '', before?.index ?? '']
  const scan = (chain: ChainSnapshot, sink: Sink) => new OperationScan(chain, bounds, limit, sink).run(before)
  return snapshotAnswer(reader, key, scan, { search: scanMemory })
}

type OperationPage = Static<typeof listedOperations>

/** Reads the chain downwards until a page is full. */
class OperationScan {
  readonly #chain: ChainSnapshot
  readonly #bounds: ApiLimits
  readonly #limit: number
  readonly #sink: Sink
  readonly #found: ListedOperation[] = []
  /** Everything from this position on is read, as far as the page reaches. */
  #at: Location
  /** Bytes of the rows read. */
  #bytes = 0
  /** Operations up to this height are not known as such: the node took the state after them from others. */
  readonly #joined: number

  constructor(chain: ChainSnapshot, bounds: ApiLimits, limit: number, sink: Sink) {
    this.#chain = chain
    this.#bounds = bounds
    this.#limit = limit
    this.#sink = sink
    this.#at = { height: chain.tip.height + 1, index: 0 }
    this.#joined = joinedHeight(chain.rows)
  }

  async run(before: Location | undefined): Promise<OperationPage> {
    if (before !== undefined && before.height < this.#at.height) this.#at = before
    const end = this.#joined === 0 ? 0 : this.#joined + 1
    const lowest = Math.max(end, this.#at.height - this.#bounds.pageBlocks)
    // The rest of a block in which the page before ended.
    if (this.#at.index > 0 && this.#at.height >= end) await this.#readBlock(this.#at.height, Infinity, this.#at.index)
    if (!this.#isFull && this.#at.height > lowest) await this.#descend(lowest)
    const { height, index } = this.#at
    const isEnd = height < end || (height === end && index === 0)
    const next = isEnd ? undefined : this.#at
    const superseded = supersededHeight(this.#chain.rows) || undefined
    return { operations: this.#found, ...defined({ next, pruned: this.#joined || undefined, superseded }) }
  }

  get #isFull(): boolean {
    return this.#found.length >= this.#limit || this.#bytes >= this.#bounds.pageBytes
  }

  /** Reads the blocks below the position, down to a height. */
  async #descend(lowest: number): Promise<void> {
    const range = { gte: tables.undo.key(lowest), lt: tables.undo.key(this.#at.height) }
    for await (const rows of this.#chain.rows.pages(range, pieceBytes, { reverse: true })) {
      for (const [key, undo] of rows) {
        this.#bytes += undo.length
        const height = tables.undo.fields(key)[0]
        const count = await runCooperatively(operationCountSteps(undo))
        if (count > 0) await this.#readBlock(height, count)
        else this.#at = { height, index: 0 }
        if (this.#isFull) return
        await this.#pause()
      }
    }
  }

  /** Reads the last `count` operations of a block, or the last ones below index `end`. */
  async #readBlock(height: number, count: number, end?: number): Promise<void> {
    const range = end === undefined ? tables.transaction.range(height) : transactionsBefore({ height, index: end })
    const [block] = await this.#chain.blocks([height])
    let left = count
    for await (const rows of this.#chain.rows.pages(range, pieceBytes, { reverse: true })) {
      for (const [key, bytes] of rows) {
        this.#bytes += bytes.length
        const at = { height, index: tables.transaction.fields(key)[1] }
        if (typeIn(bytes) === txType.did) {
          await withDecoded(this.#sink, bytes, (tx) => {
            this.#found.push(listed(tx, at, block as SnapshotBlock))
          })
          left--
        }
        this.#at = left === 0 ? { height, index: 0 } : at
        if (left === 0 || this.#isFull) return
        await this.#pause()
      }
    }
    this.#at = { height, index: 0 }
  }

  async #pause(): Promise<void> {
    this.#sink.signal.throwIfAborted()
    if (this.#sink.due) await this.#sink.drain()
  }
}

function listed({ txid, payload }: Transaction, at: Location, { header }: SnapshotBlock): ListedOperation {
  const operation = payload.type === txType.did ? payload.operation : undefined
  const credential = operation && namedCredential(operation)
  const did = credential === undefined ? operation && namedDid(operation) : didPart(credential.id)
  if (operation === undefined || did === undefined) {
    throw new InvariantError(`an operation on the chain names no DID: ${txid}`)
  }
  const { verificationMethod } = operation
  const signer = credential?.signer ?? (verificationMethod.startsWith('#') ? did : didPart(verificationMethod))
  const place = { txid, ...at, blockhash: header.id, time: header.time }
  return {
    ...place,
    did,
    operation: operation.operation as OperationName,
    signer,
    ...defined({ credential: credential?.id }),
  }
}
