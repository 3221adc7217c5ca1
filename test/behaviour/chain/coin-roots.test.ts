import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BlockRunError, type IncomingBlock } from '../../../src/ledger/chain/block-run.js'
import { reorganisationDepth } from '../../../src/ledger/chain/branches.js'
import { CoinRoots } from '../../../src/ledger/chain/coin-roots.js'
import { coinRootOf } from '../../../src/ledger/chain/next-commitments.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { concat, toHex } from '../../../src/base/primitives/bytes.js'
import type { Attribute } from '../../../src/base/primitives/transaction-fields.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import { coinDepth } from '../../../src/base/primitives/coin-depth.js'
import { type BlockPlan, coinbaseOf, craftBlock, craftConfirm } from '../../support/builders/blocks.js'
import { memoryStore, oneValidator, type Store, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { inOrder, purse, wrapped } from '../../support/builders/side-proofs.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import { type SpecOverrides } from '../../support/builders/spec.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)
const signatures = new SignatureCache()
const committing: SpecOverrides = { ...withoutValidators, coinInterval: 300 }

/** A chain of blocks in which people pay each other, up to a height. */
async function busy(height: number, options: { store?: Store; overrides?: SpecOverrides } = {}): Promise<TestChain> {
  const { overrides = committing, store = memoryStore() } = options
  const test = await TestChain.open(overrides, { signatures, store })
  await actUntil(test, height)
  return test
}

async function actUntil(test: TestChain, height: number, roll = random(seed)): Promise<void> {
  const crowd = new Crowd(roll)
  while (test.reader.height < height) {
    if (roll(3) > 0) await test.mineEmpty(Math.min(height - test.reader.height, 1 + roll(40)))
    else {
      for (let acts = roll(4); acts > 0; acts--) await crowd.act(test)
      test.clock.time += 1000
      await test.mine()
    }
  }
}

/** The root over the coins after a block, from all blocks up to it, by the words of format 10.6. */
async function plainRoot({ chain, reader }: TestChain, height: number): Promise<string> {
  const coins = new Map<string, { row: Buffer; value: bigint }>()
  for (let at = 0; at <= height; at++) {
    const { transactions } = await reader.block(reader.headerAt(at) as NonNullable<ReturnType<typeof reader.headerAt>>)
    for (const [position, { hash, inputs, outputs }] of transactions.entries()) {
      for (const { txid, index } of position === 0 ? [] : inputs) coins.delete(keyOf(txid, index))
      for (const [index, { value, outputLock, programHash }] of outputs.entries()) {
        if (value === 0n) continue
        const fields = Buffer.alloc(17)
        fields.writeUInt32LE(at, 0)
        fields.writeUInt8(position === 0 ? 1 : 0, 4)
        fields.writeBigInt64LE(value, 5)
        fields.writeUInt32LE(outputLock, 13)
        const key = keyOf(hash, index)
        coins.set(key, { value, row: Buffer.concat([Buffer.from(key, 'hex'), fields, programHash]) })
      }
    }
  }
  const sorted = [...coins.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, coin]) => coin)
  const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const numbers = Buffer.alloc(20)
  numbers.writeUInt32LE(height, 0)
  numbers.writeBigUInt64LE(BigInt(sorted.length), 4)
  numbers.writeBigUInt64LE(
    sorted.reduce((sum, { value }) => sum + value, 0n),
    12,
  )
  const leaf = sha(Buffer.of(0), ...sorted.map(({ row }) => row))
  return toHex(sha(Buffer.of(4), chain.genesis.header.hash, numbers, leaf))
}

function keyOf(txid: Uint8Array, index: number): string {
  return `08${toHex(txid)}${index.toString(16).padStart(4, '0')}`
}

const rootAt = async (test: TestChain, height: number) => {
  const root = await coinRootOf(test.chain, height)
  return root && toHex(root)
}

/** The bytes of active blocks, each with its confirm where there are validators. */
async function blocksOf(test: TestChain, from: number, to: number): Promise<IncomingBlock[]> {
  const all: IncomingBlock[] = []
  for (let at = from; at <= to; at++) {
    const block = await test.reader.block(test.activeHeader(at))
    const confirm = test.confirmFor(block)
    all.push({ block: block.bytes, ...(confirm && { confirm }) })
  }
  return all
}

describe('the root of all coins', () => {
  it('is committed to as deep as a reorganisation can reach', () => {
    expect(coinDepth).toBe(reorganisationDepth)
  })

  it('is that of the coins 288 blocks before, on each block that commits to it, and the same for who syncs', async () => {
    const test = await busy(610)
    expect(await rootAt(test, 299)).toBe(undefined)
    expect(await rootAt(test, 300)).toBe(await plainRoot(test, 12))
    expect(await rootAt(test, 600)).toBe(await plainRoot(test, 312))
    const other = await TestChain.open(committing, { signatures })
    // One call with all of it: what a block commits to are coins of the same run.
    expect(await other.chain.acceptBlocks(await blocksOf(test, 1, 610))).toBe(610)
    expect(other.chain.tip.header.id).toBe(test.chain.tip.header.id)
    await test.close()
    await other.close()
  })

  it('is found however far the chain has gone on, and however few spent coins are held', async () => {
    const store = memoryStore()
    const test = await busy(330, { store })
    const hash = test.activeHeader(12).header.hash
    const wanted = await plainRoot(test, 12)
    const { database, spec, genesis } = test.chain
    const late = new CoinRoots({ database, spec, genesis: genesis.header.hash })
    const { root, count, sum } = await late.of({ hash, height: 12 })
    expect(toHex(root)).toBe(wanted)
    const few = new CoinRoots({ database, spec, genesis: genesis.header.hash, spentAtOnce: 3 })
    expect(await few.of({ hash, height: 12 })).toMatchObject({ root, count, sum })
    await test.close()
    const again = await TestChain.open(committing, { signatures, store })
    expect(await rootAt(again, 300)).toBe(wanted)
    await again.close()
  })

  it('follows a branch that leaves before its state, and one that leaves behind it', async () => {
    for (const [fork, reorganisationBytes] of [
      [5, 4_000_000],
      [20, 20_000],
    ] as const) {
      const one = await busy(299)
      await one.mineEmpty(1)
      const two = await TestChain.open(committing, { signatures })
      if (fork > 0) await two.chain.acceptBlocks(await blocksOf(one, 1, fork))
      two.clock.time = one.clock.time
      await actUntil(two, 302, random(seed + fork))
      // Half of the other branch is there first: it is left again.
      const three = await TestChain.open(committing, { signatures, reorganisationBytes })
      await three.chain.acceptBlocks(await blocksOf(one, 1, 290))
      three.clock.time = Math.max(one.clock.time, two.clock.time)
      for (const { block } of await blocksOf(two, fork + 1, 302)) await three.chain.acceptBlock(block)
      expect(three.chain.tip.header.id).toBe(two.chain.tip.header.id)
      expect(await rootAt(three, 300)).toBe(await plainRoot(two, 12))
      for (const test of [one, two, three]) await test.close()
    }
  })

  it('binds up to where side chains were proved at its state, where a rule reads that', async () => {
    const overrides = { ...inOrder, coinInterval: 300 }
    const test = await TestChain.open(overrides, { signatures })
    const coin = await purse(test)
    const prove = async (blockHeight: number, sideChain: number) => {
      await test.accept(
        craftBlock(test.chain, { transactions: [await wrapped(test, coin(), { blockHeight, sideChain })] }),
      )
    }
    await prove(9, 2)
    await prove(5, 3)
    await test.mineEmpty(12 - test.reader.height)
    await prove(10, 2)
    await prove(11, 2)
    await prove(7, 4)
    await test.mineEmpty(299 - test.reader.height)
    const { hash } = test.activeHeader(12).header
    const state = await test.chain.coinRoots.of({ hash, height: 12 })
    const rowOf = (sideChain: number, height: number) =>
      `1d${toHex(new Uint8Array(32).fill(sideChain))}0${height}000000`
    expect(toHex(state.sideChains)).toBe(rowOf(2, 9) + rowOf(3, 5))
    const other = await TestChain.open(overrides, { signatures })
    other.clock.time = test.clock.time
    await test.mineEmpty(1)
    expect(await other.chain.acceptBlocks(await blocksOf(test, 1, 300))).toBe(300)
    await test.close()
    await other.close()
  })

  it('is that of a state of the same batch, where blocks of a devnet are replaced by many others', async () => {
    const overrides = { ...oneValidator(), producer: 'sponsor', devnet: true, sideChainOrder: true, coinInterval: 300 }
    const one = await TestChain.open(overrides, { signatures })
    await actUntil(one, 620)
    const two = await TestChain.open(overrides, { signatures })
    await actUntil(two, 20, random(seed + 1))
    two.clock.time = one.clock.time
    const blocks = await blocksOf(one, 6, 620)
    const base = await TestChain.open(overrides, { signatures })
    await base.chain.acceptBlocks(await blocksOf(one, 1, 5))
    await actUntil(base, 30, random(seed + 2))
    base.clock.time = one.clock.time
    await base.chain.exclusive(({ replace }) => replace(one.activeHeader(5).header.hash, blocks))
    expect(base.chain.tip.header.id).toBe(one.chain.tip.header.id)
    const all = [...(await blocksOf(one, 1, 5)), ...blocks]
    await two.chain.exclusive(({ replace }) => replace(two.chain.genesis.header.hash, all))
    expect(two.chain.tip.header.id).toBe(one.chain.tip.header.id)
    for (const test of [one, two, base]) await test.close()
  })

  it('is there where it is asked for, and nowhere else', async () => {
    const test = await TestChain.open(committing, { signatures })
    const refused = (plan: BlockPlan) =>
      expect(test.accept(craftBlock(test.chain, plan))).rejects.toMatchObject({ code: 'coinbase-commitment' })
    const { attributes } = coinbaseOf(test.chain)
    const [nonce, commitment] = attributes as [Attribute, Attribute]
    const early = { ...commitment, data: concat(commitment.data, Uint8Array.of(4), new Uint8Array(32)) }
    await refused({ coinbase: { attributes: [nonce, early] } })
    await test.mineEmpty(299)
    await refused({})
    const coinRoot = await coinRootOf(test.chain, 300)
    expect(await test.accept(craftBlock(test.chain, { coinRoot }))).toBe('connected')
    await test.close()
  })

  it('of another state is refused in a run too, with the blocks before it taken', async () => {
    const test = await busy(299)
    const wrong = craftBlock(test.chain, { coinRoot: new Uint8Array(32).fill(9) })
    const other = await TestChain.open(committing, { signatures })
    const run = [...(await blocksOf(test, 1, 299)), { block: wrong.bytes }]
    other.clock.time = test.clock.time
    const failure = await other.chain.acceptBlocks(run).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BlockRunError)
    expect((failure as BlockRunError).rule.code).toBe('coinbase-coin-root')
    expect(other.reader.height).toBe(299)
    await test.close()
    await other.close()
  })

  it('of a confirmed block that is not that of this node stops it: its coins are wrong, or the validators are', async () => {
    const overrides = { ...oneValidator(), producer: 'sponsor', coinInterval: 288 }
    const test = await TestChain.open(overrides, { signatures })
    await test.mineEmpty(287)
    const wrong = craftBlock(test.chain, { coinRoot: new Uint8Array(32) })
    const confirm = confirmBytes(craftConfirm(test.spec, wrong))
    const fatal = new Promise<Error>((resolve) => test.chain.events.once('fatal', resolve))
    await expect(test.chain.acceptBlock(wrong.bytes, confirm)).rejects.toThrow('another state of all coins')
    expect((await fatal).message).toContain('chain verify')
    await test.close()
  })

  it('is waited for by no one once the chain closes', async () => {
    const test = await busy(299)
    const { database, spec, genesis } = test.chain
    const roots = new CoinRoots({ database, spec, genesis: genesis.header.hash })
    const waiting = roots.of(test.activeHeader(12).header)
    await Promise.all([expect(waiting).rejects.toThrow('closed'), roots.close()])
    await expect(roots.of(test.activeHeader(12).header)).rejects.toThrow('closed')
    await test.close()
  })
})
