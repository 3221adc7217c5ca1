import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AuxTree, legacyTransaction, ParentBlock, targetOf } from '../../../../scripts/miner/parent.js'
import { checkAuxPow } from '../../../../src/identity/proofs/auxpow-proof.js'
import { auxPowBytes, maxAuxPowSize, parseAuxPow, soloAuxPow } from '../../../../src/base/primitives/auxpow.js'
import { Block } from '../../../../src/base/primitives/block.js'
import { asBuffer } from '../../../../src/base/primitives/bytes.js'
import { AuxWork } from '../../../../src/ledger/production/aux-work.js'
import { hash as anyHash, runs, u32 } from '../../../support/builders/arbitraries.js'
import { craft, craftBlock, genesisCoin, outputOf, personHash, solved } from '../../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const payTo = personHash(20)
const rich = 100_000_000_000n

function workOf(test: TestChain): AuxWork {
  const { chain, mempool, clock } = test
  const offer = async (block: Block) => {
    await test.accept(block)
  }
  const time = () => Math.floor(clock.time / 1000)
  return new AuxWork({
    chain,
    mempool,
    clock,
    random: seededRandom(1),
    time,
    ...(test.spec.hasValidators ? { offer } : {}),
  })
}

/** A payment of person 10 out of genesis, with so much of a fee. */
const payment = (test: TestChain, fee: bigint, output: 0 | 1 = 0) =>
  craft(test.spec, [genesisCoin(test.chain, output)], [{ to: 30, value: rich - fee }], [10 + output])

const minedBy = ({ header }: Block) => auxPowBytes(solved(header))

/** What a pool hands in that mines several chains in a parent block of several transactions. */
function merged({ header }: Block, chainId: number, others: number): Buffer {
  const blocks = Array.from({ length: others }, (_, i) => ({ chainId: i, hash: Buffer.alloc(32, i) }))
  const tree = new AuxTree([{ chainId, hash: asBuffer(header.hash) }, ...blocks])
  const transactions = [5n, 6n].map((value) =>
    legacyTransaction({ txid: Buffer.alloc(32, 9), index: 1 }, Buffer.alloc(70), value),
  )
  const parent = new ParentBlock(tree, { height: 900_000, time: 1_800_000_000, transactions })
  expect(parent.search(targetOf(header.bits), 0, 1000)).toBe(true)
  return parent.auxPow(tree.branch(chainId))
}

describe('work for outside miners', () => {
  it('is a block of the pool that pays the address, and becomes the tip with its AuxPow', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const waiting = await test.send(payment(test, 7000n))
    const template = await work.template(payTo)
    expect(template.transactions.map(({ txid }) => txid)).toEqual([expect.any(String), waiting.txid])
    expect(template.transactions[0]?.outputs).toMatchObject([{ programHash: payTo, value: 500_000_000n + 7000n }])
    await work.submit(template.header.hash, minedBy(template))
    expect(test.chain.tip.header.id).toBe(template.hash)
    expect(test.mempool.size).toBe(0)
  })

  it('may share a parent block with other chains', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    for (const others of [0, 1, 5]) {
      const template = await work.template(payTo)
      const auxPow = merged(template, test.spec.auxpowChainId, others)
      expect(parseAuxPow(auxPow).coinbaseBranch).toHaveLength(2)
      expect(parseAuxPow(auxPow).auxBranch.length > 0).toBe(others > 0)
      await work.submit(template.header.hash, auxPow)
      expect(test.chain.tip.header.id).toBe(template.hash)
    }
  })

  it('stays the same until the pool has brought something and seconds have passed', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const first = await work.template(payTo)
    test.clock.time += 30_000
    expect(await work.template(payTo)).toBe(first)
    const second = await work.template(personHash(21))
    expect(second.transactions[0]?.outputs[0]?.programHash).toEqual(personHash(21))
    const waiting = await test.send(payment(test, 7000n))
    const renewed = await work.template(payTo)
    expect(renewed.transactions[1]?.txid).toBe(waiting.txid)
    await test.send(payment(test, 9000n, 1))
    test.clock.time += 4999
    expect(await work.template(payTo)).toBe(renewed)
    test.clock.time += 1
    expect((await work.template(payTo)).transactions).toHaveLength(3)
    // Whoever works for an older one of the same tip has not worked for nothing.
    await work.submit(first.header.hash, minedBy(first))
    expect(test.chain.tip.header.id).toBe(first.hash)
  })

  it('gets a new time once in a while', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const first = await work.template(payTo)
    test.clock.time += 60_000
    expect((await work.template(payTo)).header.time).toBe(first.header.time + 60)
    test.clock.time -= 3_600_000
    expect(await work.template(payTo)).not.toBe(first)
  })

  it('gets a new time when the clock of a devnet is set, without having grown old', async () => {
    const test = await TestChain.open()
    const { chain, mempool, clock } = test
    let time = Math.floor(clock.time / 1000)
    const work = new AuxWork({ chain, mempool, clock, random: seededRandom(1), time: () => time })
    const first = await work.template(payTo)
    expect((await work.template(payTo)).header.time).toBe(first.header.time)
    time += 86_400
    expect((await work.template(payTo)).header.time).toBe(time)
  })

  it('is made once for all who ask at the same time', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    let looks = 0
    const { byFeeRate } = test.mempool
    test.mempool.byFeeRate = function (...args) {
      looks++
      return byFeeRate.apply(this, args)
    }
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => work.template(personHash(20 + (i % 5)))))
    expect(new Set(all).size).toBe(5)
    expect(looks).toBe(1)
  })

  it('is refused as stale when the tip has moved, or nobody was given it', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const template = await work.template(payTo)
    await test.mine()
    const stale = { code: 'template-stale', message: expect.stringContaining('createauxblock') as string }
    await expect(work.submit(template.header.hash, minedBy(template))).rejects.toMatchObject(stale)
    const unknown = craftBlock(test.chain)
    await expect(work.submit(unknown.header.hash, minedBy(unknown))).rejects.toMatchObject(stale)
    const next = await work.template(payTo)
    expect(next.header.height).toBe(2)
    await work.submit(next.header.hash, minedBy(next))
    await expect(work.submit(next.header.hash, minedBy(next))).rejects.toMatchObject(stale)
  })

  it('is of use after a wrong AuxPow, which says nothing about the block', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const template = await work.template(payTo)
    const { header } = template
    const good = minedBy(template)
    const other = await work.template(personHash(21))
    const wrong: [string, Uint8Array][] = [
      ['auxpow-malformed', new Uint8Array(0)],
      ['auxpow-malformed', good.subarray(1)],
      ['auxpow-malformed', Buffer.concat([good, Uint8Array.of(1)])],
      ['auxpow-size', new Uint8Array(maxAuxPowSize + 1)],
      ['auxpow-commitment', minedBy(other)],
      ['auxpow-commitment', auxPowBytes(solved(craftBlock(test.chain).header))],
      ['auxpow-work', auxPowBytes(solved(header, false))],
      ['auxpow-parent', auxPowBytes({ ...soloAuxPow(header.hash, 1), coinbaseBranch: [header.hash] })],
      ['auxpow-index', auxPowBytes({ ...solved(header), coinbaseIndex: 1 })],
    ]
    for (const [code, bytes] of wrong) {
      await expect(work.submit(header.hash, bytes)).rejects.toMatchObject({ code })
    }
    // Nor does one that comes in with a block from somewhere else.
    const bad = new Block(header, solved(header, false), template.transactions)
    await expect(test.chain.acceptBlock(bad.bytes)).rejects.toMatchObject({ code: 'auxpow-work' })
    expect(test.chain.headers.get(header.hash)).toBe(undefined)
    await work.submit(header.hash, good)
    expect(test.chain.tip.header.id).toBe(template.hash)
  })

  it('of two miners who found the same block makes one block', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const template = await work.template(payTo)
    const { hash } = template.header
    const proofs = [minedBy(template), merged(template, test.spec.auxpowChainId, 1)]
    await Promise.all(proofs.map((proof) => work.submit(hash, proof)))
    expect(test.reader.height).toBe(1)
  })

  it('of two miners who found different blocks makes the first one the tip', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const first = await work.template(payTo)
    const second = await work.template(personHash(21))
    const both = [first, second].map((template) => work.submit(template.header.hash, minedBy(template)))
    const [one, two] = await Promise.allSettled(both)
    expect(one).toMatchObject({ status: 'fulfilled' })
    expect(two).toMatchObject({ status: 'rejected', reason: { code: 'block-stale' } })
    expect(test.chain.tip.header.id).toBe(first.hash)
  })

  it('is confirmed by the validator of the node, but never without work', async () => {
    const test = await TestChain.open({ ...oneValidator(), producer: 'sponsor' })
    const signed: string[] = []
    const confirmFor = test.confirmFor.bind(test)
    test.confirmFor = (block) => {
      signed.push(block.hash)
      return confirmFor(block)
    }
    const work = workOf(test)
    const template = await work.template(payTo)
    const { header } = template
    const lazy = work.submit(header.hash, auxPowBytes(solved(header, false)))
    await expect(lazy).rejects.toMatchObject({ code: 'auxpow-work' })
    expect(signed).toEqual([])
    await work.submit(header.hash, minedBy(template))
    expect(signed).toEqual([template.hash])
    expect(test.reader.confirm(header.hash)?.proposal.blockHash).toEqual(header.hash)
  })

  it('is kept for so many addresses and selections', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const crowd = Array.from({ length: 128 }, (_, i) => Uint8Array.of(0x21, i, ...new Uint8Array(19)))
    const first = await work.template(payTo)
    for (const address of crowd.slice(1)) await work.template(address)
    expect(await work.template(payTo)).toBe(first)
    for (const address of crowd.slice(0, 2)) await work.template(address)
    // The one that was asked for least lately has gone, and only that one.
    expect(await work.template(payTo)).toBe(first)
    const selections = [await work.template(payTo)]
    for (let i = 0; i < 8; i++) {
      test.clock.time += 60_000
      selections.push(await work.template(payTo))
    }
    expect(new Set(selections).size).toBe(9)
    const [gone, oldest] = selections as [Block, Block]
    await expect(work.submit(gone.header.hash, minedBy(gone))).rejects.toMatchObject({ code: 'template-stale' })
    await work.submit(oldest.header.hash, minedBy(oldest))
  })

  it('takes nothing that was mined between its offer and its turn', async () => {
    const test = await TestChain.open()
    await test.send(craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: 1000n }], [10]))
    const offered = [...test.mempool.byFeeRate()]
    expect(offered.flatMap((one) => one?.entries ?? [])).toHaveLength(1)
    await test.mine()
    test.mempool.byFeeRate = () => offered
    const template = await workOf(test).template(payTo)
    expect(template.transactions).toHaveLength(1)
    expect(test.log.errors).toEqual([])
  })

  it('is never of two tips, whatever comes in while it is made', async () => {
    const test = await TestChain.open()
    const work = workOf(test)
    const outputs = Array.from({ length: 300 }, (_, i) => ({ to: 40 + (i % 20), value: 100_000n }))
    const fan = await test.send(craft(test.spec, [genesisCoin(test.chain)], outputs, [10]))
    await test.mine()
    for (const [i, { value }] of outputs.entries()) {
      await test.send(craft(test.spec, [outputOf(fan, i)], [{ to: 30, value: value - 1000n }], [40 + (i % 20)]))
    }
    const ada = holder()
    await test.send(await test.carry(ada.create(), ada.did, 11))
    for (let i = 0; i < 5; i++) {
      const rival = craftBlock(test.chain, {
        transactions: [...test.mempool.entries()].slice(0, 20).map((e) => e.transaction),
      })
      const [template] = await Promise.all([work.template(payTo), test.accept(rival)])
      if (template.header.height === test.reader.height) continue
      await work.submit(template.header.hash, minedBy(template))
      expect(test.chain.tip.header.id).toBe(template.hash)
      break
    }
    expect(test.log.errors).toEqual([])
  })
})

describe('the example of a miner', () => {
  it('puts any number of chains into one tree, each where the rule looks for it', () => {
    const blocks = fc.uniqueArray(fc.record({ chainId: u32, hash: anyHash }), {
      selector: ({ chainId }) => chainId & 0xffff,
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(blocks, fc.integer({ min: 0, max: 9 }), (list, others) => {
        const tree = new AuxTree(list.map(({ chainId, hash }) => ({ chainId, hash: asBuffer(hash) })))
        const transactions = Array.from({ length: others }, (_, i) =>
          legacyTransaction({ txid: Buffer.alloc(32, i), index: i }, Buffer.alloc(i), BigInt(i)),
        )
        const parent = new ParentBlock(tree, { height: 1, time: 1, transactions })
        for (const { chainId, hash } of list) {
          const auxPow = parseAuxPow(parent.auxPow(tree.branch(chainId)))
          expect(() => checkAuxPow(auxPow, hash, chainId)).not.toThrow()
        }
      }),
      runs,
    )
  })

  it('says which chains no tree can hold together', () => {
    const chains = [1, 0x10001].map((chainId) => ({ chainId, hash: Buffer.alloc(32) }))
    expect(() => new AuxTree(chains)).toThrow('the low 16 bits of two ids are the same')
  })
})
