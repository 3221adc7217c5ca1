import { parseDate } from '../did/date.js'
import { didPart } from '../did/identifier.js'
import type { Credential } from '../did/model.js'
import { credentialOfBytes } from '../did/operations/credential-operation.js'
import type { ResolvedTransaction } from '../did/resolution.js'
import { displayHash } from '../primitives/bytes.js'
import { didMethod } from '../primitives/did-method.js'
import { type AnchoredBlock, checkAnchor } from './anchor.js'
import { type AnswerTrust, credentialHistory, expiry, readAnswer, type Status, timeAt } from './answer.js'
import { requireEntry } from './answer-transaction.js'
import type { Checking } from './checking.js'
import { parsed, payloadBytes } from './did-answer.js'
import { type Entry, operationNumber } from './history.js'
import type { ProvedHistory } from './map-proof.js'
import { fail } from './proof-failure.js'

/** An answer about a credential: what its owner, its issuer and a DID that was asked for said of it. */

export interface CredentialQuestion {
  /** Absolute. */
  readonly id: string
  /** In full: a DID whose revocation counts before the credential is declared. */
  readonly issuer?: string | undefined
}

/** What is proved of a credential. */
export interface ProvedCredential {
  readonly status: Status
  /** Every operation of the leaves, newest first. */
  readonly transactions: readonly ResolvedTransaction[]
  /** The declared one. */
  readonly credential: Credential | undefined
  /** What each signer said: the owner first. */
  readonly said: readonly { readonly signer: string; readonly history: ProvedHistory | undefined }[]
  readonly block: AnchoredBlock
}

/** Checks an answer about a credential with its proof. */
export function* checkCredentialAnswer(
  sent: unknown,
  { id, issuer: asked }: CredentialQuestion,
  trust: AnswerTrust,
): Checking<ProvedCredential> {
  const { status, transactions, proof } = readAnswer(sent, ['id', id], trust)
  const block = yield* checkAnchor(proof.anchor, trust)
  const owner = didPart(id)
  const [first, ...others] = proof.maps
  if (first === undefined) fail('answer-incomplete', 'no map')
  const historyOf = (map: unknown, signer: string) => ({
    signer,
    history: credentialHistory(map, { id, signer }, block, trust.genesis),
  })
  const own = historyOf(first, owner)
  const credential = declared(own.history, transactions, id)
  const signers = [...new Set([owner, credential?.issuer ?? owner, asked ?? owner])].slice(1)
  if (signers.length !== others.length) fail('answer-incomplete', `${others.length + 1} maps of ${signers.length + 1}`)
  const said = [own, ...signers.map((signer, i) => historyOf(others[i], signer))]
  const histories = said.flatMap(({ history }) => history ?? [])
  requireTransactions(transactions, histories, id)
  requireStatus(status, histories, credential, timeAt(trust.now, block))
  return { status, transactions, credential, said, block }
}

/** The credential that its owner declared; undefined: none. */
function declared(
  own: ProvedHistory | undefined,
  transactions: readonly ResolvedTransaction[],
  id: string,
): Credential | undefined {
  const entry = own?.entries.find(({ operation }) => operation === operationNumber.declare)
  if (entry === undefined) return undefined
  const declare = transactions.find(({ txid }) => txid === displayHash(entry.txid))
  if (declare === undefined) {
    return transactions.length === 0
      ? fail('answer-incomplete', 'the declare is missing')
      : fail('answer-transaction', 'none has the txid of the declare')
  }
  requireEntry(declare, entry, undefined)
  const { payload } = declare.operation
  const credential = parsed(() => credentialOfBytes(payloadBytes(payload), { method: didMethod, chain: true }))
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
  let newest = Infinity
  for (const transaction of transactions) {
    const entry = entries.get(transaction.txid) ?? fail('answer-transaction', `no entry of ${transaction.txid}`)
    entries.delete(transaction.txid)
    requireEntry(transaction, entry, undefined)
    if (entry.height > newest) fail('answer-transaction', 'an older operation before a newer one')
    newest = entry.height
    const { header, payload } = transaction.operation
    if (header.operation === 'revoke' && payload !== id) fail('answer-document', 'a revocation of another credential')
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
