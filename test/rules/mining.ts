import type { Code } from '../../src/base/errors/error-codes.js'
import { auxPowBytes } from '../../src/base/primitives/auxpow.js'
import type { Mining } from '../../src/ledger/production/mining.js'
import { miningOf } from '../support/client/api.js'
import { personHash, solved } from '../support/builders/blocks.js'
import { TestChain } from '../support/builders/chain.js'
import type { RuleRow } from './row.js'

type Act = (mining: Mining, chain: TestChain) => Promise<unknown>

/** A row for what miners ask of a node that mines for nobody itself. */
function row(code: Code, accepted: Act, refused: Act): RuleRow {
  const run = async (act: Act) => {
    const chain = await TestChain.open()
    const mining = miningOf(chain)
    try {
      await act(mining, chain)
    } finally {
      await mining.close()
      await chain.close()
    }
  }
  return { code, accepts: () => run(accepted), refuses: () => run(refused) }
}

/** Hands in work after something has happened, changed on the way. */
const submitting =
  (options: { before?(chain: TestChain): Promise<unknown>; change?(proof: Uint8Array): Uint8Array } = {}): Act =>
  async (mining, chain) => {
    const { header } = await mining.template(personHash(20))
    await options.before?.(chain)
    const proof = auxPowBytes(solved(header))
    await mining.submit(header.hash, options.change?.(proof) ?? proof)
  }

/** A row for every refusal that only miners hear. */
export const miningRules: RuleRow[] = [
  row(
    'auxpow-malformed',
    submitting({ change: (proof) => proof }),
    submitting({ change: (proof) => Buffer.concat([proof, Uint8Array.of(1)]) }),
  ),
  row('template-stale', submitting(), submitting({ before: (chain) => chain.mine() })),
  row(
    'mining-impossible',
    (mining) => mining.mine(1, personHash(20)),
    (mining) => mining.mine(1),
  ),
]
