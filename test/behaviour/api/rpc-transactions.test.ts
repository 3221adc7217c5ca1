import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { contextOf } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { RpcClient } from '../../support/client/rpc.js'
import { testAddress } from '../../support/builders/spec.js'

const zeros = '0'.repeat(64)

let node: TestChain
let rpc: RpcClient

beforeEach(async () => {
  node = await TestChain.open()
  rpc = new RpcClient(contextOf(node))
})
afterEach(() => node.close())

describe('getrawtransaction', () => {
  test('finds what waits and what is mined', async () => {
    const { txid, ...tx } = await node.send(await node.transfer(testAddress(12), 500n))
    expect(await rpc.call('getrawtransaction', { txid })).toBe(Buffer.from(tx.bytes).toString('hex'))
    expect(await rpc.call('getrawtransaction', [txid, true])).toMatchObject({ txid, blockhash: '', confirmations: 0 })
    const [block] = await node.mine()
    expect(await rpc.call('getrawtransaction', { txid, verbose: true })).toMatchObject({
      txid,
      blockhash: block?.hash,
      confirmations: 1,
      time: block?.header.time,
    })
    expect(await rpc.call('getrawtransaction', [txid.toUpperCase(), false])).toBe(Buffer.from(tx.bytes).toString('hex'))
  })

  test('does not find others', async () => {
    expect(await rpc.refusal('getrawtransaction', [zeros])).toMatchObject({ code: -32002 })
  })
})

describe('getrawmempool', () => {
  test('lists ids, or objects', async () => {
    expect(await rpc.call('getrawmempool')).toEqual([])
    expect(await rpc.call('getrawmempool', ['all'])).toEqual([])
    const first = await node.send(await node.transfer(testAddress(12), 500n))
    const second = await node.send(await node.transfer(testAddress(12), 500n, 11))
    expect(await rpc.call('getrawmempool')).toEqual([first.txid, second.txid])
    expect(await rpc.call('getrawmempool', { state: 'all' })).toMatchObject([
      { txid: first.txid },
      { txid: second.txid },
    ])
    expect(await rpc.refusal('getrawmempool', ['some'])).toMatchObject({ code: -32602 })
  })

  test('lists those of addresses, with those of which they spend outputs', async () => {
    const first = await node.send(await node.transfer(testAddress(12), 500n))
    const second = await node.send(await node.transfer(testAddress(13), 500n))
    const third = await node.send(await node.transfer(testAddress(12), 500n, 11))
    const idsOf = async (...people: number[]) => {
      const found = await rpc.call<{ txid: string }[]>('getrawmempool', { addresses: people.map(testAddress) })
      return found.map(({ txid }) => txid)
    }
    expect(await idsOf(12)).toEqual([first.txid, third.txid])
    expect(await idsOf(10)).toEqual([first.txid, second.txid])
    expect(await idsOf(11, 11)).toEqual([third.txid])
    expect(await idsOf(14)).toEqual([])
    const last = await node.send(await node.transfer(testAddress(14), 700n, 12))
    const spent = last.inputs.map(({ txid }) => displayHash(txid))
    expect(spent).toContain(third.txid)
    expect(await idsOf(14)).toEqual([first, third, last].map(({ txid }) => txid))
    expect(await rpc.refusal('getrawmempool', { addresses: [] })).toMatchObject({ code: -32602 })
  })

  test('shows no more objects than the limit', async () => {
    const strict = new RpcClient(contextOf(node, { limits: { poolObjects: 1 } }))
    await node.send(await node.transfer(testAddress(12), 500n))
    expect(await strict.call('getrawmempool', ['all'])).toHaveLength(1)
    await node.send(await node.transfer(testAddress(12), 500n))
    expect(await strict.refusal('getrawmempool', ['all'])).toMatchObject({ code: -32005 })
    expect(await strict.call('getrawmempool')).toHaveLength(2)
  })
})

describe('sendrawtransaction', () => {
  test('takes a transaction once', async () => {
    const tx = await node.transfer(testAddress(12), 500n)
    expect(await rpc.call('sendrawtransaction', { data: tx.toHex() })).toBe(tx.txid)
    expect(node.mempool.size).toBe(1)
    const again = await rpc.refusal('sendrawtransaction', [tx.toHex()])
    expect(again).toMatchObject({ code: -32000, message: 'Server error' })
    expect(again.data).toMatch(/^45011 /)
  })

  test('replaces what spends the same unless it says not to', async () => {
    const someone = holder()
    const first = await node.transfer(testAddress(12), 500n)
    const second = await node.carry(someone.create(), someone.did, 10, 50_000n)
    await rpc.call('sendrawtransaction', [first.toHex()])
    const params = { data: second.toHex(), replace: false }
    expect((await rpc.refusal('sendrawtransaction', params)).data).toMatch(/^45010 .* is in the pool$/)
    expect(await rpc.refusal('sendrawtransaction', { ...params, replace: 0 })).toMatchObject({ code: -32602 })
    expect(await rpc.call('sendrawtransaction', { ...params, replace: true })).toBe(second.txid)
    expect([...node.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([second.txid])
  })

  test('names the rule that a transaction breaks', async () => {
    const tx = await node.transfer(testAddress(12), 500n)
    const broken = Buffer.from(tx.bytes)
    broken[broken.length - 40] = (broken[broken.length - 40] as number) ^ 1
    expect((await rpc.refusal('sendrawtransaction', [broken.toString('hex')])).data).toMatch(/^45008 /)
    expect(await rpc.refusal('sendrawtransaction', ['00'])).toMatchObject({
      code: -32000,
      data: expect.stringMatching(/^43001 Invalid transaction: /),
    })
    for (const data of ['', '0', 'zz', '0x00', '000']) {
      expect(await rpc.refusal('sendrawtransaction', [data])).toMatchObject({
        code: -32602,
        data: expect.stringMatching(/^data: /),
      })
    }
    expect(node.mempool.size).toBe(0)
  })
})

describe('decoderawtransaction', () => {
  test('shows what every type says', async () => {
    const someone = holder()
    const did = await node.carry(someone.create(), someone.did)
    const [block] = await node.mine()
    const genesis = node.chain.genesis.transactions
    for (const tx of [await node.transfer(testAddress(12), 1n), did, ...(block?.transactions ?? []), ...genesis]) {
      expect(await rpc.call('decoderawtransaction', { data: tx.toHex() })).toEqual(JSON.parse(JSON.stringify(tx)))
    }
  })

  test('writes a large one like any other', async () => {
    const tx = await node.transfer(testAddress(12), 1n)
    const [input, output, program] = [tx.inputs[0], tx.outputs[0], tx.programs[0]]
    if (input === undefined || output === undefined || program === undefined) throw new Error('an empty transfer')
    const large = new Transaction({
      ...tx,
      inputs: Array.from({ length: 300 }, (_, index) => ({ ...input, index })),
      outputs: Array.from({ length: 300 }, (_, i) => ({ ...output, value: BigInt(i) })),
      programs: Array.from({ length: 30 }, () => program),
    })
    const shown = await rpc.call('decoderawtransaction', [large.toHex()])
    expect(JSON.stringify(shown)).toBe(JSON.stringify(large))
  })

  test('takes one that nobody has signed', async () => {
    const tx = await node.transfer(testAddress(12), 1n)
    const unsigned = new Transaction({ ...tx, programs: [] })
    expect(await rpc.call('decoderawtransaction', [unsigned.toHex()])).toMatchObject({ txid: tx.txid, programs: [] })
  })

  test('refuses what is none', async () => {
    expect((await rpc.refusal('decoderawtransaction', ['00'])).data).toMatch(/^43001 /)
    expect(await rpc.refusal('decoderawtransaction', ['xx'])).toMatchObject({ code: -32602 })
    // As ethers and web3 write hex; 610 digits, or none, are not odd because of it.
    for (const method of ['decoderawtransaction', 'sendrawtransaction']) {
      const { data } = await rpc.refusal(method, [`0x${'00'.repeat(304)}`])
      expect(data).toBe('data: it has to be a transaction in hex: it begins with 0x, which has to be left out here')
    }
    const { data } = await rpc.refusal('getrawtransaction', [`0x${'00'.repeat(32)}`])
    expect(data).toContain('it begins with 0x, which has to be left out here')
  })
})
