import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, mapKey } from '../../base/primitives/bytes.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { compareRates, type Paid, priced, type Priced } from './fee-rate.js'
import type { PoolGraph } from './graph.js'
import type { PoolEntry } from './pool-entry.js'

/** Looked up in the pool for a transaction that spends what pooled ones spend. */
type Pool = Pick<PoolGraph, 'spender' | 'isBuiltUpon' | 'ancestors'>

/** A transaction that would replace others. */
export interface Replacing {
  readonly transaction: Transaction
  /** DID of its operation, once that is read. */
  readonly did?: string | undefined
  /** Sela that a transaction of its size has to pay at present. */
  readonly price: bigint
  /** Most ancestors that are looked at. */
  readonly most: number
}

/**
 * Entries that spend what a newcomer spends, but for those that it replaces anyway; a RuleError if it may not replace them, whatever it
 * pays. Reads no coin.
 */
export function conflictsOf(
  pool: Pool,
  { inputs }: Transaction,
  { free, most }: { readonly free: readonly PoolEntry[]; readonly most: number },
): readonly PoolEntry[] {
  const conflicts = new Map<string, PoolEntry>()
  const leaving = new Set(free)
  for (const input of inputs) {
    const spender = pool.spender(input)
    if (spender === undefined || leaving.has(spender)) continue
    conflicts.set(spender.transaction.hashKey, spender)
    if (conflicts.size > most) {
      throw new RuleError('pool-replacements', `it spends what more than ${most} waiting transactions spend`)
    }
  }
  for (const entry of conflicts.values()) {
    if (!pool.isBuiltUpon(entry)) continue
    const { txid } = entry.transaction
    throw new RuleError('pool-replacement-built-upon', `it spends what ${txid} spends, on which others build`)
  }
  const own = inputs.find(({ txid }) => conflicts.has(mapKey(txid)))
  if (own === undefined) return [...conflicts.values()]
  const name = `${displayHash(own.txid)}:${own.index}`
  throw new RuleError('tx-double-spend', `it spends ${name}, and an input of the transaction that has this output`)
}

/**
 * The least fee, in sela, for which a transaction replaces others: theirs and the price of its own size, which pays for relaying it; and
 * more for a byte than each of them, alone and with those of its pooled ancestors that pay less.
 */
function replacementFee(
  pool: Pool,
  replaced: readonly PoolEntry[],
  { transaction, did, price, most }: Replacing,
): bigint {
  const { length } = transaction.bytes
  const ancestors = pool.ancestors(transaction, did, new Set(replaced), most).map(paidBy)
  const fees = replaced.flatMap((entry) => {
    const rate = packageRate(pool, entry)
    const below = sumOf(ancestors.filter((each) => compareRates(each, rate) < 0))
    return [feeAbove(paidBy(entry), length), feeAbove(rate, length + below.bytes) - below.fee]
  })
  const sum = replaced.reduce((total, { fee }) => total + fee, price)
  return fees.reduce((least, fee) => (fee > least ? fee : least), sum)
}

/** Refuses a transaction that pays too little for what it replaces. */
export function requireReplacementFee(
  pool: Pool,
  replaced: readonly PoolEntry[],
  replacing: Replacing,
  fee: bigint,
): void {
  if (replaced.length === 0) return
  const least = replacementFee(pool, replaced, replacing)
  if (fee >= least) return
  const [first, ...others] = replaced.map(({ transaction: { txid } }) => txid)
  const named =
    others.length === 0
      ? `${first}, which waits and spends the same`
      : `${first} and ${others.length} more, which wait and spend the same`
  throw new RuleError('pool-replacement-fee', `the fee is ${fee} sela, and ${least} are needed to replace ${named}`)
}

/** The least fee with which so many bytes pay more for a byte. */
function feeAbove({ fee, bytes }: Paid, length: number): bigint {
  return (fee * BigInt(length)) / BigInt(bytes) + 1n
}

/** Price of a byte of an entry with those of its ancestors that lower it: richer ones may be taken without it. */
function packageRate(pool: Pool, entry: PoolEntry): Priced {
  const ancestors = pool
    .ancestors(entry.transaction, entry.did?.id, new Set([entry]))
    .map(paidBy)
    .sort(compareRates)
  return ancestors.reduce((sum, each) => (compareRates(each, sum) < 0 ? joined(sum, each) : sum), paidBy(entry))
}

function paidBy({ transaction, fee }: PoolEntry): Priced {
  return priced(fee, transaction.bytes.length)
}

function joined(a: Paid, b: Paid): Priced {
  return priced(a.fee + b.fee, a.bytes + b.bytes)
}

function sumOf(all: readonly Paid[]): Paid {
  return all.reduce((sum, { fee, bytes }) => ({ fee: sum.fee + fee, bytes: sum.bytes + bytes }), { fee: 0n, bytes: 0 })
}
