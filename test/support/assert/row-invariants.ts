import { isDeepStrictEqual } from 'node:util'
import { Chain } from '../../../src/ledger/chain/chain.js'
import { connectOn } from '../../../src/ledger/chain/connect-block.js'
import { verifyChain } from '../../../src/ledger/chain/replay-chain.js'
import { subsidyAt } from '../../../src/ledger/consensus/subsidy.js'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { mapKey, ofMapKey, toHex } from '../../../src/base/primitives/bytes.js'
import { outpointKey } from '../../../src/base/primitives/input.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { KnownDocuments } from '../../../src/ledger/storage/write/known-documents.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { putConnected, putDisconnected } from '../../../src/ledger/storage/stored-state.js'
import { memoryStore, quietLog, type TestChain } from '../builders/chain.js'
import { plainForm } from './plain-form.js'

/** Invariants of a chain's rows at any moment. */

/** Sums of the coins, of the coins by address and of the balances, with the balances per address. */
export async function supplyOf({ database, spec, chain }: Pick<TestChain, 'database' | 'spec' | 'chain'>): Promise<{
  issued: bigint
  coins: bigint
  addressCoins: bigint
  balances: Map<string, string>
  balancesOfCoins: Map<string, string>
}> {
  let issued = spec.allocations.reduce((sum, { amount }) => sum + amount, 0n)
  for (let height = 1; height <= chain.tip.header.height; height++) issued += subsidyAt(spec, height)
  let coins = 0n
  const sums = new Map<string, { sum: bigint; count: number }>()
  for (const [, value] of await database.rows(tables.coin.range())) {
    const { owner, value: amount } = tables.coin.decode(value)
    coins += amount
    const { sum, count } = sums.get(toHex(ofMapKey(owner))) ?? { sum: 0n, count: 0 }
    sums.set(toHex(ofMapKey(owner)), { sum: sum + amount, count: count + 1 })
  }
  const rows = await database.rows(tables.addressCoin.range())
  const addressCoins = rows.reduce((sum, [, value]) => sum + tables.addressCoin.decode(value), 0n)
  const text = ({ sum, count }: { sum: bigint; count: number }) => `${sum} in ${count}`
  const balances = (await database.rows(tables.balance.range())).map(([key, value]) => {
    return [toHex(key.subarray(1)), text(tables.balance.decode(value))] as const
  })
  return {
    issued,
    coins,
    addressCoins,
    balances: new Map(balances),
    balancesOfCoins: new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([hash, sum]) => [hash, text(sum)])),
  }
}

/** An empty chain of the same spec. */
export async function emptyChain({ spec, clock }: Pick<TestChain, 'spec' | 'clock'>): Promise<Chain> {
  const database = await Database.over(memoryStore())
  const parts = { verifier: createInlineVerifier(), signatures: new SignatureCache(), log: quietLog() }
  return Chain.open({ spec, database, clock, ...parts })
}

/** Describes a fault of the rows that follow from the active chain, or of their cache; undefined if a replay makes the same rows. */
export async function faultOf(test: TestChain): Promise<string | undefined> {
  return (await verifyChain(test.chain, await emptyChain(test))) ?? cacheFault(test.database)
}

/** Describes a difference of coins or balances in memory from their rows; undefined without one. */
export async function cacheFault(database: Database): Promise<string | undefined> {
  const { coins } = database.newest
  const same = (a: object, b: object) => isDeepStrictEqual(plainForm(a), plainForm(b))
  const left = { ...coins.sizes }
  for (const [key, value] of await database.rows(tables.coin.range())) {
    const outpoint = { txid: key.subarray(1, 33), index: key.readUInt16BE(33) }
    const cached = coins.coin(outpointKey(outpoint))
    if (cached === undefined) continue
    left.coins--
    if (!same(cached, tables.coin.decode(value))) return `the coin ${key.toString('hex')} is another one in memory`
  }
  if (left.coins > 0) return `${left.coins} coins in memory have no row`
  for (const [key, value] of await database.rows(tables.balance.range())) {
    const cached = coins.balance(mapKey(key.subarray(1)))
    if (cached === undefined) continue
    left.balances--
    if (!same(cached, tables.balance.decode(value)))
      return `the balance ${key.toString('hex')} is another one in memory`
  }
  return undefined
}

/** Names of the rows that connecting a block and taking it back leaves different from what they were. */
export async function leftovers({ chain, database }: TestChain, block: Block): Promise<string[]> {
  const overlay = new Overlay(database)
  await putConnected(
    overlay,
    block,
    await connectOn(new Overlay(database), block, { sanity: chain.sanity, documents: new KnownDocuments() }),
  )
  await putDisconnected(overlay, block)
  const different = [...overlay.changes.values()].filter(({ key, value }) => {
    const before = database.get(key)
    return (before === undefined ? undefined : mapKey(before)) !== (value === undefined ? undefined : mapKey(value))
  })
  return different.map(({ key }) => toHex(key))
}
