import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { derivedTables, rangeOf, table } from '../../../src/ledger/storage/rows/schema.js'
import { values } from '../../../src/ledger/storage/rows/row-values.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import type { TestDevnet } from '../fakes/test-devnet.js'

/** Everything by which two devnets are equal: blocks, confirms, rows, pool with its ages and in its order, clock. */
export async function devnetState({ chain, clock }: TestDevnet) {
  await chain.mempool.settled()
  await chain.database.idle()
  await new Promise((resolve) => setImmediate(resolve))
  await chain.database.idle()
  const stored = (await chain.database.rows(rangeOf(table.pool))).map(([, value]) => values.pool.decode(value))
  return {
    tip: chain.chain.tip.header.id,
    digest: await stateDigest(chain.database),
    rows: toHex(await digestOf(chain.database, [...derivedTables, table.confirm])),
    pool: Array.from(chain.mempool.entries(), ({ transaction, arrival }) => `${transaction.txid} ${arrival}`),
    stored: stored.map(({ arrival, bytes }) => `${Transaction.fromBytes(bytes).txid} ${arrival}`).sort(),
    offset: clock.offset,
    nextBlockTime: clock.state.nextBlockTime,
  }
}
