import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import type { Verifier } from '../../../src/base/crypto/verifier.js'
import { outpointKey } from '../../../src/base/primitives/input.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import type { PoolEntry } from '../../../src/ledger/mempool/pool-entry.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import {
  craft,
  craftBlock,
  type CraftedInput,
  type CraftedOutput,
  fieldsOf,
  genesisCoin,
  outputOf,
} from '../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { rounds } from '../../support/process/thorough.js'

const rich = 100_000_000_000n
const each = 1_000_000n
const priced = { ...withoutValidators, fees: { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' } }

/** A chain on which person 10 has so many coins of 0.01. */
async function withCoins(count: number, options: Parameters<typeof TestChain.open>[1] = {}) {
  const test = await TestChain.open(priced, options)
  const outputs = Array.from({ length: count }, () => ({ to: 10, value: each }))
  const split = craft(test.spec, [genesisCoin(test.chain)], outputs, [10])
  await test.accept(craftBlock(test.chain, { transactions: [split], fees: rich - BigInt(count) * each }))
  const coins = outputs.map((_, i) => outputOf(split, i))
  /** Spends coins of 0.01, or outputs of other transactions that have `value` together. */
  const pay = (inputs: readonly CraftedInput[], fee: bigint, options: { to?: number; value?: bigint } = {}) => {
    const { to = 10, value = each * BigInt(inputs.length) } = options
    return craft(test.spec, inputs, [{ to, value: value - fee }], [10])
  }
  return { test, coins, pay }
}

const idsOf = ({ mempool }: TestChain) => [...mempool.entries()].map(({ transaction }) => transaction.txid)

async function rowsOf({ database }: TestChain): Promise<string[]> {
  const rows = await database.rows(tables.pool.range())
  return rows.map(([, value]) => Transaction.fromBytes(tables.pool.decode(value).bytes).txid)
}

async function codeOf(sent: Promise<unknown>): Promise<string> {
  return sent.then(
    () => 'taken',
    (error: { code: string }) => error.code,
  )
}

describe('a transaction that spends what a waiting one spends', () => {
  it('takes its place for its fee, the price of the own size, and more for a byte', async () => {
    const { test, coins, pay } = await withCoins(2)
    const [coin] = coins as [CraftedInput, CraftedInput]
    const first = await test.send(pay([coin], 1000n))
    // The minimum of the chain is 100 sela up to 1,024 bytes.
    expect(await codeOf(test.send(pay([coin], 1099n, { to: 20 })))).toBe('pool-replacement-fee')
    const second = await test.send(pay([coin], 1100n, { to: 20 }))
    expect(idsOf(test)).toEqual([second.txid])
    expect(await rowsOf(test)).toEqual([second.txid])
    expect(test.mempool.droppedReason(first.hash)).toContain(second.txid)
    await expect(test.send(first)).rejects.toThrow('the fee is 1000 sela, and 1200 are needed to replace')
    await test.mine()
    expect(test.reader.transaction(second.hash)?.height).toBe(2)
  })

  it('takes the place of none where it asks for that, and of what it leaves alone no coin', async () => {
    const { test, coins, pay } = await withCoins(2)
    const [coin, other] = coins as [CraftedInput, CraftedInput]
    const first = await test.send(pay([coin], 1000n))
    const second = pay([coin], 100_000n, { to: 20 })
    const send = (transaction: Transaction) => test.mempool.accept(transaction.bytes, { local: true, replace: false })
    const failed = send(second)
    expect(await codeOf(failed)).toBe('tx-double-spend')
    await expect(failed).rejects.toThrow(`is spent by ${first.txid}, which is in the pool`)
    expect(idsOf(test)).toEqual([first.txid])
    const third = await send(pay([other], 1000n))
    expect(idsOf(test)).toEqual([first.txid, third.txid])
    await test.send(second)
    expect(idsOf(test)).toEqual([third.txid, second.txid])
  })

  it('pays more for a byte than each, also where its fee is far above theirs', async () => {
    const { test, coins, pay } = await withCoins(5)
    const first = await test.send(pay(coins.slice(0, 1), 10_000n))
    const wide = (fee: bigint) => pay(coins, fee, { to: 20 })
    const least = (10_000n * BigInt(wide(0n).bytes.length)) / BigInt(first.bytes.length) + 1n
    expect(least).toBeGreaterThan(10_100n)
    expect(await codeOf(test.send(wide(least - 1n)))).toBe('pool-replacement-fee')
    const second = await test.send(wide(least))
    expect(idsOf(test)).toEqual([second.txid])
  })

  it('is measured with the unconfirmed ancestors that pay less than what it replaces', async () => {
    const { test, coins, pay } = await withCoins(3)
    const [a, b] = coins as [CraftedInput, CraftedInput, CraftedInput]
    const first = await test.send(pay([a], 5000n))
    const poor = await test.send(pay([b], 100n))
    const value = 2n * each - 100n
    const onPoor = (fee: bigint) => pay([a, outputOf(poor)], fee, { value })
    const { length } = onPoor(0n).bytes
    const bytes = BigInt(length + poor.bytes.length)
    const least = (5000n * bytes) / BigInt(first.bytes.length) + 1n - 100n
    expect(await codeOf(test.send(onPoor(least - 1n)))).toBe('pool-replacement-fee')
    await test.send(onPoor(least))
    expect(test.mempool.get(first.hash)).toBeUndefined()
  })

  it('borrows nothing from ancestors that pay more', async () => {
    const { test, coins, pay } = await withCoins(2)
    const [a, b] = coins as [CraftedInput, CraftedInput]
    await test.send(pay([a], 5000n))
    const dear = await test.send(pay([b], 500_000n))
    const onDear = pay([a, outputOf(dear)], 5100n, { value: 2n * each - 500_000n })
    expect(await codeOf(test.send(onDear))).toBe('pool-replacement-fee')
  })

  it('borrows nothing from a parent that pays more where another one pays less', async () => {
    const { test, coins, pay } = await withCoins(3)
    const [a, b, c] = coins as [CraftedInput, CraftedInput, CraftedInput]
    await test.send(pay([a], 5000n))
    const dear = await test.send(pay([b], 500_000n))
    const poor = await test.send(pay([c], 100n))
    const value = 3n * each - 500_100n
    // More for a byte than the one it replaces, but not with the parent that a block has to take along.
    expect(await codeOf(test.send(pay([a, outputOf(dear), outputOf(poor)], 9000n, { value })))).toBe(
      'pool-replacement-fee',
    )
    expect(await codeOf(test.send(pay([a, outputOf(dear), outputOf(poor)], 20_000n, { value })))).toBe('taken')
  })

  it('pays more for a byte than a child alone, where it leaves its poor parent behind', async () => {
    const { test, coins, pay } = await withCoins(2)
    const [a, b] = coins as [CraftedInput, CraftedInput]
    const poor = await test.send(pay([a], 100n))
    const child = await test.send(pay([b, outputOf(poor)], 5000n, { value: 2n * each - 100n }))
    // Several outputs make it larger than what it replaces.
    const instead = (fee: bigint) => {
      const more = Array.from({ length: 3 }, () => ({ to: 20, value: 1n }))
      return craft(test.spec, [b], [{ to: 20, value: each - fee - 3n }, ...more], [10])
    }
    const { length } = instead(0n).bytes
    expect(length).toBeGreaterThan(child.bytes.length)
    const least = (5000n * BigInt(length)) / BigInt(child.bytes.length) + 1n
    expect(least).toBeGreaterThan(5100n)
    expect(await codeOf(test.send(instead(least - 1n)))).toBe('pool-replacement-fee')
    await test.send(instead(least))
    expect(test.mempool.get(child.hash)).toBeUndefined()
  })

  it('pays what a full pool asks for its size beside the fee that it replaces', async () => {
    const [first, cheap] = await withCoins(2).then(({ coins, pay }) => [
      pay(coins.slice(0, 1), 50_000n),
      pay(coins.slice(1), 10_000n),
    ])
    const { length } = (first as Transaction).bytes
    const { test, coins, pay } = await withCoins(2, { limits: { poolSize: 2 * length - 1 } })
    await test.send(first as Transaction)
    expect(await codeOf(test.send(cheap as Transaction))).toBe('pool-full')
    const price = (BigInt(test.mempool.floor) * BigInt(length) + 999n) / 1000n
    expect(price).toBeGreaterThan(10_000n)
    const instead = (fee: bigint) => pay(coins.slice(0, 1), fee, { to: 20 })
    expect(await codeOf(test.send(instead(50_000n + price - 1n)))).toBe('pool-replacement-fee')
    await test.send(instead(50_000n + price))
  })

  it('is measured anew in the turn in which it is added', async () => {
    const inline = createInlineVerifier()
    const held: (() => void)[] = []
    let isHeld = false
    const verifier: Verifier = {
      ...inline,
      verifyAll: async (checks) => {
        if (isHeld) await new Promise<void>((go) => held.push(go))
        return inline.verifyAll(checks)
      },
    }
    const { test, coins, pay } = await withCoins(1, { verifier })
    await test.send(pay(coins, 1000n))
    isHeld = true
    const rivals = [1500n, 1550n].map((fee) => codeOf(test.send(pay(coins, fee, { to: 20 }))))
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve))
    isHeld = false
    for (const go of held) go()
    // Each pays enough for the first one, and neither enough for the other; which one is added first is chance.
    expect((await Promise.all(rivals)).sort()).toEqual(['pool-replacement-fee', 'taken'])
  })

  it('needs to pay no more for the parent of a child that it replaces', async () => {
    const { test, coins, pay } = await withCoins(1)
    const poor = await test.send(pay(coins, 100n))
    const child = (fee: bigint) => pay([outputOf(poor)], fee, { value: each - 100n })
    await test.send(child(50_000n))
    const bumped = await test.send(child(50_100n))
    expect(idsOf(test)).toEqual([poor.txid, bumped.txid])
  })

  it('is refused while others build upon that one, and taken when they have left', async () => {
    const { test, coins, pay } = await withCoins(1)
    const first = await test.send(pay(coins, 1000n))
    const child = await test.send(pay([outputOf(first)], 1000n, { value: each - 1000n }))
    const instead = pay(coins, 500_000n, { to: 20 })
    await expect(test.send(instead)).rejects.toMatchObject({
      code: 'pool-replacement-built-upon',
      message: expect.stringContaining(first.txid) as string,
    })
    expect(idsOf(test)).toEqual([first.txid, child.txid])
    await test.mempool.remove([child.hash], 'a test')
    await test.send(instead)
    expect(idsOf(test)).toEqual([instead.txid])
  })

  it('replaces several at once, all or none of them', async () => {
    const { test, coins, pay } = await withCoins(3)
    const waiting = []
    for (const coin of coins) waiting.push(await test.send(pay([coin], 1000n)))
    expect(await codeOf(test.send(pay(coins, 3099n, { to: 20 })))).toBe('pool-replacement-fee')
    const forged = pay(coins, 9000n, { to: 20 })
    const [program] = forged.programs
    const programs = [{ ...program, parameter: Buffer.concat([Buffer.of(64), Buffer.alloc(64, 1)]) }]
    expect(await codeOf(test.send(new Transaction({ ...fieldsOf(forged), programs } as never)))).toBe('tx-signature')
    expect(idsOf(test)).toEqual(waiting.map(({ txid }) => txid))
    const all = await test.send(pay(coins, 3100n, { to: 20 }))
    expect(idsOf(test)).toEqual([all.txid])
    expect(await rowsOf(test)).toEqual([all.txid])
  })

  it('may not spend outputs of what it replaces', async () => {
    const { test, coins, pay } = await withCoins(1)
    const first = await test.send(pay(coins, 1000n))
    const both = pay([...coins, outputOf(first)], 9000n, { value: 2n * each - 1000n })
    expect(await codeOf(test.send(both))).toBe('tx-double-spend')
    expect(idsOf(test)).toEqual([first.txid])
  })

  it('is refused before its signatures are verified', async () => {
    let verified = 0
    const inline = createInlineVerifier()
    const verifier: Verifier = {
      ...inline,
      verifyAll: (checks) => {
        verified += checks.length
        return inline.verifyAll(checks)
      },
    }
    const { test, coins, pay } = await withCoins(3, { verifier, limits: { replacements: 1 } })
    const [a, b, c] = coins as [CraftedInput, CraftedInput, CraftedInput]
    const first = await test.send(pay([a], 1000n))
    await test.send(pay([b], 1000n))
    await test.send(pay([outputOf(first)], 1000n, { value: each - 1000n }))
    const before = verified
    expect(before).toBeGreaterThan(0)
    expect(await codeOf(test.send(pay([b], 1001n, { to: 20 })))).toBe('pool-replacement-fee')
    expect(await codeOf(test.send(pay([a], 90_000n, { to: 20 })))).toBe('pool-replacement-built-upon')
    expect(await codeOf(test.send(pay([a, b, c], 90_000n, { to: 20 })))).toBe('pool-replacements')
    expect(verified).toBe(before)
  })

  it('is refused in a full pool where it is larger than what it replaces, which stays', async () => {
    const { test, coins, pay } = await withCoins(3)
    const [a, b, c] = coins as [CraftedInput, CraftedInput, CraftedInput]
    const first = await test.send(pay([a], 1000n))
    const other = await test.send(pay([b], 90_000n))
    const full = await withCoins(3, { limits: { poolSize: first.bytes.length + other.bytes.length } })
    for (const one of [first, other]) await full.test.send(one)
    expect(await codeOf(full.test.send(pay([a, c], 50_000n, { to: 20 })))).toBe('pool-full')
    expect(idsOf(full.test)).toEqual([first.txid, other.txid])
    const second = await full.test.send(pay([a], 1100n, { to: 20 }))
    expect(idsOf(full.test)).toEqual([other.txid, second.txid])
  })

  it('has one event, which names what it replaced', async () => {
    const { test, coins, pay } = await withCoins(2)
    const log = await EventLog.open(test)
    const [a, b] = coins as [CraftedInput, CraftedInput]
    const first = await test.send(pay([a], 1000n))
    const other = await test.send(pay([b], 1000n))
    const both = await test.send(pay([a, b], 9000n, { to: 20 }))
    const events = [1, 2, 3].map((n) => log.at(log.start + n).data)
    expect(log.last).toBe(log.start + 3)
    expect(events.map((event) => 'txid' in event && event.txid)).toEqual([first.txid, other.txid, both.txid])
    expect(events.map((event) => ('replaces' in event ? event.replaces : undefined))).toEqual([
      undefined,
      undefined,
      [first.txid, other.txid],
    ])
  })

  it('is what a restart finds', async () => {
    const store = memoryStore()
    const { test, coins, pay } = await withCoins(1, { store })
    const first = await test.send(pay(coins, 1000n))
    const second = await test.send(pay(coins, 2000n, { to: 20 }))
    await test.close()
    const again = await TestChain.open(priced, { store })
    expect(idsOf(again)).toEqual([second.txid])
    expect(again.mempool.droppedReason(first.hash)).toContain(second.txid)
    expect(await codeOf(again.send(first))).toBe('pool-replacement-fee')
    await again.close()
  })

  it('gives way to what it replaced where a block has that', async () => {
    const { test, coins, pay } = await withCoins(1)
    const first = await test.send(pay(coins, 1000n))
    const second = await test.send(pay(coins, 2000n, { to: 20 }))
    await test.accept(craftBlock(test.chain, { transactions: [first], fees: 1000n }))
    expect(idsOf(test)).toEqual([])
    expect(await rowsOf(test)).toEqual([])
    expect(test.mempool.droppedReason(second.hash)).toContain(`spent by ${first.txid}`)
  })

  it('replaces what came back from a block that was left, which itself replaces nothing', async () => {
    const { test, coins, pay } = await withCoins(1)
    const mined = await test.send(pay(coins, 1000n))
    const [block] = await test.mine()
    const parent = test.knownHeader(block?.header.previous as never)
    const rival = craftBlock(test.chain, { parent })
    await test.accept(rival)
    await test.accept(craftBlock(test.chain, { parent: test.knownHeader(rival.header.hash) }))
    await test.mempool.settled()
    expect(idsOf(test)).toEqual([mined.txid])
    const second = await test.send(pay(coins, 1100n, { to: 20 }))
    expect(idsOf(test)).toEqual([second.txid])
    expect(await rowsOf(test)).toEqual([second.txid])
  })
})

describe('an operation that waits', () => {
  it('is replaced by the same one with a higher fee, or by a payment', async () => {
    const { test, coins } = await withCoins(1)
    const ada = holder()
    const carry = (fee: bigint, name: string) =>
      craft(test.spec, coins, [{ to: 10, value: each - fee }], [10], {
        payload: { type: 10, operation: ada.create() },
        attributes: [{ usage: 0x90, data: Buffer.from(name) }],
      })
    await test.send(carry(10_000n, 'first'))
    const second = await test.send(carry(20_000n, 'second'))
    expect(test.mempool.get(second.hash)?.did?.id).toBe(ada.did)
    const payment = await test.send(craft(test.spec, coins, [{ to: 10, value: each - 40_000n }], [10]))
    expect(idsOf(test)).toEqual([payment.txid])
    await test.mine()
    expect(test.chain.state.did(ada.did)).toBeUndefined()
  })

  it('that ends its DID takes updates along for nothing, and outbids a payment of the same coin', async () => {
    const { test, coins } = await withCoins(3)
    const ada = holder()
    const [a, b, c] = coins as [CraftedInput, CraftedInput, CraftedInput]
    const carry = (coin: CraftedInput, operation: ReturnType<typeof ada.create>, fee: bigint) =>
      craft(test.spec, [coin], [{ to: 10, value: each - fee }], [10], { payload: { type: 10, operation } })
    const created = await test.send(carry(a, ada.create(), 10_000n))
    await test.mine()
    const updated = await test.send(carry(b, ada.update(created.txid), 400_000n))
    const paid = await test.send(craft(test.spec, [c], [{ to: 20, value: each - 1000n }], [10]))
    expect(await codeOf(test.send(carry(c, ada.deactivate(), 1099n)))).toBe('pool-replacement-fee')
    expect(idsOf(test)).toEqual([updated.txid, paid.txid])
    const ended = await test.send(carry(c, ada.deactivate(), 10_000n))
    expect(idsOf(test)).toEqual([ended.txid])
    expect(test.mempool.droppedReason(updated.hash)).toBe(`${ended.txid} deactivates the DID`)
    expect(test.mempool.droppedReason(paid.hash)).toContain(`replaced by ${ended.txid}`)
    expect(await rowsOf(test)).toEqual([ended.txid])
  })

  it('is no ancestor of the one that replaces it, beside a payment that pays more', async () => {
    const { test, coins } = await withCoins(3)
    const ada = holder()
    const [a, b, c] = coins as [CraftedInput, CraftedInput, CraftedInput]
    const carry = (spent: readonly CraftedInput[], previous: string, fee: bigint) => {
      const value = each * BigInt(spent.length) - fee
      return craft(test.spec, spent, [{ to: 10, value }], [10], {
        payload: { type: 10, operation: ada.update(previous) },
      })
    }
    const create = { payload: { type: 10 as const, operation: ada.create() } }
    const created = await test.send(craft(test.spec, [a], [{ to: 10, value: each - 10_000n }], [10], create))
    await test.mine()
    const updated = await test.send(carry([b], created.txid, 10_000n))
    const paid = await test.send(craft(test.spec, [c], [{ to: 20, value: each - 40_000n }], [10]))
    const bytes = BigInt(carry([b, c], created.txid, 0n).bytes.length)
    const least = (40_000n * bytes) / BigInt(paid.bytes.length) + 1n
    expect(least).toBeGreaterThan(60_000n)
    expect(await codeOf(test.send(carry([b, c], created.txid, least - 1n)))).toBe('pool-replacement-fee')
    await test.send(carry([b, c], created.txid, least))
    expect(test.mempool.get(updated.hash)).toBeUndefined()
    expect(test.mempool.size).toBe(1)
  })

  it('is not replaced while another operation of its DID follows it', async () => {
    const { test, coins } = await withCoins(3)
    const ada = holder()
    const [a, b] = coins as [CraftedInput, CraftedInput]
    const carry = (coin: CraftedInput, operation: ReturnType<typeof ada.create>, fee: bigint) =>
      craft(test.spec, [coin], [{ to: 10, value: each - fee }], [10], { payload: { type: 10, operation } })
    const created = await test.send(carry(a, ada.create(), 10_000n))
    const updated = await test.send(carry(b, ada.update(created.txid), 10_000n))
    const instead = (coin: CraftedInput) => craft(test.spec, [coin], [{ to: 20, value: each - 90_000n }], [10])
    expect(await codeOf(test.send(instead(a)))).toBe('pool-replacement-built-upon')
    expect(idsOf(test)).toEqual([created.txid, updated.txid])
    const last = await test.send(carry(b, ada.update(created.txid), 20_000n))
    expect(idsOf(test)).toEqual([created.txid, last.txid])
    const payment = await test.send(instead(b))
    expect(idsOf(test)).toEqual([created.txid, payment.txid])
    await test.mine()
    expect(test.chain.state.did(ada.did)?.lastTxid).toBe(created.txid)
  })
})

/** Payments of coins and of outputs of earlier ones, with any fee. */
const step = fc.record({
  coins: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
  parents: fc.uniqueArray(fc.nat(11), { maxLength: 2 }),
  fee: fc.integer({ min: 100, max: 20_000 }),
  outputs: fc.integer({ min: 1, max: 4 }),
})

/** Sela that the best bytes pay, up to each number of them at which an entry ends. */
function bestOf(entries: readonly PoolEntry[]): (bytes: number) => number {
  const rate = ({ fee, transaction }: PoolEntry) => Number(fee) / transaction.bytes.length
  const sorted = [...entries].sort((a, b) => rate(b) - rate(a))
  return (bytes) => {
    let left = bytes
    let sum = 0
    for (const entry of sorted) {
      const taken = Math.min(left, entry.transaction.bytes.length)
      sum += taken * rate(entry)
      left -= taken
    }
    return sum
  }
}

describe('a pool in which transactions replace others', () => {
  it('keeps its invariants, and never pays less', async () => {
    const { test, coins } = await withCoins(6)
    let replacements = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 20 }), async (steps) => {
        const made: Transaction[] = []
        for (const { coins: spent, parents, fee, outputs } of steps) {
          const built = parents.flatMap((at) => made[at] ?? [])
          const inputs = [...spent.map((at) => coins[at] as CraftedInput), ...built.map((one) => outputOf(one))]
          if (inputs.length === 0) continue
          const value =
            BigInt(spent.length) * each + built.reduce((sum, one) => sum + (one.outputs[0]?.value as bigint), 0n)
          const paid: CraftedOutput[] = [
            { to: 10, value: value - BigInt(fee) },
            ...Array.from({ length: outputs - 1 }, () => ({ to: 20, value: 0n })),
          ]
          if (value <= BigInt(fee)) continue
          const one = craft(test.spec, inputs, paid, [10])
          made.push(one)
          const before = [...test.mempool.entries()]
          const code = await codeOf(test.send(one))
          const after = [...test.mempool.entries()]
          requireInvariants(test, after)
          if (code !== 'taken') {
            expect(after).toEqual(before)
            continue
          }
          const gone = before.filter((entry) => !after.includes(entry))
          const entry = test.mempool.get(one.hash) as PoolEntry
          replacements += gone.length
          expect(gone.length).toBeLessThanOrEqual(test.mempool.limits.replacements)
          for (const { fee: paidBefore, transaction } of gone) {
            expect(entry.fee * BigInt(transaction.bytes.length)).toBeGreaterThan(
              paidBefore * BigInt(entry.transaction.bytes.length),
            )
          }
          const fees = (entries: readonly PoolEntry[]) => entries.reduce((sum, { fee }) => sum + fee, 0n)
          expect(fees(after)).toBeGreaterThan(fees(before))
          const [was, is] = [bestOf(before), bestOf(after)]
          for (let bytes = 0; bytes < 6000; bytes += 50) expect(is(bytes)).toBeGreaterThanOrEqual(was(bytes) - 1e-6)
        }
        await test.mempool.remove(
          [...test.mempool.entries()].map(({ transaction }) => transaction.hash),
          'the next run',
        )
        expect(test.mempool.size).toBe(0)
      }),
      { numRuns: rounds(30, 400) },
    )
    expect(replacements).toBeGreaterThan(3)
  })
})

/** No two entries spend one outpoint, and all that an entry spends is in the pool or on the chain. */
function requireInvariants({ mempool, chain }: TestChain, entries: readonly PoolEntry[]): void {
  const spent = entries.flatMap(({ transaction }) => transaction.inputs.map(outpointKey))
  expect(new Set(spent).size).toBe(spent.length)
  for (const { transaction } of entries) {
    for (const input of transaction.inputs) {
      expect(mempool.get(input.txid)?.transaction.outputs[input.index] ?? chain.state.coin(input)).toBeDefined()
      expect(mempool.spender(input)?.transaction).toBe(transaction)
    }
  }
}
