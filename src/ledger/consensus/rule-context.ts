import type { Spec } from '../../base/primitives/spec.js'
import type { BlockBudget } from './block-budget.js'

/** The spec for the byte rules, with the asset id that follows from it. */
export interface SanityContext {
  readonly spec: Spec
  /** 32 bytes, internal order. */
  readonly assetId: Uint8Array
}

/** The block, or the future block, in which a transaction is connected. */
export interface ConnectContext extends SanityContext {
  readonly height: number
  /** Costs of the block so far; absent: a transaction is measured alone. */
  readonly budget?: BlockBudget
}
