import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { derivedTables, tables } from '../../../src/ledger/storage/rows/tables.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import type { TestDevnet } from '../fakes/test-devnet.js'

/** Everything by which two devnets are equal: blocks, confirms, rows, pool with its ages and in its order, clock. */
export async function devnetState({ chain, clock }: TestDevnet) {
  await chain.mempool.settled()
  await chain.database.idle()
  await new Promise((resolve) => setImmediate(resolve))
  await chain.database.idle()
  const stored = (await chain.database.rows(tables.pool.range())).map(([, value]) => tables.pool.decode(value))
  return {
    tip: chain.chain.tip.header.id,
    digest: await stateDigest(chain.database),
    rows: toHex(await digestOf(chain.database, [...derivedTables, tables.confirm.number])),
    pool: Array.from(chain.mempool.entries(), ({ transaction, arrival }) => `${transaction.txid} ${arrival}`),
    stored: stored.map(({ arrival, bytes }) => `${Transaction.fromBytes(bytes).txid} ${arrival}`).sort(),
    offset: clock.offset,
    nextBlockTime: clock.state.nextBlockTime,
  }
}
