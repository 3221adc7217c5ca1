import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConnectedBlock, connectedOperation, type ConnectedTransaction } from '../../../src/consensus/connect.js'
import { StateOverlay } from '../../../src/consensus/ledger.js'
import { noWork } from '../../../src/consensus/signature-work.js'
import { buildCreate, buildDeactivate, buildDocument, buildUpdate, payloadText } from '../../../src/did/build.js'
import type { DidDocument } from '../../../src/did/model.js'
import { parseOperation } from '../../../src/did/operation.js'
import { applyOperation } from '../../../src/did/apply-operation.js'
import { type DidState } from '../../../src/did/state.js'
import { displayHash } from '../../../src/primitives/bytes.js'
import { coinbaseInput, Transaction } from '../../../src/primitives/transaction.js'
import { Database } from '../../../src/storage/database.js'
import { Overlay } from '../../../src/storage/overlay.js'
import { KnownDocuments } from '../../../src/storage/known-documents.js'
import { keys, rangeOf, table } from '../../../src/storage/schema.js'
import { type RowsBlock, putConnected, putDisconnected, StoredState } from '../../../src/storage/stored-state.js'
import { memoryStore } from '../../support/builders/chain.js'
import { didRules, holder, specification } from '../../support/builders/did.js'

const unsigned = () => new Uint8Array(64)
const holders = [holder(), holder(), holder()]
/** Some documents of each holder, built once. */
const documents = holders.map(({ plan }) =>
  ['A', 'B', 'Ü'].map((name) =>
    buildDocument(
      { ...plan, services: [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://x.example', name }] },
      unsigned,
    ),
  ),
)

/** What somebody does: with a DID, a document of it, and whether an existing one is deactivated. */
interface Deed {
  readonly who: number
  readonly which: number
  readonly end: boolean
}

/** One operation as it stands in a block. */
interface Done {
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

/** A chain of nothing but DID operations over its rows. */
class DidRows {
  readonly blocks: { readonly block: RowsBlock; readonly done: readonly Done[] }[] = []
  overlay: Overlay
  /** Room for some of what is read, so that there is something to forget. */
  readonly known = new KnownDocuments(4000)

  constructor(readonly database: Database) {
    this.overlay = new Overlay(database)
  }

  async connect(deeds: readonly Deed[]): Promise<void> {
    const height = this.blocks.length
    const state = new StateOverlay(new StoredState(this.overlay))
    const done: Done[] = []
    const transactions = [transaction({ type: 0, data: new Uint8Array(0) }, height, 0)]
    const connected: ConnectedTransaction[] = []
    for (const deed of deeds) {
      const { plan, did } = holders[deed.who] as (typeof holders)[number]
      const document = documents[deed.who]?.[deed.which] as DidDocument
      const before = state.did(did)
      if (before?.status === 'deactivated') continue
      const kind = before === undefined ? 'create' : deed.end ? 'deactivate' : 'update'
      const form = deed.which === 0 ? ('compact' as const) : ('normalised' as const)
      const by = { specification, verificationMethod: '#primary', form }
      const operation =
        kind === 'create'
          ? buildCreate(document, by, unsigned)
          : kind === 'update'
            ? buildUpdate(document, { ...by, previousTxid: (before as DidState).lastTxid }, unsigned)
            : buildDeactivate(plan.did, by, unsigned)
      const carrier = transaction({ type: 10, operation }, height, transactions.length)
      const parsed = parseOperation(operation, didRules)
      const applied = applyOperation(before, parsed, {
        ...didRules,
        txid: displayHash(carrier.hash),
        issuer: () => undefined,
        credential: () => undefined,
        otherCredential: () => undefined,
      })
      state.setDid(did, applied.next)
      transactions.push(carrier)
      connected.push({ fee: 0n, work: noWork, checks: [], spent: [], did: connectedOperation(applied) })
      done.push({ who: deed.who, kind, document })
    }
    const block = { header: { height, time: 0 }, transactions }
    await putConnected(this.overlay, block, {
      state,
      transactions: connected,
      fees: 0n,
      checks: [],
    } satisfies ConnectedBlock)
    this.blocks.push({ block, done })
  }

  async disconnect(): Promise<void> {
    const last = this.blocks.pop()
    if (last !== undefined) await putDisconnected(this.overlay, last.block)
  }

  async commit(): Promise<void> {
    await this.overlay.commit({ kind: 'block', height: this.blocks.length, hash: new Uint8Array(32) }, { sync: false })
    this.overlay = new Overlay(this.database)
  }

  /** The documents of all DIDs by create operation, from the blocks alone. */
  expected(): string[][] {
    const rows = new Map<number, { key: string; text: string }>()
    this.blocks.forEach(({ done }, height) =>
      done.forEach(({ who, kind, document }, i) => {
        const key = rows.get(who)?.key ?? keys.didDocument({ height, index: i + 1 }).toString('hex')
        if (kind === 'deactivate') rows.delete(who)
        else rows.set(who, { key, text: payloadText(document) })
      }),
    )
    return [...rows.values()].map(({ key, text }) => [key, text]).sort()
  }

  /** Every DID as a state tells it that remembers what it read, and as one that does not. */
  told(): [unknown, unknown][] {
    const states = [new StoredState(this.overlay, this.known), new StoredState(this.overlay)]
    return holders.map(({ did }) => states.map((state) => spelled(state.did(did))) as [unknown, unknown])
  }

  async held(): Promise<string[][]> {
    const rows = await this.database.rows(rangeOf(table.didDocument))
    return rows.map(([key, value]) => [key.toString('hex'), value.toString('utf8')])
  }
}

/** All of a state. */
function spelled(state: DidState | undefined): unknown {
  if (state === undefined) return undefined
  const { status, operationCount, lastTxid, documentTxid, documentPayloadSize, document } = state
  const { id, authentication, authorization, credentials } = document
  const head = { status, operationCount, lastTxid, documentTxid, documentPayloadSize }
  return { ...head, id, authentication, authorization, credentials }
}

const deed = fc.record({ who: fc.nat(2), which: fc.nat(2), end: fc.integer({ min: 0, max: 3 }).map((n) => n === 0) })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.array(deed, { maxLength: 5 }) },
  { weight: 2, arbitrary: fc.constant('disconnect' as const) },
  { weight: 2, arbitrary: fc.constant('commit' as const) },
)

describe('the table of documents', () => {
  it('holds what the blocks say, whatever was connected and taken back, in one batch or many', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        const rows = new DidRows(await Database.over(memoryStore()))
        for (const next of steps) {
          if (next === 'disconnect') await rows.disconnect()
          else if (next === 'commit') await rows.commit()
          else await rows.connect(next)
          for (const [cached, fresh] of rows.told()) expect(cached).toEqual(fresh)
        }
        await rows.commit()
        expect(await rows.held()).toEqual(rows.expected())
        while (rows.blocks.length > 0) await rows.disconnect()
        await rows.commit()
        expect(await rows.held()).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  it('holds them in the order of the create operations, normalised', async () => {
    const rows = new DidRows(await Database.over(memoryStore()))
    await rows.connect([2, 0].map((who) => ({ who, which: 0, end: false })))
    await rows.connect([1, 2].map((who) => ({ who, which: 1, end: false })))
    await rows.commit()
    const held = await rows.held()
    expect(held.map(([key]) => key)).toEqual(['0f000000000001', '0f000000000002', '0f000000010001'])
    expect(held.map(([, text]) => JSON.parse(text as string) as unknown)).toMatchObject([
      { id: holders[2]?.did, service: [{ id: `${holders[2]?.did}#hub`, name: 'B' }] },
      { id: holders[0]?.did, service: [{ name: 'A' }] },
      { id: holders[1]?.did, service: [{ name: 'B' }] },
    ])
  })
})
