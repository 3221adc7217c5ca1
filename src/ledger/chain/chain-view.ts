import type { RowSource } from '../storage/stored-rows.js'
import type { Chain } from './chain.js'

/** Calls back when the tip has moved. */
export interface ChainMoves {
  on(event: 'change', listener: () => void): unknown
  off(event: 'change', listener: () => void): unknown
}

/** A chain as answers see it: that of a node, or its rows in another engine. */
export interface ChainView extends Pick<
  Chain,
  | 'spec'
  | 'sanity'
  | 'genesis'
  | 'headers'
  | 'tip'
  | 'prunes'
  | 'prunedHeight'
  | 'prunesDocuments'
  | 'supersededHeight'
  | 'joinedHeight'
> {
  /** How far the backfill of the node is; absent: the rows do not have it. */
  readonly verifiedHeight?: number
  readonly database: RowSource
  readonly assumedConfirms: Pick<Chain['assumedConfirms'], 'verify'>
  readonly events: ChainMoves
}
