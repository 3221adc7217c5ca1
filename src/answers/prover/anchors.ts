import { encodeBase64url } from '../../identity/did/base64url.js'
import type { AnchorJson } from '../../identity/did/state-proof.js'
import { concat, equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import type { Confirm } from '../../base/primitives/confirm.js'
import { type Hash, sha256d } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import { firstBranchSteps, foldBranch } from '../../base/primitives/merkle.js'
import { paramsAt, type Spec } from '../../base/primitives/spec.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { Steps } from '../../base/primitives/steps.js'
import { compactConfirm } from '../../identity/proofs/anchor-confirm.js'
import { ByteCache } from '../../base/runtime/byte-cache.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { WorkSlots } from '../../base/runtime/work-slots.js'
import type { RowSource } from '../../ledger/storage/stored-rows.js'
import { damaged } from '../../ledger/storage/failure.js'
import { present } from '../../ledger/storage/rows/row-reader.js'
import { type HeaderRecord, tables, type TipRow } from '../../ledger/storage/rows/tables.js'
import { isPruned } from '../../ledger/storage/rows/prune-rows.js'
import { type KnownTransaction, knownTransactions, txidOf } from '../../ledger/storage/rows/transaction-hashes.js'

/** @tuning bytes: anchors of blocks that are kept */
const anchorCache = 4 * 1024 * 1024
/** @limit count: anchors that wait to be made, one after another: each takes a block into memory */
const anchorsWaiting = 64
/** Transactions of a block per read. */
const rowsAtOnce = 256

export interface AnchorsOptions {
  readonly database: RowSource
  readonly spec: Spec
  /** The confirm of an active block; undefined where the node holds none that is valid. */
  confirm(header: Header): Promise<Confirm | undefined>
}

export type AnchorAge = 'recent' | 'old'

/** Anchors of active blocks: what leads from a block's coinbase to its validators, or to its work. */
export class Anchors {
  readonly #options: AnchorsOptions
  readonly #kept = new ByteCache<AnchorJson>(anchorCache)
  /** Those that are being made, for all who ask. */
  readonly #making = new Map<string, Promise<AnchorJson | undefined>>()
  /** WorkSlots for anchors of blocks that proofs are as of, and of older ones, for which fewer wait. */
  readonly #places = {
    recent: new WorkSlots(1, anchorsWaiting, 'anchors'),
    old: new WorkSlots(1, anchorsWaiting, 'anchors of old blocks'),
  }

  constructor(options: AnchorsOptions) {
    this.#options = options
  }

  /**
   * The anchor of an active block that has its transactions, without a map root; undefined where this node has no confirm of it that
   * holds. Old blocks wait for each other alone. `busy` where too many wait.
   */
  at(block: TipRow, age: AnchorAge): Promise<AnchorJson | undefined> {
    const id = mapKey(block.hash)
    const kept = this.#kept.get(id)
    if (kept !== undefined) return Promise.resolve(kept)
    const making = this.#making.get(id) ?? this.#make(block, id, age).finally(() => this.#making.delete(id))
    this.#making.set(id, making)
    return making
  }

  async #make(block: TipRow, id: string, age: AnchorAge): Promise<AnchorJson | undefined> {
    const release = await this.#places[age].take()
    try {
      const record = this.#record(block)
      const header = Header.read(new Reader(record.header))
      const { spec, confirm } = this.#options
      const confirmed = spec.hasValidators ? await confirm(header) : undefined
      // Not kept: one that holds may come yet.
      if (spec.hasValidators && confirmed === undefined) return undefined
      const anchor = await this.#read({ header, count: record.transactionCount }, confirmed)
      if (anchor !== undefined) this.#kept.set(id, anchor, sizeOf(anchor))
      return anchor
    } finally {
      release()
    }
  }

  #record({ height, hash }: TipRow): HeaderRecord {
    return present(tables.header.get(this.#options.database, hash), `the header of height ${height}`)
  }

  async #read(
    { header, count }: { readonly header: Header; readonly count: number },
    confirm: Confirm | undefined,
  ): Promise<AnchorJson | undefined> {
    const { database, spec } = this.#options
    const { height } = header
    const first = database.get(tables.transaction.key(height, 0))
    // It may have been given up a moment ago.
    if (first === undefined && isPruned(database, height)) return undefined
    const coinbase = Transaction.fromBytes(present(first, `the coinbase of height ${height}`)).unsigned
    const branch = await runCooperatively(firstBranchSteps(await this.#txids(height, count)))
    // Rows of another block, after a reorganisation, must not be kept under this hash.
    if (!equalBytes(foldBranch(sha256d(coinbase), branch, 0), header.merkleRoot)) {
      throw damaged(`the transactions of height ${height} do not have the merkle root of their header`)
    }
    return {
      header: encodeBase64url(header.bytes),
      coinbase: encodeBase64url(coinbase),
      branch: encodeBase64url(concat(...branch)),
      ...(confirm && { confirm: encodeBase64url(compactConfirm(confirm, paramsAt(spec, height).validators)) }),
    }
  }

  /** Txids of a block but for its coinbase, a few rows at a time. */
  async #txids(height: number, count: number): Promise<Hash[]> {
    const txids: Hash[] = []
    for (let from = 1; from < count; from += rowsAtOnce) {
      const to = Math.min(from + rowsAtOnce, count)
      const known = await knownTransactions(this.#options.database, height, from, to)
      txids.push(...(await runCooperatively(txidSteps(known))))
    }
    return txids
  }
}

function* txidSteps(some: readonly KnownTransaction[]): Steps<Hash[]> {
  const txids: Hash[] = []
  for (const known of some) {
    if (known instanceof Transaction) yield* known.hashSteps()
    txids.push(txidOf(known))
  }
  return txids
}

function sizeOf({ header, coinbase, branch, confirm = '' }: AnchorJson): number {
  return header.length + coinbase.length + branch.length + confirm.length
}
