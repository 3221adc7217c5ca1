import { expect, it } from 'vitest'
import { prunedAtOnce } from '../../../src/ledger/chain/prune-chain.js'
import { Pruner } from '../../../src/ledger/chain/pruner.js'
import { stateFile } from '../../../src/ledger/state/parts.js'
import { latestState, stateParts } from '../../../src/ledger/state/write-state.js'
import { leastKeptDocuments as keep } from '../../../src/ledger/storage/rows/prune-rows.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { eventually } from '../../support/process/patience.js'

/** States for those who join, written by a node that gave up superseded documents. */

const interval = 400

async function stateOf({ chain }: TestChain): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of stateFile(stateParts(chain, latestState(chain)))) pieces.push(piece)
  return Buffer.concat(pieces)
}

it('the state is the same, and what it needs is not given up before there is a later one', async () => {
  const test = await TestChain.open({ ...oneValidator(), producer: 'sponsor', coinInterval: interval })
  const ada = holder()
  let last = await test.publish(ada.create(), ada.did)
  for (let i = 0; i < 4; i++) last = await test.publish(ada.update(last), ada.did)
  const state = interval - keep
  await test.mineEmpty(state - test.reader.height)
  // Above the first state, and far below the end: the state has the document before it.
  last = await test.publish(ada.update(last), ada.did)
  await test.mineEmpty(2 * interval - 1 - test.reader.height)
  const before = await stateOf(test)
  const pruner = new Pruner({ chain: test.chain, what: 'documents', keep, log: test.log })
  await eventually('documents are given up', () => test.chain.supersededHeight === prunedAtOnce)
  expect(await test.database.rows(tables.givenUp.range())).toHaveLength(4)
  expect(await stateOf(test)).toEqual(before)

  await test.mineEmpty(1)
  await eventually('the next document is given up', () => test.chain.supersededHeight === interval + state)
  await pruner.close()
  expect(await test.database.rows(tables.givenUp.range())).toHaveLength(5)
  expect((await stateOf(test)).length).toBeGreaterThan(before.length)
  await test.close()
})
