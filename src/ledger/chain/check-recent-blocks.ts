import { transactionRoot } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import type { JournalSpan } from '../storage/care/check-journal.js'
import { damaged } from '../storage/failure.js'
import { tables } from '../storage/rows/tables.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Chain } from './chain.js'
import { readBlock } from './read-body.js'

/**
 * Checks every block that batches since the last clean point may have touched: header links, bodies, undo records and confirms.
 * Throws a StorageError for a missing or mismatched row.
 */
export async function checkRecentBlocks(
  chain: Chain,
  { fromHeight }: Pick<JournalSpan, 'fromHeight'>,
  progress: (done: number, total: number) => void = () => {},
): Promise<void> {
  const top = chain.tip.header.height
  const lacking = Math.max(chain.prunedHeight, chain.supersededHeight)
  // What a block gave up cannot be checked.
  const first = Math.max(Math.min(fromHeight ?? 0, top), lacking === 0 ? 0 : lacking + 1)
  for (let height = first; height <= top; height++) {
    progress(height - first, top - first + 1)
    const known = chain.headers.active(height)
    if (known === undefined) throw damaged(`the block at height ${height} is gone`)
    const { header } = known
    const parent = height === 0 ? undefined : chain.headers.activeHash(height - 1)
    const linked = parent === undefined ? height === 0 : equalBytes(header.previous, parent)
    if (!equalBytes(header.hash, chain.headers.activeHash(height) as Hash)) {
      throw damaged(`the header at height ${height} is not the one its hash names`)
    }
    if (!linked || header.height !== height) throw damaged(`the header at height ${height} does not follow its parent`)
    const block = await readBlock(chain.database, known)
    if (!equalBytes(transactionRoot(block.transactions), header.merkleRoot)) {
      throw damaged(`the transactions at height ${height} are not those of the header`)
    }
    if (chain.database.get(tables.undo.key(height)) === undefined) throw damaged(`no undo record for height ${height}`)
    if (height > 0 && chain.spec.hasValidators && chain.database.get(tables.confirm.key(header.hash)) === undefined) {
      throw damaged(`no confirm for height ${height}`)
    }
  }
  if (chain.headers.activeHash(top + 1) !== undefined) throw damaged('the chain goes on above the tip')
}
