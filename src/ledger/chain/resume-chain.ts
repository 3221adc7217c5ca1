import { namesNextValidators } from '../consensus/commitment.js'
import { InvariantError } from '../../base/errors/rule-error.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { keepsMap, type Spec } from '../../base/primitives/spec.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { Log } from '../../base/runtime/env.js'
import type { Database } from '../storage/database.js'
import { damaged, StorageError } from '../storage/failure.js'
import { hasMap, storedMapRoot } from '../storage/rows/map/map-rows.js'
import { meta, tables, type TipRow } from '../storage/rows/tables.js'
import type { Checking } from './block-run.js'
import { checkMapAt } from './check-map.js'
import { checkByRules } from './check-rules.js'
import type { HeaderIndex, KnownHeader } from './header-index.js'
import { lateModules } from './late-modules.js'
import { Reorganisation } from './reorganise.js'

/** Rules that the chain in a database is checked by, and the tools to resume it. */
export interface Resuming extends Checking {
  readonly headers: HeaderIndex
  readonly log: Log
  /** Takes the progress while the map of DIDs (leaves) or the counters of days (blocks) are made for a chain that had none. */
  readonly onMade?: (what: 'map' | 'days', done: number, total?: number) => void
}

/**
 * Takes up the chain that a database holds, before there is any reader: checks that it is the chain of the spec, and that its blocks
 * are valid by rules that came later, makes the map of DIDs and counts the days where it has none, and finishes a reorganisation that
 * a stop cut short.
 * Resolves with the tip; undefined where the database is empty. Rejects with a StorageError for another chain, and for damage.
 */
export async function resumeChain(resuming: Resuming): Promise<KnownHeader | undefined> {
  const { database, sanity, onMade = () => {} } = resuming
  const row = tipRow(database)
  if (row === undefined) return undefined
  const stored = storedTip(row, resuming)
  await checkByRules(database, sanity.spec, row)
  if (hasMap(database) !== keepsMap(sanity.spec)) {
    const { keepMap } = await lateModules.buildMap()
    await keepMap(database, keepsMap(sanity.spec), (leaves) => onMade('map', leaves))
  }
  if (!(await hasDays(database, row.height))) {
    const { makeDays } = await lateModules.countDays()
    await makeDays(resuming, row, (done, total) => onMade('days', done, total))
  }
  const tip = await finishReorganisation(stored, resuming)
  if (hasMap(database)) checkMapAt(database, tip.header.height, storedMapRoot(database), resuming)
  return tip
}

/** Whether the days count every block up to a height. A version that knows no days connects blocks and counts none. */
async function hasDays(database: Database, height: number): Promise<boolean> {
  if (meta.days.get(database) === undefined) return false
  const rows = await database.rows(tables.day.range())
  return rows.reduce((sum, [, row]) => sum + tables.day.decode(row).blocks, 0n) === BigInt(height)
}

function tipRow(database: Database): TipRow | undefined {
  return meta.tip.get(database)
}

/** The header of the tip row, once the chain below it is known to be that of the spec. */
function storedTip({ hash }: TipRow, { database, headers, genesis, sanity: { spec } }: Resuming): KnownHeader {
  const first = headers.activeHash(0)
  if (first === undefined) throw damaged('the genesis block is gone')
  if (!equalBytes(first, genesis)) {
    throw new StorageError(`the database holds a chain of another spec than ${spec.name}`)
  }
  const tip = headers.get(hash)
  if (tip === undefined) throw damaged('the header of the tip is gone')
  const { height } = tip.header
  const upgrades = meta.upgrades.get(database)
  if (upgrades === undefined || !equalBytes(upgrades, spec.upgradesDigest(height))) {
    throw new StorageError(
      `the upgrades of the chain spec up to height ${height} are not those this chain was built by`,
    )
  }
  checkNextValidators(database, spec, height)
  return tip
}

/** The tip block names the validators that confirm the next block: with others no later node could connect it. */
function checkNextValidators(database: Database, spec: Spec, height: number): void {
  if (height === 0) return
  const coinbase = database.get(tables.transaction.key(height, 0))
  // A missing block is reported by the check of recent blocks.
  if (coinbase === undefined || namesNextValidators(spec, height, Transaction.fromBytes(coinbase))) return
  throw new StorageError(
    `the block at height ${height} names other validators for height ${height + 1} than the chain spec: ` +
      'whether an upgrade changes them is settled one block before it begins',
  )
}

/** Resumes an interrupted reorganisation; resolves with the tip where it ends, or the present one where there is none. */
async function finishReorganisation(from: KnownHeader, resuming: Resuming): Promise<KnownHeader> {
  const { database, headers, log } = resuming
  try {
    const end = await Reorganisation.resume(resuming, from.header)
    if (end === undefined) return from
    headers.clear()
    const row = tipRow(database)
    if (row === undefined) throw damaged('the row of the tip is gone')
    const tip = headers.known(row.hash)
    const { id, height } = tip.header
    const ended = 'rule' in end ? 'taken back' : 'finished'
    const report = { from: from.header.height, height, hash: id }
    log.info(report, `a reorganisation that a stop cut short was ${ended}`)
    return tip
  } catch (error) {
    // Its input existed when it began → the database is damaged.
    throw error instanceof InvariantError ? damaged(error.message) : error
  }
}
