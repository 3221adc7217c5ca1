import { UserError } from '../errors/rule-error.js'
import { defined } from '../primitives/defined.js'
import { registerAssetTransaction } from '../primitives/genesis.js'
import type { Hash } from '../primitives/hash.js'
import { type Params, paramsAt, type Spec } from '../primitives/spec.js'
import type { Payment } from './build-transaction.js'

/** The id of the native asset of a chain, internal order. */
export function assetIdOf(spec: Spec): Hash {
  return registerAssetTransaction(spec).hash
}

/** The specification string to write into operations after `height`: the first that the chain accepts; else a UserError. */
export function specificationAfter(spec: Spec, height: number | undefined, subject: 'did' | 'credential'): string {
  const [specification] = rulesAfter(spec, height).specifications[subject]
  if (specification !== undefined) return specification
  throw new UserError(`the chain spec accepts no specification for ${subject === 'did' ? 'DIDs' : 'credentials'}`)
}

/** The rules for the block after `height`; without a height (offline) the last ones in the spec. */
export function rulesAfter(spec: Spec, height: number | undefined): Params {
  return paramsAt(spec, height === undefined ? Number.MAX_SAFE_INTEGER : height + 1)
}

/** The chain's terms for a payment in the block after `height`, the minimum fee included. */
export function chainTerms(
  spec: Spec,
  height: number | undefined,
): Pick<Payment, 'height' | 'maturity' | 'fee' | 'assetId' | 'maxMoney'> {
  return {
    ...defined({ height }),
    maturity: spec.maturity,
    fee: rulesAfter(spec, height).fees,
    assetId: assetIdOf(spec),
    maxMoney: spec.maxMoney,
  }
}
