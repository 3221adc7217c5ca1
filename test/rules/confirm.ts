import type { Code } from '../../src/base/errors/error-codes.js'
import type { Block } from '../../src/base/primitives/block.js'
import { type Confirm, confirmBytes } from '../../src/base/primitives/confirm.js'
import { craftBlock, craftConfirm, type ConfirmPlan } from '../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import type { SpecOverrides } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import type { OtherState } from './states.js'

type Build = (chain: TestChain, block: Block) => Uint8Array | undefined

/** A row whose confirms come with the first block of a chain. */
function row(code: Code, accepted: Build, refused: Build, overrides: SpecOverrides = {}): RuleRow {
  const submit = async (build: Build, state: OtherState | undefined) => {
    const chain = await TestChain.open(overrides)
    const other = await state?.chain(overrides, 'blocks')
    try {
      const block = craftBlock(chain.chain)
      await (other ?? chain).chain.acceptBlock(block.bytes, build(chain, block))
    } finally {
      await chain.close()
      await other?.close()
    }
  }
  return { code, accepts: (state) => submit(accepted, state), refuses: (state) => submit(refused, state) }
}

const planned =
  (plan: ConfirmPlan = {}): Build =>
  ({ spec }, block) =>
    confirmBytes(craftConfirm(spec, block, plan))

/** A confirm changed after it was signed. */
const altered =
  (change: (confirm: Confirm) => Confirm): Build =>
  ({ spec }, block) =>
    confirmBytes(change(craftConfirm(spec, block)))

/** A row for every code of a confirm but the one about its form: four validators, three of them a quorum. */
export const confirmRules: RuleRow[] = [
  row('confirm-missing', planned(), () => undefined),
  row('confirm-unexpected', () => undefined, planned(), withoutValidators),
  row('confirm-block', planned(), planned({ blockHash: new Uint8Array(32) })),
  row('confirm-sponsor', planned({ view: 2, sponsor: 3 }), planned({ view: 2, sponsor: 1 })),
  row('confirm-signer', planned({ voters: [3, 1, 2] }), planned({ voters: [3, 1, 1] })),
  row('confirm-vote', planned({ voters: [0, 1, 2] }), planned({ voters: [0, 1, 2], accept: false })),
  row('confirm-quorum', planned({ voters: [0, 1, 2] }), planned({ voters: [0, 1] })),
  row(
    'confirm-signature',
    altered((confirm) => confirm),
    altered(({ proposal, votes: [first, second, ...others] }) => {
      const swapped = [
        { ...first, signature: second?.signature },
        { ...second, signature: first?.signature },
      ] as Confirm['votes']
      return { proposal, votes: [...swapped, ...others] }
    }),
  ),
]
