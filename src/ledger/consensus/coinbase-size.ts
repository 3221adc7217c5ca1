import { RuleError } from '../../base/errors/rule-error.js'
import { paramsAt, type Spec } from '../../base/primitives/spec.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { maxAnchorCoinbase } from '../../identity/proofs/anchor-coinbase.js'

/**
 * Throws where the block at `height` could be the anchor of a proof, and the unsigned part of its coinbase, which a proof carries, is
 * too large for one. Otherwise a proposer could cut off all who follow the validators by proofs, for the price of one block.
 */
export function checkCoinbaseSize(spec: Spec, height: number, { unsignedSize }: Transaction): void {
  if (unsignedSize <= maxAnchorCoinbase || !mayBeAnchor(spec, height)) return
  const reason = `the unsigned part of the coinbase has ${unsignedSize} bytes, at most ${maxAnchorCoinbase}: proofs carry it`
  throw new RuleError('coinbase-too-large', reason)
}

/** Whether proofs may stand on the block at a height from 1 on: it commits to the state of all DIDs, or names validators. */
function mayBeAnchor(spec: Spec, height: number): boolean {
  return spec.hasValidators || paramsAt(spec, height).didRoot
}
