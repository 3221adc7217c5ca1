import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/crypto/inline.js'
import { SignatureCache } from '../../../src/crypto/signature-cache.js'
import type { Verifier } from '../../../src/crypto/verifier.js'
import type { Block } from '../../../src/primitives/block.js'
import { rangeOf, table } from '../../../src/storage/schema.js'
import type { DidOperation } from '../../../src/primitives/operation.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/blocks.js'
import { memoryStore, TestChain } from '../../support/chain.js'
import { holder, issueCredential } from '../../support/did.js'
import { testAddress } from '../../support/spec.js'
import { Crowd, dice } from '../chain/random.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? 1)

/** A verifier that can be stopped: checks wait until it goes on. */
class Gate implements Verifier {
  readonly #inline = createInlineVerifier()
  #open: Promise<void> = Promise.resolve()
  waiting = 0
  go: () => void = () => {}

  shut(): void {
    this.#open = new Promise((resolve) => (this.go = resolve))
  }

  async verifyAll(...checks: Parameters<Verifier['verifyAll']>): Promise<number> {
    if (checks[0].length === 0) return -1
    this.waiting++
    await this.#open
    this.waiting--
    return this.#inline.verifyAll(...checks)
  }

  close(): Promise<void> {
    return this.#inline.close()
  }
}

const rich = 1_000_000_000n

/** Two empty blocks beside the first one: they take its place. */
async function takeOver(test: TestChain): Promise<void> {
  const genesis = test.chain.headers.activeAt(0)
  const one = craftBlock(test.chain, { parent: genesis })
  await test.chain.acceptBlock(one.bytes)
  const two = craftBlock(test.chain, { parent: test.chain.headers.known(one.header.hash) })
  expect(await test.chain.acceptBlock(two.bytes)).toBe('connected')
}

describe('the pool after a change of the chain', () => {
  it('is evaluated again while the chain goes on, and holds what waits', async () => {
    const verifier = new Gate()
    // Nothing is remembered, so that every look needs the verifier.
    const test = await TestChain.open(undefined, { verifier, signatures: new SignatureCache(0) })
    const mined = await test.send(await test.transfer(testAddress(30), rich))
    await test.mine()
    const pooled = await test.send(await test.transfer(testAddress(31), rich))
    verifier.shut()
    await takeOver(test)
    // The writer takes blocks meanwhile, and so it does while a transaction waits for the pool.
    await test.chain.acceptBlock(craftBlock(test.chain).bytes)
    while (verifier.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    let accepted = false
    const other = await test.transfer(testAddress(32), rich, 11)
    const sent = test.send(other).then(() => (accepted = true))
    await test.chain.acceptBlock(craftBlock(test.chain).bytes)
    expect(test.chain.tip.header.height).toBe(4)
    expect(test.mempool.get(pooled.hash)?.transaction.txid).toBe(pooled.txid)
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([pooled.txid])
    // No template takes what was not evaluated on this branch.
    expect([...test.mempool.byFeeRate()]).toEqual([])
    expect(accepted).toBe(false)
    verifier.go()
    await sent
    const held = [...test.mempool.entries()].map(({ transaction }) => transaction.txid)
    expect(held).toEqual([mined.txid, pooled.txid, other.txid])
    const [block] = await test.mine()
    expect(
      block?.transactions
        .slice(1)
        .map(({ txid }) => txid)
        .sort(),
    ).toEqual([...held].sort())
    expect(test.log.errors).toEqual([])
    await test.close()
  })

  it('takes back what builds on a transaction that waits to be evaluated once more', async () => {
    const inline = createInlineVerifier()
    let held = ''
    let isHeld = false
    let go = () => {}
    const verifier: Verifier = {
      verifyAll: async (checks) => {
        if (held !== '' && checks.some(({ subject }) => subject.includes(held))) {
          isHeld = true
          await new Promise<void>((resolve) => (go = resolve))
        }
        return inline.verifyAll(checks)
      },
      close: () => inline.close(),
    }
    const test = await TestChain.open(undefined, { verifier, signatures: new SignatureCache(0) })
    const outputs = [40, 41].map((to) => ({ to, value: 10_000_000n }))
    const fan = await test.send(craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11]))
    await test.mine()
    const [issuer, subject] = [holder(), holder()]
    const created = await test.publish(issuer.create(), issuer.did)
    const fork = test.chain.tip
    const carry = (index: number, operation: DidOperation) =>
      craft(test.spec, [outputOf(fan, index)], [{ to: 30, value: 5_000_000n }], [40 + index], {
        payload: { type: 10, operation },
      })
    const credential = issueCredential(issuer.did, issuer.primary, subject.did, {}, '#primary')
    const create = await test.send(carry(0, subject.create({ credentials: [credential] })))
    await test.mine()
    const child = await test.send(craft(test.spec, [outputOf(create)], [{ to: 31, value: 4_000_000n }], [30]))
    await test.mine()
    held = child.txid
    // Three blocks in the place of two: both transactions come back, the create before the child of it.
    let parent = fork
    for (let i = 0; i < 3; i++) {
      const block = craftBlock(test.chain, { parent })
      await test.chain.acceptBlock(block.bytes)
      parent = test.chain.headers.known(block.header.hash)
    }
    while (!isHeld) await new Promise((resolve) => setImmediate(resolve))
    // The issuer changes while the child is verified, so that the create waits again.
    const update = carry(1, issuer.update(created))
    expect(await test.chain.acceptBlock(craftBlock(test.chain, { transactions: [update] }).bytes)).toBe('connected')
    held = ''
    go()
    await test.mempool.settled()
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([create.txid, child.txid])
    const rows = await test.database.rows(rangeOf(table.pool))
    expect(rows).toHaveLength(2)
    await test.mine()
    expect(test.mempool.size).toBe(0)
    await test.close()
  })

  it('loses nothing when it is stopped in the middle', async () => {
    const verifier = new Gate()
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store, verifier, signatures: new SignatureCache(0) })
    const sent = [await test.send(await test.transfer(testAddress(30), rich))]
    await test.mine()
    sent.push(await test.send(await test.transfer(testAddress(31), rich)))
    verifier.shut()
    await takeOver(test)
    while (verifier.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    const closed = test.mempool.close()
    verifier.go()
    await closed
    await test.close()
    const again = await TestChain.open(undefined, { store })
    expect([...again.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual(
      sent.map(({ txid }) => txid),
    )
  })

  it(
    `ends with what fits, however fast blocks and branches come (DIDLEDGER_SEED=${seed})`,
    { timeout: 300_000 },
    async () => {
      const signatures = new SignatureCache()
      for (let round = 0; round < 4; round++) {
        const roll = dice(seed * 100 + round)
        const store = memoryStore()
        const source = await TestChain.open(undefined, { store, signatures })
        const crowd = new Crowd(roll)
        const branches: Block[][] = []
        for (const length of [3, 4, 5]) {
          const one = await TestChain.open(undefined, { signatures })
          one.clock.time += 1000 * length
          while (one.reader.height < length) {
            for (let acts = roll(4); acts > 0; acts--) await crowd.act(one)
            await one.mine()
          }
          crowd.look(source)
          branches.push(
            await Promise.all(
              [...Array(length).keys()].map((at) => one.reader.block(one.chain.headers.activeAt(at + 1))),
            ),
          )
        }
        for (let acts = 0; acts < 5; acts++) await crowd.act(source)
        // None of it is waited for: changes come while the pool is at work.
        const coming: Promise<unknown>[] = []
        source.clock.time += 100_000
        for (const branch of branches) {
          for (const block of branch) {
            coming.push(source.chain.acceptBlock(block.bytes))
            if (roll(3) === 0) await new Promise((resolve) => setImmediate(resolve))
          }
          coming.push(crowd.act(source))
        }
        await Promise.all(coming)
        await source.mempool.settled()
        expect(source.chain.tip.header.height).toBe(5)
        const mined = branches.flat().flatMap(({ transactions }) => transactions.slice(1))
        for (const { hash, txid } of mined) {
          const place =
            source.reader.transaction(hash) ?? source.mempool.get(hash) ?? source.mempool.droppedReason(hash)
          expect(place, txid).toBeDefined()
        }
        const held = [...source.mempool.entries()].map(({ transaction }) => transaction.txid)
        expect(new Set(held).size).toBe(held.length)
        expect([...source.mempool.byFeeRate()].length).toBe(held.length)
        // Nothing waits any more, and a restart finds the same.
        await source.mempool.close()
        expect(await source.database.rows(rangeOf(table.leftBranch))).toEqual([])
        await source.close()
        const again = await TestChain.open(undefined, { store, signatures })
        expect([...again.mempool.entries()].map(({ transaction }) => transaction.txid).sort()).toEqual(held.sort())
        // All of it can be mined.
        const blocks = await again.mine(2)
        expect(again.mempool.size).toBe(0)
        expect(blocks.flatMap(({ transactions }) => transactions.slice(1)).length).toBe(held.length)
      }
    },
  )
})
