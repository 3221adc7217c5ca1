import type { Chain } from '../ledger/chain/chain.js'
import { readBlockBytes, sideBodyRow } from '../ledger/chain/read-body.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import { equalBytes } from '../base/primitives/bytes.js'
import { Reader } from '../base/primitives/codec.js'
import type { Hash } from '../base/primitives/hash.js'
import { Header } from '../base/primitives/header.js'
import { cooperate, Yielder } from '../base/runtime/cooperative.js'
import { JobQueue } from '../base/runtime/job-queue.js'
import { StorageError } from '../ledger/storage/failure.js'
import { tables } from '../ledger/storage/rows/tables.js'
import { RuleError } from '../base/errors/rule-error.js'
import { LinkError } from './link.js'
import type { PeerManager } from './peers/peer-manager.js'
import { blocksExchange, blocksFill } from './wire/blocks-message.js'
import {
  headersAnswer,
  headersAtOnce,
  headersExchange,
  type HeadersQuestion,
  type HeaderUnit,
  headerUnitSize,
} from './wire/headers-message.js'
import { poolExchange, poolNames } from './wire/pool-message.js'
import { type TransactionName, transactionsExchange, transactionsFill } from './wire/transactions-message.js'

/** @limit count: waiting answers of one kind, small or large, made one after another */
const answersWaiting = 128
/** Header records per read. */
const headersPage = 250
/**
 * One may be as large as a block.
 * @tuning count: transactions of the chain read at a time for a peer
 */
const minedPage = 8

export interface ChainAnswers {
  readonly chain: Chain
  readonly mempool: Pick<Mempool, 'entries' | 'get'>
  /** On a chain with validators: bytes of a block under vote. */
  readonly voting?: { candidate(hash: Hash): Uint8Array | undefined } | undefined
  /** On a chain with miners: bytes of a candidate, fetched from the peer that announced it. */
  readonly candidates?: { body(hash: Hash): Promise<Uint8Array | undefined> } | undefined
}

/** Serves chain and pool to peers. Full queue → no answer. */
export function serveChain(peers: Pick<PeerManager, 'serve'>, answers: ChainAnswers): void {
  const small = new JobQueue(answersWaiting)
  const large = new JobQueue(answersWaiting)
  peers.serve(headersExchange, (_, question) => small.run(() => headersAfter(answers, question)))
  peers.serve(poolExchange, () => small.run(() => poolOf(answers.mempool)))
  peers.serve(blocksExchange, async (_, hashes) => {
    const blocks = await large.run(() => blocksOf(answers, hashes))
    const [requested] = hashes
    if (requested === undefined || hashes.length > 1 || blocks[0]?.length !== 0) return blocks
    // Outside the queue: other peers do not wait for this fetch.
    const body = await answers.candidates?.body(requested)
    return body === undefined ? blocks : [body]
  })
  peers.serve(transactionsExchange, (_, txids) => large.run(() => transactionsOf(answers, txids)))
}

/** Headers with confirms after the highest locator block on the active chain. */
async function headersAfter({ chain }: ChainAnswers, { locator, count }: HeadersQuestion): Promise<HeaderUnit[]> {
  const { database } = chain
  const found = locator.flatMap((hash) => chain.headers.get(hash) ?? []).filter(({ status }) => status === 'active')
  const start = found.reduce((best, { header }) => (header.height > best.height ? header : best), chain.genesis.header)
  const { joinedHeight: joined } = chain
  if (start.height < joined) throw new LinkError('refused', `there is no proof of the headers up to height ${joined}`)
  const units: HeaderUnit[] = []
  const most = Math.min(count, headersAtOnce)
  let room = headersAnswer - 5
  while (units.length < most) {
    const from = start.height + 1 + units.length
    const page = Math.min(headersPage, most - units.length)
    const hashes = await database.rows({ gte: tables.active.key(from), lt: tables.active.key(from + page) })
    const records = await database.getMany(hashes.map(([, hash]) => tables.header.key(hash)))
    const confirms = await database.getMany(hashes.map(([, hash]) => tables.confirm.key(hash)))
    const stored = records.map((row, i): HeaderUnit | undefined => {
      if (row === undefined) return undefined
      const { header: bytes, auxPow, size } = tables.header.decode(row)
      return { header: Header.read(new Reader(bytes)), auxPow, confirm: confirms[i] ?? new Uint8Array(0), size }
    })
    const proved = await chain.assumedConfirms.verify(stored.filter((unit) => unit !== undefined))
    for (const [i, unit] of stored.entries()) {
      if (unit === undefined) return units
      if (i === proved) {
        // Empty answer contradicts our announced height → penalty; so refuse instead.
        if (units.length === 0) throw new LinkError('refused', `the confirm of ${unit.header.id} does not hold`)
        return units
      }
      const { header } = unit
      room -= headerUnitSize(unit)
      // Not consecutive if the active chain changed between the reads.
      if (room < 0 || !equalBytes(header.previous, (units.at(-1)?.header ?? start).hash)) return units
      units.push(unit)
    }
    if (hashes.length < page) break
  }
  return units
}

async function blocksOf(answers: ChainAnswers, hashes: readonly Hash[]): Promise<Uint8Array[]> {
  const blocks: Uint8Array[] = []
  let size = 0
  // Rows of small blocks are read in the same turn.
  const yielder = new Yielder()
  for (const hash of hashes) {
    if (yielder.over) await yielder.next()
    const block = (await blockOf(answers, hash)) ?? new Uint8Array(0)
    blocks.push(block)
    size += block.length
    if (size >= blocksFill) break
  }
  return blocks
}

/** Bytes of an active block, a side block, or a block under vote. */
async function blockOf({ chain, voting }: ChainAnswers, hash: Hash): Promise<Uint8Array | undefined> {
  const { database, headers } = chain
  const known = headers.get(hash)
  if (known?.status === 'active') {
    const isActive = () => {
      const active = headers.activeHash(known.header.height)
      return active !== undefined && equalBytes(active, hash)
    }
    try {
      const bytes = await readBlockBytes(database, known)
      if (isActive()) return bytes
    } catch (error) {
      if (error instanceof RuleError && error.code === 'pruned') return undefined
      // Rows may be missing only if the block left the active chain during the read.
      if (!(error instanceof StorageError) || isActive()) throw error
    }
  }
  return sideBodyRow(database, hash) ?? voting?.candidate(hash)
}

async function transactionsOf(answers: ChainAnswers, txids: readonly Hash[]): Promise<Uint8Array[]> {
  const transactions: Uint8Array[] = []
  let size = 0
  for (let start = 0; start < txids.length && size < transactionsFill; start += minedPage) {
    for (const bytes of await somePoolOrMined(answers, txids.slice(start, start + minedPage))) {
      if (size >= transactionsFill) break
      transactions.push(bytes)
      size += bytes.length
    }
  }
  return transactions
}

/** Looks in the pool, then on the chain (mined after the announcement); empty bytes: in neither. */
async function somePoolOrMined({ chain, mempool }: ChainAnswers, txids: readonly Hash[]): Promise<Uint8Array[]> {
  const { database } = chain
  const pooled = txids.map((txid) => mempool.get(txid)?.transaction.bytes)
  const unpooled = txids.filter((_, i) => pooled[i] === undefined)
  const locationRows = await database.getMany(unpooled.map((txid) => tables.location.key(txid)))
  const locations = locationRows.map((row) => (row === undefined ? undefined : tables.location.decode(row)))
  const located = locations.filter((location) => location !== undefined)
  const rows = (
    await database.getMany(located.map(({ height, index }) => tables.transaction.key(height, index)))
  ).values()
  const mined = locations.map((location) => (location === undefined ? undefined : rows.next().value)).values()
  return pooled.map((bytes) => bytes ?? mined.next().value ?? new Uint8Array(0))
}

/** Names of pooled transactions, oldest first, up to {@link poolNames}. */
async function poolOf(mempool: Pick<Mempool, 'entries'>): Promise<TransactionName[]> {
  const names: TransactionName[] = []
  const entries = mempool.entries()[Symbol.iterator]()
  await cooperate(() => {
    const next = entries.next()
    if (next.done === true) return false
    const { hash, digest } = next.value.transaction
    return names.push({ txid: hash, digest }) < poolNames
  })
  return names
}
