import type { Chain } from '../../../src/ledger/chain/chain.js'
import type { Mempool } from '../../../src/ledger/mempool/mempool.js'
import type { Extent } from '../../../src/ledger/production/selection.js'
import {
  type SelectionRequest,
  selectTransactions,
  templateOf,
  type TemplateRequest,
} from '../../../src/ledger/production/template.js'
import type { Block } from '../../../src/base/primitives/block.js'

/** A block on top of the tip with the best of the pool, without work: its AuxPow has parent nonce 0. */
export async function buildTemplate(
  chain: Chain,
  pool: Mempool,
  { time, ...request }: TemplateRequest & Pick<SelectionRequest, 'time'>,
  extent: Extent = {},
): Promise<Block> {
  return templateOf(chain, await selectTransactions(chain, pool, { time, ...extent }), request)
}
