import { checkCoinbaseSize } from '../consensus/coinbase-size.js'
import { RuleError } from '../../base/errors/rule-error.js'
import type { Spec } from '../../base/primitives/spec.js'
import { Transaction } from '../../base/primitives/transaction.js'
import { maxAnchorCoinbase } from '../../identity/proofs/anchor-coinbase.js'
import type { Database } from '../storage/database.js'
import { reindexHint, StorageError } from '../storage/failure.js'
import { present } from '../storage/rows/row-reader.js'
import { meta, tables, type TipRow } from '../storage/rows/tables.js'
import { Overlay } from '../storage/write/overlay.js'

/** By which rules the blocks of a database were checked: later ones may refuse what is there. */

/** Number of the rules of this version; it rises with each rule that blocks which were valid may break. */
const rulesNow = 1

/** Blocks per read. */
const blocksAtOnce = 1000

/** Stages that the blocks of a database are checked by the rules of this version. */
export function putRules(overlay: Overlay): void {
  meta.rules.put(overlay, rulesNow)
}

/**
 * Looks once through the blocks of a database whose blocks were checked by earlier rules. Throws a StorageError for one that breaks a
 * rule of this version; nothing is changed then. A block that gave up its coinbase is taken as it is.
 */
export async function checkByRules(database: Database, spec: Spec, tip: TipRow): Promise<void> {
  if ((meta.rules.get(database) ?? 0) >= rulesNow) return
  for (let from = 1; from <= tip.height; from += blocksAtOnce) {
    await checkCoinbases(database, spec, { from, end: from + blocksAtOnce })
  }
  const overlay = new Overlay(database)
  putRules(overlay)
  await overlay.commit({ kind: 'layout', ...tip }, { sync: false })
}

async function checkCoinbases(
  database: Database,
  spec: Spec,
  { from, end }: { readonly from: number; readonly end: number },
): Promise<void> {
  const hashes = await database.rows({ gte: tables.active.key(from), lt: tables.active.key(end) })
  const headers = await database.getMany(hashes.map(([, hash]) => tables.header.key(hash)))
  for (const [i, row] of headers.entries()) {
    const height = tables.active.fields((hashes[i] as (typeof hashes)[number])[0])[0]
    const { size } = tables.header.decode(present(row, `the header of height ${height}`))
    const coinbase = size > maxAnchorCoinbase ? database.get(tables.transaction.key(height, 0)) : undefined
    if (coinbase !== undefined) checkOne(spec, height, Transaction.fromBytes(coinbase))
  }
}

function checkOne(spec: Spec, height: number, coinbase: Transaction): void {
  try {
    checkCoinbaseSize(spec, height, coinbase)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new StorageError(
      `the block at height ${height} was valid in an earlier version and is not any more (${error.code}: ${error.message}); ` +
        `to keep the blocks below it, ${reindexHint}`,
    )
  }
}
