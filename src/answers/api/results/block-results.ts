/**
 * Members of REST answers and of JSON-RPC results that show the same object: blocks, transactions, coins, the node.
 *
 *   handler or method -> function of a hash, height or address -> JSON text, or a StreamedAnswer for what is large
 *
 * - Nothing here depends on the carrier: envelopes and ids are put around it in paths and rpc.
 * - A large answer is written in parts while it is sent, never held whole.
 */
import type { KnownHeader } from '../../../ledger/chain/header-index.js'
import type { ChainReader } from '../../../ledger/chain/reader.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { readAuxPow } from '../../../base/primitives/auxpow.js'
import { fullHeaderBytes } from '../../../base/primitives/block.js'
import { displayHash, equalBytes, toHex } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import { difficultyText } from '../../../base/primitives/compact.js'
import { type Confirm, confirmBytes, confirmJson } from '../../../base/primitives/confirm.js'
import { type Hash, zeroHash } from '../../../base/primitives/hash.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import type { TransactionPlace } from '../../../base/primitives/transaction-json.js'
import { medianSpan } from '../../../identity/proofs/retarget.js'
import { nextTurn } from '../../../base/runtime/cooperative.js'
import { damaged } from '../../../ledger/storage/failure.js'
import { requireUnpruned, requireWhole } from '../../../ledger/storage/rows/prune-rows.js'
import { meta, tables } from '../../../ledger/storage/rows/tables.js'
import { chainKey, following, StreamedAnswer, type Sink, writeList } from '../streams/streamed-answer.js'
import { decodedShare, withDecoded, writeHex, writeTransaction } from './transaction-text.js'

/** Blocks as the interfaces show them. Functions of an answer return its JSON text, or what writes it; small values are returned as they are. */

/** @tuning count: attempts to read a block while others arrive */
const maxAttempts = 50

/** Data of a block beside its transactions. */
interface BlockFacts {
  readonly known: KnownHeader
  readonly place: TransactionPlace
  /** Display hex; zeros where no block follows. */
  readonly next: string
  readonly medianTime: number
}

/** A block whose body and position on the chain belong together. */
interface OpenBlock extends BlockFacts {
  /** Its transactions, in order. */
  readonly rows: Rows
}

/**
 * Opens a block. A reorganisation moves rows, which are briefly ahead of memory: facts and rows are taken between two reads of
 * the same tip, or again. Rows keep the state of that moment.
 */
async function openBlock(reader: ChainReader, find: () => KnownHeader, sink: Sink): Promise<OpenBlock> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const opened = await reader.chain.database.settle(() => openAtTip(reader, find, sink))
    if (opened !== undefined) return opened
    await nextTurn()
    sink.signal.throwIfAborted()
  }
  throw new RuleError('busy', 'blocks arrive faster than this one can be read; try again')
}

/** One attempt; undefined while the rows of another tip are on disk already. */
async function openAtTip(reader: ChainReader, find: () => KnownHeader, sink: Sink): Promise<OpenBlock | undefined> {
  const { database } = reader.chain
  const tip = settledTip(reader)
  if (tip === undefined) return undefined
  const known = find()
  const { status, header } = known
  await database.load(() => aroundBlock(header.height))
  if (status === 'active') await requireWhole(database, header.height)
  const place = placeIn(reader, known)
  const next = displayHash(reader.nextHash(known) ?? zeroHash)
  const medianTime = reader.medianTime(known)
  const rows = openRows(reader, known, sink)
  // The first read fixes the state in which all rows are read.
  const first = rows.next()
  first.catch(() => {})
  const isSettled = settledTip(reader) === tip
  // Where rows are fetched, the first of them are of this state or none.
  await (isSettled ? first : first.catch(() => {}))
  if (isSettled) return { known, place, rows: following(first, rows), next, medianTime }
  await rows.return()
  return undefined
}

/** Rows of the active chain for the blocks whose median time a block has, and the one that follows it. */
function aroundBlock(height: number): Buffer[] {
  const first = Math.max(0, height - medianSpan + 1)
  return Array.from({ length: height + 2 - first }, (_, i) => tables.active.key(first + i))
}

/** A transaction, or its bytes. */
type Row = Transaction | { readonly bytes: Uint8Array }
type Rows = AsyncGenerator<Row, void, void>

async function* openRows(reader: ChainReader, known: KnownHeader, sink: Sink): Rows {
  if (known.status !== 'active') yield* sideRows(reader, known, sink)
  else for await (const bytes of reader.transactionRows(known.header.height)) yield { bytes }
}

/** Transactions of a side block, which is one row. */
async function* sideRows(reader: ChainReader, known: KnownHeader, sink: Sink): Rows {
  const release = await sink.reserve(known.size * decodedShare)
  try {
    yield* (await reader.block(known)).transactions
  } finally {
    release()
  }
}

/** The tip, unless the rows of another tip are on disk already. */
function settledTip({ chain }: ChainReader): KnownHeader | undefined {
  const row = chain.database.get(meta.tip.key)
  return row !== undefined && equalBytes(meta.tip.decode(row).hash, chain.tip.header.hash) ? chain.tip : undefined
}

/** The active block at a height; `unknown-block` above the tip. */
function blockAt(reader: ChainReader, height: number): KnownHeader {
  // Rows of a block may be visible a moment before the tip moves to it.
  const known = height > reader.height ? undefined : reader.headerAt(height)
  if (known === undefined) {
    throw new RuleError('unknown-block', `there is no block at height ${height}; the tip is at ${reader.height}`)
  }
  return known
}

/** A block on the active chain or off it. */
function blockOf(reader: ChainReader, hash: Hash): KnownHeader {
  const known = reader.headerOf(hash)
  if (known === undefined) throw new RuleError('unknown-block', `there is no block ${displayHash(hash)}`)
  return known
}

export function blockHash(reader: ChainReader, height: number): string {
  return JSON.stringify(blockAt(reader, height).header.id)
}

/** Position of the transactions of a block. */
export function placeIn(reader: ChainReader, known: KnownHeader): TransactionPlace {
  const { header } = known
  return { blockhash: header.id, confirmations: reader.confirmations(known), blocktime: header.time }
}

/** Block details with whole transactions. */
export function blockByHeight(reader: ChainReader, height: number): StreamedAnswer {
  return withTransactions(reader, () => blockAt(reader, height))
}

/** Block details with transaction ids; a block off the active chain has no confirmations and nothing above it. */
export function blockByHash(reader: ChainReader, hash: Hash): StreamedAnswer {
  return blockAnswer(
    'ids',
    reader,
    () => blockOf(reader, hash),
    async (sink, block) => {
      const [before, after] = details(reader, block)
      sink.add(before)
      await writeRows(sink, block, ({ txid }) => sink.add(JSON.stringify(txid)))
      sink.add(after)
    },
  )
}

/** The same with whole transactions. */
export function wholeBlockByHash(reader: ChainReader, hash: Hash): StreamedAnswer {
  return withTransactions(reader, () => blockOf(reader, hash))
}

function withTransactions(reader: ChainReader, find: () => KnownHeader): StreamedAnswer {
  return blockAnswer('whole', reader, find, async (sink, block) => {
    const [before, after] = details(reader, block)
    sink.add(before)
    await writeRows(sink, block, (tx) => writeTransaction(sink, tx, block.place))
    sink.add(after)
  })
}

/** The bytes of a block in hex, without its confirm. */
export function blockHex(reader: ChainReader, hash: Hash): StreamedAnswer {
  return blockAnswer(
    'hex',
    reader,
    () => blockOf(reader, hash),
    async (sink, { known, rows }) => {
      const head = fullHeaderBytes(known.header, readAuxPow(new Reader(known.auxPow)))
      sink.add(`"${toHex(head)}${toHex(new Writer(4).u32(known.transactionCount).finish())}`)
      for await (const { bytes } of countedRows(known, rows)) {
        await writeHex(sink, bytes)
      }
      sink.add('"')
    },
  )
}

/** An answer about one block. A second production writes the same text, or rejects where the block is gone. */
function blockAnswer(
  kind: string,
  reader: ChainReader,
  find: () => KnownHeader,
  write: (sink: Sink, block: OpenBlock) => Promise<void>,
): StreamedAnswer {
  // An unknown block is refused before anything waits.
  const { header } = find()
  let facts: BlockFacts | undefined
  return new StreamedAnswer({
    key: chainKey(reader, 'block', kind, header.id),
    repeatable: true,
    write: async (sink) => {
      const first = facts
      // Looked up again: a known header is not updated when its block moves.
      const again = first === undefined ? find : () => blockOf(reader, first.known.header.hash)
      const opened = await openBlock(reader, again, sink)
      const { known, place, next, medianTime, rows } = opened
      try {
        facts ??= { known, place, next, medianTime }
        if (place.confirmations > 0 !== facts.place.confirmations > 0 || place.blockhash !== facts.place.blockhash) {
          throw moved()
        }
        await write(sink, { ...facts, rows })
      } finally {
        await letGo(rows)
      }
    },
  })
}

/** Releases what rows hold. A generator that never ran would skip its `finally`, so one row is read first. */
async function letGo(rows: Rows): Promise<void> {
  await rows.next().catch(() => {})
  await rows.return()
}

function moved(): RuleError {
  return new RuleError('busy', 'the block left the active chain while it was read; ask again')
}

/** The rows of a block, `transactionCount` of them. */
async function* countedRows(known: KnownHeader, rows: Rows): Rows {
  let count = 0
  for await (const row of rows) {
    count++
    yield row
  }
  if (count === known.transactionCount) return
  throw damaged(`${count} of ${known.transactionCount} transactions of ${known.header.id} are there`)
}

/** Writes a JSON array with the output of `write` for each transaction. */
function writeRows(
  sink: Sink,
  { known, rows }: OpenBlock,
  write: (tx: Transaction) => void | Promise<void>,
): Promise<void> {
  return writeList(sink, countedRows(known, rows), (row) =>
    row instanceof Transaction ? write(row) : withDecoded(sink, row.bytes, write),
  )
}

/** The members in the order of the family's samples, as JSON text before and after the list of transactions. */
function details(reader: ChainReader, { known, place, next, medianTime }: BlockFacts): [string, string] {
  const { header, size } = known
  const before = {
    hash: header.id,
    confirmations: place.confirmations,
    strippedsize: size,
    size,
    weight: 4 * size,
    height: header.height,
    version: header.version,
    versionhex: header.version.toString(16).padStart(8, '0'),
    merkleroot: displayHash(header.merkleRoot),
  }
  const after = {
    time: header.time,
    mediantime: medianTime,
    nonce: header.nonce,
    bits: header.bits,
    difficulty: difficultyText(header.bits, reader.chain.spec.powLimitBits),
    chainwork: known.chainWork.toString(16).padStart(64, '0'),
    previousblockhash: displayHash(header.previous),
    nextblockhash: next,
    auxpow: toHex(known.auxPow),
  }
  return [`${JSON.stringify(before).slice(0, -1)},"tx":`, `,${JSON.stringify(after).slice(1)}`]
}

/** Hash, height and transaction ids of a block. */
export function blockTransactions(reader: ChainReader, height: number): StreamedAnswer {
  return blockAnswer(
    'transactions',
    reader,
    () => blockAt(reader, height),
    async (sink, block) => {
      const { id, height: at } = block.known.header
      sink.add(`{"Hash":"${id}","Height":${at},"Transactions":`)
      await writeRows(sink, block, ({ txid }) => sink.add(JSON.stringify(txid)))
      sink.add('}')
    },
  )
}

/** Proposer and voters of the active block at a height. */
export async function confirmByHeight(reader: ChainReader, height: number): Promise<string> {
  return JSON.stringify(confirmJson(await confirmOf(reader, blockAt(reader, height))))
}

export async function confirmByHash(reader: ChainReader, hash: Hash): Promise<string> {
  return JSON.stringify(confirmJson(await confirmOf(reader, blockOf(reader, hash))))
}

/** The bytes of a confirm in hex. */
export async function confirmHexByHeight(reader: ChainReader, height: number): Promise<string> {
  return JSON.stringify(toHex(confirmBytes(await confirmOf(reader, blockAt(reader, height)))))
}

export async function confirmHexByHash(reader: ChainReader, hash: Hash): Promise<string> {
  return JSON.stringify(toHex(confirmBytes(await confirmOf(reader, blockOf(reader, hash)))))
}

async function confirmOf(reader: ChainReader, { header }: KnownHeader): Promise<Confirm> {
  const { spec, assumedConfirms, joinedHeight, database } = reader.chain
  const confirm = reader.confirm(header.hash)
  const shown = confirm && (await assumedConfirms.verify([{ header, confirm: confirmBytes(confirm) }])) === 1
  if (confirm !== undefined && shown === true) return confirm
  if (header.height <= joinedHeight) requireUnpruned(database, header.height)
  const none = spec.hasValidators
    ? 'it was assumed to be valid, and its confirm does not hold'
    : 'the chain has no validators'
  const why = header.height === 0 ? 'the genesis block has none' : none
  throw new RuleError('unknown-confirm', `no confirm for block ${header.id}: ${why}`)
}
