import { expect, it } from 'vitest'
import { type DropReason, dropText } from '../../../../src/ledger/mempool/drop-reason.js'

/** The texts of answers and of rows, letter by letter. */
const texts: readonly (readonly [DropReason, string])[] = [
  [
    { kind: 'full', needed: '3.1' },
    'the pool was full of transactions with a higher fee rate: 3.1 sela a byte were needed',
  ],
  [{ kind: 'expired' }, 'it waited too long for a block'],
  [{ kind: 'removed', by: 'dev_reorg' }, 'it was taken out by dev_reorg'],
  [{ kind: 'spent', by: 'ab' }, 'an input was spent by ab, which was mined'],
  [{ kind: 'did-deactivated', by: 'ab' }, 'ab deactivates the DID'],
  [{ kind: 'side-chain-proved', by: 'ab' }, 'ab proves the same block of the side chain, or a later one'],
  [{ kind: 'replaced', by: 'ab' }, 'it was replaced by ab, which spends the same and pays more'],
  [{ kind: 'refused', code: 'tx-fee', detail: 'too low' }, 'tx-fee: too low'],
  [{ kind: 'stored', text: 'as it was' }, 'as it was'],
]

it.each(texts)('%o is shown in its words', (reason, text) => {
  expect(dropText(reason)).toBe(text)
})
