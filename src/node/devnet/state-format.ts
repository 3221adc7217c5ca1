import { crc32 } from 'node:zlib'
import { exportBlocks, type Pieces } from '../../ledger/chain/block-file.js'
import type { Chain } from '../../ledger/chain/chain.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { Waiting } from '../../ledger/mempool/reevaluation.js'
import { concat, equalBytes } from '../../base/primitives/bytes.js'
import { CodecError, type Reader, Writer } from '../../base/primitives/codec.js'
import { decodeAllSteps } from '../../base/primitives/codec-steps.js'
import type { Steps } from '../../base/primitives/steps.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { runCooperatively } from '../../base/runtime/cooperative.js'
import { latestTime } from './clock.js'

/*
 * The state of a devnet as bytes: `didsta01`, a head with clock and pool, then the blocks as a file of blocks has them.
 *
 *   head     u32 length of the content, content, u32 CRC-32 of both
 *   content  i64 offset of the clock in ms, i64 time of the next block in Unix seconds or -1, u32 number of transactions;
 *            each: i64 arrival in ms, u32 length, bytes
 */

const magic = Buffer.from('didsta01', 'latin1')
const checksumSize = 4
/**
 * Larger than a pool that is full of small transactions.
 * @limit bytes: clock and pool in a state of a devnet
 */
const maxHead = 128 * 1024 * 1024

/** Members of a state beside the blocks. */
export interface StateHead {
  /** Milliseconds by which the clock is ahead of the real one. */
  readonly offset: number
  /** Unix seconds requested for the next block. */
  readonly nextBlockTime: number | undefined
  /** Pooled transactions in order of arrival. */
  readonly pool: readonly Waiting[]
}

/** A state in pieces; the chain must not move until the last one is read. */
export async function* statePieces(chain: Chain, head: StateHead): AsyncGenerator<Uint8Array, void, void> {
  const content = headContent(head)
  const sized = concat(new Writer(4).u32(content.length).finish(), content)
  yield concat(magic, sized, new Writer(checksumSize).u32(crc32(sized)).finish())
  yield* exportBlocks(chain)
}

/**
 * Reads the head; throws a {@link UserError} for bytes that are no state, or a damaged one, and for the first pooled transaction
 * that `check` refuses.
 */
export async function readStateHead(source: Pieces, check: (transaction: Transaction) => Steps): Promise<StateHead> {
  const begin = await source.take(magic.length + 4)
  if (begin === undefined || !equalBytes(begin.subarray(0, magic.length), magic)) {
    throw new UserError('it is no state of a devnet: it does not begin as one')
  }
  const length = begin.readUInt32LE(magic.length)
  if (length > maxHead) throw new UserError('the state is damaged: a length is out of bounds')
  const rest = await source.take(length + checksumSize)
  if (rest === undefined) throw new UserError('the state is damaged: it ends too early')
  const content = rest.subarray(0, length)
  if (rest.readUInt32LE(length) !== crc32(content, crc32(begin.subarray(magic.length)))) {
    throw new UserError('the state is damaged: a checksum does not match')
  }
  const damaged = (reason: string) => new UserError(`the state is damaged: ${reason}`)
  return runCooperatively(decodeAllSteps(content, (reader) => headSteps(reader, check), damaged))
}

function headContent({ offset, nextBlockTime = -1, pool }: StateHead): Uint8Array {
  const size = pool.reduce((sum, { transaction }) => sum + 12 + transaction.bytes.length, 20)
  const writer = new Writer(size)
    .i64(BigInt(Math.round(offset)))
    .i64(BigInt(nextBlockTime))
    .u32(pool.length)
  for (const { arrival, transaction } of pool) {
    writer
      .i64(BigInt(Math.round(arrival)))
      .u32(transaction.bytes.length)
      .bytes(transaction.bytes)
  }
  return writer.finish()
}

function* headSteps(reader: Reader, check: (transaction: Transaction) => Steps): Steps<StateHead> {
  const offset = Number(reader.i64())
  const asked = Number(reader.i64())
  if (Math.abs(offset) > latestTime * 1000 || asked > latestTime) throw new CodecError('its clock is out of bounds')
  const pool: Waiting[] = []
  for (let left = reader.u32(); left > 0; left--) {
    const arrival = Number(reader.i64())
    if (arrival < 0 || arrival > Number.MAX_SAFE_INTEGER) throw new CodecError('a time of arrival is out of bounds')
    const transaction = transactionOf(reader.take(reader.u32()))
    yield* check(transaction)
    pool.push({ arrival, transaction })
    yield
  }
  return { offset, nextBlockTime: asked < 0 ? undefined : asked, pool }
}

function transactionOf(bytes: Uint8Array): Transaction {
  try {
    return Transaction.kept(bytes)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the state is damaged: a pooled transaction cannot be read: ${error.message}`)
  }
}
