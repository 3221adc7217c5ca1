import type { Chain } from '../ledger/chain/chain.js'
import { parseConfirm } from '../base/primitives/confirm.js'
import { tables } from '../ledger/storage/rows/tables.js'
import type { PrecommitMessage } from './tendermint/message.js'

/**
 * Precommits from the stored confirm of a decided height, for peers that still vote on it. Empty for genesis, above the tip,
 * and for confirms that this node has not verified yet.
 */
export function confirmVotes({ assumedConfirms, headers, database }: Chain, height: number): PrecommitMessage[] {
  const known = height === 0 || !assumedConfirms.holds(height) ? undefined : headers.active(height)
  const row = known === undefined ? undefined : database.get(tables.confirm.key(known.header.hash))
  if (known === undefined || row === undefined) return []
  const { header } = known
  const { proposal, votes } = parseConfirm(row)
  return votes.map(({ signer, signature }) => ({ kind: 'precommit', height, header, proposal, signer, signature }))
}
