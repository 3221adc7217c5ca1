import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { registerAssetTransaction } from '../../base/primitives/genesis.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type Params, paramsAt, type Spec } from '../../base/primitives/spec.js'
import type { Payment } from './build-transaction.js'
import type { Prices } from './fee.js'

/** Data of a chain that a wallet uses, with the rules of the block after `height`. */
export interface ChainRules extends Pick<Params, 'fees' | 'specifications'> {
  readonly name: string
  /** Height of the tip; absent if unknown. */
  readonly height?: number
  /** Id of the native asset, internal order. */
  readonly assetId: Hash
  readonly maturity: number
  /** Bound of every amount and sum, in units of 10^-8. */
  readonly maxMoney: bigint
}

/** The rules by a spec; without a height (offline) the last ones in it. */
export function chainRules(spec: Spec, height: number | undefined): ChainRules {
  const { fees, specifications } = rulesAfter(spec, height)
  const { name, maturity, maxMoney } = spec
  return { name, ...defined({ height }), assetId: assetIdOf(spec), maturity, maxMoney, fees, specifications }
}

/** The id of the native asset of a chain, internal order. */
export function assetIdOf(spec: Spec): Hash {
  return registerAssetTransaction(spec).hash
}

/** The specification string to write into operations: the first that the chain accepts; else a UserError. */
export function specificationIn({ specifications }: ChainRules, subject: 'did' | 'credential'): string {
  const [specification] = specifications[subject]
  if (specification !== undefined) return specification
  throw new UserError(`the chain accepts no specification for ${subject === 'did' ? 'DIDs' : 'credentials'}`)
}

/** The specification string to write into operations after `height`: the first that the chain accepts; else a UserError. */
export function specificationAfter(spec: Spec, height: number | undefined, subject: 'did' | 'credential'): string {
  return specificationIn(chainRules(spec, height), subject)
}

/** The rules for the block after `height`; without a height (offline) the last ones in the spec. */
export function rulesAfter(spec: Spec, height: number | undefined): Params {
  return paramsAt(spec, height === undefined ? Number.MAX_SAFE_INTEGER : height + 1)
}

/** The chain's part of a payment, with the prices by which the fee is found. */
export interface Terms extends Pick<Payment, 'height' | 'maturity' | 'assetId' | 'maxMoney'> {
  readonly fee: Prices
}

/** The terms by the rules of a chain; `floor`: the present price of a node's pool for 1000 bytes. */
export function termsOf({ height, maturity, fees, assetId, maxMoney }: ChainRules, floor?: number): Terms {
  return { ...defined({ height }), maturity, fee: { ...fees, ...defined({ floor }) }, assetId, maxMoney }
}

/**
 * The terms for a payment in the block after `height`, by the spec of a chain, or by its rules as a node gives them; `floor`: the
 * `perkilobyte` of `getfeerate`.
 */
export function chainTerms(chain: Spec | ChainRules, height: number | undefined, floor?: number): Terms {
  return 'sections' in chain ? termsOf(chainRules(chain, height), floor) : nodeTerms(chain, height, floor)
}

/** The terms by the rules that a node gives, as in the small package, which reads no spec. */
export function nodeTerms({ height: _, ...rules }: ChainRules, height: number | undefined, floor?: number): Terms {
  return termsOf({ ...rules, ...defined({ height }) }, floor)
}
