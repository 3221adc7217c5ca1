import { brokenRule } from '../../src/base/errors/broken-rule.js'
import { auxPowBytes } from '../../src/base/primitives/auxpow.js'
import { Candidates } from '../../src/ledger/production/candidates.js'
import { craftBlock } from '../support/builders/blocks.js'
import { TestChain } from '../support/builders/chain.js'
import type { RuleRow } from './row.js'

/** A candidate that is announced on a chain whose blocks come from `producer`. */
async function announce(producer: 'miners' | 'sponsor'): Promise<void> {
  const test = await TestChain.open({ producer })
  const { header, auxPow } = craftBlock(test.chain)
  const unit = { header, auxPow: auxPowBytes(auxPow) }
  if (!new Candidates(test.chain, test.clock).announce(unit, async () => undefined)) throw brokenRule('internal')
}

export const candidateRows: readonly RuleRow[] = [
  { code: 'vote-candidate', accepts: () => announce('miners'), refuses: () => announce('sponsor') },
]
