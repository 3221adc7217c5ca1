import { RuleError } from '../errors/rule-error.js'
import { type AuxPow, auxPowBytes, readAuxPow } from './auxpow.js'
import { displayHash, fromHex, mapKey, toHex } from './bytes.js'
import { CodecError, type Reader, Writer } from './codec.js'
import { decodeAllSteps } from './codec-steps.js'
import { type Hash, sha256d, zeroHash } from './hash.js'
import { Header, headerSize } from './header.js'
import { MerkleTree } from './merkle.js'
import { finish, type Steps } from './steps.js'
import { Transaction } from './transaction.js'

/** The byte that ends a full header. */
const headerTrailer = 1
/** The smallest transaction: type, payload version, an empty payload, four empty lists and the lockTime. */
const leastTransaction = 1 + 1 + 0 + 4 + 4

/**
 * More are not even read.
 * @limit count: transactions that a chain spec may allow in a block
 */
export const maxBlockTransactions = 10_000

/** A block: header, AuxPow and transactions (format 5.1 to 5.3). */
export class Block {
  readonly header: Header
  readonly auxPow: AuxPow
  readonly transactions: readonly Transaction[]

  constructor(header: Header, auxPow: AuxPow, transactions: readonly Transaction[]) {
    this.header = header
    this.auxPow = auxPow
    this.transactions = transactions
  }

  /**
   * Decodes exactly one block; `block-malformed` for anything else, trailing bytes included. A count above
   * {@link maxBlockTransactions} is `block-transaction-count`.
   */
  static fromBytes(bytes: Uint8Array): Block {
    return finish(Block.fromBytesSteps(bytes))
  }

  /** {@link fromBytes} in steps. */
  static fromBytesSteps(bytes: Uint8Array): Steps<Block> {
    return decodeAllSteps(bytes, readBlockSteps, (reason) => new RuleError('block-malformed', reason))
  }

  static fromHex(text: string): Block {
    const bytes = fromHex(text)
    if (bytes === undefined) throw new RuleError('block-malformed', 'the text is not hex')
    return Block.fromBytes(bytes)
  }

  get bytes(): Uint8Array {
    const writer = new Writer(1024)
    writer.bytes(fullHeaderBytes(this.header, this.auxPow)).u32(this.transactions.length)
    for (const transaction of this.transactions) writer.bytes(transaction.bytes)
    return writer.finish()
  }

  toHex(): string {
    return toHex(this.bytes)
  }

  /** The block hash in display hex. */
  get hash(): string {
    return displayHash(this.header.hash)
  }

  /** The size that the limit bounds: the bare header, the transaction count and the transactions with their programs. */
  get limitedSize(): number {
    return this.transactions.reduce((sum, tx) => sum + tx.bytes.length, headerSize + 4)
  }
}

function* readBlockSteps(reader: Reader): Steps<Block> {
  const { header, auxPow } = readFullHeader(reader)
  const count = reader.u32()
  if (count > maxBlockTransactions) {
    throw new RuleError('block-transaction-count', `${count}, at most ${maxBlockTransactions}`)
  }
  if (count * leastTransaction > reader.remaining)
    throw new CodecError(`${count} transactions do not fit in what is left`)
  return new Block(header, auxPow, yield* Transaction.readListSteps(reader, count))
}

/** The hash of a block by its bytes; bytes after the header are ignored. Internal order. */
export function blockHashOf(bytes: Uint8Array): Hash {
  return sha256d(bytes.subarray(0, headerSize))
}

/** Header, AuxPow and trailer: the beginning of a block. */
export function readFullHeader(reader: Reader): { header: Header; auxPow: AuxPow } {
  const header = Header.read(reader)
  const auxPow = readAuxPow(reader)
  if (reader.u8() !== headerTrailer) throw new CodecError('the byte after the AuxPow is not 01')
  return { header, auxPow }
}

export function fullHeaderBytes(header: Header, auxPow: AuxPow): Uint8Array {
  return joinFullHeader(header.bytes, auxPowBytes(auxPow))
}

/** The same from the bytes of both. */
export function joinFullHeader(header: Uint8Array, auxPow: Uint8Array): Uint8Array {
  return new Writer(headerSize + auxPow.length + 1).bytes(header).bytes(auxPow).u8(headerTrailer).finish()
}

/** The root over txids that the header names. */
export function transactionRoot(transactions: readonly Transaction[]): Hash {
  return rootOf(transactions, (tx) => tx.hashKey)
}

/** The root over full transaction bytes that the coinbase commits to; its own leaf is zeros. */
export function witnessRoot(transactions: readonly Transaction[]): Hash {
  return rootOf(transactions, witnessLeaf)
}

/** {@link witnessRoot} of a coinbase with these transactions behind it. */
export function witnessRootBehindCoinbase(transactions: readonly Transaction[]): Hash {
  const tree = new MerkleTree()
  tree.add(coinbaseLeaf)
  for (const tx of transactions) tree.add(tx.digestKey)
  return tree.root
}

/** The leaf of a transaction in the tree of {@link witnessRoot}, as `mapKey` makes it. */
export function witnessLeaf(tx: Transaction, index: number): string {
  return index === 0 ? coinbaseLeaf : tx.digestKey
}

/** The coinbase holds the root, so its own leaf is zeros. */
export const coinbaseLeaf = mapKey(zeroHash)

function rootOf(transactions: readonly Transaction[], leaf: (tx: Transaction, index: number) => string): Hash {
  const tree = new MerkleTree()
  for (const [i, tx] of transactions.entries()) tree.add(leaf(tx, i))
  return tree.root
}
