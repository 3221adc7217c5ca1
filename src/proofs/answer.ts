import type { ResolvedTransaction } from '../did/resolution.js'
import { equalBytes } from '../primitives/bytes.js'
import type { Hash } from '../primitives/hash.js'
import { type Anchor, type AnchoredBlock, type KnownChain, readAnchor } from './anchor.js'
import { readTransactions } from './answer-transaction.js'
import { credentialOrder, didOrder } from './history-order.js'
import { checkMapProof, type ProvedHistory } from './map-proof.js'
import { credentialMapKey, didMapKey } from './map-tree.js'
import { fail } from './proof-failure.js'
import { displayHashText, list, members, number, requireFormat, text } from './read-json.js'

/** What answers about a DID and about a credential share. */

export const proofFormat = 'didledger/proof/1'

/**
 * Leaves that matter for a credential: of its owner, its issuer, and the DID asked for.
 * @limit count: maps in a proof
 */
const maxMaps = 3

export type Status = 0 | 1 | 2 | 3

/** A proof as it was sent. */
export interface Proof {
  readonly chain: Hash
  readonly anchor: Anchor
  /** Not read yet. */
  readonly maps: readonly unknown[]
}

/** An answer as it was sent. */
export interface Answer {
  readonly status: Status
  readonly transactions: readonly ResolvedTransaction[]
  readonly proof: Proof
}

/** What a checker brings: its chain, and its clock in Unix milliseconds. */
export interface AnswerTrust extends KnownChain {
  readonly now: number
}

/** Reads an answer about a DID or a credential. Throws `proof-missing`, `form`, `answer-did` and `chain`, in this order. */
export function readAnswer(sent: unknown, [name, asked]: ['did' | 'id', string], chain: KnownChain): Answer {
  const { proof: proved, status, transaction, [name]: named } = members(sent, 'an answer')
  if (proved === undefined) fail('proof-missing', 'an answer without a proof is not believed')
  const about = text(named)
  const answer = {
    status: readStatus(status),
    transactions: readTransactions(transaction),
    proof: readProof(proved, chain.keysAt !== undefined),
  }
  if (about !== asked) fail('answer-did', `it is about ${about.slice(0, 300)}`)
  if (!equalBytes(answer.proof.chain, chain.genesis)) fail('chain', 'it is of another chain')
  return answer
}

function readStatus(sent: unknown): Status {
  const status = number(sent)
  return status === 0 || status === 1 || status === 2 || status === 3 ? status : fail('form', `status ${status}`)
}

function readProof(sent: unknown, hasValidators: boolean): Proof {
  const { format, chain, anchor, maps } = members(sent, 'a proof')
  requireFormat(format, proofFormat)
  return { chain: displayHashText(chain), anchor: readAnchor(anchor, hasValidators), maps: list(maps, maxMaps) }
}

/** The history of a DID as of a block; undefined: it has none. */
export function didHistory(sent: unknown, did: string, block: AnchoredBlock, genesis: Hash): ProvedHistory | undefined {
  return checkMapProof(sent, { key: didMapKey(did), order: didOrder, genesis, ...placeOf(block) })
}

/** What a DID said of a credential, as of a block; undefined: nothing. */
export function credentialHistory(
  sent: unknown,
  { id, signer }: { readonly id: string; readonly signer: string },
  block: AnchoredBlock,
  genesis: Hash,
): ProvedHistory | undefined {
  return checkMapProof(sent, { key: credentialMapKey(id, signer), order: credentialOrder, genesis, ...placeOf(block) })
}

function placeOf({ header, didRoot }: AnchoredBlock): { didRoot: Hash; height: number; time: number } {
  return { didRoot, height: header.height, time: header.time }
}

/** Unix milliseconds: the clock, and never before the time of a block. */
export function timeAt(now: number, { header }: AnchoredBlock): number {
  return Math.max(now, header.time * 1000)
}

/** 1 once a date has come, given in Unix seconds. */
export function expiry(date: number | undefined, now: number): 0 | 1 {
  return date !== undefined && date * 1000 <= now ? 1 : 0
}
