import { describe, expect, it } from 'vitest'
import { LeftBranches } from '../../../../src/ledger/chain/left-branches.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../../../src/base/crypto/verifier.js'
import type { PoolEntry } from '../../../../src/ledger/mempool/pool-entry.js'
import type { PoolLimits } from '../../../../src/ledger/mempool/policy.js'
import { Reevaluation, type ReevaluationOptions } from '../../../../src/ledger/mempool/reevaluation.js'
import { PoolStore } from '../../../../src/ledger/mempool/store.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { sideChainPow } from '../../../rules/transaction.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../../support/builders/blocks.js'
import { memoryStore, TestChain } from '../../../support/builders/chain.js'
import { holder, issueCredential } from '../../../support/builders/did.js'
import { testAddress } from '../../../support/builders/spec.js'
import { Crowd, random } from '../../../support/builders/random-chain.js'

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

/** A pool with a declare of a credential of an issuer, and what makes it wait. */
async function declared(limits?: Partial<PoolLimits>) {
  const inline = createInlineVerifier()
  let held = ''
  let open: Promise<void> = Promise.resolve()
  let begin = () => {}
  const verifier: Verifier = {
    verifyAll: async (checks) => {
      if (held !== '' && checks.some(({ subject }) => subject.includes(held))) {
        begin()
        await open
      }
      return inline.verifyAll(checks)
    },
    close: () => inline.close(),
  }
  const options = limits === undefined ? {} : { limits }
  const test = await TestChain.open(undefined, { verifier, signatures: new SignatureCache(0), ...options })
  const outputs = Array.from({ length: 12 }, (_, i) => ({ to: 40 + i, value: 10_000_000n }))
  const fan = craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11])
  await test.accept(craftBlock(test.chain, { transactions: [fan] }))
  const [issuer, subject] = [holder(), holder()]
  const pay = (index: number, to: number) =>
    craft(test.spec, [outputOf(fan, index)], [{ to, value: 5_000_000n }], [40 + index])
  const carry = (index: number, operation: DidOperation) =>
    craft(test.spec, [outputOf(fan, index)], [{ to: 30, value: 5_000_000n }], [40 + index], {
      payload: { type: 10, operation },
    })
  const connect = async (transaction: Transaction) => {
    expect(await test.chain.acceptBlock(craftBlock(test.chain, { transactions: [transaction] }).bytes)).toBe(
      'connected',
    )
    return transaction.txid
  }
  await connect(carry(0, issuer.create()))
  let last = await connect(carry(10, subject.create()))
  await test.mempool.settled()
  const issue = (did: string) => issueCredential(issuer.did, issuer.primary, did, {}, '#primary')
  const coin = 1
  const declare = await test.send(carry(coin, subject.declare(issue(subject.did))))
  let paid = 8
  return {
    test,
    pay,
    carry,
    waiting: { declare, coin, subject, issue },
    /** Mines an update of the DID that declares, without waiting for the pool to be evaluated again. */
    ownerChanges: async () => (last = await connect(carry(paid++, subject.update(last)))),
    /** Has the verifier keep a transaction. */
    hold: ({ txid }: Transaction) => {
      let go = () => {}
      const begun = new Promise<void>((resolve) => (begin = resolve))
      open = new Promise((resolve) => (go = resolve))
      held = txid
      return { begun, go: () => go() }
    },
  }
}

/** All is admitted, and nothing is pooled. */
function bareOptions({ chain, database, log }: TestChain): ReevaluationOptions {
  return {
    left: new LeftBranches(chain),
    store: new PoolStore(database, 10, () => chain.tip.header),
    log,
    pooled: () => false,
    admit: () => Promise.resolve(),
    forget: () => {},
    makeRoom: () => Promise.resolve(),
    evaluated: () => {},
    now: () => 0,
  }
}

describe('what waits to be evaluated again', () => {
  it('is touched by what may depend on it, and by nothing else', async () => {
    const { test, pay, carry, waiting } = await declared()
    const proof = (height: number, sideChain: number, output: 0 | 1) =>
      sideChainPow({ blockHeight: height, sideBlock: height, sideChain, output })(test)
    const reevaluation = new Reevaluation(bareOptions(test))
    const arrival = 0
    const add = (transaction: Transaction, entry?: PoolEntry) =>
      reevaluation.add(entry === undefined ? { transaction, arrival } : { transaction, arrival, entry })

    const payment = pay(2, 30)
    const child = craft(test.spec, [outputOf(payment)], [{ to: 31, value: 1n }], [30])
    const rival = pay(2, 31)
    for (const one of [payment, child, rival]) expect(reevaluation.touches(one)).toBe(false)
    add(payment)
    for (const one of [payment, child, rival]) expect(reevaluation.touches(one)).toBe(true)
    expect(reevaluation.touches(pay(3, 30))).toBe(false)
    // Of two that spend the same, as of a branch and of the pool, either counts.
    add(rival)
    reevaluation.remove(rival.hash)
    expect(reevaluation.touches(pay(2, 32))).toBe(true)
    reevaluation.remove(payment.hash)
    for (const one of [payment, child, rival]) expect(reevaluation.touches(one)).toBe(false)

    // An operation of a DID that is known, then one that was not read.
    const { did } = waiting.subject
    const [operation, other] = [carry(3, waiting.subject.deactivate()), holder()]
    add(waiting.declare, test.mempool.get(waiting.declare.hash))
    expect([reevaluation.touches(operation), reevaluation.touches(operation, did)]).toEqual([false, true])
    const stranger = carry(4, other.create())
    expect(reevaluation.touches(stranger, other.did)).toBe(false)
    const unread = carry(5, holder().create())
    const second = carry(6, holder().create())
    add(unread)
    add(second)
    reevaluation.startOver([])
    expect(reevaluation.touches(stranger, other.did)).toBe(true)
    expect(reevaluation.touches(await proof(9, 2, 0))).toBe(false)
    reevaluation.remove(unread.hash)
    expect(reevaluation.touches(stranger, other.did)).toBe(true)
    reevaluation.remove(second.hash)
    expect(reevaluation.touches(stranger, other.did)).toBe(false)
    expect(reevaluation.touches(pay(7, 30))).toBe(false)

    add(await proof(9, 2, 0))
    expect(reevaluation.touches(await proof(10, 2, 1))).toBe(true)
    expect(reevaluation.touches(await proof(10, 3, 1))).toBe(false)
    await test.close()
  })

  it('is tried again while an operation waits that may have to come first, and else once', async () => {
    const { test, carry, pay } = await declared()
    const known = { first: carry(3, holder().create()), second: carry(4, holder().create()), payment: pay(5, 30) }
    const nameOf = (transaction: Transaction) =>
      Object.keys(known).find((name) => known[name as 'first'] === transaction)
    /** Evaluates these; the second one holds once the first is admitted. */
    const evaluate = async (...waiting: readonly Transaction[]) => {
      const [tried, dropped]: (string | undefined)[][] = [[], []]
      const admitted = new Set<Transaction>()
      const reevaluation = new Reevaluation({
        ...bareOptions(test),
        admit: ({ transaction }, options) => {
          tried?.push(nameOf(transaction))
          if (transaction === known.second && !admitted.has(known.first)) {
            return Promise.reject(new RuleError('did-previous-form', 'it names no operation that is there'))
          }
          admitted.add(transaction)
          options?.added?.()
          return Promise.resolve()
        },
        forget: (transaction) => void dropped?.push(nameOf(transaction)),
      })
      for (const transaction of waiting) reevaluation.add({ transaction, arrival: 0 })
      await reevaluation.run()
      return { tried, dropped, left: reevaluation.size }
    }
    const { first, second, payment } = known
    expect(await evaluate(second, first)).toEqual({ tried: ['second', 'first', 'second'], dropped: [], left: 0 })
    expect(await evaluate(second, payment)).toEqual({ tried: ['second', 'payment'], dropped: ['second'], left: 0 })
    await test.close()
  })
})

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
    await test.publish(issuer.create(), issuer.did)
    const created = await test.publish(subject.create(), subject.did)
    const fork = test.chain.tip
    const carry = (index: number, operation: DidOperation) =>
      craft(test.spec, [outputOf(fan, index)], [{ to: 30, value: 5_000_000n }], [40 + index], {
        payload: { type: 10, operation },
      })
    const credential = issueCredential(issuer.did, issuer.primary, subject.did, {}, '#primary')
    const declare = await test.send(carry(0, subject.declare(credential)))
    await test.mine()
    const child = await test.send(craft(test.spec, [outputOf(declare)], [{ to: 31, value: 4_000_000n }], [30]))
    await test.mine()
    held = child.txid
    // Three blocks in the place of two: both transactions come back, the declare before the child of it.
    let parent = fork
    for (let i = 0; i < 3; i++) {
      const block = craftBlock(test.chain, { parent })
      await test.chain.acceptBlock(block.bytes)
      parent = test.chain.headers.known(block.header.hash)
    }
    while (!isHeld) await new Promise((resolve) => setImmediate(resolve))
    // The DID changes while the child is verified, so that the declare waits again.
    const update = carry(1, subject.update(created))
    expect(await test.chain.acceptBlock(craftBlock(test.chain, { transactions: [update] }).bytes)).toBe('connected')
    held = ''
    go()
    await test.mempool.settled()
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([declare.txid, child.txid])
    const rows = await test.database.rows(tables.pool.range())
    expect(rows).toHaveLength(2)
    await test.mine()
    expect(test.mempool.size).toBe(0)
    await test.close()
  })

  it('lets in what has nothing to do with what waits, and has all else wait', async () => {
    const { test, waiting, hold, ownerChanges, carry, pay } = await declared()
    const verifying = hold(waiting.declare)
    await ownerChanges()
    await verifying.begun
    // These are in the pool while the others are still evaluated, also when the next block makes them wait once more.
    const payment = await test.send(pay(3, 30))
    const apart = holder()
    const credential = waiting.issue(apart.did)
    const create = await test.send(carry(4, apart.create({ credentials: [credential] })))
    const evaluated = () => {
      const entries = [...test.mempool.byFeeRate()].flatMap((one) => one?.entries ?? [])
      return entries.map(({ transaction }) => transaction.txid).sort()
    }
    expect(evaluated()).toEqual([payment.txid, create.txid].sort())
    const last = await ownerChanges()
    const another = await test.send(pay(5, 31))
    expect(evaluated()).toEqual([payment.txid, create.txid, another.txid].sort())

    const outcomes: string[] = []
    const sent = Object.entries({
      child: craft(test.spec, [outputOf(waiting.declare)], [{ to: 31, value: 4_000_000n }], [30]),
      rival: pay(waiting.coin, 32),
      update: carry(6, waiting.subject.update(last)),
      again: waiting.declare,
    }).map(([name, transaction]) =>
      test.send(transaction).then(
        () => outcomes.push(`${name} taken`),
        (error: { code: string }) => outcomes.push(`${name} ${error.code}`),
      ),
    )
    // One that came after them is taken before them.
    const after = await test.send(pay(7, 33))
    expect(outcomes).toEqual([])
    verifying.go()
    await Promise.all(sent)
    expect(outcomes.sort()).toEqual(['again tx-known', 'child taken', 'rival pool-replacement-fee', 'update taken'])
    expect(test.mempool.size).toBe(7)
    expect(test.mempool.get(after.hash)).toBeDefined()
    await test.mine()
    expect(test.mempool.size).toBe(0)
    expect(test.log.errors).toEqual([])
    await test.close()
  })

  it('is not left without its parent by a replacement of that', async () => {
    const { test, waiting, hold, ownerChanges, pay } = await declared()
    const parent = await test.send(pay(2, 30))
    const operation = waiting.subject.declare(waiting.issue(waiting.subject.did))
    const carried = craft(test.spec, [outputOf(parent)], [{ to: 30, value: 4_000_000n }], [30], {
      payload: { type: 10, operation },
    })
    await test.mempool.remove([waiting.declare.hash], 'this test')
    await test.send(carried)
    const verifying = hold(carried)
    await ownerChanges()
    await verifying.begun
    // The parent was not touched: it is in the pool, without its child.
    expect([...test.mempool.byFeeRate()].flatMap((one) => one?.entries ?? [])).toHaveLength(1)
    const instead = craft(test.spec, pay(2, 30).inputs, [{ to: 33, value: 1_000_000n }], [42])
    const sent = test.send(instead).then(
      () => 'taken',
      (error: { code: string }) => error.code,
    )
    for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(test.mempool.get(parent.hash)).toBeDefined()
    verifying.go()
    expect(await sent).toBe('pool-replacement-built-upon')
    expect(test.mempool.get(carried.hash)).toBeDefined()
    await test.close()
  })

  it('lets in nothing for which there is no room beside what waits', async () => {
    const one = await declared()
    // A transaction of the same kind may be a few bytes longer.
    const both = one.waiting.declare.bytes.length + one.pay(3, 30).bytes.length + 20
    await one.test.close()
    // A fifth of the pool is beside it, in the last one.
    for (const [poolSize, roomBeside] of [
      [both, 0],
      [both - 100, 0],
      [Math.ceil(both / 1.2), 1 / 5],
    ] as const) {
      const fits = poolSize * (1 + roomBeside) >= both
      const { test, waiting, hold, ownerChanges, pay } = await declared({ poolSize, roomBeside })
      const verifying = hold(waiting.declare)
      await ownerChanges()
      await verifying.begun
      let isDone = false
      const sent = test.send(pay(3, 30)).then(
        () => (isDone = true),
        () => (isDone = true),
      )
      if (fits) await sent
      else for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve))
      expect(isDone).toBe(fits)
      expect(test.mempool.size).toBe(fits ? 2 : 1)
      verifying.go()
      await sent
      await test.mempool.settled()
      expect(test.mempool.bytes).toBeLessThanOrEqual(poolSize)
      await test.close()
    }
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
        const roll = random(seed * 100 + round)
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
        const byRate = [...source.mempool.byFeeRate()].flatMap((one) => one?.entries ?? [])
        expect(byRate.length).toBe(held.length)
        // Nothing waits any more, and a restart finds the same.
        await source.mempool.close()
        expect(await source.database.rows(tables.leftBranch.range())).toEqual([])
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
