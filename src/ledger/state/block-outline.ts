import { coinbaseLeaf, maxBlockTransactions } from '../../base/primitives/block.js'
import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import type { Reader, Writer } from '../../base/primitives/codec.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { MerkleTree } from '../../base/primitives/merkle.js'
import type { Spec } from '../../base/primitives/spec.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { checkCommitment } from '../consensus/commitment.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { brokenRule } from '../../base/errors/broken-rule.js'

/** A block without header and transactions: their hashes, by which any of them can be checked. */

/** One transaction of a block after the coinbase. */
export interface TransactionHashes {
  readonly txid: Hash
  /** sha256d of all its bytes, signatures included. */
  readonly digest: Hash
}

export interface BlockOutline {
  readonly coinbase: Transaction
  readonly transactions: readonly TransactionHashes[]
}

export function writeOutline(writer: Writer, { coinbase, transactions }: BlockOutline): void {
  writer.varbytes(coinbase.bytes)
  writer.varuint(transactions.length)
  for (const { txid, digest } of transactions) writer.bytes(txid).bytes(digest)
}

/** Reads the outline of a block; throws a CodecError or a RuleError. */
export function readOutline(reader: Reader): BlockOutline {
  const coinbase = Transaction.fromBytes(reader.varbytes(reader.remaining))
  const transactions = reader.list(maxBlockTransactions, 64, () => ({ txid: reader.hash(), digest: reader.hash() }))
  return { coinbase, transactions }
}

/**
 * Checks that hashes and coinbase are those of the header, and that the coinbase has the commitments that the spec requires, with the root
 * over all bytes of the transactions. Entries for the state are not checked here.
 */
export function checkOutline(spec: Spec, header: Header, { coinbase, transactions }: BlockOutline): void {
  const [ids, digests] = [new MerkleTree(), new MerkleTree()]
  ids.add(coinbase.hashKey)
  digests.add(coinbaseLeaf)
  const seen = new Set([coinbase.hashKey])
  for (const { txid, digest } of transactions) {
    const key = mapKey(txid)
    ids.add(key)
    digests.add(mapKey(digest))
    seen.add(key)
  }
  // An odd last hash is paired with itself: a list with it twice has the same root.
  if (seen.size !== transactions.length + 1) throw brokenRule('block-duplicate-transaction')
  if (!equalBytes(ids.root, header.merkleRoot)) throw brokenRule('block-merkle-root')
  if (!coinbase.isCoinbase || coinbase.lockTime !== header.height) {
    throw new RuleError('coinbase-height', `the first transaction is no coinbase of height ${header.height}`)
  }
  // No hash binds them: they would be any bytes.
  if (coinbase.programs.length > 0) throw brokenRule('coinbase-program')
  checkCommitment(spec, header.height, coinbase, digests.root)
}
