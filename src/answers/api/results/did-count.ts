import { ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import type { ChainReader } from '../../../ledger/chain/reader.js'
import { everythingToken } from '../../../identity/did-index/token.js'
import { displayHash } from '../../../base/primitives/bytes.js'
import { tables } from '../../../ledger/storage/rows/tables.js'
import { nextOrdinal } from '../../../ledger/storage/rows/token-index.js'

/** Numbers of DIDs from a few rows of the search index, however many there are, and the tip as of which they hold. */
export function didCount({ chain }: ChainReader) {
  return ChainSnapshot.read(chain.database, ({ rows, tip }) => {
    const total = nextOrdinal(rows)
    const row = rows.get(tables.tokenCount.key(everythingToken))
    const valid = row === undefined ? 0 : tables.tokenCount.decode(row)
    return { total, valid, deactivated: total - valid, height: tip.height, blockhash: displayHash(tip.hash) }
  })
}
