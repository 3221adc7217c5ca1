import { equalBytes } from '../../base/primitives/bytes.js'
import { damaged, StorageError } from '../storage/failure.js'
import { hasMap } from '../storage/rows/map/map-rows.js'
import { joinedHeight } from '../storage/rows/prune-rows.js'
import { tables } from '../storage/rows/tables.js'
import type { Chain } from './chain.js'
import { checkDays } from './count-days.js'
import { checkRecentBlocks } from './check-recent-blocks.js'
import { readEveryRow, type VerifyStep } from './replay-chain.js'

/**
 * Checks a chain that prunes as far as that is possible: that every row is readable, that the headers follow each other and have
 * their confirms, the histories of DIDs and the map over them, the counters of days but for fees that are not known any more, and the
 * blocks that keep their transactions. What the others changed cannot be worked out again. Returns undefined, or what is wrong.
 */
export async function verifyPruned(
  chain: Chain,
  progress: (step: VerifyStep) => void = () => {},
): Promise<string | undefined> {
  const total = chain.tip.header.height
  const pruned = chain.prunedHeight
  const joined = joinedHeight(chain.database)
  try {
    await readEveryRow(chain.database, progress)
    for (let height = 1; height <= pruned; height++) {
      progress({ stage: 'blocks', done: height, total })
      checkHeader(chain, height, height > joined)
    }
    const { checkHistories, checkMapRows } = await import('../storage/care/check-map-rows.js')
    await checkHistories(chain.database)
    if (hasMap(chain.database)) await checkMapRows(chain.database)
    await checkRecentBlocks(chain, { fromHeight: 0 }, (done) =>
      progress({ stage: 'blocks', done: pruned + done, total }),
    )
    await checkDays(chain, chain.tip.header)
    return undefined
  } catch (error) {
    if (error instanceof StorageError && error.kind !== 'environment') return error.message
    throw error
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
