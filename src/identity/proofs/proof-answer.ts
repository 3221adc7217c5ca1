import type { ResolvedTransaction } from '../did/resolution.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import {
  type Anchor,
  type AnchoredBlock,
  type CommittedBlock,
  headerOf,
  type KnownChain,
  readAnchor,
} from './anchor.js'
import { readTransactions } from './answer-transaction.js'
import { credentialOrder, didOrder } from './history-order.js'
import { checkMapProof, type ProvedHistory } from './map-proof.js'
import { credentialMapKey, didMapKey } from './map-tree.js'
import { fail } from './proof-failure.js'
import { displayHashText, list, members, number, requireFormat, text } from './read-json.js'

/** Common code of answers about a DID and about a credential. */

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
  /** The DID or the credential. */
  readonly about: string
  readonly status: Status
  readonly transactions: readonly ResolvedTransaction[]
  readonly proof: Proof
}

/** A checker's chain, and its clock in Unix milliseconds. */
export interface AnswerTrust extends KnownChain {
  readonly now: number
}

/** Reads an answer about a DID or a credential. Throws `proof-missing` and `form`. */
export function readAnswer(sent: unknown, name: 'did' | 'id', { keysAt }: KnownChain): Answer {
  const { proof: proved, status, transaction, [name]: about } = members(sent, 'an answer')
  if (proved === undefined) fail('proof-missing', 'an answer without a proof is not believed')
  return {
    about: text(about),
    status: readStatus(status),
    transactions: readTransactions(transaction),
    proof: readProof(proved, keysAt !== undefined),
  }
}

/** The question that an answer has to be about. */
export interface Subject {
  readonly about: string
  /** Height of the block as of which it holds; undefined: any. */
  readonly height: number | undefined
}

/**
 * Throws unless an answer is one to the question: `answer-did`, `chain`, `anchor-header` and `answer-height`, in this order. Returns the
 * header of its block.
 */
export function requireAsked({ about, proof }: Answer, asked: Subject, { genesis }: KnownChain): Header {
  if (about !== asked.about) fail('answer-did', `it is about ${about.slice(0, 300)}`)
  if (!equalBytes(proof.chain, genesis)) fail('chain', 'it is of another chain')
  const header = headerOf(proof.anchor)
  const { height = header.height } = asked
  return header.height === height ? header : fail('answer-height', `it is as of block ${header.height}, not ${height}`)
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

/** Name of the leaf of a DID, or of a signer's operations on a credential. */
export type LeafName = { readonly did: string } | { readonly id: string; readonly signer: string }

/** A leaf as of a block, and what proves it. */
export interface ProvedLeaf {
  readonly name: LeafName
  /** Undefined: there is none. */
  readonly history: ProvedHistory | undefined
  /** As it was sent. */
  readonly map: unknown
}

/** Checks what was sent as the way of a leaf to a block. */
export function leafOf(name: LeafName, map: unknown, block: CommittedBlock, genesis: Hash): ProvedLeaf {
  const { header, didRoot } = block
  const [key, order] =
    'did' in name ? [didMapKey(name.did), didOrder] : [credentialMapKey(name.id, name.signer), credentialOrder]
  const place = { didRoot, height: header.height, time: header.time }
  return { name, map, history: checkMapProof(map, { key, order, genesis, ...place }) }
}

/** Unix milliseconds: the clock, and never before the time of a block. */
export function timeAt(now: number, { header }: AnchoredBlock): number {
  return Math.max(now, header.time * 1000)
}

/** 1 once a date has come, given in Unix seconds. */
export function expiry(date: number | undefined = Infinity, now: number): 0 | 1 {
  return date * 1000 <= now ? 1 : 0
}
