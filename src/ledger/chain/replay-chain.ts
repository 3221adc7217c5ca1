import { RuleError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Header } from '../../base/primitives/header.js'
import type { Database } from '../storage/database.js'
import { StorageError } from '../storage/failure.js'
import { Overlay } from '../storage/write/overlay.js'
import { sameTable } from '../storage/care/same-table.js'
import { digestOf, rowsAtOnce } from '../storage/care/table-digest.js'
import { joinedHeight, type LackingHeights, prunedHeight, supersededHeight } from '../storage/rows/prune-rows.js'
import { derivedTables, type LeftBranchRow, meta, rangeOf, stateTables, tables } from '../storage/rows/tables.js'
import { indexUndoFrom } from '../storage/rows/token-index.js'
import { acceptRun, runsOf } from './accept-run.js'
import { reorganisationDepth } from './branches.js'
import type { IncomingBlock } from './chain-change.js'
import type { Chain } from './chain.js'
import { readBlockBytes } from './read-body.js'
import { sameMap } from './same-map.js'
import { sideBlockLimit } from './side-blocks.js'

/** Rebuilding a chain from the blocks in a database. */

/** Digest of coins and DID state, hex: equal on every node with the same tip. */
export async function stateDigest(database: Database): Promise<string> {
  return toHex(await digestOf(database, stateTables))
}

export interface ReplayProgress {
  (height: number): void
}

/** How far a verification is: all rows read, whose number is unknown; blocks replayed; tables compared. */
export interface VerifyStep {
  readonly stage: 'rows' | 'blocks' | 'tables'
  readonly done: number
  readonly total?: number
}

/** Place and reason of the early end of a replay. */
export interface ReplayGap {
  readonly height: number
  readonly reason: string
}

/**
 * Replays the active chain of `source` into `target`, all rules checked, until its end or a missing or broken block. The source
 * may be damaged: only its headers, bodies and confirms are read. A disk failure of the target proves nothing about a block, and rejects.
 */
export async function replay(
  source: Database,
  target: Chain,
  progress: ReplayProgress = () => {},
): Promise<ReplayGap | undefined> {
  let { height } = target.tip.header
  const end: { gap?: ReplayGap } = {}
  for await (const run of runsOf(storedBlocks(source, height + 1, end))) {
    const { taken, error } = await acceptRun(target, run)
    height += taken
    if (taken > 0) progress(height)
    if (error !== undefined) return { height: height + 1, reason: error.message }
  }
  return end.gap
}

/** The active blocks of a database from a height on, until the last one or one that cannot be read: `end` gets its place and reason. */
async function* storedBlocks(
  source: Database,
  from: number,
  end: { gap?: ReplayGap },
): AsyncGenerator<IncomingBlock, void, void> {
  for (let height = from; ; height++) {
    let stored: IncomingBlock | undefined
    try {
      stored = await readStored(source, height)
    } catch (error) {
      if (!isLoss(error)) throw error
      end.gap = { height, reason: error.message }
    }
    if (stored === undefined) return
    yield stored
  }
}

/** Whether a failed read means lost rows, not that the system refuses to read. */
function isLoss(error: unknown): error is Error {
  return (error instanceof StorageError && error.kind !== 'environment') || error instanceof CodecError
}

/** Greatest height that any row of a damaged database names; undefined without such a row. */
export async function highestKnown(source: Database): Promise<number | undefined> {
  const heights: number[] = []
  const note = async (read: () => number | undefined | Promise<number | undefined>) => {
    try {
      const height = await read()
      if (height !== undefined) heights.push(height)
    } catch (error) {
      if (!isLoss(error)) throw error
    }
  }
  await note(() => {
    return meta.tip.get(source)?.height
  })
  await note(async () => {
    const [last] = await source.rows(tables.active.range(), { reverse: true, limit: 1 })
    return last?.[0].readUInt32BE(1)
  })
  await note(async () => {
    // A batch of the pool has the height of its tip, even when the batch of that block is lost.
    const [last] = await source.rows(tables.journal.range(), { reverse: true, limit: 1 })
    return last && tables.journal.decode(last[1]).height
  })
  return heights.length === 0 ? undefined : Math.max(...heights)
}

/**
 * Checks that every row is readable, and that rows derived from the active chain match a replay. Returns undefined, or what is
 * wrong. `scratch`: an empty chain of the same spec, which holds the replay afterwards.
 */
export async function verifyChain(
  chain: Chain,
  scratch: Chain,
  progress: (step: VerifyStep) => void = () => {},
): Promise<string | undefined> {
  await readEveryRow(chain.database, progress)
  const total = chain.tip.header.height
  const gap = await replay(chain.database, scratch, (done) => progress({ stage: 'blocks', done, total }))
  if (gap !== undefined) return `the block at height ${gap.height} does not connect: ${gap.reason}`
  for (const [done, tableByte] of derivedTables.entries()) {
    progress({ stage: 'tables', done, total: derivedTables.length })
    if (!(await sameTable(chain.database, scratch.database, tableByte))) {
      return `the rows of table ${tableName(tableByte)} are wrong`
    }
  }
  if (!(await sameIndexUndo(chain.database, scratch.database))) {
    return `the rows of table ${tableName(tables.indexUndo.number)} are wrong`
  }
  if (!(await sameProofs(chain, scratch.database))) {
    return `the rows of table ${tableName(tables.sideChain.number)} are wrong`
  }
  if (!(await sameMap(chain.database, scratch.database))) return 'the rows of the map of DIDs are wrong'
  if (!sameRecords(chain, scratch)) return 'the header records are wrong'
  return undefined
}

/** Reads every row, which verifies the checksums of those that nothing else reads too. */
export async function readEveryRow(database: Database, progress: (step: VerifyStep) => void): Promise<void> {
  let rows = 0
  for await (const page of database.pages({}, rowsAtOnce)) {
    rows += page.length
    progress({ stage: 'rows', done: rows })
  }
}

/** Up to which heights a damaged database lacks transactions, as far as it shows. */
export function knownLacking(source: Database): LackingHeights {
  return {
    pruned: knownHeight(() => prunedHeight(source)),
    joined: knownHeight(() => joinedHeight(source)),
    superseded: knownHeight(() => supersededHeight(source)),
  }
}

function knownHeight(read: () => number): number {
  try {
    return read()
  } catch (error) {
    if (!isLoss(error)) throw error
    return 0
  }
}

/**
 * Whether rows that take the index back are those of a replay, and none is missing: a node that synced, or was brought to a new
 * layout, has them from a height on.
 */
async function sameIndexUndo(held: Database, made: Database): Promise<boolean> {
  for await (const [key, value] of held.scan(tables.indexUndo.range())) {
    if (made.get(key)?.equals(value) !== true) return false
  }
  const needed = { ...tables.indexUndo.range(), gte: tables.indexUndo.key(indexUndoFrom(held)) }
  for await (const [key] of made.scan(needed)) if (held.get(key) === undefined) return false
  return true
}

/**
 * Whether the rows of side chains are those of a replay. Where no rule reads them some may be missing: a node of an earlier version
 * made none.
 */
async function sameProofs({ database, spec }: Chain, made: Database): Promise<boolean> {
  return (await provesNoMore(database, made)) && (!spec.sideChainOrder || (await provesNoMore(made, database)))
}

/** Whether no side chain is proved further in one database than in another. */
async function provesNoMore(held: Database, made: Database): Promise<boolean> {
  for await (const [key, value] of held.scan(tables.sideChain.range())) {
    const most = made.get(key)
    if (most === undefined || tables.sideChain.decode(value) > tables.sideChain.decode(most)) return false
  }
  return true
}

function tableName(tableByte: number): string {
  return tableByte.toString(16).padStart(2, '0')
}

/** Whether two chains have equal records of active blocks, except arrival, and the same tip. */
function sameRecords(held: Chain, made: Chain): boolean {
  const text = (chain: Chain, height: number) => {
    const known = chain.headers.active(height)
    return known && [known.header.id, known.status, known.chainWork, known.transactionCount, known.size].join()
  }
  for (let height = 0; height <= made.tip.header.height; height++) {
    if (text(held, height) !== text(made, height)) return false
  }
  return held.tip.header.id === made.tip.header.id
}

/** @tuning count: blocks of a branch, which a reorganisation was leaving or following, that a reindex replays */
const branchLimit = reorganisationDepth + sideBlockLimit

/**
 * Replays the branches of an interrupted reorganisation, and left branches whose transactions the pool has not taken back. Each
 * is replayed as far as its blocks are readable and valid. Resolves with the rows of the latter and the number of failed reads.
 */
async function replayBranches(source: Database, target: Chain): Promise<{ left: LeftBranchRow[]; lost: number }> {
  let lost = 0
  const reading = async <T>(read: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read()
    } catch (error) {
      if (!isLoss(error)) throw error
      lost++
      return undefined
    }
  }
  const way = await reading(() => {
    return meta.reorganisation.get(source)
  })
  const left: LeftBranchRow[] = []
  for (const key of (await reading(() => source.keys(tables.leftBranch.range()))) ?? []) {
    const branch = await reading(() => {
      const row = source.get(key)
      return row === undefined ? undefined : tables.leftBranch.decode(row)
    })
    if (branch !== undefined) left.push(branch)
  }
  for (const { hash } of [...(way === undefined ? [] : [way.from, way.to]), ...left.map(({ tip }) => tip)]) {
    const branch = (await reading(() => branchOf(source, target, hash))) ?? []
    for (const one of branch) {
      const body = await reading(() => source.get(tables.sideBody.key(one)))
      if (body === undefined || !(await isTaken(target, body))) break
    }
  }
  return { left, lost }
}

/** Hashes from the first block unknown to a chain up to a tip, oldest first. */
function branchOf(source: Database, target: Chain, tip: Hash): Hash[] {
  const branch: Hash[] = []
  for (let hash = tip; target.headers.get(hash) === undefined && branch.length < branchLimit;) {
    branch.unshift(hash)
    const record = tables.header.get(source, hash)
    if (record === undefined) break
    hash = Header.read(new Reader(record.header)).previous
  }
  return branch
}

/** Whether a chain accepts a block; throws on a disk failure, which proves nothing about the block. */
async function isTaken(target: Chain, block: Uint8Array): Promise<boolean> {
  try {
    await target.acceptBlock(block)
    return true
  } catch (error) {
    if (!(error instanceof RuleError || error instanceof CodecError)) throw error
    return false
  }
}

/**
 * Copies data outside the active chain: left branches, pooled transactions, drop reasons, the clock of a devnet, and the number
 * of events. Unreadable rows are left out; resolves with their number.
 */
export async function copyUnmined(source: Database, target: Chain): Promise<number> {
  const overlay = new Overlay(target.database)
  const branches = await replayBranches(source, target)
  let { lost } = branches
  // Batch numbers restart here: an old number may collide with one of the target.
  let number = 1
  for (const branch of branches.left) {
    while (target.database.get(tables.leftBranch.key(number)) !== undefined) number++
    overlay.put(tables.leftBranch.key(number++), tables.leftBranch.encode(branch))
  }
  const copy = (key: Buffer) => {
    try {
      const value = source.get(key)
      if (value !== undefined) overlay.put(key, value)
    } catch (error) {
      if (!isLoss(error)) throw error
      lost++
    }
  }
  for (const tableByte of [tables.pool.number, tables.dropped.number]) {
    try {
      ;(await source.keys(rangeOf(tableByte))).forEach(copy)
    } catch (error) {
      if (!isLoss(error)) throw error
      lost++
    }
  }
  copy(meta.clock.key)
  copy(meta.events.key)
  const { height, hash } = target.tip.header
  await overlay.commit({ kind: 'pool', height, hash }, { sync: true })
  return lost
}

async function readStored(source: Database, height: number): Promise<IncomingBlock | undefined> {
  const hash = source.get(tables.active.key(height))
  const record = hash === undefined ? undefined : tables.header.get(source, hash)
  if (hash === undefined || record === undefined) {
    const [later] = await source.rows({ gt: tables.active.key(height), lt: tables.active.range().lt }, { limit: 1 })
    if (later === undefined && hash === undefined) return undefined
    throw new StorageError(`the header of height ${height} is gone`)
  }
  const header = Header.read(new Reader(record.header))
  const block = await readBlockBytes(source, { ...record, header })
  return { block, ...defined({ confirm: source.get(tables.confirm.key(hash)) }) }
}
