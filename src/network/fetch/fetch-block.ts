import { matchBody } from '../../ledger/chain/match-body.js'
import type { SanityContext } from '../../ledger/consensus/rule-context.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Block } from '../../base/primitives/block.js'
import { displayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { blocksExchange } from '../wire/blocks-message.js'
import type { HeaderUnit } from '../wire/headers-message.js'
import { isUnanswered, type SyncPeer } from './sync-peer.js'

/** A block to request by its hash. */
export interface WantedBlock {
  readonly hash: Hash
  /** Its verified header, if known: the work is not verified again. */
  readonly unit?: HeaderUnit
  /** Whether the answer is still of use when it comes; true if absent. */
  needed?(): boolean
}

/**
 * Result of a request for a block:
 * - `block`: its bytes and the decoded block, which belong to the hash;
 * - `withheld`: the peer reports that it lacks the block;
 * - `unanswered`: no readable answer, penalised already if that is a fault;
 * - `refused`: wrong bytes -> penalty by error code;
 * - `needless`: not needed any more, so the answer is not looked at.
 */
export type BlockAnswer =
  | { readonly kind: 'block'; readonly bytes: Uint8Array; readonly block: Block }
  | { readonly kind: 'withheld' | 'unanswered' | 'refused' | 'needless' }

/**
 * Requests one block from one peer. Wrong bytes are penalised and never passed on: other nodes would penalise this one. Rejects
 * with unexpected errors alone.
 */
export async function fetchBlock(
  peer: Pick<SyncPeer, 'ask' | 'penalise'>,
  { hash, unit, needed }: WantedBlock,
  sanity: SanityContext,
): Promise<BlockAnswer> {
  const answer = await peer.ask(blocksExchange, [hash]).catch(unanswered)
  if (answer === undefined) return { kind: 'unanswered' }
  if (needed?.() === false) return { kind: 'needless' }
  const [bytes] = answer
  if (bytes === undefined || bytes.length === 0) return { kind: 'withheld' }
  try {
    const block = await matchBody(bytes, sanity, { hash, ...defined({ auxPow: unit?.auxPow }) })
    return { kind: 'block', bytes, block }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    peer.penalise(error.code, `block ${displayHash(hash)}: ${error.message}`)
    return { kind: 'refused' }
  }
}

function unanswered(error: unknown): undefined {
  if (!isUnanswered(error)) throw error
}
