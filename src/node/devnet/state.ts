import { constants, createReadStream } from 'node:fs'
import { access, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { BlockRunError } from '../../ledger/chain/block-run.js'
import { type BlockRecord, Pieces, readBlocks } from '../../ledger/chain/block-file.js'
import type { Chain } from '../../ledger/chain/chain.js'
import type { ChainWriter } from '../../ledger/chain/chain-change.js'
import { transactionSanitySteps } from '../../ledger/consensus/sanity.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { blockHashOf } from '../../base/primitives/block.js'
import { equalBytes } from '../../base/primitives/bytes.js'
import { CodecError, Reader } from '../../base/primitives/codec.js'
import { defined } from '../../base/primitives/defined.js'
import { Header } from '../../base/primitives/header.js'
import type { Steps } from '../../base/primitives/steps.js'
import type { Transaction } from '../../base/primitives/transaction.js'
import { replacedFile } from '../../base/runtime/replaced-file.js'
import { Yielder } from '../../base/runtime/cooperative.js'
import { lockPath } from '../../ledger/storage/care/level/lock-path.js'
import { fileFailure } from '../../ledger/storage/failure.js'
import { replaceFile } from '../../ledger/storage/replace-file.js'
import { latestTime } from './clock.js'
import type { DevnetParts } from './devnet-parts.js'
import { readStateHead, type StateHead, statePieces } from './state-format.js'

/** @limit characters: state of a devnet as text; it has to fit into a request */
export const maxStateText = 15_900_000
/** @limit bytes: the same state unpacked */
export const maxStateBytes = 64 * 1024 * 1024
/** @tuning count: blocks of a state file that are connected in one batch */
const blocksAtOnce = 1000
/** @tuning bytes: the same blocks */
const bytesAtOnce = 4 * 1024 * 1024

/** The parts of a devnet that make its state. */
export type StateParts = Pick<DevnetParts, 'chain' | 'mempool' | 'clock'>

/** Writes the state to a file, which is replaced once all of it is on disk; returns the height. Call between blocks. */
export async function saveState(parts: StateParts, path: string): Promise<number> {
  const { chain } = parts
  try {
    await replaceFile(path, statePieces(chain, await headOf(parts)))
  } catch (error) {
    throw fileFailure(error, `the state cannot be written to ${path}, which is as it was`, 'folder')
  }
  return chain.tip.header.height
}

/** The state as text: base64 of gzip. `request-parameter` if it is too large for {@link readStateText}. Call between blocks. */
export async function stateText(parts: StateParts, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted()
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of statePieces(parts.chain, await headOf(parts))) {
    pieces.push(piece)
    bytes += piece.length
    signal?.throwIfAborted()
    if (bytes > maxStateBytes) throw tooLarge(`more than ${maxStateBytes} bytes`)
  }
  const text = (await promisify(gzip)(Buffer.concat(pieces))).toString('base64')
  if (text.length > maxStateText) throw tooLarge(`${text.length} characters, and ${maxStateText} are the most`)
  return text
}

function tooLarge(size: string): RuleError {
  return new RuleError(
    'request-parameter',
    `the state has ${size}; devnet --state FILE keeps one of any size in a file`,
  )
}

/** A state as it was read; its blocks are not checked by any rule yet. */
export interface ReadState {
  readonly head: StateHead
  readonly blocks: readonly BlockRecord[]
}

/** Reads the text of a state; `request-parameter` for any other, and for a damaged one or one of another chain. */
export async function readStateText(parts: StateParts, text: string): Promise<ReadState> {
  if (text.length > maxStateText) {
    throw new RuleError(
      'request-parameter',
      `state: it has ${text.length} characters, at most ${maxStateText} are taken`,
    )
  }
  const packed = Buffer.from(text, 'base64')
  if (packed.toString('base64') !== text) throw new RuleError('request-parameter', 'state: it is not base64')
  const bytes = await promisify(gunzip)(packed, { maxOutputLength: maxStateBytes }).catch(
    (error: { code?: string }) => {
      const what =
        error.code === 'ERR_BUFFER_TOO_LARGE' ? `unpacks to more than ${maxStateBytes} bytes` : 'does not unpack'
      throw new RuleError('request-parameter', `state: it ${what}`)
    },
  )
  try {
    return await readState(parts, bytes)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new RuleError('request-parameter', `state: ${error.message}`)
  }
}

async function readState(parts: StateParts, bytes: Uint8Array): Promise<ReadState> {
  const source = new Pieces(once(bytes))
  const head = await readCheckedHead(source, parts)
  const blocks: BlockRecord[] = []
  const yielder = new Yielder()
  for await (const record of readBlocks(source, parts.chain.genesis.header.hash)) {
    blocks.push(record)
    // All bytes are there: nothing else gives way.
    if (yielder.over) await yielder.next()
  }
  return { head, blocks }
}

/**
 * Puts chain, pool and clock in the place of the present ones, in one batch. A block breaks a rule → nothing changes, and it
 * rejects with `request-parameter`. To be called with the writer.
 */
export async function adoptState(
  { chain, mempool, clock }: StateParts,
  { head, blocks }: ReadState,
  { replace }: ChainWriter,
): Promise<void> {
  const common = commonHeight(chain, blocks)
  const fork = chain.headers.activeAt(common).header
  const run = blocks.slice(common).map(({ block, confirm }) => ({ block, ...defined({ confirm }) }))
  const last = run.at(-1)
  try {
    const tipTime = last === undefined ? fork.time : timeOf(last.block)
    await mempool.restore(head.pool, (waiting) =>
      replace(fork.hash, run, { restorations: [waiting, clock.restorationAt(head, tipTime)] }),
    )
  } catch (error) {
    if (!(error instanceof BlockRunError)) throw error
    const { rule, index } = error
    throw new RuleError(
      'request-parameter',
      `state: block ${common + index + 1} is refused: ${rule.message} (${rule.code}); nothing was changed`,
    )
  }
}

/** Unix seconds in the header of a block; `request-parameter` where it has none. */
function timeOf(block: Uint8Array): number {
  try {
    return Header.read(new Reader(block)).time
  } catch (error) {
    if (error instanceof CodecError) throw new RuleError('request-parameter', `state: its last block: ${error.message}`)
    throw error
  }
}

/** Height up to which the active chain has the same blocks. */
function commonHeight(chain: Chain, blocks: readonly BlockRecord[]): number {
  let height = 0
  for (const { block } of blocks) {
    const active = chain.headers.activeHash(height + 1)
    if (active === undefined || !equalBytes(active, blockHashOf(block))) break
    height++
  }
  return height
}

/** Whether there is a file of a state; a {@link UserError} where none could be written either. */
export async function isStateFile(path: string): Promise<boolean> {
  try {
    const there = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (there?.isDirectory() === true) throw new UserError(`--state ${path}: it is a directory, and a file is needed`)
    // Before any work that could not be kept.
    await access(dirname(path), constants.W_OK)
    return there !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new UserError(`--state ${path}: the directory ${dirname(path)} does not exist`)
    }
    throw fileFailure(error, `--state ${path} cannot be used`)
  }
}

/**
 * Keeps other devnets away from a state file, by FILE.lock beside it; the result ends that. The last of two would overwrite what
 * the other has saved. A {@link UserError} where another process has the file, and for one that cannot be used.
 */
export async function lockStateFile(file: string): Promise<() => Promise<void>> {
  // Before there is a lock beside it.
  await isStateFile(file)
  const path = replacedFile(file)?.path
  // The content of a device or a pipe is replaced by no devnet.
  if (path === undefined) return async () => {}
  const lock = `${path}.lock`
  const release = await lockPath(lock, `the state of a devnet in ${file}`)
  return async () => {
    await release()
    await rm(lock, { recursive: true, force: true })
  }
}

/**
 * Loads a file of a state into a chain that has only its genesis block; returns the height. Throws a {@link UserError} for a
 * damaged file, one of another chain, and a block that the chain refuses; the chain is of no use then. `progress` gets heights.
 */
export async function loadStateFile(
  parts: StateParts,
  path: string,
  progress: (height: number) => void = () => {},
): Promise<number> {
  const { chain, mempool, clock } = parts
  try {
    const source = new Pieces(createReadStream(path))
    const head = await readCheckedHead(source, parts)
    let run: { block: Uint8Array; confirm?: Uint8Array }[] = []
    let bytes = 0
    const connect = async () => {
      await connectRun(chain, run)
      run = []
      bytes = 0
      progress(chain.tip.header.height)
    }
    for await (const { block, confirm } of readBlocks(source, chain.genesis.header.hash)) {
      run.push({ block, ...defined({ confirm }) })
      bytes += block.length
      if (run.length === blocksAtOnce || bytes >= bytesAtOnce) await connect()
    }
    await connect()
    await chain.exclusive(({ rewind }) =>
      mempool.restore(head.pool, (waiting) =>
        rewind(chain.tip.header.hash, [waiting, clock.restorationAt(head, chain.tip.header.time)]),
      ),
    )
    return chain.tip.header.height
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${path}: ${error.message}`)
    throw fileFailure(error, `the state in ${path} cannot be read`)
  }
}

async function connectRun(chain: Chain, run: readonly { block: Uint8Array; confirm?: Uint8Array }[]): Promise<void> {
  if (run.length === 0) return
  const before = chain.tip.header.height
  try {
    await chain.acceptBlocks(run)
  } catch (error) {
    if (!(error instanceof BlockRunError)) throw error
    const { rule, index } = error
    throw new UserError(`block ${before + index + 1} is refused: ${rule.message} (${rule.code})`)
  }
}

/** Reads a head; a {@link UserError} also for a pooled transaction that breaks a rule of its bytes, and a clock beyond all times. */
async function readCheckedHead(source: Pieces, { chain, clock }: StateParts): Promise<StateHead> {
  const head = await readStateHead(source, (transaction) => waitingSteps(transaction, chain))
  if (clock.now() - clock.offset + head.offset <= latestTime * 1000) return head
  throw new UserError('the clock of the state is beyond all times of blocks')
}

/** Checks a pooled transaction of a state by itself. */
function* waitingSteps(transaction: Transaction, chain: Chain): Steps {
  try {
    if (transaction.isCoinbase) throw new RuleError('pool-coinbase', 'a coinbase waits for no block')
    yield* transactionSanitySteps(transaction, chain.sanity)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the pooled transaction ${transaction.txid} is refused: ${error.message} (${error.code})`)
  }
}

async function headOf({ mempool, clock }: StateParts): Promise<StateHead> {
  await mempool.settled()
  const pool = Array.from(mempool.entries(), ({ transaction, arrival }) => ({ transaction, arrival }))
  return { offset: clock.offset, nextBlockTime: clock.state.nextBlockTime, pool }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes
}
