import { afterEach, describe, expect, it } from 'vitest'
import { serveChain } from '../../../src/network/serve-chain.js'
import { blocksExchange, blocksFill } from '../../../src/network/wire/blocks-message.js'
import { headersExchange, type HeaderUnit } from '../../../src/network/wire/headers-message.js'
import { poolExchange, poolNames } from '../../../src/network/wire/pool-message.js'
import { transactionsExchange, transactionsFill } from '../../../src/network/wire/transactions-message.js'
import { auxPowBytes } from '../../../src/base/primitives/auxpow.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { type Hash, sha256, sha256d } from '../../../src/base/primitives/hash.js'
import { attributeUsage, type Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import type { FakePeer } from '../../support/fakes/fake-peers.js'
import { FakePeers } from '../../support/fakes/fake-peers.js'
import type { SpecOverrides } from '../../support/builders/spec.js'

const rich = 100_000_000_000n
const opened: TestChain[] = []

/** A chain that answers, and a peer to ask it through. */
async function served(
  overrides: SpecOverrides = withoutValidators,
  more: Partial<Parameters<typeof serveChain>[1]> = {},
) {
  const test = await TestChain.open(overrides)
  opened.push(test)
  const here = new FakePeers('here')
  const there = new FakePeers('there')
  serveChain(here, { chain: test.chain, mempool: test.mempool, ...more })
  there.connect(here)
  return { test, peer: there.all()[0] as FakePeer }
}

afterEach(async () => {
  for (const test of opened.splice(0)) await test.close()
})

const genesisOf = ({ chain }: TestChain) => chain.genesis.header.hash
const hashesOf = (blocks: readonly Block[]) => blocks.map(({ header }) => header.hash)
const idsOf = (units: readonly HeaderUnit[]) => units.map(({ header }) => header.id)
const nothing = new Uint8Array(0)

/** Person 10 pays to itself again and again, with memos that make blocks large. */
function large(test: TestChain, count: number): Transaction[] {
  const attributes = Array.from({ length: 16 }, () => ({ usage: attributeUsage.memo, data: new Uint8Array(1024) }))
  let input = genesisCoin(test.chain)
  let value = rich
  return Array.from({ length: count }, () => {
    value -= 100_000n
    const transaction = craft(test.spec, [input], [{ to: 10, value }], [10], { attributes })
    input = outputOf(transaction)
    return transaction
  })
}

describe('headers for a peer', () => {
  it('follow the newest block of its locator that is on the chain, with confirm and size', async () => {
    const { test, peer } = await served(oneValidator())
    const blocks = await test.mine(5)
    const locator = [sha256('unknown'), ...hashesOf(blocks.slice(1, 3)).reverse(), genesisOf(test)]
    const units = await peer.ask(headersExchange, { locator, count: 100 })
    expect(idsOf(units)).toEqual(blocks.slice(3).map(({ hash }) => hash))
    for (const [i, { auxPow, confirm, size }] of units.entries()) {
      const block = blocks[3 + i] as Block
      expect(toHex(auxPow)).toBe(toHex(auxPowBytes(block.auxPow)))
      expect(toHex(confirm)).toBe(toHex(test.confirmFor(block) as Uint8Array))
      expect(size).toBe(block.bytes.length)
    }
  })

  it('begin above genesis where nothing is shared, and are as many as asked', async () => {
    const { test, peer } = await served()
    const blocks = await test.mine(4)
    const units = await peer.ask(headersExchange, { locator: [sha256('unknown')], count: 3 })
    expect(idsOf(units)).toEqual(blocks.slice(0, 3).map(({ hash }) => hash))
    expect(units.every(({ confirm }) => confirm.length === 0)).toBe(true)
    expect(await peer.ask(headersExchange, { locator: [], count: 1 })).toHaveLength(1)
    expect(await peer.ask(headersExchange, { locator: hashesOf(blocks).reverse(), count: 3 })).toEqual([])
    expect(await peer.ask(headersExchange, { locator: [], count: 0 })).toEqual([])
  })

  it('are those of the active chain, also where the locator names side blocks', async () => {
    const { test, peer } = await served()
    await test.mine(2)
    const fork = test.chain.headers.active(1)
    const [left] = await test.mine(1)
    const side = craftBlock(test.chain, { parent: fork as NonNullable<typeof fork> })
    expect(await test.accept(side)).toBe('side')
    const locator = [side.header.hash, fork?.header.hash as Hash]
    const units = await peer.ask(headersExchange, { locator, count: 10 })
    expect(idsOf(units)).toEqual([test.chain.headers.active(2)?.header.id, left?.hash])
  })

  it('are read page by page', async () => {
    const { test, peer } = await served()
    const blocks = await test.mine(300)
    const units = await peer.ask(headersExchange, { locator: [genesisOf(test)], count: 1000 })
    expect(idsOf(units)).toEqual(blocks.map(({ hash }) => hash))
  })
})

describe('blocks for a peer', () => {
  it('are the bytes that were accepted, of active and of side blocks, in the order asked', async () => {
    const { test, peer } = await served()
    await test.send(craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: rich - 1000n }], [10]))
    const blocks = await test.mine(3)
    const parent = test.chain.headers.active(1)
    const side = craftBlock(test.chain, { parent: parent as NonNullable<typeof parent> })
    await test.accept(side)
    const wanted = [...blocks, side, test.chain.genesis].reverse()
    const asked = [sha256('unknown'), ...hashesOf(wanted)]
    const answer = await peer.ask(blocksExchange, asked)
    expect(answer.map(toHex)).toEqual(['', ...wanted.map((block) => block.toHex())])
  })

  it('are those of the chain after a reorganisation', async () => {
    const { test, peer } = await served()
    const [first] = await test.mine(1)
    const parent = test.chain.headers.active(0) as NonNullable<ReturnType<typeof test.chain.headers.active>>
    const rival = craftBlock(test.chain, { parent })
    await test.accept(rival)
    const known = test.chain.headers.get(rival.header.hash) as typeof parent
    const top = craftBlock(test.chain, { parent: known })
    expect(await test.accept(top)).toBe('connected')
    const wanted = [first as Block, rival, top]
    expect((await peer.ask(blocksExchange, hashesOf(wanted))).map(toHex)).toEqual(wanted.map((b) => b.toHex()))
  })

  it('are candidates of the voting, too, and of miners where one is asked for alone', async () => {
    const voted = sha256('voted')
    const mined = sha256('mined')
    const { peer } = await served(oneValidator(), {
      voting: { candidate: (hash) => (toHex(hash) === toHex(voted) ? Uint8Array.of(1) : undefined) },
      candidates: { body: async (hash) => (toHex(hash) === toHex(mined) ? Uint8Array.of(2) : undefined) },
    })
    const ask = async (...hashes: Hash[]) => (await peer.ask(blocksExchange, hashes)).map(toHex)
    expect(await ask(voted, mined)).toEqual(['01', ''])
    expect(await ask(mined)).toEqual(['02'])
    expect(await ask(sha256('unknown'))).toEqual([''])
    expect(await ask()).toEqual([])
  })

  it('end when the answer is full', async () => {
    const { test, peer } = await served()
    const transactions = large(test, 130)
    const block = craftBlock(test.chain, { transactions })
    await test.accept(block)
    const size = block.bytes.length
    expect(size).toBeGreaterThan(2_000_000)
    const answer = await peer.ask(blocksExchange, Array<Hash>(10).fill(block.header.hash))
    expect(answer).toHaveLength(Math.ceil(blocksFill / size))
    expect(new Set(answer.map((bytes) => toHex(sha256(bytes)))).size).toBe(1)
  })
})

describe('transactions for a peer', () => {
  it('come from the pool and from the chain, in the order asked', async () => {
    const { test, peer } = await served()
    const mined = await test.send(craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: rich - 1000n }], [10]))
    const [block] = await test.mine(1)
    const pooled = await test.send(craft(test.spec, [outputOf(mined)], [{ to: 31, value: rich - 9000n }], [30]))
    const coinbase = block?.transactions[0] as Transaction
    const asked = [pooled.hash, sha256('unknown'), coinbase.hash, mined.hash, pooled.hash]
    const answer = await peer.ask(transactionsExchange, asked)
    expect(answer.map(toHex)).toEqual(
      [pooled, undefined, coinbase, mined, pooled].map((tx) => toHex(tx?.bytes ?? nothing)),
    )
  })

  it('end when the answer is full', async () => {
    const { test, peer } = await served()
    const [transaction] = large(test, 1) as [Transaction]
    await test.send(transaction)
    const answer = await peer.ask(transactionsExchange, Array<Hash>(256).fill(transaction.hash))
    expect(answer).toHaveLength(Math.min(256, Math.ceil(transactionsFill / transaction.bytes.length)))
    expect(answer.length).toBeLessThan(256)
  })
})

describe('the pool for a peer', () => {
  it('is named with digests, what others build on first', async () => {
    const { test, peer } = await served()
    const first = await test.send(craft(test.spec, [genesisCoin(test.chain)], [{ to: 30, value: rich - 1000n }], [10]))
    const second = await test.send(craft(test.spec, [outputOf(first)], [{ to: 31, value: rich - 9000n }], [30]))
    const names = await peer.ask(poolExchange, undefined)
    expect(names.map(({ txid, digest }) => [toHex(txid), toHex(digest)])).toEqual(
      [first, second].map(({ hash, bytes }) => [toHex(hash), toHex(sha256d(bytes))]),
    )
  })

  it('is named up to a number', async () => {
    const hash = sha256('one')
    const entry = { transaction: { hash, digest: hash } }
    const mempool = {
      get: () => undefined,
      entries: () =>
        Array(poolNames + 1000)
          .fill(entry)
          .values(),
    }
    const { peer } = await served(withoutValidators, { mempool })
    expect(await peer.ask(poolExchange, undefined)).toHaveLength(poolNames)
  })
})
