import { decodeBase64url } from '../did/base64url.js'
import { parseDocumentBytes } from '../did/document.js'
import { didPart } from '../did/identifier.js'
import type { DidDocument } from '../did/model.js'
import type { ResolvedTransaction } from '../did/resolution.js'
import { displayHash, fromUtf8 } from '../../base/primitives/bytes.js'
import { operationForm } from '../../base/primitives/did-operation.js'
import { type AnchoredBlock, committedBlock, standingBlock } from './anchor.js'
import {
  type AnswerTrust,
  expiry,
  leafOf,
  type ProvedLeaf,
  readAnswer,
  requireAsked,
  type Status,
  timeAt,
} from './proof-answer.js'
import { requireEntry } from './answer-transaction.js'
import { type Checking, noSignatures, requireSignatures } from './signature-checks.js'
import { asksVersion, type DidQuestion, versionIn } from './did-question.js'
import type { Entry } from './history.js'
import type { ProvedHistory } from './map-proof.js'
import { type OperationSignature, operationSignature } from './operation-signature.js'
import { fail, ProofError } from './proof-failure.js'
import { chainIds } from '../did/chain-ids.js'

/** An answer about a DID: its history in the map, the transactions that are its versions, the documents in them, its status. */

/** Proved state of a DID. */
export interface ProvedDid {
  readonly status: Status
  /**
   * Whether the status is proved. It is not where an earlier version of a DID in use is shown: whether the last one has expired
   * stands in that one alone.
   */
  readonly knowsStatus: boolean
  /** Newest first. */
  readonly transactions: readonly ResolvedTransaction[]
  /** The document of each transaction; undefined: it is a deactivation. */
  readonly documents: readonly (DidDocument | undefined)[]
  /** The key that signed each transaction; undefined: its document is not shown, and the signature not checked. */
  readonly signers: readonly (string | undefined)[]
  /** The entry of each transaction, by its place in those of the history. */
  readonly places: readonly number[]
  /** Undefined: the DID does not exist. */
  readonly history: ProvedHistory | undefined
  readonly leaf: ProvedLeaf
  readonly block: AnchoredBlock
}

/** The transactions that an answer shows of a history, newest first, each with the place of its entry. */
interface Shown {
  readonly did: string
  readonly history: ProvedHistory | undefined
  readonly transactions: readonly ResolvedTransaction[]
  readonly places: readonly number[]
}

type Documents = readonly (DidDocument | undefined)[]

/** Checks an answer about a DID with its proof, step by step; the first that fails has the name of the failure. */
export function* checkDidAnswer(sent: unknown, question: DidQuestion, trust: AnswerTrust): Checking<ProvedDid> {
  const { did } = question
  const answer = readAnswer(sent, 'did', trust)
  const header = requireAsked(answer, { about: did, height: question.height }, trust)
  const committed = committedBlock(answer.proof.anchor, header, trust.keysAt !== undefined)
  const block = yield* standingBlock(answer.proof.anchor, committed, trust)
  const leaf = leafOf({ did }, oneMap(answer.proof.maps), block, trust.genesis)
  const shown = yield* shownIn(answer.transactions, leaf.history, question)
  const documents = yield* checkDocuments(shown)
  const knowsStatus = requireStatus(answer.status, shown, documents, timeAt(trust.now, block))
  requireVersion(shown, question)
  const signers = yield* checkSigners(shown, documents)
  return { ...shown, status: answer.status, knowsStatus, documents, signers, leaf, block }
}

function oneMap([map, second]: readonly unknown[]): unknown {
  return map === undefined || second !== undefined ? fail('answer-incomplete', 'not exactly one map') : map
}

/** The shown part of a history, each transaction held against its entry. */
function* shownIn(
  transactions: readonly ResolvedTransaction[],
  history: ProvedHistory | undefined,
  question: DidQuestion,
): Checking<Shown> {
  requireCount(transactions.length, history, question)
  const entries = history?.entries ?? []
  const places = placesOf(transactions, entries, question)
  for (const [i, transaction] of transactions.entries()) {
    const place = places[i] as number
    requireEntry(transaction, entries[place] as Entry, entries[place - 1])
    yield noSignatures
  }
  return { did: question.did, history, transactions, places }
}

/** Throws `answer-incomplete` unless as many transactions and entries are there as were asked for. */
function requireCount(given: number, history: ProvedHistory | undefined, question: DidQuestion): void {
  if (history === undefined) {
    if (given > 0) fail('answer-incomplete', 'transactions of a DID that does not exist')
    return
  }
  const { count, entries } = history
  const hasAll = entries.length === count
  if (question.history === true && !hasAll) fail('answer-incomplete', `${entries.length} of ${count} entries`)
  if (question.all === true) {
    if (!hasAll || given !== count)
      fail('answer-incomplete', `${given} transactions, ${entries.length} of ${count} entries`)
    return
  }
  if (given > 1 || (given === 0 && !asksVersion(question)))
    fail('answer-incomplete', `${given} transactions instead of one`)
  // That there is no such version follows from all entries alone.
  if (given === 0 && !(hasAll && versionIn(history, question) < 0)) {
    fail('answer-incomplete', 'the version is missing, or entries')
  }
}

/** The place of the entry of each transaction; that of a version follows from its txid. */
function placesOf(
  transactions: readonly ResolvedTransaction[],
  entries: readonly Entry[],
  question: DidQuestion,
): number[] {
  if (!asksVersion(question)) return transactions.map((_, i) => entries.length - 1 - i)
  return transactions.map((transaction) => {
    const place = entries.findIndex(({ txid }) => displayHash(txid) === transaction.txid)
    return place >= 0 ? place : fail('answer-transaction', `no entry of ${transaction.txid}`)
  })
}

/** The document in a transaction of a DID; undefined: it is a deactivation of that DID. Throws `answer-document`. */
function documentOf({ operation: { header, payload } }: ResolvedTransaction, did: string): DidDocument | undefined {
  if (operationForm(header)?.payload === 'did') {
    return payload === did ? undefined : fail('answer-document', 'a deactivation of another DID')
  }
  const document = parsed(() => parseDocumentBytes(payloadBytes(payload), chainIds))
  return document.id === did ? document : fail('answer-document', `a document of ${document.id}`)
}

export function payloadBytes(payload: string): Uint8Array {
  return decodeBase64url(payload) ?? fail('answer-document', 'the payload is no base64url')
}

/** Runs a strict parser on a payload; its refusal is `answer-document`. */
export function parsed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ProofError) throw error
    return fail('answer-document', (error as Error).message)
  }
}

/** The documents of transactions, each of which proves itself. */
function* checkDocuments({ transactions, did }: Shown): Checking<Documents> {
  const documents: (DidDocument | undefined)[] = []
  for (const transaction of transactions) {
    documents.push(documentOf(transaction, did))
    yield noSignatures
  }
  yield* requireSignatures(documents.flatMap(ownSignature), 'answer-document', 'its own proof does not verify')
  return documents
}

/** The signatures by which a document proves itself: by the key that its DID is made of, or those of its controllers. */
function ownSignature(document: DidDocument | undefined) {
  if (document === undefined) return []
  const { defaultKey, signingText, proofs } = document
  const message = fromUtf8(signingText)
  return proofs.map(({ creator, signature }) => ({
    key: defaultKey?.publicKey ?? didPart(creator),
    message,
    signature,
  }))
}

/** Who signed each transaction, as far as the document with the key is shown. */
function* checkSigners(
  { transactions, did, places, history }: Shown,
  documents: Documents,
): Checking<ProvedDid['signers']> {
  const entries = history?.entries ?? []
  const documentAt = new Map(places.map((place, i) => [place, documents[i]]))
  const signatures: (OperationSignature | undefined)[] = []
  for (const [i, transaction] of transactions.entries()) {
    const place = places[i] as number
    const [before, entryBefore] = [documentAt.get(place - 1), entries[place - 1]]
    signatures.push(operationSignature({ transaction, did, document: documents[i], before, entryBefore }))
    yield noSignatures
  }
  const due = signatures.flatMap((signature) => signature?.due ?? [])
  yield* requireSignatures(due, 'answer-signature', 'not all of them verify')
  return signatures.map((signature) => signature?.signedBy)
}

/** Throws `answer-status` for a status that is not the DID's. Returns whether it is proved. */
function requireStatus(status: Status, { history, places }: Shown, documents: Documents, now: number): boolean {
  const wrong = (): never => fail('answer-status', `${status}`)
  if (history === undefined) return status === 3 || wrong()
  if (history.state === 2) return status === 2 || wrong()
  const last = places.indexOf(history.entries.length - 1)
  if (last < 0) return status < 2 ? false : wrong()
  return status === expiry(documents[last]?.expiresAt, now) || wrong()
}

/** Throws `answer-version` unless the version shown is the one asked for. */
function requireVersion({ history, places }: Shown, question: DidQuestion): void {
  const [place] = places
  if (history === undefined || place === undefined || !asksVersion(question)) return
  if (versionIn(history, question) !== place) fail('answer-version', 'another version was asked for')
}
