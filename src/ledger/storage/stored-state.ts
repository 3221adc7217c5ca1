import type { ConnectedBlock, ConnectedOperation } from '../consensus/connect.js'
import { type Coin, coinOf, type StateView } from '../consensus/ledger.js'
import { documentText } from '../../identity/did/canonical.js'
import type { DocumentTokens } from '../../identity/did-index/document-tokens.js'
import type { CredentialState, DidState } from '../../identity/did/state.js'
import type { ProgramHash } from '../../base/primitives/address.js'
import type { Block } from '../../base/primitives/block.js'
import { displayHash, fromUtf8, mapKey, ofMapKey } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { didOfKey, isOfLongName } from '../../base/primitives/did-key.js'
import { bothSteps, finish, type Steps } from '../../base/primitives/steps.js'
import { txType } from '../../base/primitives/payload.js'
import { TextSet } from '../../base/primitives/text-set.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { outpointKey, outputKey } from '../../base/primitives/input.js'
import { type Output, ownerOf } from '../../base/primitives/output.js'
import type { Outpoint } from '../../base/primitives/transaction-fields.js'
import { forEachCooperatively, runCooperatively } from '../../base/runtime/cooperative.js'
import { addToDay, takeFromDay } from './rows/day-rows.js'
import { credentialState, declaredIssuer, popCredential } from './rows/credential-rows.js'
import { didKey, didOperation, didText, locationOf, operationAt, storedDocument } from './rows/did-reader.js'
import { present, type RowReader } from './rows/row-reader.js'
import { type CredentialUndo, type Key, tables } from './rows/tables.js'
import { undoSteps } from './rows/undo-record.js'
import { LeafChanges, leavesOfSteps } from './rows/map/leaf-changes.js'
import { putMapBack } from './rows/map/map-rows.js'
import { type IndexDepth, nextOrdinal, putIndexBack, TokenIndexChanges } from './rows/token-index.js'
import type { Overlay } from './write/overlay.js'
import { DocumentReader, KnownDocuments } from './write/known-documents.js'
import { provedHeight, provedSteps, takeBackProved } from './rows/side-chain-rows.js'
import { reusedRows } from './write/row-buffer.js'

/** Between rows and rules: the state view for rules, and the rows that a block changes. */

interface StoredStateOptions {
  time(): number
  readonly documents?: KnownDocuments
}

/** The state of a chain by its rows. */
export class StoredState implements StateView {
  readonly #rows: RowReader
  readonly #documents: DocumentReader

  readonly #time: () => number

  /** `time`: of the last block of these rows; `documents` shares the facts read from documents with other readers of the same chain. */
  constructor(rows: RowReader, { time, documents = new KnownDocuments() }: StoredStateOptions) {
    this.#rows = rows
    this.#time = time
    this.#documents = new DocumentReader(documents)
  }

  get time(): number {
    return this.#time()
  }

  coin(outpoint: Outpoint): Coin | undefined {
    const known = this.#rows.knownCoin?.(outpointKey(outpoint))
    if (known !== undefined) return known ?? undefined
    return tables.coin.get(this.#rows, outpoint)
  }

  did(did: string): DidState | undefined {
    const key = didKey(did)
    const head = key === undefined ? undefined : tables.didHead.get(this.#rows, key)
    if (key === undefined || head === undefined) return undefined
    const last = didOperation(this.#rows, key, head.operationCount - 1)
    const documentRow = didOperation(this.#rows, key, head.documentSequence)
    const { status, operationCount } = head
    const names = { lastTxid: displayHash(last.txid), documentTxid: displayHash(documentRow.txid) }
    const read = () => operationAt(this.#rows, locationOf(this.#rows, documentRow.txid)).payload
    return this.#documents.state({ status, operationCount, ...names }, read)
  }

  issuer(did: string): DidState | undefined {
    return this.did(did)
  }

  credential(id: string, signer: string): CredentialState | undefined {
    return credentialState(this.#rows, id, signer, (declare) => {
      return this.#documents.issuer(displayHash(declare.txid), () => declaredIssuer(this.#rows, declare))
    })
  }

  otherCredential(id: string, signer: string): CredentialState | undefined {
    return this.credential(id, signer)
  }

  provedHeight(genesis: Hash): number | undefined {
    return provedHeight(this.#rows, genesis)
  }
}

/** Short transactions whose rows are put in one step, and addresses of a long one. */
const transactionsAtOnce = 8
const addressesAtOnce = 32

/** The part of a block that its rows hold. */
export interface RowsBlock {
  readonly header: Pick<Block['header'], 'height' | 'time' | 'previous'>
  readonly transactions: Block['transactions']
}

/** How the rows of a block are put. */
export interface PuttingRows {
  readonly depth?: IndexDepth
  /** Cached facts about documents; empty if absent. */
  readonly documents?: KnownDocuments
}

/** Puts all rows that connecting a block changes into the overlay, but those of the map; returns the leaves that it changes there. */
export async function putConnected(
  overlay: Overlay,
  block: RowsBlock,
  connected: ConnectedBlock,
  { depth, documents = new KnownDocuments() }: PuttingRows = {},
): Promise<LeafChanges> {
  const { height } = block.header
  const { state, transactions } = connected
  await runCooperatively(transactionRowSteps(overlay, block, transactions))

  await runCooperatively(overlay.coins.addSteps(state.coins))

  const dids: ProgramHash[] = []
  const credentials: CredentialUndo[] = []
  const index = new TokenIndexChanges()
  const leaves = new LeafChanges()
  let next: number | undefined
  const putDid = (did: ConnectedOperation, i: number) => {
    const tx = block.transactions[i + 1] as Transaction
    const undo = leaves.put(overlay, did, { height, index: i + 1, time: block.header.time, tx })
    if (undo !== undefined) {
      credentials.push(undo)
      return
    }
    const key = present(didKey(did.id), 'the key of a connected DID')
    const sequence = did.state.operationCount - 1
    const before = sequence === 0 ? undefined : present(tables.didHead.get(overlay, key), 'a DID head')
    const documentSequence = did.state.documentTxid === tx.txid ? sequence : (before?.documentSequence ?? 0)
    const ordinal = before?.ordinal ?? (next ??= nextOrdinal(overlay))
    if (before === undefined) next = ordinal + 1
    const head = { status: did.state.status, operationCount: did.state.operationCount, documentSequence, ordinal }
    overlay.put(tables.didHead.key(key), tables.didHead.encode(head))
    const row = documentKey(overlay, key)
    if (before === undefined) index.create(overlay, ordinal, { height, index: i + 1 })
    index.change(ordinal, {
      before: before && tokensOrRow(overlay, documents, { did: key, sequence: before.documentSequence, row }),
      after: did.document?.bytes,
      // After a deactivate the state names the document before.
      found: did.document && ((tokens) => documents.keepTokens(did.state.documentTxid, tokens)),
    })
    if (did.document === undefined) overlay.del(row)
    else overlay.put(row, did.document.bytes)
    dids.push(key)
  }
  await runCooperatively(operationSteps(transactions, putDid))
  await index.stage(overlay, height, depth)
  const spent = transactions.map((connectedTx) => connectedTx.spent)
  const sideChains = await runCooperatively(provedSteps(overlay, transactions))
  addToDay(overlay, block, connected.fees)
  overlay.put(tables.undo.key(height), await runCooperatively(undoSteps({ spent, dids, credentials, sideChains })))
  return leaves
}

/** Calls `put` for each operation, with the index of its transaction behind the coinbase. */
function* operationSteps(
  transactions: ConnectedBlock['transactions'],
  put: (did: ConnectedOperation, index: number) => void,
): Steps {
  for (let i = 0; i < transactions.length; i++) {
    const did = transactions[i]?.did
    if (did === undefined) continue
    put(did, i)
    yield
  }
}

const noBytes = new Uint8Array(0)

/** Puts the rows of transactions: bytes, position, and history of each address in them. */
function* transactionRowSteps(overlay: Overlay, block: RowsBlock, connected: ConnectedBlock['transactions']): Steps {
  const { height } = block.header
  const [locations, histories] = [reusedRows(tables.location), reusedRows(tables.history)]
  let index = 0
  const put = (owner: string) => overlay.encoded.putRow(histories.row(noBytes, owner, height, index))
  for (; index < block.transactions.length; index++) {
    const tx = block.transactions[index] as Transaction
    const location = { height, index }
    overlay.put(tables.transaction.key(height, index), tx.bytes)
    if (isReadAgain(tx)) overlay.put(tables.location.key(tx.hash), tables.location.encode(location))
    else overlay.encoded.putRow(locations.row(location, tx.hashKey))
    yield* touchedSteps(tx, connected[index - 1]?.spent ?? [], put)
    if (index % transactionsAtOnce === 0) yield
  }
}

/** Whether operations that follow read the position of a transaction. */
function isReadAgain(tx: Transaction): boolean {
  return tx.type === txType.did
}

/** Calls `touch` with `mapKey` of the program hashes that a transaction pays to or spends of, each once. */
function touchedSteps({ outputs }: Transaction, spent: readonly Coin[], touch: (owner: string) => void): Steps {
  const seen = new TextSet()
  const once = (of: Output | Coin) => {
    const owner = 'owner' in of ? of.owner : ownerOf(of)
    if (seen.add(owner)) touch(owner)
  }
  return bothSteps<Output | Coin>(outputs, spent, once, addressesAtOnce)
}

/**
 * Puts all rows that disconnecting the last block changes into the overlay; returns the map root before it, undefined where there is
 * no map.
 */
export async function putDisconnected(overlay: Overlay, block: RowsBlock): Promise<Hash | undefined> {
  const { height } = block.header
  const undo = present(tables.undo.get(overlay, height), `the undo record of height ${height}`)
  // Before its transactions go, which alone have them.
  const longTexts = new Map(undo.dids.filter(isOfLongName).map((did) => [mapKey(did), didText(overlay, did)]))
  for (let index = block.transactions.length - 1; index >= 0; index--) {
    const tx = block.transactions[index] as Transaction
    const spent = undo.spent[index - 1] ?? []
    overlay.del(tables.transaction.key(height, index))
    const location = tables.location.key(tx.hash)
    if (isReadAgain(tx)) overlay.del(location)
    else overlay.encoded.del(location)
    finish(touchedSteps(tx, spent, (owner) => overlay.encoded.del(tables.history.key(ofMapKey(owner), height, index))))
    // An output that a later transaction of the block spent is back by now.
    tx.outputs.forEach((output, i) => {
      const coin = coinOf(output, { height, coinbase: tx.isCoinbase })
      if (coin !== undefined) overlay.coins.spend(outputKey(tx.hashKey, i), coin)
    })
    tx.inputs.forEach((input, i) => {
      const coin = spent[i]
      if (coin !== undefined) overlay.coins.create(outpointKey(input), coin)
    })
  }

  // Before the rows of its create are deleted: a DID that vanishes completely leaves no row with its position.
  const documents = new Map(
    undo.dids.map((did) => {
      const key = documentKey(overlay, did)
      const { ordinal } = present(tables.didHead.get(overlay, did), 'the head of a DID to take back')
      return [mapKey(did), { did, key, ordinal, before: overlay.get(key) }]
    }),
  )
  for (const did of [...undo.dids].reverse()) popOperation(overlay, did)
  await forEachCooperatively(documents.values(), ({ did, key }) => putDocument(overlay, did, key))
  for (const undone of [...undo.credentials].reverse()) popCredential(overlay, undone)
  takeBackProved(overlay, undo.sideChains)
  takeFromDay(overlay, block, undo.spent)
  const changed = [...documents.values()].map(({ did, key, ordinal, before }) => {
    return { ordinal, before, after: overlay.get(key), exists: tables.didHead.get(overlay, did) !== undefined }
  })
  await putIndexBack(overlay, height, changed)
  overlay.del(tables.undo.key(height))
  return putMapBack(overlay, height, () =>
    leavesOfSteps(overlay, undo, (did) => longTexts.get(mapKey(did)) ?? didOfKey(did)),
  )
}

/** The tokens of a DID's document, if they are known, else its row. */
function tokensOrRow(
  overlay: Overlay,
  documents: KnownDocuments,
  { did, sequence, row }: { readonly did: ProgramHash; readonly sequence: number; readonly row: Key },
): DocumentTokens | Uint8Array | undefined {
  const known = documents.tokens(displayHash(didOperation(overlay, did, sequence).txid))
  return known ?? overlay.get(row)
}

/** The row of a DID's latest document. */
function documentKey(rows: RowReader, did: ProgramHash): Key {
  return tables.didDocument.key(didOperation(rows, did, 0))
}

/** Rewrites the row of a DID's latest document, from the operation that its head names now. */
function putDocument(overlay: Overlay, did: ProgramHash, key: Key): void {
  const head = tables.didHead.get(overlay, did)
  if (head === undefined) {
    overlay.del(key)
    return
  }
  overlay.put(key, fromUtf8(documentText(storedDocument(overlay, did))))
}

/** Takes back the last operation of a DID: the head returns to the state after the operation before it. */
function popOperation(overlay: Overlay, did: ProgramHash): void {
  const head = present(tables.didHead.get(overlay, did), 'the head of a DID to take back')
  const sequence = head.operationCount - 1
  overlay.del(tables.didOperation.key(did, sequence))
  if (sequence === 0) {
    overlay.del(tables.didHead.key(did))
    return
  }
  // A deactivated DID has no later operations, so any operation before the last one holds a document.
  const documentSequence = sequence - 1
  const { ordinal } = head
  const encoded = tables.didHead.encode({ status: 'valid', operationCount: sequence, documentSequence, ordinal })
  overlay.put(tables.didHead.key(did), encoded)
}
