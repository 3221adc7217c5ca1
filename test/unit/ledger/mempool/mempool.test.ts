import { RuleError } from '../../../../src/base/errors/rule-error.js'
import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../../../src/base/crypto/verifier.js'
import { revokeOperation } from '../../../../src/identity/did/build.js'
import type { PoolEntry } from '../../../../src/ledger/mempool/pool-entry.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import {
  craft,
  craftBlock,
  type CraftedOutput,
  fieldsOf,
  genesisCoin,
  outputOf,
} from '../../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import {
  authenticationKey,
  credentialSpecification,
  type Holder,
  holder,
  signer,
} from '../../../support/builders/did.js'
import { quickSigner } from '../../../support/builders/signatures.js'
import { testAddress } from '../../../support/builders/spec.js'
import { FaultyStore } from '../../../support/fakes/faulty-store.js'

const rich = 100_000_000_000n

/** Person 10 (output 0) or 11 (output 1) pays all of its coin but a fee to person 30. */
function pay(test: TestChain, options: { output?: 0 | 1; fee?: bigint; to?: number } = {}): Transaction {
  const { output = 0, fee = 1000n, to = 30 } = options
  const value = (output === 0 ? rich : 2n * rich) - fee
  return craft(test.spec, [genesisCoin(test.chain, output)], [{ to, value }], [10 + output])
}

/** Spends output `index` of a transaction, all but a fee. */
function spend(test: TestChain, of: Transaction, from: number, fee = 1000n, to = 31): Transaction {
  const outputs: CraftedOutput[] = [{ to, value: (of.outputs[0]?.value as bigint) - fee }]
  return craft(test.spec, [outputOf(of)], outputs, [from])
}

/** Waits for what the pool still has to write. */
async function written({ database }: TestChain): Promise<void> {
  for (let i = 0; i < 2; i++) {
    await database.idle()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Ids of the transactions whose rows are on disk. */
async function rowsOf(test: TestChain): Promise<string[]> {
  await written(test)
  const rows = await test.database.rows(tables.pool.range())
  return rows.map(([, value]) => Transaction.fromBytes(tables.pool.decode(value).bytes).txid).sort()
}

const idsOf = ({ mempool }: TestChain) => [...mempool.entries()].map(({ transaction }) => transaction.txid)

async function expectPool(test: TestChain, transactions: readonly Transaction[]): Promise<void> {
  const ids = transactions.map(({ txid }) => txid)
  expect(idsOf(test).sort()).toEqual([...ids].sort())
  expect(await rowsOf(test)).toEqual([...ids].sort())
}

/** Replaces the newest block by two others that hold these transactions and their fees. */
async function overtake(test: TestChain, transactions: readonly Transaction[], fees: bigint): Promise<void> {
  const parent = test.chain.headers.get(test.chain.tip.header.previous)
  if (parent === undefined) throw new Error('there is no block to replace')
  const rival = craftBlock(test.chain, { parent, transactions, fees })
  await test.accept(rival)
  const known = test.chain.headers.get(rival.header.hash)
  if (known === undefined) throw new Error('the rival is not known')
  expect(await test.accept(craftBlock(test.chain, { parent: known }))).toBe('connected')
}

describe('the pool', () => {
  it('takes a transaction with its fee, and a transaction on top of it', async () => {
    const test = await TestChain.open()
    const first = await test.send(pay(test))
    const second = await test.send(spend(test, first, 30, 2000n))
    await expectPool(test, [first, second])
    expect([...test.mempool.entries()].map(({ fee }) => fee)).toEqual([1000n, 2000n])
    expect(test.mempool.bytes).toBe(first.bytes.length + second.bytes.length)
    expect(test.mempool.spender({ txid: first.hash, index: 0 })?.transaction.txid).toBe(second.txid)
    expect(test.mempool.get(first.hash)?.arrival).toBe(test.clock.time)
    expect(test.mempool.reevaluations).toBe(0)
  })

  it('reads no document before the programs are verified', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const payload = Buffer.from('{"no":"document"}').toString('base64url')
    const signed = await test.carry({ ...ada.create(), payload }, ada.did)
    await expect(test.send(signed)).rejects.toMatchObject({ code: 'document-member' })
    const [program] = signed.programs
    if (program === undefined) throw new Error('no program')
    const programs = [{ ...program, parameter: Buffer.concat([Buffer.of(64), Buffer.alloc(64, 1)]) }]
    const forged = new Transaction({ ...fieldsOf(signed), programs })
    await expect(test.send(forged)).rejects.toMatchObject({ code: 'tx-signature' })
    await expectPool(test, [])
  })

  it('refuses a second spender, of a pooled and of a mined one', async () => {
    const test = await TestChain.open()
    await test.send(pay(test))
    await expect(test.send(pay(test, { to: 31 }))).rejects.toMatchObject({ code: 'pool-replacement-fee' })
    await test.mine()
    await expect(test.send(pay(test, { to: 31 }))).rejects.toMatchObject({ code: 'tx-double-spend' })
    await expectPool(test, [])
  })

  it('takes one of several that spend the same and come at the same moment', async () => {
    // Their signatures are known from elsewhere: none of them waits for the verifier.
    const signatures = new SignatureCache()
    const test = await TestChain.open(undefined, { signatures })
    const rivals = [30, 31, 32].map((to) => pay(test, { to }))
    for (const rival of rivals) await (await TestChain.open(undefined, { signatures })).send(rival)
    const sent = await Promise.allSettled(rivals.map((rival) => test.send(rival)))
    // Which one it is depends on whose checks had to give way to other work.
    const ends = sent.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : 'taken'))
    expect(ends.sort()).toEqual(['pool-replacement-fee', 'pool-replacement-fee', 'taken'])
    expect(test.mempool.size).toBe(1)
  })

  it('refuses what it holds and what is mined, also with other signatures', async () => {
    const test = await TestChain.open()
    const first = pay(test)
    await test.send(first)
    const other = new Transaction({ ...fieldsOf(first), programs: [] })
    expect(other.txid).toBe(first.txid)
    await expect(test.send(first)).rejects.toMatchObject({ code: 'tx-known' })
    await expect(test.send(other)).rejects.toMatchObject({ code: 'tx-known' })
    await test.mine()
    await expect(test.send(first)).rejects.toMatchObject({ code: 'tx-known' })
  })

  it('reports the first of several faults in the order of the checks', async () => {
    const test = await TestChain.open()
    await test.mine()
    const { spec, chain } = test
    const coinbase = chain.headers.active(1)
    if (coinbase === undefined) throw new Error('no block')
    const young = outputOf((await test.reader.block(coinbase)).transactions[0] as Transaction)
    const unknown = { txid: new Uint8Array(32).fill(1), index: 0 }
    const locked = craft(spec, [genesisCoin(chain)], [{ to: 10, value: rich - 1000n, outputLock: 100 }], [10])
    await test.send(locked)
    const code = (inputs: Parameters<typeof craft>[1], value: bigint, signers: number[]) =>
      test.send(craft(spec, inputs, [{ to: 1, value }], signers)).then(
        () => undefined,
        (error: unknown) => (error as { code?: string }).code,
      )
    // Unknown before locked before fee before programs before maturity.
    expect(await code([outputOf(locked), unknown], 1n, [10])).toBe('tx-input-unknown')
    expect(await code([young, outputOf(locked)], 1n, [10])).toBe('tx-output-locked')
    expect(await code([young], 500_000_000n, [10])).toBe('tx-fee')
    expect(await code([young], 1n, [10])).toBe('tx-program-mismatch')
    expect(await code([young], 1n, [20])).toBe('tx-immature')
  })

  it('verifies signatures once, for the pool and the block together', async () => {
    const verified: SignatureCheck[] = []
    const inline = createInlineVerifier()
    const verifier: Verifier = {
      verifyAll: (checks) => (verified.push(...checks), inline.verifyAll(checks)),
      close: () => inline.close(),
    }
    const test = await TestChain.open(undefined, { verifier })
    await test.send(pay(test))
    await test.mine()
    expect(verified).toHaveLength(1)
  })

  it('works with a cache of signatures that keeps nothing', async () => {
    const test = await TestChain.open(undefined, { signatures: new SignatureCache(0) })
    await test.send(pay(test))
    await test.mine()
    expect(test.reader.height).toBe(1)
  })

  it('is left alone by a transaction with a wrong signature', async () => {
    const test = await TestChain.open()
    const good = pay(test)
    const [program] = good.programs
    if (program === undefined) throw new Error('no program')
    const parameter = Uint8Array.from(program.parameter)
    parameter[20] = (parameter[20] as number) ^ 1
    const bad = new Transaction({ ...fieldsOf(good), programs: [{ ...program, parameter }] })
    await expect(test.send(bad)).rejects.toMatchObject({ code: 'tx-signature' })
    await expectPool(test, [])
    await test.send(good)
    await expectPool(test, [good])
  })

  it('drops what waited too long, with what builds on it', async () => {
    const test = await TestChain.open(undefined, { limits: { expiry: 1000 } })
    const first = await test.send(pay(test))
    test.clock.time += 1001
    const other = await test.send(pay(test, { output: 1 }))
    const second = await test.send(spend(test, first, 30))
    await test.mempool.expire()
    await expectPool(test, [other])
    expect(test.mempool.droppedReason(first.hash)).toContain('too long')
    expect(test.mempool.droppedReason(second.hash)).toContain('too long')
  })

  it('makes room by fee rate when it is full, descendants first', async () => {
    const size = 224
    const limits = { poolSize: 3 * size }
    const test = await TestChain.open(undefined, { limits })
    const cheap = await test.send(pay(test, { fee: 1000n }))
    const child = await test.send(spend(test, cheap, 30, 1500n))
    const middle = await test.send(pay(test, { output: 1, fee: 3000n }))
    const best = await test.send(spend(test, middle, 30, 4000n))
    await expectPool(test, [middle, best])
    for (const { hash } of [cheap, child]) expect(test.mempool.droppedReason(hash)).toContain('full')
  })

  it('refuses what it would have to drop at once, and takes what pays more', async () => {
    const limits = { poolSize: 400 }
    const test = await TestChain.open(undefined, { limits })
    const first = await test.send(pay(test, { fee: 2000n }))
    await expect(test.send(pay(test, { output: 1, fee: 1000n }))).rejects.toMatchObject({ code: 'pool-full' })
    await expectPool(test, [first])
    const best = await test.send(pay(test, { output: 1, fee: 3000n }))
    await expectPool(test, [best])
  })

  it('does not say that it is full where a transaction leaves at once for another reason', async () => {
    const store = new FaultyStore()
    const test = await TestChain.open(undefined, { store: store.store })
    const transaction = pay(test)
    store.look = () => {
      const entry = test.mempool.get(transaction.hash)
      const error = new RuleError('tx-size', 'refused while its row is written')
      if (entry !== undefined) void test.mempool.refuse([{ entry, error }])
    }
    expect((await test.send(transaction)).txid).toBe(transaction.txid)
    expect(test.mempool.get(transaction.hash)).toBeUndefined()
    expect(test.mempool.droppedReason(transaction.hash)).toContain('while its row is written')
  })

  it('remembers only so many reasons', async () => {
    const test = await TestChain.open(undefined, { limits: { expiry: 0, droppedReasons: 2 } })
    const sent: Transaction[] = []
    for (let fee = 1000n; fee < 1004n; fee++) {
      sent.push(await test.send(pay(test, { fee })))
      test.clock.time += 1
      await test.mempool.expire()
    }
    const known = sent.map(({ hash }) => test.mempool.droppedReason(hash) !== undefined)
    expect(known).toEqual([false, false, true, true])
    await written(test)
    expect(await test.database.rows(tables.dropped.range())).toHaveLength(2)
  })
})

describe('the pool and the chain', () => {
  it('lets go what is mined, in the batch of the block', async () => {
    const test = await TestChain.open()
    const first = await test.send(pay(test))
    const second = await test.send(spend(test, first, 30))
    const block = craftBlock(test.chain, { transactions: [first], fees: 1000n })
    const before = test.database.sequence
    await test.accept(block)
    expect(test.database.sequence).toBe(before + 1)
    await expectPool(test, [second])
    await test.mine()
    await expectPool(test, [])
    expect(test.mempool.droppedReason(first.hash)).toBe(undefined)
  })

  it('drops what a block makes impossible, with what builds on it', async () => {
    const test = await TestChain.open()
    const first = await test.send(pay(test))
    const second = await test.send(spend(test, first, 30))
    const third = await test.send(spend(test, second, 31))
    const rival = pay(test, { to: 33 })
    await test.accept(craftBlock(test.chain, { transactions: [rival], fees: 1000n }))
    await expectPool(test, [])
    for (const { hash } of [first, second, third]) expect(test.mempool.droppedReason(hash)).toContain(rival.txid)
  })

  it('takes back what a reorganisation returns, below what builds on it', async () => {
    const test = await TestChain.open()
    const first = await test.send(pay(test))
    await test.mine()
    const second = await test.send(spend(test, first, 30))
    const other = await test.send(pay(test, { output: 1 }))
    await overtake(test, [], 0n)
    expect(test.reader.height).toBe(2)
    await expectPool(test, [first, second, other])
    await test.mine()
    await expectPool(test, [])
    expect(test.reader.transaction(second.hash)?.height).toBe(3)
  })

  it('keeps transactions alone in memory, not the messages and blocks they came in', async () => {
    const test = await TestChain.open()
    const held = () => [...test.mempool.entries()].map(({ transaction }) => transaction)
    const views = () =>
      held().map(({ bytes, hash }) => [bytes.buffer.byteLength - bytes.length, hash.buffer.byteLength])
    const sent = await test.send(pay(test))
    await test.send(pay(test, { output: 1 }))
    expect(views()).toEqual([
      [0, 32],
      [0, 32],
    ])
    await test.mine()
    await overtake(test, [], 0n)
    expect(held().map(({ txid }) => txid)).toContain(sent.txid)
    expect(views()).toEqual([
      [0, 32],
      [0, 32],
    ])
  })

  it('says why a returned transaction does not fit any more', async () => {
    const test = await TestChain.open()
    const first = await test.send(pay(test))
    await test.mine()
    const second = await test.send(spend(test, first, 30))
    const rival = pay(test, { to: 33 })
    await overtake(test, [rival], 1000n)
    await expectPool(test, [])
    expect(test.mempool.droppedReason(first.hash)).toContain('tx-double-spend')
    expect(test.mempool.droppedReason(second.hash)).toContain('tx-input-unknown')
    expect(test.mempool.droppedReason(rival.hash)).toBe(undefined)
  })

  it('keeps a coinbase of a lost block out, and what spends it', async () => {
    const test = await TestChain.open()
    const [block] = await test.mine()
    await test.mine()
    const coinbase = (block as Block).transactions[0] as Transaction
    const spender = await test.send(spend(test, coinbase, 20))
    const parent = test.chain.headers.active(0)
    if (parent === undefined) throw new Error('no genesis')
    let known = parent
    for (let i = 0; i < 3; i++) {
      const rival = craftBlock(test.chain, { parent: known })
      await test.accept(rival)
      known = test.chain.headers.get(rival.header.hash) as typeof known
    }
    await expectPool(test, [])
    expect(test.mempool.droppedReason(spender.hash)).toContain('tx-input-unknown')
  })

  it('leaves no row of a transaction that is accepted while its block is written', async () => {
    // The block holds a transaction that arrives at every moment of its way onto the disk.
    for (let delay = 0; delay < 12; delay++) {
      const test = await TestChain.open()
      const first = pay(test)
      const block = craftBlock(test.chain, { transactions: [first], fees: 1000n })
      const accepted = test.accept(block)
      for (let i = 0; i < delay; i++) await Promise.resolve()
      if (delay > 8) await new Promise((resolve) => setImmediate(resolve))
      const sent = test.send(first).catch((error: unknown) => error)
      await Promise.all([accepted, sent])
      await expectPool(test, [])
      expect(test.mempool.droppedReason(first.hash)).toBe(undefined)
    }
  })

  it('checks everything again when the rules of the next height are others', async () => {
    const upgrades = [{ height: 3, name: 'dearer', parameters: { fees: { minimum: '5000', perByte: '0' } } }]
    const test = await TestChain.open({ validators: [], producer: 'miners', upgrades })
    const first = await test.send(pay(test, { fee: 1000n }))
    const other = await test.send(pay(test, { output: 1, fee: 5000n }))
    await test.accept(craftBlock(test.chain))
    await expectPool(test, [first, other])
    await test.accept(craftBlock(test.chain))
    await expectPool(test, [other])
    expect(test.mempool.droppedReason(first.hash)).toContain('tx-fee')
  })

  it('checks everything again when a run of blocks goes beyond the height of other rules', async () => {
    const upgrades = [{ height: 3, name: 'dearer', parameters: { fees: { minimum: '5000', perByte: '0' } } }]
    const overrides = { validators: [], producer: 'miners', upgrades } as const
    const [source, test] = [await TestChain.open(overrides), await TestChain.open(overrides)]
    const first = await test.send(pay(test, { fee: 1000n }))
    const other = await test.send(pay(test, { output: 1, fee: 5000n }))
    const run = await source.mine(4)
    await test.chain.acceptBlocks(run.map(({ bytes: block }) => ({ block })))
    await test.mempool.settled()
    await expectPool(test, [other])
    expect(test.mempool.droppedReason(first.hash)).toContain('tx-fee')
  })
})

describe('the pool across a restart', () => {
  const reopened = async (store: ReturnType<typeof memoryStore>) => TestChain.open(undefined, { store })

  it('has all it had, in whatever order the rows come', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    // All in one millisecond, so only what builds on what tells the order.
    const chain = [await test.send(pay(test))]
    for (let i = 0; i < 20; i++) {
      chain.push(await test.send(spend(test, chain.at(-1) as Transaction, i === 0 ? 30 : 31)))
    }
    await test.database.close()
    const again = await reopened(store)
    await expectPool(again, chain)
    expect([...again.mempool.entries()].map(({ arrival }) => arrival)).toEqual(chain.map(() => test.clock.time))
    await again.mine()
    await expectPool(again, [])
  })

  it('drops with a reason what became invalid, and remembers reasons', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    const stale = await test.send(pay(test))
    const kept = await test.send(pay(test, { output: 1 }))
    // As if the row of the rival's block had been written by a process that had no pool.
    const rows = await store.iterator(tables.pool.range()).all()
    const block = craftBlock(test.chain, { transactions: [pay(test, { to: 33 })], fees: 1000n })
    await test.accept(block)
    const batch = store.batch()
    for (const [key, value] of rows) batch.put(key, value)
    await batch.write()
    await test.database.close()
    const again = await reopened(store)
    await expectPool(again, [kept])
    expect(again.mempool.droppedReason(stale.hash)).toContain('tx-double-spend')
    await again.database.close()
    const third = await reopened(store)
    expect(third.mempool.droppedReason(stale.hash)).toContain('tx-double-spend')
  })

  it('lets a stale row of a mined transaction go without a reason', async () => {
    const store = memoryStore()
    const test = await TestChain.open(undefined, { store })
    const first = await test.send(pay(test))
    const rows = await store.iterator(tables.pool.range()).all()
    await test.mine()
    const batch = store.batch()
    for (const [key, value] of rows) batch.put(key, value)
    await batch.write()
    await test.database.close()
    const again = await reopened(store)
    await expectPool(again, [])
    expect(again.mempool.droppedReason(first.hash)).toBe(undefined)
  })
})

describe('DID operations in the pool', () => {
  const send = async (test: TestChain, ada: Holder, operation: Parameters<TestChain['carry']>[0]) =>
    test.send(await test.carry(operation, ada.did))

  it('apply in order, and an update may name a pending create', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await send(test, ada, ada.create())
    const update = await send(test, ada, ada.update(create.txid))
    await expect(send(test, ada, ada.update(create.txid))).rejects.toMatchObject({ code: 'did-previous-txid' })
    await expect(send(test, ada, ada.create())).rejects.toMatchObject({ code: 'did-exists' })
    const [block] = await test.mine()
    expect(block?.transactions.slice(1).map(({ txid }) => txid)).toEqual([create.txid, update.txid])
    expect(test.chain.state.did(ada.did)).toMatchObject({ lastTxid: update.txid, operationCount: 2 })
  })

  it('are replaced by a deactivate, updates and what builds on them, but not the create', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await test.send(await test.carry(ada.create(), ada.did, 10))
    const update = await test.send(await test.carry(ada.update(create.txid), ada.did, 11))
    const change = craft(test.spec, [outputOf(update, 1)], [{ to: 30, value: 1n }], [11])
    await test.send(change)
    const deactivate = await test.send(await test.carry(ada.deactivate(), ada.did, 10))
    await expectPool(test, [create, deactivate])
    for (const { hash } of [update, change]) expect(test.mempool.droppedReason(hash)).toContain('deactivates')
    await expect(test.send(await test.carry(ada.deactivate(), ada.did))).rejects.toMatchObject({
      code: 'did-deactivated',
    })
    await test.mine()
    expect(test.chain.state.did(ada.did)?.status).toBe('deactivated')
  })

  it('stay when the deactivate that would replace them is not valid', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await send(test, ada, ada.create())
    const update = await test.send(await test.carry(ada.update(create.txid), ada.did, 11))
    const forged = { ...ada.deactivate(), signature: ada.create().signature }
    await expect(test.send(await test.carry(forged, ada.did))).rejects.toMatchObject({ code: 'did-signature' })
    await expectPool(test, [create, update])
  })

  it('follow a deactivate that is paid with their change', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await send(test, ada, ada.create())
    const update = await send(test, ada, ada.update(create.txid))
    const deactivate = await send(test, ada, ada.deactivate())
    await expectPool(test, [create, update, deactivate])
    const [block] = await test.mine()
    expect(block?.transactions).toHaveLength(4)
  })

  it('are dropped when another operation of the DID is mined first', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await send(test, ada, ada.create())
    await test.mine()
    const mine = await test.carry(ada.update(create.txid), ada.did, 11)
    const pending = await test.send(await test.carry(ada.update(create.txid), ada.did, 10))
    const next = await test.send(await test.carry(ada.update(pending.txid), ada.did, 10))
    await test.accept(craftBlock(test.chain, { transactions: [mine] }))
    await expectPool(test, [])
    expect(test.mempool.droppedReason(pending.hash)).toContain('did-previous-txid')
    expect(test.mempool.droppedReason(next.hash)).toBeDefined()
  })

  it('are checked again when an issuer of theirs changes, and checked against the chain alone', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const bob = holder()
    const withCredential = ada.create({ credentials: [bob.issue(ada.did)] })
    const bobs = await test.send(await test.carry(bob.create(), bob.did, 11))
    const early = await test.carry(withCredential, ada.did, 10)
    await expect(test.send(early)).rejects.toMatchObject({ code: 'credential-issuer-unknown' })
    await test.mine()
    expect(test.reader.transaction(bobs.hash)?.height).toBe(1)
    const create = await test.send(early)
    const deactivate = await test.carry(bob.deactivate(), bob.did, 11)
    await test.accept(craftBlock(test.chain, { transactions: [deactivate] }))
    await expectPool(test, [])
    expect(test.mempool.droppedReason(create.hash)).toContain('credential-issuer-deactivated')
  })
})

describe('declares and revokes in the pool', () => {
  const ada = holder()
  const bob = holder()
  const id = `${ada.did}#profile`
  const allocations = [10, 11, 12, 13, 14].map((person) => ({ address: testAddress(person), amount: '100000000000' }))
  const spec = { ...withoutValidators, allocations }
  const send = async (test: TestChain, by: Holder, operation: Parameters<TestChain['carry']>[0], from = 10) =>
    test.send(await test.carry(operation, by.did, from))
  /** A chain on which both DIDs exist. */
  const opened = async () => {
    const test = await TestChain.open(spec)
    const [create] = [await send(test, ada, ada.create(), 10), await send(test, bob, bob.create(), 11)]
    await test.mine()
    return { test, create }
  }

  it('stand in order among the operations of their signer, and see its pending ones', async () => {
    const test = await TestChain.open(spec)
    await send(test, bob, bob.create(), 11)
    await test.mine()
    const create = await send(test, ada, ada.create())
    const declare = await send(test, ada, ada.declare(bob.issue(ada.did)), 12)
    const revoke = await send(test, ada, ada.revoke(id), 10)
    await expect(send(test, ada, ada.declare(bob.issue(ada.did)))).rejects.toMatchObject({
      code: 'credential-declared',
    })
    await expect(send(test, ada, ada.revoke(id))).rejects.toMatchObject({ code: 'credential-revoked' })
    const parents = (transaction: Transaction) => {
      const entry = test.mempool.get(transaction.hash) as PoolEntry
      return test.mempool.parents(entry).map(({ transaction: { txid } }) => txid)
    }
    expect(parents(declare)).toEqual([create.txid])
    expect(parents(revoke)).toContain(declare.txid)
    const [block] = await test.mine()
    expect(block?.transactions.slice(1).map(({ txid }) => txid)).toEqual([create.txid, declare.txid, revoke.txid])
    expect(test.chain.state.did(ada.did)).toMatchObject({ lastTxid: create.txid, operationCount: 1 })
  })

  it('count among the eight of a DID', async () => {
    const { test } = await opened()
    for (let i = 0; i < 8; i++) await send(test, ada, ada.revoke(`${ada.did}#${i}`))
    await expect(send(test, ada, ada.revoke(id))).rejects.toMatchObject({ code: 'pool-did-pending' })
  })

  it('see what others say once it is mined, and are dropped then', async () => {
    const { test } = await opened()
    const revoke = await test.carry(bob.revoke(id), bob.did, 11)
    const declare = await send(test, ada, ada.declare(bob.issue(ada.did)), 10)
    await test.accept(craftBlock(test.chain, { transactions: [revoke] }))
    await expectPool(test, [])
    expect(test.mempool.droppedReason(declare.hash)).toContain('credential-revoked')
  })

  it('are dropped when an issuer is deactivated, or a stranger revokes what is declared meanwhile', async () => {
    const { test } = await opened()
    const eve = holder()
    await send(test, eve, eve.create(), 12)
    await test.mine()
    const other = await send(test, ada, ada.declare(bob.issue(ada.did, { id: `${ada.did}#other` })), 10)
    const stranger = await send(test, eve, eve.revoke(id), 12)
    const declare = await test.carry(ada.declare(ada.issue(ada.did)), ada.did, 13)
    const deactivate = await test.carry(bob.deactivate(), bob.did, 11)
    await test.accept(craftBlock(test.chain, { transactions: [declare, deactivate] }))
    await expectPool(test, [])
    expect(test.mempool.droppedReason(other.hash)).toContain('credential-issuer-deactivated')
    expect(test.mempool.droppedReason(stranger.hash)).toContain('credential-revoker')
  })

  it('stay before a deactivate if they hold without the updates that it replaces', async () => {
    const { test, create } = await opened()
    const first = await send(test, ada, ada.revoke(`${ada.did}#first`), 12)
    const second = quickSigner()
    const keys = [...ada.plan.keys, authenticationKey('second', second)]
    const update = await send(test, ada, ada.update(create.txid, { keys }), 11)
    const kept = await send(test, ada, ada.declare(bob.issue(ada.did)), 13)
    const plan = { specification: credentialSpecification, verificationMethod: `${ada.did}#second` }
    const bySecond = revokeOperation(`${ada.did}#last`, plan, signer(second))
    const lost = await send(test, ada, bySecond, 14)
    const deactivate = await send(test, ada, ada.deactivate(), 10)
    await expectPool(test, [first, kept, deactivate])
    for (const { hash } of [update, lost]) expect(test.mempool.droppedReason(hash)).toContain('deactivates')
    const [block] = await test.mine()
    expect(block?.transactions).toHaveLength(4)
    expect(test.chain.state.credential(id, ada.did)).toMatchObject({ revoked: false })
    expect(test.chain.state.did(ada.did)?.status).toBe('deactivated')
  })

  it('go with the updates if the deactivate spends their coins, and with what is too long before it', async () => {
    const { test, create } = await opened()
    const deactivate = await test.carry(ada.deactivate(), ada.did, 13)
    const update = await send(test, ada, ada.update(create.txid, {}), 12)
    const rival = await send(test, ada, ada.declare(bob.issue(ada.did)), 13)
    await test.send(deactivate)
    await expectPool(test, [deactivate])
    for (const { hash } of [update, rival]) expect(test.mempool.droppedReason(hash)).toContain('deactivates')
    await test.mine()
    expect(test.chain.state.did(ada.did)?.status).toBe('deactivated')
  })

  it('go with the updates where the deactivate would have too many ancestors', async () => {
    const test = await TestChain.open(spec, { limits: { ancestors: 2 } })
    const create = await send(test, ada, ada.create(), 10)
    await send(test, bob, bob.create(), 11)
    await test.mine()
    await send(test, ada, ada.update(create.txid, {}), 11)
    const returning = await send(test, ada, ada.revoke(id), 12)
    // The deactivate spends the change of the second, which spends that of the first.
    const others = [
      await send(test, bob, bob.revoke(`${ada.did}#x`), 13),
      await send(test, bob, bob.revoke(`${ada.did}#y`), 13),
    ]
    const deactivate = await send(test, ada, ada.deactivate(), 13)
    await expectPool(test, [...others, deactivate])
    expect(test.mempool.droppedReason(returning.hash)).toContain('deactivates')
  })

  it('leave what holds without them when a template refuses them', async () => {
    const { test, create } = await opened()
    const declare = await send(test, ada, ada.declare(bob.issue(ada.did)), 10)
    const update = await send(test, ada, ada.update(create.txid, {}), 12)
    const revoke = await send(test, ada, ada.revoke(`${ada.did}#other`), 13)
    const error = new RuleError('credential-revoked', 'by its issuer')
    await test.mempool.refuse([{ entry: test.mempool.get(declare.hash) as PoolEntry, error }])
    await test.mempool.settled()
    await expectPool(test, [update, revoke])
    expect(test.mempool.droppedReason(declare.hash)).toContain('credential-revoked')
    const [block] = await test.mine()
    expect(block?.transactions).toHaveLength(3)
  })

  it('come back before a deactivate of the same millisecond', async () => {
    for (let i = 0; i < 4; i++) {
      const store = memoryStore()
      const test = await TestChain.open(spec, { store })
      await send(test, ada, ada.create(), 10)
      await test.mine()
      const all = [
        await send(test, ada, ada.declare(ada.issue(ada.did, { id: `${ada.did}#${i}` })), 11),
        await send(test, ada, ada.revoke(`${ada.did}#${i}`), 12),
        await send(test, ada, ada.deactivate(), 13),
      ]
      await test.database.close()
      const again = await TestChain.open(spec, { store })
      await expectPool(again, all)
    }
  })

  it('come back after a restart', async () => {
    const store = memoryStore()
    const test = await TestChain.open(spec, { store })
    await send(test, ada, ada.create())
    const declare = await send(test, ada, ada.declare(ada.issue(ada.did)))
    await test.database.close()
    const again = await TestChain.open(spec, { store })
    expect(again.mempool.get(declare.hash)?.did?.credential).toMatchObject({ id, action: 'declare' })
    await again.mine()
    expect(again.chain.state.credential(id, ada.did)).toMatchObject({ revoked: false })
  })
})

describe('a transaction as large as a block', () => {
  const blockSize = 10_000

  /** A record of about `size` bytes by person 10. */
  function record(test: TestChain, size: number): Transaction {
    const make = (length: number) => {
      const payload = { type: 3, recordType: 'note', content: new Uint8Array(length) } as const
      return craft(test.spec, [genesisCoin(test.chain, 0)], [{ to: 30, value: rich - 10_000n }], [10], { payload })
    }
    return make(size - make(1000).bytes.length + 1000)
  }

  it('is taken when a template has room for it, and refused when none ever will', async () => {
    const test = await TestChain.open({
      ...withoutValidators,
      limits: { blockSize, blockTransactions: 100, transactionCost: 2000, blockCost: 40_000 },
    })
    const room = blockSize - 84 - 4 - 1000
    const tooLarge = record(test, room + 1)
    expect(tooLarge.bytes.length).toBe(room + 1)
    await expect(test.send(tooLarge)).rejects.toMatchObject({ code: 'pool-size' })
    // It is not even read.
    const unread = test.mempool.accept(new Uint8Array(tooLarge.bytes.length), { local: true })
    await expect(unread).rejects.toMatchObject({ code: 'pool-size' })
    const largest = record(test, room)
    await test.send(largest)
    await test.mine()
    expect(test.reader.transaction(largest.hash)?.height).toBe(test.reader.height)
  })
})
