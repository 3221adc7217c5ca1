import type { Reader, Writer } from '../../primitives/codec.js'
import type { Hash } from '../../primitives/hash.js'
import { bytesListCodec, codec, type Exchange, listCodec, type GossipTopic } from './exchange.js'

/** Transactions of a question. */
export const transactionsAtOnce = 256
const transactionsRequest = 16 * 1024
/** Who answers ends the list after the transaction with which it reaches so many bytes; the first one always fits. */
export const transactionsFill = 4 * 1024 * 1024
/** Bytes of an answer: what may be in it before the last transaction, and the largest one. */
const transactionsAnswer = 14 * 1024 * 1024
const transactionsTimeout = 10_000
/** Transactions of an announcement. */
export const announcedAtOnce = 512
const announcementBytes = 36 * 1024
const nameBytes = 64

/** A transaction by its id, and by all of its bytes: programs are not part of the id. */
export interface TransactionName {
  readonly txid: Hash
  /** sha256d of the bytes, programs included. */
  readonly digest: Hash
}

/** Transaction bytes by txid, in the order asked; empty bytes stand for one that is not here. */
export const transactionsExchange: Exchange<readonly Hash[], readonly Uint8Array[]> = {
  protocol: {
    name: 'transactions',
    version: 1,
    ofChain: true,
    request: transactionsRequest,
    answer: transactionsAnswer,
    timeout: transactionsTimeout,
  },
  question: listCodec<Hash>(
    transactionsAtOnce,
    32,
    (writer, txid) => writer.bytes(txid),
    (reader) => reader.hash(),
  ),
  answer: bytesListCodec(transactionsAtOnce, transactionsAnswer),
}

/** Transactions that a pool took, for those who do not have them to ask for. */
export interface Announcement {
  /** Any number. Gossip passes equal bytes on only once, and every node has to announce what it can hand out itself. */
  readonly salt: number
  readonly names: readonly TransactionName[]
}

export const transactionTopic: GossipTopic<Announcement> = {
  topic: { name: 'transactions', version: 1, size: announcementBytes },
  message: codec(
    (writer, { salt, names }) => writer.u32(salt).list(names, (name) => writeName(writer, name)),
    (reader) => ({ salt: reader.u32(), names: reader.list(announcedAtOnce, nameBytes, () => readName(reader)) }),
  ),
}

/** A list of at most `most` names, 64 bytes each. */
export function transactionNames(most: number) {
  return listCodec<TransactionName>(most, nameBytes, writeName, readName)
}

function writeName(writer: Writer, { txid, digest }: TransactionName): Writer {
  return writer.bytes(txid).bytes(digest)
}

function readName(reader: Reader): TransactionName {
  return { txid: reader.hash(), digest: reader.hash() }
}
