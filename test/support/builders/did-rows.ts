import {
  type BlockTransaction,
  type ConnectedBlock,
  connectedOperation,
} from '../../../src/ledger/consensus/connect.js'
import { StateOverlay } from '../../../src/ledger/consensus/ledger.js'
import { applyOperation } from '../../../src/identity/did/apply-operation.js'
import { buildCreate, buildDeactivate, buildUpdate } from '../../../src/identity/did/build.js'
import { payloadText } from './payload-text.js'
import type { DidDocument } from '../../../src/identity/did/model.js'
import { parseOperation } from '../../../src/identity/did/operation.js'
import type { AppliedOperation, DidState } from '../../../src/identity/did/state.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { coinbaseInput } from '../../../src/base/primitives/input.js'
import { zeroHash } from '../../../src/base/primitives/hash.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { KnownDocuments } from '../../../src/ledger/storage/write/known-documents.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { putConnected, putDisconnected, type RowsBlock, StoredState } from '../../../src/ledger/storage/stored-state.js'
import { didRules, type Holder, specification } from './did.js'

/** A signature where none is verified. */
export const unsigned = (): Uint8Array => new Uint8Array(64)

/** Action of a holder: with a DID, a document of it, and whether an existing one is deactivated. */
export interface Deed {
  readonly who: number
  readonly which: number
  readonly end: boolean
}

/** One operation as it stands in a block. */
export interface Done {
  readonly who: number
  readonly kind: 'create' | 'update' | 'deactivate'
  readonly document: DidDocument
}

function transaction(payload: Transaction['payload'], height: number, index: number): Transaction {
  const inputs = payload.type === 0 ? [coinbaseInput] : []
  const attributes = [{ usage: 0, data: Uint8Array.of(height, index) }]
  return new Transaction({
    version: 0,
    payloadVersion: 0,
    payload,
    attributes,
    inputs,
    outputs: [],
    lockTime: 0,
    programs: [],
  })
}

/** Holders, and some documents of each, built once. */
export interface Cast {
  readonly holders: readonly Holder[]
  readonly documents: readonly (readonly DidDocument[])[]
}

/** A chain of nothing but DID operations over its rows. No signature is verified. */
export class DidRows {
  readonly blocks: { readonly block: RowsBlock; readonly done: readonly Done[] }[] = []
  overlay: Overlay
  /** Room for some of what is read, so that there is something to forget. */
  readonly known = new KnownDocuments(4000, 2)

  constructor(
    readonly database: Database,
    readonly cast: Cast,
  ) {
    this.overlay = new Overlay(database)
    // The block before each.
    this.overlay.put(tables.header.key(zeroHash), new Uint8Array(84))
  }

  async connect(deeds: readonly Deed[]): Promise<void> {
    const height = this.blocks.length
    const state = new StateOverlay(new StoredState(this.overlay, { time: () => 0 }))
    const done: Done[] = []
    const transactions = [transaction({ type: 0, data: new Uint8Array(0) }, height, 0)]
    const connected: BlockTransaction[] = []
    for (const deed of deeds) {
      const { plan, did } = this.cast.holders[deed.who] as Holder
      const document = this.cast.documents[deed.who]?.[deed.which] as DidDocument
      const before = state.did(did)
      if (before?.status === 'deactivated') continue
      const kind = before === undefined ? 'create' : deed.end ? 'deactivate' : 'update'
      const form = deed.which === 0 ? ('compact' as const) : ('normalised' as const)
      const by = { specification, verificationMethod: '#primary', text: payloadText(document, form) }
      const operation =
        kind === 'create'
          ? buildCreate(document, by, unsigned)
          : kind === 'update'
            ? buildUpdate(document, { ...by, previousTxid: (before as DidState).lastTxid }, unsigned)
            : buildDeactivate(plan.did, by, unsigned)
      const carrier = transaction({ type: 10, operation }, height, transactions.length)
      const applied = this.#applied(before, operation, state, carrier)
      if (applied === undefined) continue
      state.setDid(did, applied.next)
      transactions.push(carrier)
      connected.push({ fee: 0n, spent: [], did: connectedOperation(applied) })
      done.push({ who: deed.who, kind, document })
    }
    const block = { header: { height, time: 0, previous: zeroHash }, transactions }
    const result: ConnectedBlock = { state, transactions: connected, fees: 0n }
    await putConnected(this.overlay, block, result, { documents: this.known })
    this.blocks.push({ block, done })
  }

  /** Applies an operation; undefined if an issuer of its credentials does not exist yet, or no longer. */
  #applied(
    before: DidState | undefined,
    operation: DidOperation,
    state: StateOverlay,
    { hash }: Transaction,
  ): AppliedOperation | undefined {
    const context = {
      ...didRules,
      txid: displayHash(hash),
      time: 0,
      issuer: (did: string) => state.did(did),
      credential: () => undefined,
      otherCredential: () => undefined,
    }
    try {
      return applyOperation(before, parseOperation(operation, didRules), context)
    } catch (error) {
      if (error instanceof RuleError && error.code.startsWith('credential-')) return undefined
      throw error
    }
  }

  async disconnect(): Promise<void> {
    const last = this.blocks.pop()
    if (last !== undefined) await putDisconnected(this.overlay, last.block)
  }

  async commit(): Promise<void> {
    await this.overlay.commit({ kind: 'block', height: this.blocks.length, hash: new Uint8Array(32) }, { sync: false })
    this.overlay = new Overlay(this.database)
  }
}
