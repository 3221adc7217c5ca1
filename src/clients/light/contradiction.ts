import { equalBytes } from '../../base/primitives/bytes.js'
import type { Anchor } from '../../identity/proofs/anchor.js'
import type { ProvedLeaf } from '../../identity/proofs/proof-answer.js'
import { mayBegin } from '../../identity/proofs/history-prefix.js'
import { LightError } from './light-error.js'
import type { SeenBlock } from './light-memory.js'

/** Two states that exclude each other, each of which holds by itself. That alone accuses no validator: fork-evidence.ts decides. */

/** One of them. */
export interface Side {
  /** With the anchor that it was shown by. */
  readonly block: SeenBlock & { readonly anchor?: Anchor }
  /** The text of a head that a known witness cosigned, where no confirm is at hand. */
  readonly note?: string
  /** Undefined: the block itself excludes the other. */
  readonly leaf?: ProvedLeaf
}

/** One of two histories of a leaf. */
type SideOfLeaf = Side & { readonly leaf: ProvedLeaf }

export class Contradiction extends LightError {
  readonly sides: readonly [Side, Side]

  constructor(message: string, sides: readonly [Side, Side]) {
    super('contradiction', message)
    this.sides = sides
  }
}

/** Throws a {@link Contradiction} where another block of the same height is confirmed as well. */
export function requireSame(one: Side['block'], other: Side['block']): void {
  const { height, hash } = one.header
  if (height !== other.header.height || equalBytes(hash, other.header.hash)) return
  if (one.confirm === undefined || other.confirm === undefined) return
  throw new Contradiction(`two blocks of height ${height} are confirmed`, [{ block: one }, { block: other }])
}

/** Throws a {@link Contradiction} where the history of the lower block cannot be the beginning of that of the higher one. */
export function requireOneHistory(lower: SideOfLeaf, higher: SideOfLeaf): void {
  const [one, other] = [lower, higher].map(({ block, leaf }) => ({
    height: block.header.height,
    history: leaf.history,
  })) as [Parameters<typeof mayBegin>[0], Parameters<typeof mayBegin>[1]]
  if (mayBegin(one, other)) return
  throw new Contradiction('two proved histories of one leaf exclude each other', [lower, higher])
}
