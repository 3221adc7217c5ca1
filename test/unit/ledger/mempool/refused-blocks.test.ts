import { expect, it } from 'vitest'
import { RefusedBlocks } from '../../../../src/ledger/mempool/refused-blocks.js'
import type { Chain } from '../../../../src/ledger/chain/chain.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { quietLog } from '../../../support/builders/chain.js'

it('a block of this node that was refused is blamed on its transaction, of the last thousand of them', () => {
  const chain = { tip: { header: { height: 4 } } } as unknown as Chain
  const blocks = new RefusedBlocks({ get: () => undefined, refuse: () => {} }, { chain, log: quietLog() })
  const txid = (number: number) => number.toString(16).padStart(64, '0')
  const note = (number: number) => blocks.note(new RuleError('tx-size', 'too long', { transaction: txid(number) }), 5)
  for (let number = 1; number <= 1000; number++) expect(note(number)).toBe(true)
  expect([blocks.blames(txid(1)), note(1)]).toEqual([true, false])
  expect(note(1001)).toBe(true)
  expect([1, 2, 1001].map((number) => blocks.blames(txid(number)))).toEqual([false, true, true])
  expect([blocks.count, blocks.reason]).toEqual([1002, 'tx-size: too long'])
  expect(blocks.note(new RuleError('tx-size', 'too long'), 5)).toBe(false)
})
