import { describe, expect, it } from 'vitest'
import { policy } from '../../../../src/ledger/mempool/policy.js'
import { maxAnchorCoinbase } from '../../../../src/identity/proofs/anchor-coinbase.js'
import { checkProofOfWork } from '../../../../src/identity/proofs/auxpow-proof.js'
import { soloAuxPow } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { Header } from '../../../../src/base/primitives/header.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { solve } from '../../../../src/ledger/production/solve.js'
import { buildTemplate } from '../../../support/builders/template.js'
import { sideChainPow } from '../../../rules/transaction.js'
import { craft, genesisCoin, outputOf, personHash } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'

const rich = 100_000_000_000n
const request = (test: TestChain) => ({
  payTo: personHash(20),
  time: Math.floor(test.clock.time / 1000),
  nonce: new Uint8Array(8).fill(1),
})
const template = (test: TestChain) => buildTemplate(test.chain, test.mempool, request(test))
const idsOf = (block: Block) => block.transactions.slice(1).map(({ txid }) => txid)

/** A fan of outputs for persons 40 and up, mined, so that they can pay independently of each other. */
async function fanned(test: TestChain, count: number): Promise<Transaction> {
  const outputs = Array.from({ length: count }, (_, i) => ({ to: 40 + i, value: 1_000_000n }))
  const fan = await test.send(craft(test.spec, [genesisCoin(test.chain)], outputs, [10]))
  await test.mine()
  return fan
}

const pay = (test: TestChain, fan: Transaction, index: number, fee: bigint, content = 0) => {
  const payload = { type: 3, recordType: '', content: new Uint8Array(content) } as const
  const outputs = [{ to: 30, value: 1_000_000n - fee }]
  return craft(test.spec, [outputOf(fan, index)], outputs, [40 + index], { payload })
}

describe('a template', () => {
  it('takes the best fee rates first, but nothing before what it builds on', async () => {
    const test = await TestChain.open()
    const fan = await fanned(test, 3)
    const low = await test.send(pay(test, fan, 0, 1000n))
    const high = await test.send(pay(test, fan, 1, 3000n))
    const parent = await test.send(pay(test, fan, 2, 500n))
    const child = await test.send(craft(test.spec, [outputOf(parent)], [{ to: 31, value: 900_000n }], [30]))
    const block = await template(test)
    expect(idsOf(block)).toEqual([parent, child, high, low].map(({ txid }) => txid))
    const fees = 1000n + 3000n + 500n + (1_000_000n - 500n - 900_000n)
    expect(block.transactions[0]?.outputs[0]?.value).toBe(500_000_000n + fees)
    const solved = (await solve(block)) as Block
    expect(await test.accept(solved)).toBe('connected')
  })

  it('has a coinbase for which its selection left room, far below what a proof carries', async () => {
    for (const overrides of [withoutValidators, { ...oneValidator(), producer: 'sponsor' }]) {
      const test = await TestChain.open(overrides)
      const [coinbase] = (await template(test)).transactions as [Transaction]
      expect(coinbase.bytes.length).toBeLessThanOrEqual(policy.coinbaseRoom)
    }
    expect(policy.coinbaseRoom).toBeLessThan(maxAnchorCoinbase)
  })

  it('puts proofs of side-chain work before everything else', async () => {
    const test = await TestChain.open({ ...oneValidator(), producer: 'sponsor' })
    const rate = await test.send(craft(test.spec, [genesisCoin(test.chain, 1)], [{ to: 30, value: rich }], [11]))
    const pow = await test.send(await sideChainPow()(test))
    expect(idsOf(await template(test))).toEqual([pow.txid, rate.txid])
  })

  it('skips what does not fit, and goes on with what does', async () => {
    const limits = { blockSize: 10_000, blockTransactions: 10, transactionCost: 100, blockCost: 100 }
    const test = await TestChain.open({ ...withoutValidators, limits, fees: { minimum: '100', perByte: '0' } })
    const fan = await fanned(test, 3)
    const first = await test.send(pay(test, fan, 0, 900_000n, 6000))
    const second = await test.send(pay(test, fan, 1, 100_000n, 6000))
    const small = await test.send(pay(test, fan, 2, 100n))
    const block = await template(test)
    expect(idsOf(block)).toEqual([first.txid, small.txid])
    expect(block.limitedSize).toBeLessThanOrEqual(limits.blockSize)
    await test.accept((await solve(block)) as Block)
    expect(idsOf(await template(test))).toEqual([second.txid])
  })

  it('keeps within the number of transactions and the signature cost of a block', async () => {
    for (const [limits, most] of [
      [{ blockTransactions: 3, blockCost: 100 }, 2],
      [{ blockTransactions: 10, blockCost: 3 }, 3],
    ] as const) {
      const test = await TestChain.open({
        ...withoutValidators,
        limits: { blockSize: 100_000, transactionCost: 100, ...limits },
      })
      const fan = await fanned(test, 5)
      for (let i = 0; i < 5; i++) await test.send(pay(test, fan, i, 1000n))
      const block = await template(test)
      expect(idsOf(block)).toHaveLength(most)
      expect(await test.accept((await solve(block)) as Block)).toBe('connected')
    }
  })

  it('runs DID operations in order', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await test.send(await test.carry(ada.create(), ada.did, 10))
    const update = await test.send(await test.carry(ada.update(create.txid), ada.did, 11))
    const deactivate = await test.send(await test.carry(ada.deactivate(), ada.did, 10))
    // The deactivate made the update pointless.
    expect(test.mempool.get(update.hash)).toBe(undefined)
    expect(idsOf(await template(test))).toEqual([create.txid, deactivate.txid])
  })

  it('leaves out what another transaction of the block makes impossible', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const bob = holder()
    await test.publish(bob.create(), bob.did)
    const credential = ada.create({ credentials: [bob.issue(ada.did)] })
    const create = await test.send(await test.carry(credential, ada.did, 10))
    // The issuer goes, at a far higher fee rate.
    const transaction = await test.carry(bob.deactivate(), bob.did, 11)
    const dear = craft(
      test.spec,
      transaction.inputs,
      [{ to: 11, value: (transaction.outputs[1]?.value as bigint) - 9_000_000n }],
      [11],
      { payload: transaction.payload },
    )
    await test.send(dear)
    const block = await template(test)
    expect(idsOf(block)).toEqual([dear.txid])
    expect(await test.accept((await solve(block)) as Block)).toBe('connected')
    expect(test.mempool.droppedReason(create.hash)).toContain('credential-issuer-deactivated')
  })

  it('has a time that the rules allow', async () => {
    const test = await TestChain.open()
    const early = await buildTemplate(test.chain, test.mempool, { ...request(test), time: 1 })
    expect(early.header.time).toBe(test.spec.time + 1)
    const late = await buildTemplate(test.chain, test.mempool, { ...request(test), time: test.spec.time + 99 })
    expect(late.header.time).toBe(test.spec.time + 99)
  })
})

describe('the search for work', () => {
  const harder = (block: Block) => {
    const header = new Header({ ...block.header, bits: 0x1f0fffff })
    return new Block(header, soloAuxPow(header.hash, header.time), block.transactions)
  }

  it('finds a parent nonce that meets the target', async () => {
    const test = await TestChain.open()
    const block = harder(await template(test))
    const solved = (await solve(block)) as Block
    expect(() => checkProofOfWork(test.spec, solved.header, solved.auxPow)).not.toThrow()
    expect(solved.hash).toBe(block.hash)
  })

  it('ends when it is told to', async () => {
    const test = await TestChain.open()
    const block = await template(test)
    const header = new Header({ ...block.header, bits: 0x03000001 })
    let looks = 0
    const stop = () => ++looks >= 50
    expect(await solve(new Block(header, block.auxPow, block.transactions), stop)).toBe(undefined)
    expect(looks).toBe(50)
  })
})
