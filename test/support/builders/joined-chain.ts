import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { Chain } from '../../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../../src/ledger/chain/check-recent-blocks.js'
import { readBlockBytes } from '../../../src/ledger/chain/read-body.js'
import { checkState } from '../../../src/ledger/state/check-state.js'
import { readParts, stateFile } from '../../../src/ledger/state/parts.js'
import { StateRows } from '../../../src/ledger/state/state-rows.js'
import { latestState, stateParts, type WritingOptions } from '../../../src/ledger/state/write-state.js'
import { checkJournal } from '../../../src/ledger/storage/care/check-journal.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { memoryStore, quietLog, type TestChain } from './chain.js'

const verifier = createInlineVerifier()

/** The chain of a node that takes the latest state of another chain. */
export async function joinedChain(test: TestChain, options?: WritingOptions): Promise<Chain> {
  const { spec, clock } = test
  const store = memoryStore()
  const fresh = await Database.over(store)
  const rows = await StateRows.begin(fresh, spec)
  const parts = readParts(stateFile(stateParts(test.chain, latestState(test.chain), options)))
  await rows.finish(await checkState(parts, { spec, verifier, clock, taker: rows }))
  await fresh.close()
  const database = await Database.over(store)
  const { fromHeight } = await checkJournal(database)
  const chain = await Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log: quietLog() })
  await checkRecentBlocks(chain, { fromHeight })
  return chain
}

/** Has a chain connect blocks of another one, from a height to another. */
export async function passBlocks(from: TestChain, to: Chain, [first, last]: readonly [number, number]): Promise<void> {
  for (let height = first; height <= last; height++) {
    const known = from.activeHeader(height)
    const confirm = from.database.get(tables.confirm.key(known.header.hash))
    await to.acceptBlock(await readBlockBytes(from.database, known), confirm)
  }
}

/** A node that connects every block. */
export async function wholeChain({ spec, clock }: TestChain): Promise<Chain> {
  const database = await Database.over(memoryStore())
  return Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock, log: quietLog() })
}
