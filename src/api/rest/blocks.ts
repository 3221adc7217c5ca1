import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChainReader } from '../../chain/reader.js'
import type { KnownHeader } from '../../chain/headers.js'
import { RuleError } from '../../errors.js'
import { displayHash, toHex } from '../../primitives/bytes.js'
import { difficultyText } from '../../primitives/compact.js'
import { confirmJson } from '../../primitives/confirm.js'
import { type Hash, zeroHash } from '../../primitives/hash.js'
import { transactionJson, type TransactionPlace } from '../../primitives/transaction-json.js'
import { jsonArray } from './lists.js'

/** Blocks as REST shows them. Every function returns the JSON text of a `Result`. */

const maxAttempts = 10

/**
 * Reads again what a change of the chain may have torn: the blocks of one answer must all be of one tip. What goes wrong
 * because a reorganisation removed rows under the read is not an answer either.
 */
async function ofOneTip<T>(reader: ChainReader, read: () => T | Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const { tip } = reader.chain
    try {
      const result = await read()
      if (reader.chain.tip === tip || attempt === maxAttempts) return result
    } catch (error) {
      if (reader.chain.tip === tip || attempt === maxAttempts) throw error
    }
    await nextTurn()
  }
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

/** Where the transactions of a block stand. */
export function placeIn(reader: ChainReader, known: KnownHeader): TransactionPlace {
  const { header } = known
  return { blockhash: header.id, confirmations: reader.confirmations(known), blocktime: header.time }
}

/** Block details with whole transactions. */
export function blockByHeight(reader: ChainReader, height: number): Promise<string> {
  return ofOneTip(reader, async () => {
    const known = blockAt(reader, height)
    const { transactions } = await reader.block(known)
    const place = placeIn(reader, known)
    return details(reader, known, await jsonArray(transactions, (tx) => transactionJson(tx, place)))
  })
}

/** Block details with transaction ids; a block off the active chain has no confirmations and nothing above it. */
export function blockByHash(reader: ChainReader, hash: Hash): Promise<string> {
  return ofOneTip(reader, async () => {
    const known = blockOf(reader, hash)
    const { transactions } = await reader.block(known)
    return details(reader, known, await jsonArray(transactions, ({ txid }) => txid))
  })
}

/** The members in the order of the family's samples, with a list of transactions that is JSON already. */
function details(reader: ChainReader, known: KnownHeader, tx: string): string {
  const { header, size } = known
  const atTip = header.height === reader.height
  const before = {
    hash: header.id,
    confirmations: reader.confirmations(known),
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
    mediantime: reader.medianTime(known),
    nonce: header.nonce,
    bits: header.bits,
    difficulty: difficultyText(header.bits, reader.chain.spec.powLimitBits),
    chainwork: known.chainWork.toString(16).padStart(64, '0'),
    previousblockhash: displayHash(header.previous),
    nextblockhash: displayHash((atTip ? undefined : reader.nextHash(known)) ?? zeroHash),
    auxpow: toHex(known.auxPow),
  }
  return `${JSON.stringify(before).slice(0, -1)},"tx":${tx},${JSON.stringify(after).slice(1)}`
}

/** Hash, height and transaction ids of a block. */
export function blockTransactions(reader: ChainReader, height: number): Promise<string> {
  return ofOneTip(reader, async () => {
    const known = blockAt(reader, height)
    const { transactions } = await reader.block(known)
    const ids = await jsonArray(transactions, ({ txid }) => txid)
    return `{"Hash":"${known.header.id}","Height":${height},"Transactions":${ids}}`
  })
}

export function confirmByHeight(reader: ChainReader, height: number): string {
  return confirmOf(reader, blockAt(reader, height))
}

export function confirmByHash(reader: ChainReader, hash: Hash): string {
  return confirmOf(reader, blockOf(reader, hash))
}

function confirmOf(reader: ChainReader, { header }: KnownHeader): string {
  const confirm = reader.confirm(header.hash)
  if (confirm === undefined) {
    const why = header.height === 0 ? 'the genesis block has none' : 'the chain has no validators'
    throw new RuleError('unknown-confirm', `no confirm for block ${header.id}: ${why}`)
  }
  return JSON.stringify(confirmJson(confirm))
}
