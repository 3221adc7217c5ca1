import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import { ChainReader } from '../../../src/ledger/chain/reader.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { formatAmount } from '../../../src/base/primitives/amount.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Reader, Writer } from '../../../src/base/primitives/codec.js'
import { txType } from '../../../src/base/primitives/payload.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import type { Outpoint } from '../../../src/base/primitives/transaction-fields.js'
import { TestChain } from '../../support/builders/chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { plainForm } from '../../support/assert/plain-form.js'
import { contextOf } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'

const zeros = '0'.repeat(64)

let node: TestChain
let rpc: RpcClient

beforeEach(async () => {
  node = await TestChain.open()
  rpc = new RpcClient(contextOf(node))
})
afterEach(() => {
  vi.restoreAllMocks()
  return node.close()
})

describe('createrawtransaction', () => {
  const inputs = [{ txid: `${'0'.repeat(62)}ff`, vout: 3 }]
  const outputs = [
    { address: testAddress(12), amount: '1.5' },
    { address: testAddress(13), amount: '0.00000001' },
  ]

  test.each([
    ['arrays', { inputs, outputs, locktime: 7 }],
    [
      'texts, as ela-cli sends them',
      { inputs: JSON.stringify(inputs), outputs: JSON.stringify(outputs), locktime: '7' },
    ],
    ['a list of parameters', [inputs, outputs, 7]],
    ['arrays with decimal texts', { inputs: [{ ...inputs[0], vout: '3' }], outputs, locktime: '7' }],
    [
      'texts with decimal texts',
      { inputs: JSON.stringify([{ ...inputs[0], vout: '3' }]), outputs: JSON.stringify(outputs), locktime: '7' },
    ],
  ])('builds a transfer without programs, from %s', async (_, params) => {
    const hex = await rpc.call<string>('createrawtransaction', params)
    const { version, payload, attributes, programs, lockTime, ...tx } = Transaction.fromHex(hex)
    expect({ version, payload, attributes, programs, lockTime }).toEqual({
      version: 9,
      payload: { type: 2 },
      attributes: [],
      programs: [],
      lockTime: 7,
    })
    const txid = new Uint8Array(32)
    txid[0] = 0xff
    const inputs = tx.inputs.map(({ txid, index, sequence }) => ({ txid, index, sequence }))
    expect(plainForm(inputs)).toEqual(plainForm([{ txid, index: 3, sequence: 0 }]))
    expect(tx.outputs.map(({ value, outputLock, extra }) => [value, outputLock, extra?.type])).toEqual([
      [150_000_000n, 0, 0],
      [1n, 0, 0],
    ])
  })

  test.each([
    ['no input', { inputs: [], outputs, locktime: 0 }, 'inputs'],
    ['no locktime', { inputs, outputs }, 'locktime'],
    ['a text that is no JSON', { inputs: '[', outputs, locktime: 0 }, 'inputs'],
    ['a text of something else', { inputs: '{}', outputs, locktime: 0 }, 'inputs'],
    ['an output of nothing', { inputs, outputs: [{ address: testAddress(1), amount: '0' }], locktime: 0 }, 'outputs'],
    [
      'an address that is none',
      { inputs, outputs: [{ address: 'E'.repeat(34), amount: '1' }], locktime: 0 },
      'outputs',
    ],
    ['1001 inputs', { inputs: Array(1001).fill(inputs[0]), outputs, locktime: 0 }, 'inputs'],
    ['1001 inputs in a text', { inputs: JSON.stringify(Array(1001).fill(inputs[0])), outputs, locktime: 0 }, 'inputs'],
    [
      'a text beyond 256 KiB',
      { inputs: JSON.stringify(inputs).padEnd(256 * 1024 + 1), outputs, locktime: 0 },
      'inputs',
    ],
    ...['65536', '03', '-1', '1.0', '', '9'.repeat(400)].flatMap((vout): [string, object, string][] => [
      [`an output number of ${vout.slice(0, 9)}`, { inputs: [{ ...inputs[0], vout }], outputs, locktime: 0 }, 'inputs'],
      [
        `an output number of ${vout.slice(0, 9)} in a text`,
        { inputs: JSON.stringify([{ ...inputs[0], vout }]), outputs, locktime: 0 },
        'inputs',
      ],
    ]),
    ['a locktime beyond 32 bits', { inputs, outputs, locktime: '4294967296' }, 'locktime'],
  ])('refuses %s', async (_, params, name) => {
    const refusal = await rpc.refusal('createrawtransaction', params)
    expect(refusal).toMatchObject({ code: -32602, data: expect.stringContaining(name) })
  })
})

describe('getamountbyinputs', () => {
  const encoded = (outpoints: readonly Outpoint[]) => {
    const writer = new Writer()
    return toHex(writer.list(outpoints, ({ txid, index }) => writer.bytes(txid).u16(index).u32(0)).finish())
  }

  test('adds up what is unspent and what was spent', async () => {
    const first = await node.send(await node.transfer(testAddress(12), 5000n))
    await node.mine()
    const second = await node.send(await node.transfer(testAddress(13), 300n, 12))
    await node.mine()
    const inputs = [
      { txid: first.hash, index: 0 },
      { txid: second.hash, index: 0 },
    ]
    const values = [first.outputs[0]?.value, second.outputs[0]?.value].map(Number)
    const sum = ((values[0] as number) + (values[1] as number)) / 1e8
    expect(await rpc.call('getamountbyinputs', { inputs: encoded(inputs) })).toBe(sum.toFixed(8))
    expect(await rpc.call('getamountbyinputs', [encoded([])])).toBe('0.00000000')
  })

  test('decodes a transaction once, however many inputs name its spent outputs', async () => {
    const { hash, outputs } = await node.send(await node.transfer(testAddress(12), 5000n))
    await node.mine()
    await node.send(await node.transfer(testAddress(13), 300n, 12))
    await node.send(await node.transfer(testAddress(13), 300n))
    await node.mine()
    const inputs = Array.from({ length: 1000 }, (_, i) => ({ txid: hash, index: i % 2 }))
    const sum = 500n * ((outputs[0]?.value ?? 0n) + (outputs[1]?.value ?? 0n))
    const decodes = vi.spyOn(Transaction, 'fromBytesSteps')
    expect(await rpc.call('getamountbyinputs', { inputs: encoded(inputs) })).toBe(formatAmount(sum))
    expect(decodes).toHaveBeenCalledTimes(1)
  })

  test('decodes as many bytes as the limit allows, and refuses a request for more', async () => {
    const third = withBytes(Math.floor(apiLimits.amountTransactions / 3))
    const inputs = [1, 2, 3].map((fill) => ({ txid: new Uint8Array(32).fill(fill), index: 0 }))
    const decodes = vi.spyOn(Transaction, 'fromBytesSteps')
    const read = vi.spyOn(ChainReader.prototype, 'transactionBytes')
    const located = (bytes: Uint8Array) => ({ bytes, height: 0, index: 0, block: node.chain.tip })
    read.mockReturnValue(located(third))
    expect(await rpc.call('getamountbyinputs', { inputs: encoded(inputs) })).toBe('0.00000003')
    expect(decodes).toHaveBeenCalledTimes(3)

    read.mockReturnValue(located(withBytes(third.length + 1)))
    expect(await rpc.refusal('getamountbyinputs', { inputs: encoded(inputs) })).toMatchObject({
      code: -32602,
      data: expect.stringContaining(`${apiLimits.amountTransactions} bytes`),
    })
    expect(decodes).toHaveBeenCalledTimes(5)
  })

  test('knows neither other transactions nor outputs that they have not', async () => {
    const { hash } = await node.send(await node.transfer(testAddress(12), 500n))
    await node.mine()
    for (const outpoint of [
      { txid: new Uint8Array(32), index: 0 },
      { txid: hash, index: 99 },
    ]) {
      expect(await rpc.refusal('getamountbyinputs', [encoded([outpoint])])).toMatchObject({ code: -32002 })
    }
  })

  test.each([
    ['no hex', 'xyz'],
    ['an odd number of digits', '010'],
    ['fewer inputs than it says', `02${zeros}`],
    ['more bytes', `01${zeros}${'0'.repeat(14)}`],
  ])('refuses %s', async (_, text) => {
    expect(await rpc.refusal('getamountbyinputs', [text])).toMatchObject({ code: -32602 })
  })

  test('refuses more than 1000', async () => {
    const many = Array.from({ length: 1001 }, (_, index) => ({ txid: new Uint8Array(32), index }))
    expect(await rpc.refusal('getamountbyinputs', [encoded(many)])).toMatchObject({
      code: -32602,
      data: expect.stringContaining('at most 1000'),
    })
    // Its length says it: nothing is decoded.
    const parse = vi.spyOn(Reader.prototype, 'list')
    await rpc.refusal('getamountbyinputs', [encoded(many)])
    expect(parse).not.toHaveBeenCalled()
    expect(await rpc.call('getamountbyinputs', [encoded([])])).toBe('0.00000000')
    expect(parse).toHaveBeenCalled()
  })
})

/** An encoded transaction of so many bytes that pays 0.00000001. */
function withBytes(length: number): Uint8Array {
  const make = (memo: number) =>
    new Transaction({
      version: 9,
      payloadVersion: 0,
      payload: { type: txType.transfer },
      attributes: [{ usage: 0x81, data: new Uint8Array(memo) }],
      inputs: [],
      outputs: [
        {
          assetId: node.chain.sanity.assetId,
          value: 1n,
          outputLock: 0,
          programHash: parseAddress(testAddress(1)) as ProgramHash,
          extra: { type: 0, payload: new Uint8Array(0) },
        },
      ],
      lockTime: 0,
      programs: [],
    }).bytes
  // A memo of nearly the right size: its length is written in as many bytes.
  return make(length - (make(length).length - length))
}

describe('what older clients ask for', () => {
  test('getinfo tells the height, and zero of what is not there', async () => {
    await node.mine()
    expect(await rpc.call('getinfo')).toMatchObject({
      ...{ blocks: 1, balance: 0, connections: 0, errors: '' },
      policy: { ancestors: 25, didoperations: 8, replacements: 16 },
    })
  })

  test('getinfo and getfeerate tell what the pool asks for a byte', async () => {
    expect(await rpc.call('getinfo')).toMatchObject({ relayfee: 0, feefloor: '0' })
    expect(await rpc.call('getfeerate')).toEqual({ floor: '0', perkilobyte: 0 })
    const asked = vi.spyOn(node.mempool, 'floor', 'get').mockReturnValue(3105)
    expect(await rpc.call('getinfo')).toMatchObject({ relayfee: 0.00003105, feefloor: '3.105' })
    expect(await rpc.call('getfeerate')).toEqual({ floor: '3.105', perkilobyte: 3105 })
    expect(await rpc.call('estimatesmartfee', [6])).toBe(10_000)
    asked.mockReturnValue(50_000)
    const usual = await rpc.call<number>('estimatesmartfee', [6])
    expect(usual).toBeGreaterThan(50_000)
    expect(await rpc.call('estimatesmartfee', [0])).toBe(2 * usual)
    asked.mockRestore()
  })

  test('help names merged mining first, then every method', async () => {
    const lines = (await rpc.call<string>('help')).split('\n')
    expect(lines[0]).toBe('createauxblock==submitauxblock')
    expect(lines.slice(1)).toEqual(expect.arrayContaining(['help', 'getinfo', 'resolvedid', 'createauxblock']))
  })

  test('integers may be decimal texts, in their range', async () => {
    await node.mine()
    const hash = await rpc.call('getblockhash', { height: 1 })
    expect(await rpc.call('getblockhash', { height: '1' })).toBe(hash)
    expect(await rpc.call('getblockhash', ['1'])).toBe(hash)
    for (const height of ['01', '+1', '-1', '1.0', '1e0', '', ' 1', '4294967296', '9'.repeat(400)]) {
      expect(await rpc.refusal('getblockhash', { height })).toMatchObject({ code: -32602 })
    }
  })
})
