import { RuleError } from '../../base/errors/rule-error.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import { displayHash, equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { type DidOperation, operationForm } from '../../base/primitives/did-operation.js'
import type { Block } from '../../base/primitives/block.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { txType } from '../../base/primitives/payload.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { payloadOf } from '../../base/primitives/transaction-parts.js'
import { forEachCooperatively } from '../../base/runtime/cooperative.js'
import { namedDid } from '../../identity/did/named-did.js'
import type { ChangedBlock } from '../chain/chain-change.js'
import { eachTransaction, readSideBody, sideBodyRow } from '../chain/read-body.js'
import { didKey, didOperation, operationOf, operationsUpTo } from '../storage/rows/did-reader.js'
import { presentAt } from '../storage/rows/prune-rows.js'
import { present, type StagedRows } from '../storage/rows/row-reader.js'
import { tables } from '../storage/rows/tables.js'
import { type BlockPosition, isActive, type ReplayedLog } from './block-events.js'

/**
 * Also of blocks that left the chain, and of a few that are nowhere else: those of a devnet that was taken back.
 * @tuning bytes: operations on DIDs of the blocks read last, kept to know the documents before the next ones
 */
const keptBytes = 16 * 1024 * 1024

/** Memory of an operation beside its payload, about. */
const operationOverhead = 500

/**
 * A row takes some microseconds, in the turn in which the block is written. What is not read there is read of payloads.
 * @tuning count: documents before a block whose rows are read when it is connected
 */
const rowsStaged = 512

/** DIDs whose documents before a block are read at once. */
const didsAtOnce = 256

/** Operations of one block on one DID. */
export interface DidOperations {
  readonly did: string
  readonly key: ProgramHash
  /** The last of them. */
  readonly operation: string
  readonly txid: string
  /** Whether the DID had a document before the block. */
  readonly hadDocument: boolean
  /** Payload of the document after the block; undefined: the DID has ended. */
  readonly payload: string | undefined
}

/** A block by its operations on DIDs, in the order in which each DID first comes. */
export interface BlockOperations {
  readonly height: number
  readonly hash: Hash
  readonly previous: Hash
  readonly dids: ReadonlyMap<string, DidOperations>
  readonly bytes: number
}

/** A document as it is stored: the payload of an operation, or the row of a latest document, which is its normalised text. */
export type StoredDocument = string | Uint8Array

/** A DID changed by a block, with its documents before and after it. */
export interface ChangedDocument extends Omit<DidOperations, 'payload'> {
  readonly before: StoredDocument | undefined
  readonly after: StoredDocument | undefined
}

/** Rows of a document before and after a block, as far as they were read. */
interface StagedDocument {
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** Reads the operations of blocks on DIDs, on the active chain and off it, and the documents that were there before. */
export class OperationsOfBlocks {
  readonly #log: ReplayedLog
  readonly #most: number
  /** The least recently used first. */
  readonly #kept = new Map<string, BlockOperations>()
  #bytes = 0
  /** Rows of the documents that the block connected last has changed. */
  #staged: { readonly hash: Hash; readonly documents: ReadonlyMap<string, StagedDocument> } | undefined

  constructor(log: ReplayedLog, most = keptBytes) {
    this.#log = log
    this.#most = most
  }

  /** Reads the rows of the documents that a block changes, while those before it are still there. */
  stage(overlay: StagedRows, { header, dids }: ChangedBlock): void {
    const documents = new Map<string, StagedDocument>()
    for (const did of dids) {
      const key = didKey(did)
      const create = key && tables.didOperation.get(overlay, key, 0)
      if (create === undefined) continue
      const row = tables.didDocument.key(create)
      const before = documents.size < rowsStaged ? this.#log.database.newest.get(row) : undefined
      documents.set(did, { before, after: overlay.get(row) })
    }
    this.#staged = { hash: header.hash, documents }
  }

  /** Keeps the operations of a block that joins the chain, or leaves it and may be gone after it. */
  async remember(block: Block): Promise<void> {
    this.#keep(await operationsOf(block))
  }

  /** Drops what is kept: nothing is followed. */
  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
    this.#staged = undefined
  }

  /**
   * The operations of a block. Undefined where the chain changed while it was read; `event-gone` where the block is not stored any more,
   * `pruned` where parts of it were given up.
   */
  async of(hash: Hash): Promise<BlockOperations | undefined> {
    const key = mapKey(hash)
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.#kept.delete(key)
      this.#kept.set(key, kept)
      return kept
    }
    const read = await this.#read(hash)
    return read && this.#keep(read)
  }

  /**
   * The documents before and after a block. Undefined where the chain changed meanwhile; refusals as of {@link of}, for the block and for
   * those below it that left the chain.
   */
  async documents(hash: Hash): Promise<readonly ChangedDocument[] | undefined> {
    const block = await this.of(hash)
    if (block === undefined) return undefined
    const staged = this.#staged !== undefined && equalBytes(this.#staged.hash, hash) ? this.#staged.documents : nothing
    const before = await this.#before(block, staged)
    if (before === undefined) return undefined
    return [...block.dids.values()].map(({ payload, ...one }) => {
      const rows = staged.get(one.did)
      const after = payload === undefined ? undefined : (rows?.after ?? payload)
      return { ...one, before: one.hadDocument ? (rows?.before ?? before.get(one.did)) : undefined, after }
    })
  }

  async #read(hash: Hash): Promise<BlockOperations | undefined> {
    const { chain, database, reorganisations } = this.#log
    if (sideBodyRow(database, hash) !== undefined) return operationsOf(await readSideBody(database, hash))
    const known = chain.headers.get(hash)
    if (known?.status !== 'active') {
      if (known !== undefined && known.status === 'side') return undefined
      throw new RuleError('event-gone', `block ${displayHash(hash)} is not stored any more; go on with fromHeight`)
    }
    const unmoved = () => isActive(this.#log, known.header) && this.#log.reorganisations === reorganisations
    const operations = new Operations(known.header)
    try {
      await eachTransaction(database, known, (transaction) => operations.add(transaction))
    } catch (error) {
      if (unmoved()) throw error
    }
    // One read may see the rows before a batch, and another one those after it.
    return unmoved() ? operations.finish() : undefined
  }

  /** Payloads of the documents before a block by DID: of a block that left the chain as well, then those of the active chain. */
  async #before(
    block: BlockOperations,
    staged: ReadonlyMap<string, StagedDocument>,
  ): Promise<ReadonlyMap<string, string> | undefined> {
    const open = new Map(
      [...block.dids].filter(([did, { hadDocument }]) => hadDocument && staged.get(did)?.before === undefined),
    )
    const found = new Map<string, string>()
    let base: BlockPosition = { height: block.height - 1, hash: block.previous }
    while (open.size > 0 && !isActive(this.#log, base)) {
      const below = await this.of(base.hash)
      if (below === undefined) return undefined
      for (const did of [...open.keys()]) {
        const payload = below.dids.get(did)?.payload
        if (payload !== undefined && open.delete(did)) found.set(did, payload)
      }
      base = { height: below.height - 1, hash: below.previous }
    }
    return (await this.#onChain([...open.values()], base, found)) ? found : undefined
  }

  /** Adds the payloads of the last documents up to a block of the active chain; false where the chain changed meanwhile. */
  async #onChain(dids: readonly DidOperations[], base: BlockPosition, found: Map<string, string>): Promise<boolean> {
    // All of them were found in blocks that left the chain.
    if (dids.length === 0) return true
    const { reorganisations } = this.#log
    const unmoved = () => isActive(this.#log, base) && this.#log.reorganisations === reorganisations
    try {
      for (let start = 0; start < dids.length; start += didsAtOnce) {
        await this.#some(dids.slice(start, start + didsAtOnce), base.height, found)
      }
    } catch (error) {
      if (unmoved()) throw error
    }
    return unmoved()
  }

  async #some(dids: readonly DidOperations[], height: number, found: Map<string, string>): Promise<void> {
    const { database } = this.#log
    const places: { readonly height: number; readonly index: number }[] = []
    await forEachCooperatively(dids, ({ key }) => {
      // Nothing follows an end, so the last operation before another one has the document.
      places.push(didOperation(database, key, operationsUpTo(database, key, height) - 1))
    })
    const rows = await database.getMany(places.map((at) => tables.transaction.key(at.height, at.index)))
    const reading = dids.map(({ did }, i) => ({ did, at: places[i], row: rows[i] }))
    await forEachCooperatively(reading, ({ did, at, row }) => {
      const bytes = presentAt(database, present(at, 'the place of a document'), row, 'the transaction of an operation')
      found.set(did, operationOf(payloadOf(bytes)).payload)
    })
  }

  #keep(operations: BlockOperations): BlockOperations {
    const key = mapKey(operations.hash)
    this.#bytes += operations.bytes - (this.#kept.get(key)?.bytes ?? 0)
    this.#kept.delete(key)
    this.#kept.set(key, operations)
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= this.#most || oldest === key) break
      this.#kept.delete(oldest)
      this.#bytes -= bytes
    }
    return operations
  }
}

const nothing: ReadonlyMap<string, StagedDocument> = new Map()

async function operationsOf({ header, transactions }: Block): Promise<BlockOperations> {
  const operations = new Operations(header)
  await forEachCooperatively(transactions, (transaction) => operations.add(transaction))
  return operations.finish()
}

/** Gathers the operations of a block by DID, from its transactions in block order. */
class Operations {
  readonly #header: Header
  readonly #dids = new Map<string, DidOperations>()

  constructor(header: Header) {
    this.#header = header
  }

  add({ payload, txid }: Transaction): void {
    if (payload.type !== txType.did) return
    const { operation } = payload
    const did = namedDid(operation)
    const form = operationForm(operation)
    if (did === undefined || form === undefined) return
    const earlier = this.#dids.get(did)
    const key = earlier?.key ?? present(didKey(did), 'the key of a DID')
    const hadDocument = earlier?.hadDocument ?? !form.after.includes('nothing')
    this.#dids.set(did, { did, key, operation: operation.operation, txid, hadDocument, payload: documentIn(operation) })
  }

  finish(): BlockOperations {
    const { height, hash, previous } = this.#header
    const bytes = [...this.#dids.values()].reduce(
      (sum, { payload = '' }) => sum + operationOverhead + payload.length,
      0,
    )
    return { height, hash, previous, dids: this.#dids, bytes: operationOverhead + bytes }
  }
}

function documentIn(operation: DidOperation): string | undefined {
  return operationForm(operation)?.effect === 'end' ? undefined : operation.payload
}
