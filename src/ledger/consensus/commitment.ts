import { brokenRule } from '../../base/errors/broken-rule.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { equalBytes, toHex } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { coinStateOf, paramsAt, type Spec, validatorsHash } from '../../base/primitives/spec.js'
import { attributeUsage, type Transaction } from '../../base/primitives/transaction.js'
import type { Attribute } from '../../base/primitives/transaction-fields.js'
import {
  type Commitments,
  commitmentTag,
  decodeCommitments,
  encodeCommitments,
  isCommitments,
} from '../../identity/proofs/commitment.js'

/** Commitments of a coinbase: one attribute of usage 0x81. Other attributes of that usage are free. */

/** Commitments of a block, apart from its outputs and the next validators. */
export interface Committed {
  readonly witnessRoot: Hash
  /** Root of the state after the block; ignored if the spec requires none. */
  readonly didRoot?: Hash | undefined
  /** Root of the coins that the block commits to; ignored if the spec requires none. */
  readonly coinRoot?: Hash | undefined
}

/** The commitment attribute of a coinbase at `height`. */
export function commitmentAttribute(spec: Spec, height: number, committed: Committed): Attribute {
  const { witnessRoot, didRoot, coinRoot } = committed
  const entries = new Map<number, Hash>([[commitmentTag.witnessRoot, witnessRoot]])
  if (paramsAt(spec, height).didRoot && didRoot !== undefined) entries.set(commitmentTag.didRoot, didRoot)
  if (spec.hasValidators) entries.set(commitmentTag.nextValidators, validatorsHash(spec, height + 1))
  if (coinStateOf(spec, height) !== undefined && coinRoot !== undefined) entries.set(commitmentTag.coinRoot, coinRoot)
  return { usage: attributeUsage.memo, data: encodeCommitments(entries) }
}

/**
 * Throws unless the coinbase carries exactly one commitment attribute, with exactly the entries that the spec requires at `height`
 * and this witness root. The next validators are checked by {@link namesNextValidators}, the root of all DIDs by {@link
 * checkDidRoot}, that of all coins by {@link checkCoinRoot}.
 */
export function checkCommitment(spec: Spec, height: number, coinbase: Transaction, witnessRoot: Hash): void {
  const found = commitmentsOf(coinbase)
  if (found.length !== 1) {
    throw new RuleError('coinbase-commitment', `the coinbase has ${found.length} commitment attributes, not one`)
  }
  const [entries] = found
  const tags = entries && [...entries.keys()].join()
  if (entries === undefined || tags !== requiredTags(spec, height).join()) {
    throw new RuleError('coinbase-commitment', `commitment entries ${tags ?? 'of a broken form'}`)
  }
  if (!equalBytes(entries.get(commitmentTag.witnessRoot) as Hash, witnessRoot)) {
    throw brokenRule('coinbase-witness-root')
  }
}

function requiredTags(spec: Spec, height: number): number[] {
  const { witnessRoot, didRoot, nextValidators, coinRoot } = commitmentTag
  return [
    witnessRoot,
    ...(paramsAt(spec, height).didRoot ? [didRoot] : []),
    ...(spec.hasValidators ? [nextValidators] : []),
    ...(coinStateOf(spec, height) === undefined ? [] : [coinRoot]),
  ]
}

/** Whether the coinbase of a block at `height`, its commitment being sound, names the spec's validators of the next height. */
export function namesNextValidators(spec: Spec, height: number, coinbase: Transaction): boolean {
  if (!spec.hasValidators) return true
  const named = committed(coinbase, commitmentTag.nextValidators)
  return named !== undefined && equalBytes(named, validatorsHash(spec, height + 1))
}

/** Throws unless the coinbase of a block at `height`, its commitment being sound, has the root of the state after the block. */
export function checkDidRoot(spec: Spec, height: number, coinbase: Transaction, didRoot: Hash): void {
  if (!paramsAt(spec, height).didRoot) return
  const named = committed(coinbase, commitmentTag.didRoot)
  if (named !== undefined && equalBytes(named, didRoot)) return
  const reason = `the coinbase commits to ${named && toHex(named)}, the state after the block has ${toHex(didRoot)}`
  throw new RuleError('coinbase-did-root', reason)
}

/** Throws unless the coinbase of a block that commits to all coins, its commitment being sound, has their root. */
export function checkCoinRoot(coinbase: Transaction, coinRoot: Hash): void {
  const named = committed(coinbase, commitmentTag.coinRoot)
  if (named !== undefined && equalBytes(named, coinRoot)) return
  const reason = `the coinbase commits to the coins ${named && toHex(named)}, those of its state are ${toHex(coinRoot)}`
  throw new RuleError('coinbase-coin-root', reason)
}

/** One entry of a commitment that is sound. */
function committed(coinbase: Transaction, tag: number): Hash | undefined {
  return commitmentsOf(coinbase)[0]?.get(tag)
}

/** Commitments of each attribute that has them; undefined: its form is broken. */
function commitmentsOf({ attributes }: Transaction): (Commitments | undefined)[] {
  return attributes
    .filter(({ usage, data }) => usage === attributeUsage.memo && isCommitments(data))
    .map(({ data }) => decodeCommitments(data))
}
