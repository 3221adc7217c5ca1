import * as form from '../../base/primitives/forms.js'
import type { Hash } from '../../base/primitives/hash.js'
import { bytesListCodec, chainProtocol, codec, type Exchange, type GossipTopic, hashes } from './exchange.js'

/** @limit count: transactions of a request */
export const transactionsAtOnce = 256
/** @limit bytes: request for transactions */
const transactionsRequest = 16 * 1024
/** @tuning bytes: transactions after which an answer ends; the first one always fits */
export const transactionsFill = 4 * 1024 * 1024
/** @limit bytes: answer with transactions: {@link transactionsFill} and the largest transaction */
const transactionsAnswer = 14 * 1024 * 1024
/** @limit ms: wait for an answer with transactions */
const transactionsTimeout = 10_000
/** @limit count: transactions of an announcement */
export const announcedAtOnce = 512
/** @limit bytes: announcement of transactions */
const announcementBytes = 36 * 1024
const nameBytes = 64

/** Identifies a transaction by txid and by all of its bytes: the txid does not cover the programs. */
export interface TransactionName {
  readonly txid: Hash
  /** sha256d of the bytes, programs included. */
  readonly digest: Hash
}

/** Not a record, which takes longer: the list of a pool has tens of thousands. */
const transactionName: form.Form<TransactionName> = {
  write: (writer, { txid, digest }) => writer.bytes(txid).bytes(digest),
  read: (reader) => ({ txid: reader.hash(), digest: reader.hash() }),
}

/** Transaction bytes by txid, in the order of the request; empty bytes: the peer does not have the transaction. */
export const transactionsExchange: Exchange<readonly Hash[], readonly Uint8Array[]> = {
  protocol: chainProtocol('transactions', transactionsRequest, transactionsAnswer, transactionsTimeout),
  question: codec(hashes(transactionsAtOnce)),
  answer: bytesListCodec(transactionsAtOnce, transactionsAnswer),
}

/** Transactions accepted into a pool; peers that lack them request them. */
export interface Announcement {
  /** Any number. Gossip passes equal bytes on only once, but every node has to announce what it can serve. */
  readonly salt: number
  readonly names: readonly TransactionName[]
}

export const transactionTopic: GossipTopic<Announcement> = {
  topic: { name: 'transactions', version: 1, size: announcementBytes },
  message: codec(
    form.record<Announcement>({ salt: form.u32, names: form.list(announcedAtOnce, nameBytes, transactionName) }),
  ),
}

/** A list of at most `most` names, 64 bytes each. */
export function transactionNames(most: number) {
  return codec(form.list(most, nameBytes, transactionName))
}
