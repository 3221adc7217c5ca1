import { type AuxPow, auxPowBytes } from '../../base/primitives/auxpow.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { workOf } from '../../base/primitives/compact.js'
import { formOfNumber } from '../../base/primitives/did-operation.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import type { Spec } from '../../base/primitives/spec.js'
import { collectGarbage } from '../../base/runtime/collect-garbage.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { InvariantError, RuleError } from '../../base/errors/rule-error.js'
import { didPart } from '../../identity/did/identifier.js'
import { chunkOrdinals } from '../../identity/did-index/posting-chunk.js'
import type { Entry } from '../../identity/proofs/history.js'
import { credentialMapKey } from '../../identity/proofs/map-tree.js'
import { genesisInto } from '../chain/block-records.js'
import { putTip } from '../chain/reorganise.js'
import type { Database } from '../storage/database.js'
import { accessFailure } from '../storage/failure.js'
import type { ScratchFile } from '../storage/disk-files.js'
import { didKey } from '../storage/rows/did-reader.js'
import { putMapComplete } from '../storage/rows/map/map-rows.js'
import { OrderedMap } from '../storage/rows/map/ordered-map.js'
import { present, type StagedRows } from '../storage/rows/row-reader.js'
import { type DidHeadRow, type Key, type Location, meta, tables } from '../storage/rows/tables.js'
import { putIndexUndoFrom, TokenIndexChanges } from '../storage/rows/token-index.js'
import { Overlay } from '../storage/write/overlay.js'
import type { RowBuffer } from '../storage/write/row-buffer.js'
import type { UnloggedRows } from '../storage/write/unlogged-rows.js'
import type { BlockOutline } from './block-outline.js'
import type { CheckedState, StateTaker } from './check-state.js'
import { createdDid } from './created-did.js'
import { DocumentThread } from './document-thread.js'
import { JoinedCoins, ownerLane } from './joined-coins.js'
import { JoinedDays } from './joined-days.js'
import { documentTokens, type JoinedDocument, noTokens } from './joined-document.js'
import { kept, type LeafOfHistory, type LeafRecord, textOf } from './leaf-record.js'
import { Spool } from './spool.js'

/** @tuning bytes: rows of a state that are written in one batch */
const batchBytes = 1024 * 1024
/** @tuning bytes: rows that are read in one step to make others of them */
const pageBytes = 256 * 1024
/** @tuning bytes: transactions of which another thread makes documents in one batch */
const documentsBytes = 256 * 1024
/** @tuning count: such batches at once */
const documentBatches = 4
/** @tuning count: parts of the chain whose rows are put in order together */
const lanes = 256

/** Kinds of what comes in another order than that of its rows, each in a file of its own. */
export const spooledRows = ['transactions', 'documents', 'created', 'owned'] as const
export type SpooledRows = (typeof spooledRows)[number]

/** A DID whose document is being made. */
interface JoiningDid {
  readonly did: Uint8Array
  readonly place: Location
  readonly head: DidHeadRow
  readonly transaction: Uint8Array
}

/**
 * Writes the rows of a state into an empty database while it is checked: those of a node that connected every block up to it, except
 * the ones that docs/schema.md lists as missing. A database that was not finished is unusable.
 */
export class StateRows implements StateTaker {
  readonly #database: Database
  readonly #spec: Spec
  #batch: UnloggedRows
  /** The write of the batch before, while the next one is gathered. */
  #writing: Promise<void> = Promise.resolve()
  readonly #documents = new DocumentThread()
  readonly #map = new OrderedMap((place, page) => {
    if (page !== undefined) this.#put(tables.mapPage.key(place), page.row)
  })
  /** DIDs of the next batch of documents, and bytes of their transactions. */
  #asked: { dids: JoiningDid[]; bytes: number } = { dids: [], bytes: 0 }
  /** Batches of documents that are made, the oldest first. */
  readonly #made: Promise<void>[] = []
  readonly #days = new JoinedDays()
  readonly #coins: JoinedCoins
  /** The batch as a writer of other rooms takes it. Reads do not see it: they have rows of batches that were written. */
  readonly #staged: StagedRows = {
    get: (key) => this.#database.get(key),
    getMany: (keys) => this.#database.getMany(keys),
    put: (key, value) => this.#put(key, value),
    del: (key) => this.#del(key),
  }
  readonly #spools: Readonly<Record<SpooledRows, Spool>>
  readonly #allSpools: readonly Spool[]
  #tip: Header
  #chainWork: bigint

  private constructor(
    database: Database,
    spec: Spec,
    genesis: Header,
    files: Readonly<Record<SpooledRows, ScratchFile>>,
  ) {
    this.#database = database
    this.#spec = spec
    this.#batch = database.unlogged()
    this.#tip = genesis
    this.#chainWork = workOf(genesis.bits)
    // All headers come before what is spooled.
    const laneOf = (order: number) => Math.floor((placeOf(order).height * lanes) / (this.#tip.height + 1))
    const spool = (file: ScratchFile) => new Spool(file, laneOf)
    const { transactions, documents, created, owned } = files
    this.#spools = {
      transactions: spool(transactions),
      documents: spool(documents),
      created: spool(created),
      owned: new Spool(owned, ownerLane),
    }
    this.#allSpools = Object.values(this.#spools)
    const target = {
      putRow: (row: RowBuffer) => this.#batch.putRow(row),
      writeFull: () => this.#writeFull(),
      written: () => this.#written(),
      getMany: (keys: Key[]) => database.getMany(keys),
    }
    this.#coins = new JoinedCoins(target, this.#spools.owned)
  }

  /** `scratch`: opens a file of that name for rows that come in another order than that of their keys. */
  static async begin(
    database: Database,
    spec: Spec,
    scratch: (name: SpooledRows) => Promise<ScratchFile>,
  ): Promise<StateRows> {
    const genesis = genesisBlock(spec)
    const rows = new StateRows(database, spec, genesis.header, await openAll(scratch))
    try {
      await rows.#commit((overlay) => genesisInto(overlay, genesis, { map: false }))
      return rows
    } catch (error) {
      await rows.close()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#documents.close()
    await Promise.allSettled([this.#writing, ...this.#made])
    await Promise.allSettled(this.#allSpools.map((spool) => spool.close()))
  }

  async header(header: Header, auxPow: AuxPow | undefined): Promise<void> {
    this.#chainWork += workOf(header.bits)
    this.#tip = header
    const record = {
      header: header.bytes,
      auxPow: auxPow === undefined ? new Uint8Array(0) : auxPowBytes(auxPow),
      status: 'active',
      chainWork: this.#chainWork,
      transactionCount: 0,
      size: 0,
      arrival: this.#database.sequence + 1,
    } as const
    this.#put(tables.header.key(header.hash), tables.header.encode(record))
    this.#put(tables.active.key(header.height), header.hash)
    await this.#writeFull()
  }

  async block({ height, hash, time }: Header, { coinbase, transactions }: BlockOutline): Promise<void> {
    this.#days.block(time, transactions.length + 1)
    // The coins of genesis are among those that come, unless they were spent. All headers are here: what follows reads them.
    if (height === 1) await this.#dropCoins()
    const record = present(tables.header.get(this.#database, hash), 'a header of the state')
    this.#put(tables.header.key(hash), tables.header.encode({ ...record, transactionCount: transactions.length + 1 }))
    this.#spools.transactions.add(orderOf({ height, index: 0 }), coinbase.bytes)
    for (const [index, txid] of [coinbase.hash, ...transactions.map((one) => one.txid)].entries()) {
      this.#put(tables.location.key(txid), tables.location.encode({ height, index }))
    }
    await this.#writeFull()
  }

  sideChains(rows: Uint8Array): void {
    const size = 1 + 32 + 4
    for (let at = 0; at < rows.length; at += size) {
      this.#put(Buffer.from(rows.subarray(at, at + 33)), rows.subarray(at + 33, at + size))
    }
  }

  coins(rows: Uint8Array): Promise<void> {
    return this.#coins.take(rows)
  }

  async leaf(record: LeafRecord, leaf: LeafOfHistory, indices: readonly number[]): Promise<void> {
    if (this.#map.begins(leaf.key)) await runCooperatively(this.#map.closeSteps(leaf.key))
    this.#map.add(leaf)
    for (const entry of record.entries) this.#days.operation(entry)
    const operations = record.entries.map((entry, i) => ({ ...entry, index: indices[i] as number }))
    for (const [i, position] of kept(record).entries()) {
      this.#spools.transactions.add(orderOf(operations[position] as Location), record.transactions[i] as Uint8Array)
    }
    if (record.credential === undefined) await this.#did(record, leaf, operations)
    else this.#credential(record, record.credential, operations)
    await this.#writeFull()
  }

  async #did(
    { did, transactions, ...record }: LeafRecord,
    { digests }: LeafOfHistory,
    operations: readonly (Entry & Location)[],
  ): Promise<void> {
    for (const [number, entry] of operations.entries()) {
      const digest = digests[number] as Hash
      this.#put(tables.didOperation.key(did, number), tables.didOperation.encode({ ...entry, digest }))
    }
    const [documentSequence, ended] = kept(record) as [number, number?]
    const place = operations[0] as Location
    const status = ended === undefined ? 'valid' : 'deactivated'
    const head = { status, operationCount: operations.length, documentSequence, ordinal: 0 } as const
    const joining = { did, place, head, transaction: transactions[0] as Uint8Array }
    if (ended === undefined) await this.#ask(joining)
    else this.#create(joining, noTokens)
  }

  /** Has the document of a DID made, with those of others. */
  async #ask(joining: JoiningDid): Promise<void> {
    this.#asked.dids.push(joining)
    this.#asked.bytes += joining.transaction.length
    if (this.#asked.bytes < documentsBytes) return
    this.#askAll()
    if (this.#made.length > documentBatches) await this.#made.shift()
  }

  #askAll(): void {
    const { dids } = this.#asked
    this.#asked = { dids: [], bytes: 0 }
    if (dids.length === 0) return
    const made = this.#documents.documentsOf(dids.map(({ transaction }) => transaction)).then(
      (documents) => {
        for (const [i, joining] of dids.entries()) {
          const { text, tokens } = documents[i] as JoinedDocument
          this.#spools.documents.add(orderOf(joining.place), text)
          this.#create(joining, tokens)
        }
      },
      (error: unknown) => {
        if (!(error instanceof InvariantError)) throw error
        // The blocks stand behind it, so their validators, or their work, let it pass.
        throw new RuleError('coinbase-did-root', `the blocks have a document that no rule allows: ${error.message}`)
      },
    )
    made.catch(() => {})
    this.#made.push(made)
  }

  #create({ did, head, place }: JoiningDid, tokens: Uint8Array): void {
    this.#spools.created.add(orderOf(place), createdDid.encode({ did, head, tokens }))
  }

  #credential(signer: LeafRecord, id: string, operations: readonly (Entry & Location)[]): void {
    const key = credentialMapKey(id, textOf(signer))
    this.#put(tables.credential.key(key), tables.credential.encode(operations))
    const holderDid = didPart(id)
    const holder = present(didKey(holderDid), 'the key of a holder')
    for (const { operation, height, index } of operations) {
      if (formOfNumber(operation)?.effect === 'end') continue
      this.#put(tables.declaring.key(holder, height, index), tables.declaring.encode(id.slice(holderDid.length + 1)))
    }
  }

  /** Waits for what is still made of leaves. */
  async end(): Promise<void> {
    this.#askAll()
    await Promise.all(this.#made.splice(0))
    // Its memory is room for what follows.
    await this.#documents.close()
  }

  /**
   * Writes the rows that had to be sorted, and the tip at last. Rows by the place of a transaction have most of the bytes: they are written
   * late and in the order of their keys, into LevelDB tables of their own, which need no merge.
   */
  async finish({ height, hash }: Pick<CheckedState, 'height' | 'hash'>): Promise<void> {
    await runCooperatively(this.#map.closeSteps())
    // The check has ended: places of transactions took 66 bytes of each.
    collectGarbage()
    await this.#ordinals()
    await this.#written()
    await this.#declared()
    await this.#written()
    await this.#database.compact()
    collectGarbage()
    await this.#coins.end()
    await this.#flushed()
    await this.#putSpooled(this.#spools.transactions, ({ height, index }) => tables.transaction.key(height, index))
    await this.#flushed()
    await this.#putSpooled(this.#spools.documents, (place) => tables.didDocument.key(place))
    await this.#written()
    await this.#commit((last) => {
      putTip(last, this.#spec, { height, hash })
      putMapComplete(last, height)
      if (height > 0) {
        meta.pruned.put(last, height)
        meta.joined.put(last, height)
        putIndexUndoFrom(last, height + 1)
      }
      this.#days.put(last)
      // What the transactions up to it paid is not known.
      meta.days.put(last, height)
    })
    await this.#database.checkpoint({ height, hash })
  }

  async #putSpooled(spool: Spool, keyOf: (place: Location) => Key): Promise<void> {
    for await (const values of spool.sorted()) {
      for (const [order, value] of values) {
        this.#put(keyOf(placeOf(order)), value)
        if (this.#batch.size > batchBytes) await this.#write()
      }
    }
  }

  async #dropCoins(): Promise<void> {
    for (const { range } of [tables.coin, tables.addressCoin, tables.balance]) {
      for (const [key] of await this.#database.rows(range())) this.#del(key)
    }
    await this.#written()
  }

  /** DIDs in the order of their creation, with what their documents are found by. */
  async #ordinals(): Promise<void> {
    let ordinal = 0
    let index = new TokenIndexChanges()
    const end = async () => {
      // Numbers of documents that the batch before wrote are read.
      await this.#writing
      await index.put(this.#staged, { areNew: true })
      index = new TokenIndexChanges()
      await this.#write()
    }
    for await (const created of this.#spools.created.sorted()) {
      for (const [order, value] of created) {
        const { did, head, tokens } = createdDid.decode(value)
        this.#put(tables.didHead.key(did), tables.didHead.encode({ ...head, ordinal }))
        index.create(this.#staged, ordinal, placeOf(order))
        index.change(ordinal++, { before: undefined, after: documentTokens.decode(tokens) })
        // Whole chunks, which have no row before. Of more documents at once V8 would keep what it takes for long-lived.
        if (ordinal % chunkOrdinals === 0) await end()
      }
    }
    await end()
  }

  async #declared(): Promise<void> {
    let [last, count]: [Buffer, number] = [Buffer.alloc(0), 0]
    const end = () => {
      if (count > 0) this.#put(tables.declaredCount.key(last), tables.declaredCount.encode(count))
    }
    for await (const page of this.#database.pages(tables.declaring.range(), pageBytes)) {
      for (const [key, fragment] of page) {
        const [holder] = tables.declaring.fields(key)
        if (!equalBytes(holder, last)) {
          end()
          ;[last, count] = [holder, 0]
        }
        this.#put(tables.declared.key(holder, count++), fragment)
        this.#del(key)
      }
      await this.#writeFull()
    }
    end()
  }

  #put(key: Buffer, value: Uint8Array): void {
    this.#batch.put(key, value)
  }

  #del(key: Buffer): void {
    this.#batch.del(key)
  }

  async #writeFull(): Promise<void> {
    if (this.#batch.size > batchBytes) await this.#write()
    for (const spool of this.#allSpools) if (spool.isFull) await spool.settle()
  }

  /** Has the rows written while the next ones are gathered: two batches are in memory at most. */
  async #write(): Promise<void> {
    await this.#writing
    const batch = this.#batch
    this.#batch = this.#database.unlogged()
    this.#writing = batch.write().catch((error: unknown) => {
      throw accessFailure(error, 'written')
    })
    this.#writing.catch(() => {})
  }

  async #written(): Promise<void> {
    await this.#write()
    await this.#writing
  }

  /** Ends a table of LevelDB: one with rows of two kinds would span all kinds between them, and be merged with their tables. */
  async #flushed(): Promise<void> {
    await this.#written()
    await this.#database.flush()
  }

  /** Writes rows that others make, in a batch of their own. */
  async #commit(make: (overlay: Overlay) => void | Promise<void>): Promise<void> {
    const overlay = new Overlay(this.#database)
    await make(overlay)
    const { hash, height } = this.#tip
    await overlay.commit({ kind: 'state', height, hash }, { sync: false })
  }
}

/** Number of a place in the chain by which its rows are sorted. */
function orderOf({ height, index }: Location): number {
  return height * 0x10000 + index
}

function placeOf(order: number): Location {
  return { height: Math.floor(order / 0x10000), index: order % 0x10000 }
}

/** Opens the files of all spooled rows; where one does not open the others are closed. */
async function openAll(
  scratch: (name: SpooledRows) => Promise<ScratchFile>,
): Promise<Readonly<Record<SpooledRows, ScratchFile>>> {
  const opened = await Promise.allSettled(spooledRows.map(scratch))
  const files = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = opened.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    await Promise.allSettled(files.map((file) => file.close()))
    throw failed.reason
  }
  return Object.fromEntries(spooledRows.map((name, i) => [name, files[i]])) as Record<SpooledRows, ScratchFile>
}
