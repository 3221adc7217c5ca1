import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import type { Verifier } from '../../../../src/base/crypto/verifier.js'
import { buildDeactivate, buildUpdate } from '../../../../src/identity/did/build.js'
import type { Block } from '../../../../src/base/primitives/block.js'
import type { DidOperation } from '../../../../src/base/primitives/did-operation.js'
import type { SignatureCheck } from '../../../../src/base/primitives/signature.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { solve } from '../../../../src/ledger/production/solve.js'
import { buildTemplate } from '../../../support/builders/template.js'
import { craft, craftBlock, genesisCoin, outputOf, personHash } from '../../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import {
  authenticationKey,
  type Holder,
  holder,
  issueCredential,
  signer,
  specification,
} from '../../../support/builders/did.js'
import { type QuickSigner, quickSigner } from '../../../support/builders/signatures.js'

const coin = 10_000_000n
/** Of the operations that have to come before others. */
const dear = 5_000_000n
const cheap = 100_000n

const template = (test: TestChain): Promise<Block> =>
  buildTemplate(test.chain, test.mempool, {
    payTo: personHash(20),
    time: Math.floor(test.clock.time / 1000),
    nonce: new Uint8Array(8).fill(1),
  })
const idsOf = (block: Block) => block.transactions.slice(1).map(({ txid }) => txid)

/** A coin for each of persons 40 to 49, mined. */
async function fanned(test: TestChain): Promise<Transaction> {
  const outputs = Array.from({ length: 10 }, (_, i) => ({ to: 40 + i, value: coin }))
  const fan = await test.send(craft(test.spec, [genesisCoin(test.chain, 1)], outputs, [11]))
  await test.mine()
  return fan
}

/** A transaction with a DID operation. Person 40 + index pays for it from the fan. */
function carried(test: TestChain, fan: Transaction, index: number, operation: DidOperation, fee: bigint): Transaction {
  const inputs = [outputOf(fan, index)]
  return craft(test.spec, inputs, [{ to: 30, value: coin - fee }], [40 + index], {
    payload: { type: 10, operation },
  })
}

/** The next operation of a DID that has one more key beside its own two. */
function withKey(of: Holder, previousTxid: string, fragment: string, key: QuickSigner, credentials: string[] = []) {
  const document = of.document({ keys: [...of.plan.keys, authenticationKey(fragment, key)], credentials })
  return buildUpdate(document, { specification, verificationMethod: '#primary', previousTxid }, signer(of.primary))
}

/** A verifier that counts what it is asked. */
function counting(): Verifier & { checks: SignatureCheck[] } {
  const inline = createInlineVerifier()
  const checks: SignatureCheck[] = []
  return { checks, verifyAll: (all) => (checks.push(...all), inline.verifyAll(all)), close: () => inline.close() }
}

describe('what a template takes from the pool', () => {
  it('connects after the issuer of a pending credential changes its key', async () => {
    const test = await TestChain.open()
    const fan = await fanned(test)
    const [issuer, subject] = [holder(), holder()]
    const [old, next] = [quickSigner(), quickSigner()]
    const created = await test.publish(issuer.create(), issuer.did)
    const issuing = await test.publish(withKey(issuer, created, 'issuing', old), issuer.did)
    const credential = issueCredential(issuer.did, old, subject.did, {}, '#issuing')
    const create = await test.send(carried(test, fan, 0, subject.create({ credentials: [credential] }), cheap))
    const child = await test.send(craft(test.spec, [outputOf(create)], [{ to: 31, value: coin - 2n * cheap }], [30]))
    const update = await test.send(carried(test, fan, 1, withKey(issuer, issuing, 'issuing', next), dear))
    const block = await template(test)
    expect(idsOf(block)).toEqual([update.txid])
    expect(test.mempool.droppedReason(create.hash)).toContain('credential-proof')
    expect(test.mempool.droppedReason(child.hash)).toContain('credential-proof')
    expect(await test.accept((await solve(block)) as Block)).toBe('connected')
    expect(test.mempool.size).toBe(0)
  })

  it('connects after what a deactivation builds on has gone', async () => {
    const test = await TestChain.open()
    const fan = await fanned(test)
    const [issuer, ada] = [holder(), holder()]
    const [issuing, a, b, c] = [quickSigner(), quickSigner(), quickSigner(), quickSigner()]
    const created = await test.publish(issuer.create(), issuer.did)
    const issued = await test.publish(withKey(issuer, created, 'issuing', issuing), issuer.did)
    const adas = await test.publish(ada.create(), ada.did)
    const first = await test.publish(withKey(ada, adas, 'k', a), ada.did)
    const credential = issueCredential(issuer.did, issuing, ada.did, {}, '#issuing')
    const u1 = await test.send(carried(test, fan, 0, withKey(ada, first, 'k', b), cheap))
    const u2 = await test.send(carried(test, fan, 1, withKey(ada, u1.txid, 'k', c, [credential]), cheap))
    const going = buildDeactivate(ada.did, { specification, verificationMethod: '#k' }, signer(c))
    const payload = { type: 10, operation: going } as const
    const x = await test.send(
      craft(test.spec, [outputOf(u1)], [{ to: 31, value: coin - 3n * cheap }], [30], { payload }),
    )
    const v = await test.send(carried(test, fan, 2, issuer.update(issued), dear))
    const block = await template(test)
    expect(idsOf(block)).toEqual([v.txid, u1.txid])
    expect(test.mempool.droppedReason(u2.hash)).toContain('credential-key')
    expect(test.mempool.droppedReason(x.hash)).toContain('credential-key')
    expect(await test.accept((await solve(block)) as Block)).toBe('connected')
    expect(test.chain.state.did(ada.did)?.status).toBe('valid')
  })

  it('verifies what the cache does not hold once, and in bulk', async () => {
    const verifier = counting()
    const signatures = new SignatureCache(0)
    const test = await TestChain.open(undefined, { verifier, signatures })
    const fan = await fanned(test)
    const people = Array.from({ length: 5 }, holder)
    for (const [i, one] of people.entries()) await test.send(carried(test, fan, i, one.create(), cheap))
    verifier.checks.length = 0
    expect((await template(test)).transactions).toHaveLength(6)
    // Of each its operation and its document; what the programs sign was verified for good.
    expect(verifier.checks.map(({ code }) => code).sort()).toEqual([
      ...people.map(() => 'did-signature'),
      ...people.map(() => 'document-proof'),
    ])
  })

  it('verifies nothing again while the cache holds it, nor what has left the pool', async () => {
    const verifier = counting()
    const test = await TestChain.open(undefined, { verifier })
    const fan = await fanned(test)
    const issuer = holder()
    const [old, next] = [quickSigner(), quickSigner()]
    const created = await test.publish(issuer.create(), issuer.did)
    const issuing = await test.publish(withKey(issuer, created, 'issuing', old), issuer.did)
    for (let i = 0; i < 5; i++) {
      const one = holder()
      const credential = issueCredential(issuer.did, old, one.did, {}, '#issuing')
      await test.send(carried(test, fan, i, one.create({ credentials: [credential] }), cheap))
    }
    verifier.checks.length = 0
    expect((await template(test)).transactions).toHaveLength(6)
    expect(verifier.checks).toHaveLength(0)
    await test.send(carried(test, fan, 5, withKey(issuer, issuing, 'issuing', next), dear))
    verifier.checks.length = 0
    expect((await template(test)).transactions).toHaveLength(2)
    expect(verifier.checks.length).toBeGreaterThanOrEqual(5)
    expect(test.mempool.size).toBe(1)
    verifier.checks.length = 0
    expect((await template(test)).transactions).toHaveLength(2)
    expect(verifier.checks).toHaveLength(0)
  })

  it('leaves alone what builds on a transaction that finds no room', async () => {
    const limits = { blockSize: 10_000, blockTransactions: 10, transactionCost: 100, blockCost: 100 }
    const test = await TestChain.open({ ...withoutValidators, limits })
    const fan = await fanned(test)
    const payload = { type: 3, recordType: '', content: new Uint8Array(5000) } as const
    const large = (index: number, fee: bigint) =>
      craft(test.spec, [outputOf(fan, index)], [{ to: 30, value: coin - fee }], [40 + index], { payload })
    const first = await test.send(large(0, dear))
    const second = await test.send(large(1, cheap))
    const child = await test.send(craft(test.spec, [outputOf(second)], [{ to: 31, value: coin - 2n * cheap }], [30]))
    expect(idsOf(await template(test))).toEqual([first.txid])
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual(
      [first, second, child].map(({ txid }) => txid),
    )
    await test.mine()
    expect(idsOf(await template(test))).toEqual([second.txid, child.txid])
  })

  it('drops nothing when the tip moves meanwhile', async () => {
    // The rows of a block can be read a moment before the tip moves: here that moment lasts.
    let [written, release] = [() => {}, () => {}]
    let gate: Promise<void> | undefined
    const inner = memoryStore()
    const store = new Proxy(inner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (name !== 'batch' || gate === undefined) return typeof value === 'function' ? value.bind(target) : value
        const held = gate
        return () => {
          const batch = target.batch()
          const write = batch.write.bind(batch)
          batch.write = async (options?: object) => {
            await write(options ?? {})
            written()
            await held
          }
          return batch
        }
      },
    })
    const test = await TestChain.open(undefined, { store })
    const fan = await fanned(test)
    const parent = await test.send(craft(test.spec, [outputOf(fan)], [{ to: 30, value: coin - cheap }], [40]))
    const child = await test.send(craft(test.spec, [outputOf(parent)], [{ to: 31, value: coin - 2n * cheap }], [30]))
    const onDisk = new Promise<void>((resolve) => (written = resolve))
    gate = new Promise((resolve) => (release = resolve))
    const accepted = test.accept(craftBlock(test.chain, { transactions: [parent] }))
    await onDisk
    gate = undefined
    const made = template(test)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    release()
    await Promise.all([made, accepted])
    for (const { hash } of [parent, child]) expect(test.mempool.droppedReason(hash)).toBe(undefined)
    expect(idsOf(await template(test))).toEqual([child.txid])
  })

  it('leaves out what is mined, also before the pool has let go of it', async () => {
    const test = await TestChain.open()
    const { mempool } = test
    const fan = await fanned(test)
    const mined = await test.send(craft(test.spec, [outputOf(fan)], [{ to: 30, value: coin - cheap }], [40]))
    const child = await test.send(craft(test.spec, [outputOf(mined)], [{ to: 31, value: coin - 2n * cheap }], [30]))
    const other = await test.send(craft(test.spec, [outputOf(fan, 1)], [{ to: 30, value: coin - dear }], [41]))
    const follow = mempool.follow.bind(mempool)
    let made: Promise<Block> | undefined
    mempool.follow = async (change) => {
      made = template(test)
      await nextTurn()
      expect(mempool.get(mined.hash)).toBeDefined()
      return follow(change)
    }
    await test.accept(craftBlock(test.chain, { transactions: [mined] }))
    mempool.follow = follow
    const block = (await made) as Block
    // Its child comes along where a slow machine goes on with the template once the pool is done.
    expect(idsOf(block)).not.toContain(mined.txid)
    expect(idsOf(block)).toContain(other.txid)
    for (const { hash } of [mined, child]) expect(mempool.droppedReason(hash)).toBeUndefined()
    expect(await test.accept((await solve(block)) as Block)).toBe('connected')
  })
})
