import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../../src/base/primitives/address.js'
import { registerAssetTransaction } from '../../../src/base/primitives/genesis.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { unusable } from '../../../src/clients/wallet/coins.js'
import { signTransaction } from '../../../src/clients/wallet/sign-transaction.js'
import { contextOf, serve } from '../../support/client/api.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { RpcClient } from '../../support/client/rpc.js'
import { testAddress, testKey, testPublicKey } from '../../support/builders/spec.js'

interface Listed {
  readonly txtype: number
  readonly txid: string
  readonly vout: number
  readonly address: string
  readonly amount: string
  readonly outputlock: number
  readonly confirmations: number
}

const coin = 100_000_000n
const rich = testAddress(10)
const miner = testAddress(20)

let node: TestChain
let rpc: RpcClient

beforeEach(async () => {
  node = await TestChain.open({ ...withoutValidators, maturity: 4 })
  rpc = new RpcClient(contextOf(node))
})
afterEach(() => node.close())

/** Pays several sums to person 12, each in an output of its own, with the lock of that position. */
async function pay(values: readonly bigint[], locks: readonly number[] = []): Promise<string> {
  const owner = parseAddress(testAddress(12)) as ProgramHash
  const plain = await node.transfer(
    testAddress(12),
    values.reduce((sum, value) => sum + value, 0n),
  )
  const [paid, change] = plain.outputs
  if (paid === undefined || change === undefined) throw new Error('no change')
  const outputs = values.map((value, i) => ({ ...paid, value, programHash: owner, outputLock: locks[i] ?? 0 }))
  // Longer than the plain one, so the change pays for the bytes.
  const fee = 70n * BigInt(values.length)
  const unsigned = new Transaction({
    ...plain,
    outputs: [...outputs, { ...change, value: change.value - fee }],
    programs: [{ code: singleKeyCode(testPublicKey(10)), parameter: new Uint8Array(0) }],
  })
  const { transaction } = signTransaction(unsigned, [testKey(10)])
  return (await node.send(transaction)).txid
}

describe('getreceivedbyaddress', () => {
  test('is what REST calls the balance', async () => {
    expect(await rpc.call('getreceivedbyaddress', { address: rich })).toBe('1000.00000000')
    expect(await rpc.call('getreceivedbyaddress', [testAddress(33)])).toBe('0.00000000')
  })

  test.each(['', 'x', rich.slice(1), `${rich}1`, rich.replace('E', 'F'), '1'.repeat(34)])(
    'refuses %j',
    async (address) => {
      expect(await rpc.refusal('getreceivedbyaddress', [address])).toMatchObject({
        code: -32602,
        data: expect.stringMatching(/^address: /),
      })
    },
  )
})

describe('listunspent', () => {
  test('tells type, lock and confirmations', async () => {
    await node.mine(2)
    const txid = await pay([coin, 2n * coin], [0, 7])
    await node.mine(2)
    expect(await rpc.call('listunspent', { addresses: [testAddress(12)] })).toMatchObject([
      { txtype: 2, txid, vout: 0, address: testAddress(12), amount: '1.00000000', outputlock: 0, confirmations: 2 },
      { txtype: 2, txid, vout: 1, address: testAddress(12), amount: '2.00000000', outputlock: 7, confirmations: 2 },
    ])
    const mined = await rpc.call<Listed[]>('listunspent', [[miner]])
    expect(mined.map(({ txtype, confirmations }) => [txtype, confirmations])).toEqual([4, 3, 2, 1].map((n) => [0, n]))
  })

  test('lists addresses once, in the order they are named', async () => {
    const list = await rpc.call<Listed[]>('listunspent', [[testAddress(11), rich, testAddress(11), testAddress(33)]])
    expect(list.map(({ address }) => address)).toEqual([testAddress(11), rich])
  })

  test('has no other outputs than normal ones', async () => {
    expect(await rpc.call('listunspent', [[rich], 'normal'])).toHaveLength(1)
    expect(await rpc.call('listunspent', [[rich], 'mixed'])).toHaveLength(1)
    expect(await rpc.call('listunspent', [[rich], 'vote'])).toEqual([])
    expect(await rpc.refusal('listunspent', [[rich], 'other'])).toMatchObject({ code: -32602 })
  })

  test('does not look at the pool', async () => {
    const before = await rpc.call('listunspent', [[rich]])
    await node.send(await node.transfer(testAddress(12), coin))
    expect(await rpc.call('listunspent', [[rich]])).toEqual(before)
  })

  test('leaves out the least when there are more than the limit, and keeps the order', async () => {
    const strict = new RpcClient(contextOf(node, { limits: { listedCoins: 3 } }))
    const values = [5n, 1n, 9n, 3n, 7n, 2n, 8n]
    await pay(values)
    await node.mine()
    const list = await strict.call<Listed[]>('listunspent', [[testAddress(12)]])
    expect(list.map(({ amount, vout }) => [amount, vout])).toEqual([
      ['0.00000009', 2],
      ['0.00000007', 4],
      ['0.00000008', 6],
    ])
    expect(await rpc.call('listunspent', [[testAddress(12)]])).toHaveLength(values.length)
  })

  test('takes 100 addresses and no more', async () => {
    const many = Array.from({ length: 101 }, () => rich)
    expect(await rpc.call('listunspent', [many.slice(1)])).toHaveLength(1)
    expect(await rpc.refusal('listunspent', [many])).toMatchObject({ code: -32602 })
    expect(await rpc.refusal('listunspent', [[]])).toMatchObject({ code: -32602 })
    expect((await rpc.refusal('listunspent', [[rich, 'x'.repeat(34)]])).data).toMatch(/^addresses: /)
  })
})

describe('getutxosbyamount', () => {
  const amounts = async (amount: string | number, address = testAddress(12)) =>
    (await rpc.call<Listed[]>('getutxosbyamount', { address, amount })).map((listed) => listed.amount)

  test('gives as few as suffice', async () => {
    await pay([coin, 4n * coin, 2n * coin])
    await node.mine()
    expect(await amounts('0.5')).toEqual(['4.00000000'])
    expect(await amounts(4)).toEqual(['4.00000000'])
    for (const small of [0.0000001, 0.00000001, 0.00000099, '0.00000001'])
      expect(await amounts(small)).toEqual(['4.00000000'])
    expect(await amounts('4.00000001')).toEqual(['4.00000000', '2.00000000'])
    expect(await amounts('7')).toHaveLength(3)
    expect(await rpc.refusal('getutxosbyamount', [testAddress(12), '7.00000001'])).toMatchObject({
      code: -32011,
      data:
        '45002 not enough utxo: 7.00000000 can be spent of 7.00000001; ' +
        '0.00000000 wait in the pool, 0.00000000 are immature or locked',
    })
    expect(await rpc.refusal('getutxosbyamount', [testAddress(12), '1', 'vote'])).toMatchObject({ code: -32011 })
  })

  test('leaves out what the next block cannot spend', async () => {
    await pay([coin, 2n * coin], [0, 5])
    await node.mine()
    expect(await amounts('1')).toEqual(['1.00000000'])
    expect(await rpc.refusal('getutxosbyamount', [testAddress(12), '3'])).toMatchObject({
      data: expect.stringMatching(
        /1\.00000000 can be spent of 3\.00000000; 0\.0{8} .*, 2\.00000000 are immature or locked/,
      ),
    })
    expect(await rpc.refusal('getutxosbyamount', [miner, '1'])).toMatchObject({ code: -32011 })
    await node.mine(3)
    // Mined at height 1 with a maturity of 4, spent at height 5.
    expect(await amounts('1', miner)).toHaveLength(1)
    expect(await amounts('1')).toEqual(['1.00000000'])
    await node.mine()
    expect(await amounts('2')).toEqual(['2.00000000'])
    await node.send(await node.transfer(testAddress(13), 5n, 12))
    // The transfer has taken the smallest coin that suffices.
    expect(await amounts('2')).toEqual(['2.00000000'])
    expect(await rpc.refusal('getutxosbyamount', [testAddress(12), '3'])).toMatchObject({
      code: -32011,
      data: expect.stringMatching(/2\.00000000 can be spent of 3\.00000000; 1\.00000000 wait in the pool/),
    })
  })

  test.each(['0', '-1', 'x', '1.123456789', '1e3', '99999999999', 0, -1, 1e-9, 1.5e-8, 5e-324, 1e21])(
    'refuses %j',
    async (amount) => {
      expect(await rpc.refusal('getutxosbyamount', [rich, amount])).toMatchObject({
        code: -32602,
        data: expect.stringMatching(/^amount: /),
      })
    },
  )
})

describe('estimatesmartfee', () => {
  test('knows two rates', async () => {
    expect(await rpc.call('estimatesmartfee', [0])).toBe(20_000)
    expect(await rpc.call('estimatesmartfee', { confirmations: 1 })).toBe(10_000)
    expect(await rpc.call('estimatesmartfee', [25])).toBe(10_000)
    expect(await rpc.refusal('estimatesmartfee', [26])).toMatchObject({ code: -32602 })
  })

  test('is never below what the chain asks', async () => {
    const dear = await TestChain.open({ ...withoutValidators, fees: { minimum: '5000', perByte: '40' } })
    const rate = await new RpcClient(contextOf(dear)).call<number>('estimatesmartfee', [6])
    expect(rate).toBe(65_000)
    const tx = await dear.transfer(testAddress(12), coin)
    expect((rate * tx.bytes.length) / 1000).toBeGreaterThanOrEqual(5000 + 40 * tx.unsigned.length)
    await dear.close()
  })
})

describe('the wallet', () => {
  let server: ApiServer

  beforeEach(async () => {
    server = await serve(contextOf(node))
  })
  afterEach(() => server.close())

  test('learns from it which coins cannot be spent yet', async () => {
    await pay([coin, 2n * coin], [0, 50])
    await node.mine(4)
    const client = new NodeClient({ rest: `http://127.0.0.1:${server.port}` })
    const assetId = registerAssetTransaction(node.spec).hash
    const chain = { height: node.reader.height, maturity: node.spec.maturity }
    const states = async (address: string) =>
      (await client.coins(address, assetId)).map((found) => unusable(found, chain) ?? found.value)
    expect(await states(testAddress(12))).toEqual([coin, 'locked'])
    expect((await states(miner)).slice(1)).toEqual(['immature', 'immature', 'immature'])
    expect((await states(miner))[0]).toBeTypeOf('bigint')
    // Allocations of the genesis block are coinbase outputs that need no time.
    expect(await states(testAddress(11))).toEqual([2000n * coin])
  })
})
