import { BlockBudget } from '../../src/ledger/consensus/block-budget.js'
import { FeeFloor } from '../../src/ledger/mempool/fee-floor.js'
import { PoolGraph } from '../../src/ledger/mempool/graph.js'
import { Orphans } from '../../src/ledger/mempool/orphans.js'
import { policy } from '../../src/ledger/mempool/policy.js'
import type { PoolEntry } from '../../src/ledger/mempool/pool-entry.js'
import { Room } from '../../src/ledger/mempool/room.js'
import { sha256, zeroHash } from '../../src/base/primitives/hash.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../support/builders/chain.js'
import { holder } from '../support/builders/did.js'
import { bareEntry, sizedTransaction } from '../support/builders/pool-entries.js'
import type { SpecOverrides } from '../support/builders/spec.js'
import { type Build, record, sideChainPow } from '../rules/transaction.js'
import { each, limit, many, onlyFor } from './limit.js'

const rich = 100_000_000_000n
const smallBlocks: SpecOverrides = {
  limits: { blockSize: 10_000, blockTransactions: 10_000, transactionCost: 2_000, blockCost: 40_000 },
}

/** Hands a transaction to the pool of a new chain. */
async function send(build: Build, overrides: SpecOverrides = {}): Promise<void> {
  const test = await TestChain.open({ ...withoutValidators, ...overrides })
  try {
    await test.send(await build(test))
  } finally {
    await test.close()
  }
}

/** A transaction that spends so many coins which nobody has, with the same program so many times. */
const spending = (coins: number, signers: number): Build => {
  return ({ spec }) => {
    const inputs = each(coins, (i) => ({ txid: sha256(`coin ${i}`), index: 0 }))
    const [program] = craft(spec, inputs, [{ to: 30, value: 1n }], [10]).programs
    return craft(spec, inputs, [{ to: 30, value: 1n }], [], { programs: program ? many(signers, program) : [] })
  }
}

/** A transaction on top of so many that are unconfirmed. */
const chained = (length: number): Build => {
  return async (test) => {
    let value = rich - 1000n
    let last = craft(test.spec, [genesisCoin(test.chain)], [{ to: 10, value }], [10])
    for (let i = 0; i < length; i++) {
      await test.send(last)
      value -= 1000n
      last = craft(test.spec, [outputOf(last)], [{ to: 10, value }], [10])
    }
    return last
  }
}

/** The last of so many operations of a DID, the others of which wait. */
const operations = (count: number): Build => {
  return async (test) => {
    const ada = holder()
    let last = await test.carry(ada.create(), ada.did)
    for (let i = 1; i < count; i++) {
      const { txid } = await test.send(last)
      last = await test.carry(ada.update(txid), ada.did)
    }
    return last
  }
}

/** A payment that spends what so many waiting ones spend. */
const insteadOf = (count: number): Build => {
  return async (test) => {
    const value = rich / 100n
    const coins = craft(test.spec, [genesisCoin(test.chain)], many(count, { to: 10, value }), [10])
    await test.accept(craftBlock(test.chain, { transactions: [coins], fees: rich - BigInt(count) * value }))
    const inputs = each(count, (i) => outputOf(coins, i))
    for (const input of inputs) await test.send(craft(test.spec, [input], [{ to: 20, value: value - 1000n }], [10]))
    return craft(test.spec, inputs, [{ to: 20, value }], [10])
  }
}

/** A side-chain proof of work in a transaction of so many bytes, which attributes fill. */
const proof = (size: number): Build => {
  return async (test) => {
    const { payload } = await sideChainPow()(test)
    const filled = (bytes: number) => {
      const attributes = [1024, 1024, 1024, bytes].map((length) => ({ usage: 0x90, data: new Uint8Array(length) }))
      return craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: 1_000_000n }], [10], { payload, attributes })
    }
    // Lengths from 253 on take three bytes.
    return filled(size - filled(300).bytes.length + 300)
  }
}

/** Keeps orphans, given by size and sender; a refusal where the first or the last is not held. */
function orphans(all: readonly { size?: number; sender: number }[]): string | undefined {
  const held = new Orphans({ now: () => 1_000_000 })
  const made = all.map(({ size = 200 }, i) => sizedTransaction(i, size))
  made.forEach((one, i) => held.add(one, all[i]?.sender ?? 0, [zeroHash]))
  return made.every(({ digest }) => held.has(digest)) ? undefined : 'an orphan is not kept'
}

/** Fills the pool with transactions of these sizes. */
async function filling(sizes: readonly number[]): Promise<string | undefined> {
  const graph = new PoolGraph()
  let left: string | undefined
  const floor = new FeeFloor({ now: () => 1_000_000 }, policy, () => graph.bytes)
  const drop = (entry: PoolEntry) => {
    left = 'the one that is worth least has left'
    graph.remove(entry)
  }
  const room = new Room({ limits: policy, floor, graph: () => graph, drop })
  sizes.forEach((size, i) => graph.add(bareEntry(i, [], BigInt(1000 + i), size)))
  await room.make()
  return left
}

export const poolLimits = [
  limit({
    name: 'ledger/mempool/orphans.orphanLimits.count',
    unit: 'count',
    value: 100,
    feed: (n) => orphans(each(n, (i) => ({ sender: i }))),
    refusal: 'an orphan is not kept',
  }),
  limit({
    name: 'ledger/mempool/orphans.orphanLimits.bytes',
    unit: 'bytes',
    value: 5_000_000,
    feed: (n) => orphans(each(10, (i) => ({ sender: i, size: i < 9 ? 500_000 : n - 4_500_000 }))),
    refusal: 'an orphan is not kept',
  }),
  limit({
    name: 'ledger/mempool/orphans.orphanLimits.ofSender',
    unit: 'count',
    value: 25,
    feed: (n) => orphans(each(n, () => ({ sender: 1 }))),
    refusal: 'an orphan is not kept',
  }),
  limit({
    name: 'ledger/mempool/orphans.orphanLimits.size',
    unit: 'bytes',
    value: 1_000_000,
    feed: (n) => orphans([{ sender: 1, size: n }]),
    refusal: 'an orphan is not kept',
  }),
  limit({
    name: 'ledger/mempool/orphans.orphanLimits.parents',
    unit: 'count',
    value: 64,
    feed: (n) => {
      const kept = new Orphans({ now: () => 1_000_000 }).add(
        sizedTransaction(1, 200),
        1,
        each(n, (i) => sha256(`parent ${i}`)),
      )
      return kept ? undefined : 'an orphan is not kept'
    },
    refusal: 'an orphan is not kept',
  }),
  limit({
    name: 'ledger/mempool/orphans.orphanLimits.age',
    unit: 'ms',
    value: 10 * 60 * 1000,
    // Kept in the last of so many milliseconds.
    feed: (n) => {
      const clock = { time: 1_000_000, now: () => clock.time }
      const held = new Orphans(clock)
      held.add(sizedTransaction(1, 200), 1, [zeroHash])
      clock.time += n - 1
      return held.takeAll().length === 1 ? undefined : 'an orphan is not kept'
    },
    refusal: 'an orphan is not kept',
  }),
  limit({
    name: 'base/primitives/transaction-bounds.transactionBounds.size',
    unit: 'bytes',
    value: 200_000,
    feed: (n) => send(record(n)),
    refusal: 'pool-size',
  }),
  limit({
    name: 'ledger/mempool/types/side-chain-policy.proofSize',
    unit: 'bytes',
    value: 4096,
    feed: (n) => send(proof(n), { ...oneValidator(), producer: 'sponsor', devnet: true }),
    refusal: 'pool-side-chain',
  }),
  limit({
    name: 'base/primitives/transaction-bounds.transactionBounds.inputs',
    unit: 'count',
    value: 1_000,
    feed: onlyFor(/^pool-inputs/, (n) => send(spending(n, 1))),
    refusal: 'pool-inputs',
  }),
  limit({
    name: 'base/primitives/transaction-bounds.transactionBounds.signatureCost',
    unit: 'count',
    value: 300,
    feed: onlyFor(/^pool-signature-cost/, (n) => send(spending(1, n))),
    refusal: 'pool-signature-cost',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.coinbaseRoom',
    unit: 'bytes',
    value: 1_000,
    // A transaction that leaves less room than that in a block.
    beyond: 999,
    feed: (n) => send(record(10_000 - 84 - 4 - n), smallBlocks),
    refusal: 'pool-size',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.ancestors',
    unit: 'count',
    value: 25,
    feed: (n) => send(chained(n)),
    refusal: 'pool-ancestors',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.didOperations',
    unit: 'count',
    value: 8,
    feed: (n) => send(operations(n)),
    refusal: 'pool-did-pending',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.replacements',
    unit: 'count',
    value: 16,
    feed: (n) => send(insteadOf(n)),
    refusal: 'pool-replacements',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.documentShare',
    unit: 'part',
    value: 0.0625,
    // One byte more of 16 MiB.
    beyond: 0.0625 + 2 ** -24,
    feed: (n) => {
      const documents = [0, 1].map((i) => ({ txid: `${i}`, payloadSize: n * 2 ** 23, issuer: true }))
      new BlockBudget({ blockCost: 1 }, policy.documentShare).require(documents)
    },
    refusal: 'block-issuer-documents: more than 62.5 of issuers or 1048576 bytes',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.poolSize',
    unit: 'bytes',
    value: 20_000_000,
    feed: (n) => filling([...each(99, () => 200_000), n - 99 * 200_000]),
    refusal: 'the one that is worth least has left',
  }),
  limit({
    name: 'ledger/mempool/policy.policy.expiry',
    unit: 'ms',
    value: 72 * 60 * 60 * 1000,
    // Kept up to so many milliseconds.
    feed: async (n) => {
      const test = await TestChain.open()
      try {
        const { txid } = await test.send(await record(300)(test))
        test.clock.time += n
        await test.mempool.expire()
        return [...test.mempool.entries()].some(({ transaction }) => transaction.txid === txid)
          ? undefined
          : 'the transaction has left'
      } finally {
        await test.close()
      }
    },
    refusal: 'the transaction has left',
  }),
]
