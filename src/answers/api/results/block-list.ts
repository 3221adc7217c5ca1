import type { Static } from '@sinclair/typebox'
import type { SnapshotBlock, ChainSnapshot } from '../../../ledger/chain/chain-snapshot.js'
import { largeTransaction } from '../../../ledger/chain/reader.js'
import { toHex } from '../../../base/primitives/bytes.js'
import { runCooperatively } from '../../../base/runtime/cooperative.js'
import { present } from '../../../ledger/storage/rows/row-reader.js'
import { joinedHeight } from '../../../ledger/storage/rows/prune-rows.js'
import { tables } from '../../../ledger/storage/rows/tables.js'
import { operationCountSteps } from '../../../ledger/storage/rows/undo-record.js'
import type { ApiContext } from '../api-context.js'
import { apiLimits } from '../api-limits.js'
import type { listedBlocks } from '../schemas/block-schemas.js'
import type { Sink, StreamedAnswer } from '../streams/streamed-answer.js'
import { heldConfirms } from './held-confirms.js'
import { snapshotAnswer } from './snapshot-answer.js'

type ListedBlock = Static<typeof listedBlocks>['blocks'][number]

/** Blocks below a height, or from the tip on, newest first. A page with large blocks may end early. */
export function blockList(context: ApiContext, before: number | undefined, limit: number): StreamedAnswer {
  const { reader, limits } = context
  const { pageBytes } = { ...apiLimits, ...limits }
  const { chain } = reader
  return snapshotAnswer(reader, ['blocks', limit, before ?? ''], async (state, sink) => {
    const { height } = state.tip
    const highest = Math.min(before ?? Infinity, height + 1) - 1
    const joined = joinedHeight(state.rows)
    const there = highest - (joined === 0 ? -1 : joined)
    const heights = Array.from({ length: Math.max(0, Math.min(limit, there)) }, (_, i) => highest - i)
    const found = await state.blocks(heights)
    const confirms = await heldConfirms(chain, state, found)
    await state.rows.load(() => found.map(({ header }) => tables.undo.key(header.height)))
    const blocks: ListedBlock[] = []
    let bytes = 0
    for (const block of found) {
      sink.signal.throwIfAborted()
      if (bytes >= pageBytes) break
      const { header, size, transactionCount } = block
      const operations = await operationsIn(state, block, sink)
      bytes += operations.bytes
      const place = { height: header.height, hash: header.id, time: header.time, size }
      const proposal = confirms.get(header.height)?.proposal
      const confirmed = proposal && { proposer: toHex(proposal.sponsor), view: proposal.viewOffset }
      blocks.push({ ...place, transactions: transactionCount, dids: operations.count, ...confirmed })
      if (sink.due) await sink.drain()
    }
    return { height, blocks, ...(joined > 0 && { pruned: joined }) }
  })
}

/** The number of operations in a block, from its undo record of so many bytes. */
async function operationsIn(
  { rows }: ChainSnapshot,
  { header, size }: SnapshotBlock,
  sink: Sink,
): Promise<{ count: number; bytes: number }> {
  const release = size > largeTransaction ? await sink.reserve(size) : () => {}
  try {
    const undo = present(rows.get(tables.undo.key(header.height)), 'an undo record')
    return { count: await runCooperatively(operationCountSteps(undo)), bytes: undo.length }
  } finally {
    release()
  }
}
