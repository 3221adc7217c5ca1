import { parseDate } from '../did/date.js'
import { didPart } from '../did/identifier.js'
import type { Credential } from '../did/model.js'
import { credentialOfBytes } from '../did/operations/credential-operation.js'
import type { ResolvedTransaction } from '../did/resolution.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { formOfNumber, operationForm } from '../../base/primitives/did-operation.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type AnchoredBlock, committedBlock, standingBlock } from './anchor.js'
import {
  type Answer,
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
import type { Checking } from './signature-checks.js'
import { parsed, payloadBytes } from './did-answer.js'
import type { Entry } from './history.js'
import type { ProvedHistory } from './map-proof.js'
import { fail } from './proof-failure.js'
import { chainIds } from '../did/chain-ids.js'

/** Question about a credential: operations on it by its owner, its issuer and a DID that is named. */

export interface CredentialQuestion {
  /** Absolute. */
  readonly id: string
  /** In full: a DID whose revocation counts before the credential is declared. */
  readonly issuer?: string | undefined
  /** As of the block of this height. */
  readonly height?: number | undefined
}

/** Proved state of a credential. */
export interface ProvedCredential {
  readonly status: Status
  /** Every operation of the leaves, newest first. */
  readonly transactions: readonly ResolvedTransaction[]
  /** The declared one. */
  readonly credential: Credential | undefined
  /** Proved leaf of each signer: the owner first. */
  readonly said: readonly ProvedLeaf[]
  readonly block: AnchoredBlock
}

/** Checks an answer about a credential with its proof, step by step; the first that fails has the name of the failure. */
export function* checkCredentialAnswer(
  sent: unknown,
  question: CredentialQuestion,
  trust: AnswerTrust,
): Checking<ProvedCredential> {
  const { id, height } = question
  const answer = readAnswer(sent, 'id', trust)
  const header = requireAsked(answer, { about: id, height }, trust)
  const committed = committedBlock(answer.proof.anchor, header, trust.keysAt !== undefined)
  const block = yield* standingBlock(answer.proof.anchor, committed, trust)
  const { said, credential } = saidOf(answer, question, block, trust.genesis)
  const histories = said.flatMap(({ history }) => history ?? [])
  requireTransactions(answer.transactions, histories, id)
  requireStatus(answer.status, histories, credential, timeAt(trust.now, block))
  return { status: answer.status, transactions: answer.transactions, credential, said, block }
}

/** The leaves of a credential: of its owner, whose declaration names the issuer, of that one, and of the DID asked for. */
function saidOf(
  { proof: { maps }, transactions }: Answer,
  { id, issuer }: CredentialQuestion,
  block: AnchoredBlock,
  genesis: Hash,
): Pick<ProvedCredential, 'said' | 'credential'> {
  const owner = didPart(id)
  const [first, ...others] = maps
  if (first === undefined) fail('answer-incomplete', 'no map')
  const own = leafOf({ id, signer: owner }, first, block, genesis)
  const credential = declared(own.history, transactions, id)
  const signers = [...new Set([owner, credential?.issuer ?? owner, issuer ?? owner])].slice(1)
  if (signers.length !== others.length) fail('answer-incomplete', `${others.length + 1} maps of ${signers.length + 1}`)
  return { said: [own, ...signers.map((signer, i) => leafOf({ id, signer }, others[i], block, genesis))], credential }
}

/** The credential that its owner declared; undefined: none. */
function declared(
  own: ProvedHistory | undefined,
  transactions: readonly ResolvedTransaction[],
  id: string,
): Credential | undefined {
  const entry = own?.entries.find(({ operation }) => formOfNumber(operation)?.effect === 'credential')
  if (entry === undefined) return undefined
  const declare = transactions.find(({ txid }) => txid === displayHash(entry.txid))
  if (declare === undefined) {
    return transactions.length === 0
      ? fail('answer-incomplete', 'the declare is missing')
      : fail('answer-transaction', 'none has the txid of the declare')
  }
  requireEntry(declare, entry, undefined)
  const { payload } = declare.operation
  const credential = parsed(() => credentialOfBytes(payloadBytes(payload), chainIds))
  return credential.id === id ? credential : fail('answer-document', `a credential ${credential.id}`)
}

/** Throws unless the transactions are those of all entries, none before a newer one. */
function requireTransactions(
  transactions: readonly ResolvedTransaction[],
  histories: readonly ProvedHistory[],
  id: string,
): void {
  const entries = new Map<string, Entry>()
  for (const entry of histories.flatMap((history) => history.entries)) entries.set(displayHash(entry.txid), entry)
  if (transactions.length !== entries.size) {
    fail('answer-incomplete', `${transactions.length} transactions of ${entries.size} operations`)
  }
  const shown = transactions.map((transaction) => {
    const entry = entries.get(transaction.txid) ?? fail('answer-transaction', `no entry of ${transaction.txid}`)
    entries.delete(transaction.txid)
    requireEntry(transaction, entry, undefined)
    const { header, payload } = transaction.operation
    if (operationForm(header)?.payload === 'credential-id' && payload !== id) {
      fail('answer-document', 'a revocation of another credential')
    }
    return entry
  })
  requireNewestFirst(shown, histories)
}

function requireNewestFirst(shown: readonly Entry[], histories: readonly ProvedHistory[]): void {
  const wrong = () => fail('answer-transaction', 'an older operation before a newer one')
  shown.forEach(({ height }, i) => height > (shown[i - 1]?.height ?? Infinity) && wrong())
  // Those of one signer have an order within a block too.
  for (const { entries } of histories) {
    const places = entries.map((entry) => shown.indexOf(entry))
    places.forEach((place, i) => place > (places[i - 1] ?? Infinity) && wrong())
  }
}

function requireStatus(
  status: Status,
  histories: readonly ProvedHistory[],
  credential: Credential | undefined,
  now: number,
): void {
  const isRevoked = histories.some(({ state }) => state === 2)
  const whole = credential === undefined ? 3 : expiry(dateOf(credential), now)
  if (status !== (isRevoked ? 2 : whole)) fail('answer-status', `${status}`)
}

function dateOf({ expirationDate }: Credential): number | undefined {
  return expirationDate === undefined ? undefined : parseDate(expirationDate)
}
