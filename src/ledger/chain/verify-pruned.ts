import { equalBytes, mapKey } from '../../base/primitives/bytes.js'
import { MerkleTree } from '../../base/primitives/merkle.js'
import { damaged, StorageError } from '../storage/failure.js'
import { hasMap } from '../storage/rows/map/map-rows.js'
import { joinedHeight } from '../storage/rows/prune-rows.js'
import { tables } from '../storage/rows/tables.js'
import { knownTransactions, txidOf } from '../storage/rows/transaction-hashes.js'
import type { Chain } from './chain.js'
import { checkDays } from './count-days.js'
import { checkRecentBlocks } from './check-recent-blocks.js'
import { readEveryRow, type VerifyStep } from './replay-chain.js'

/**
 * Checks a chain that prunes as far as that is possible: that every row is readable, that the headers follow each other and have
 * their confirms, the histories of DIDs and the map over them, the counters of days but for fees that are not known any more, the
 * blocks that keep their transactions, and of those that gave up documents all transactions, by their hashes. What the others changed cannot
 * be worked out again. Returns undefined, or what is wrong.
 */
export async function verifyPruned(
  chain: Chain,
  progress: (step: VerifyStep) => void = () => {},
): Promise<string | undefined> {
  const total = chain.tip.header.height
  const pruned = chain.prunedHeight
  const lacking = Math.max(pruned, chain.supersededHeight)
  const joined = joinedHeight(chain.database)
  try {
    await readEveryRow(chain.database, progress)
    for (let height = 1; height <= lacking; height++) {
      progress({ stage: 'blocks', done: height, total })
      checkHeader(chain, height, height > joined)
      if (height > pruned) await checkHashes(chain, height)
    }
    const { checkHistories, checkMapRows } = await import('../storage/care/check-map-rows.js')
    await checkHistories(chain.database)
    if (hasMap(chain.database)) await checkMapRows(chain.database)
    await checkRecentBlocks(chain, { fromHeight: 0 }, (done) =>
      progress({ stage: 'blocks', done: lacking + done, total }),
    )
    await checkDays(chain, chain.tip.header)
    return undefined
  } catch (error) {
    if (error instanceof StorageError && error.kind !== 'environment') return error.message
    throw error
  }
}

/** Throws a damage unless the transactions of a block, with the hashes of those that it gave up, are those of its header. */
async function checkHashes({ headers, database }: Chain, height: number): Promise<void> {
  const { header } = headers.activeAt(height)
  const tree = new MerkleTree()
  for (const known of await knownTransactions(database, height)) tree.add(mapKey(txidOf(known)))
  if (!equalBytes(tree.root, header.merkleRoot)) {
    throw damaged(`the transactions at height ${height}, given up ones among them, are not those of the header`)
  }
}

function checkHeader({ headers, database, spec }: Chain, height: number, hasConfirm: boolean): void {
  const known = headers.active(height)
  const parent = headers.activeHash(height - 1)
  if (known === undefined || parent === undefined) throw damaged(`the header of height ${height} is gone`)
  const { header } = known
  if (header.height !== height || !equalBytes(header.previous, parent)) {
    throw damaged(`the header at height ${height} does not follow its parent`)
  }
  if (hasConfirm && spec.hasValidators && database.get(tables.confirm.key(header.hash)) === undefined) {
    throw damaged(`no confirm for height ${height}`)
  }
}
