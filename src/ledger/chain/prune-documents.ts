import { InvariantError } from '../../base/errors/rule-error.js'
import { runCooperatively, Yielder } from '../../base/runtime/cooperative.js'
import { Overlay } from '../storage/write/overlay.js'
import { joinedHeight } from '../storage/rows/prune-rows.js'
import { present, type StagedRows } from '../storage/rows/row-reader.js'
import { meta, type SupersededRow, tables } from '../storage/rows/tables.js'
import { didsOfSteps } from '../storage/rows/undo-record.js'
import { reorganisationDepth } from './branches.js'
import type { DocumentBatch } from './chain-change.js'
import { prunedAtOnce, type PrunedChain } from './prune-chain.js'

/** @tuning bytes: transactions that are given up in one batch, about */
const documentBytes = 4 * 1024 * 1024
/** @tuning count: operations whose documents before them are given up in one batch, about */
const operationsAtOnce = 4096

/**
 * Has the operations of the next blocks up to a height give up the documents that they superseded, in one batch, which may end within a
 * block; resolves with how far that has come. Blocks of a state that the node took have none to give up.
 */
export async function pruneDocuments(
  { database, height, commit }: PrunedChain,
  to: number,
  { bytes = documentBytes, operations = operationsAtOnce }: DocumentBatch = {},
): Promise<SupersededRow> {
  if (to > height - reorganisationDepth)
    throw new InvariantError('an operation that may leave the chain gives up nothing')
  const overlay = new Overlay(database)
  const started = meta.superseded.get(database) ?? { height: joinedHeight(database), left: 0 }
  const room = { bytes, operations }
  let reached = started
  for (let blocks = 0; blocks < prunedAtOnce && isRoom(room); blocks++) {
    const isDone = reached.left === 0
    if (isDone && reached.height >= to) break
    reached = await giveUpIn(overlay, isDone ? { height: reached.height + 1 } : reached, room)
  }
  if (reached === started) return started
  meta.superseded.put(overlay, reached)
  await commit(overlay)
  return reached
}

/** Bytes and operations that a batch has room for. */
interface Room {
  bytes: number
  operations: number
}

function isRoom({ bytes, operations }: Room): boolean {
  return bytes > 0 && operations > 0
}

/** Stages what the operations of a block, or those that are left of it, have given up, as far as there is room. */
async function giveUpIn(
  rows: StagedRows,
  { height, left }: { readonly height: number; readonly left?: number },
  room: Room,
): Promise<SupersededRow> {
  const { giveUpDocuments } = await import('../storage/care/give-up-documents.js')
  const undo = present(rows.get(tables.undo.key(height)), `the undo record of height ${height}`)
  const dids = await runCooperatively(didsOfSteps(undo))
  const yielder = new Yielder()
  let at = dids.length - (left ?? dids.length)
  for (; at < dids.length && isRoom(room); at++) {
    room.bytes -= giveUpDocuments(rows, present(dids[at], 'a DID of an undo record'), height)
    room.operations--
    if (yielder.over) await yielder.next()
  }
  return { height, left: dids.length - at }
}
