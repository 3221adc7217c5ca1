import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { NodeInfo } from '../../../src/answers/api/node-handles.js'
import { Block } from '../../../src/base/primitives/block.js'
import { displayHash, toHex } from '../../../src/base/primitives/bytes.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { ask, askJson, contextOf, serve, testNodeInfo } from '../../support/client/api.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { expectRestAnswer } from '../../support/assert/schema.js'
import { testAddress, testPublicKey } from '../../support/builders/spec.js'

const zeros = '0'.repeat(64)
const hex64 = /^[0-9a-f]{64}$/
const integer = expect.any(Number) as number
const text = expect.any(String) as string

const transactionMembers = [
  ...['txid', 'hash', 'size', 'vsize', 'version', 'locktime', 'vin', 'vout', 'blockhash', 'confirmations', 'time'],
  ...['blocktime', 'type', 'payloadversion', 'payload', 'attributes', 'programs'],
]
const blockMembers = [
  ...['hash', 'confirmations', 'strippedsize', 'size', 'weight', 'height', 'version', 'versionhex', 'merkleroot', 'tx'],
  ...['time', 'mediantime', 'nonce', 'bits', 'difficulty', 'chainwork', 'previousblockhash', 'nextblockhash', 'auxpow'],
]
const stateMembers = [
  ...['Compile', 'ID', 'HexID', 'Height', 'Version', 'Services', 'Relay', 'TxnCnt', 'RxTxnCnt', 'Port', 'PRCPort'],
  ...['RestPort', 'WSPort', 'OpenPort', 'OpenService', 'Neighbors'],
]

interface TxJson {
  txid: string
  vin: object[]
  vout: object[]
  attributes: object[]
  programs: object[]
  blockhash: string
  confirmations: number
  time: number
  blocktime: number
  payload: unknown
  type: number
}
interface BlockJson extends Record<string, unknown> {
  hash: string
  tx: (TxJson | string)[]
  auxpow: string
}

function expectTransaction(tx: TxJson): void {
  expect(Object.keys(tx)).toEqual(transactionMembers)
  expect(tx).toMatchObject({
    txid: expect.stringMatching(hex64),
    hash: tx.txid,
    size: integer,
    vsize: integer,
    version: integer,
    locktime: integer,
    blockhash: text,
    confirmations: integer,
    time: tx.blocktime,
    type: integer,
    payloadversion: integer,
    payload: expect.any(Object),
  })
  for (const input of tx.vin) {
    expect(Object.keys(input)).toEqual(['txid', 'vout', 'sequence'])
    expect(input).toEqual({ txid: expect.stringMatching(hex64), vout: integer, sequence: integer })
  }
  tx.vout.forEach((output, n) => {
    expect(Object.keys(output)).toEqual(['value', 'n', 'address', 'assetid', 'outputlock'])
    expect(output).toEqual({
      value: expect.stringMatching(/^\d+\.\d{8}$/),
      n,
      address: text,
      assetid: expect.stringMatching(hex64),
      outputlock: integer,
    })
  })
  for (const attribute of tx.attributes) {
    expect(Object.keys(attribute)).toEqual(['usage', 'data'])
    expect(attribute).toEqual({ usage: integer, data: expect.stringMatching(/^([0-9a-f]{2})*$/) })
  }
  for (const program of tx.programs) {
    expect(Object.keys(program)).toEqual(['code', 'parameter'])
    expect(program).toEqual({
      code: expect.stringMatching(/^[0-9a-f]+$/),
      parameter: expect.stringMatching(/^[0-9a-f]+$/),
    })
  }
}

function expectBlock(block: BlockJson): void {
  expect(Object.keys(block)).toEqual(blockMembers)
  expect(block).toMatchObject({
    hash: expect.stringMatching(hex64),
    confirmations: integer,
    strippedsize: block['size'],
    size: integer,
    weight: 4 * (block['size'] as number),
    height: integer,
    version: integer,
    versionhex: expect.stringMatching(/^[0-9a-f]{8}$/),
    merkleroot: expect.stringMatching(hex64),
    tx: expect.any(Array),
    time: integer,
    mediantime: integer,
    nonce: integer,
    bits: integer,
    difficulty: expect.stringMatching(/^\d+$/),
    chainwork: expect.stringMatching(hex64),
    previousblockhash: expect.stringMatching(hex64),
    nextblockhash: expect.stringMatching(hex64),
    auxpow: expect.stringMatching(/^([0-9a-f]{2})+$/),
  })
}

/** The `Result` of a success, whose envelope is checked. */
async function get<T>(port: number, path: string): Promise<T> {
  const answer = await ask(port, `/api/v1/${path}`)
  const { status, body, headers } = answer
  expectRestAnswer(`/api/v1/${path}`, answer)
  expect([path, status, (body as { Desc: string }).Desc]).toEqual([path, 200, 'Success'])
  expect(Object.keys(body as object)).toEqual(['Desc', 'Error', 'Result'])
  expect((body as { Error: number }).Error).toBe(0)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['access-control-allow-origin']).toBe('*')
  return (body as { Result: T }).Result
}

async function fails(port: number, path: string): Promise<[number, number]> {
  const answer = await ask(port, `/api/v1/${path}`)
  const { status, body } = answer
  expectRestAnswer(`/api/v1/${path}`, answer)
  const { Error: code, Result } = body as { Error: number; Result: string }
  expect(Object.keys(body as object)).toEqual(['Desc', 'Error', 'Result'])
  expect(Result).not.toBe('')
  return [status, code]
}

describe('a chain with a validator', () => {
  let node: TestChain
  let server: ApiServer
  let info: NodeInfo = testNodeInfo
  let blocks: Block[]
  let transfer: Transaction
  let create: string

  beforeAll(async () => {
    node = await TestChain.open(oneValidator())
    server = await serve(contextOf(node, { nodeInfo: () => info }))
    blocks = await node.mine(12)
    transfer = await node.transfer(testAddress(12), 123_456_789n)
    await node.mempool.accept(transfer.bytes, { local: true })
    blocks.push(...(await node.mine()))
    const person = holder()
    create = await node.publish(person.create(), person.did)
    await node.mine()
  })
  afterAll(async () => {
    await server.close()
    await node.close()
  })
  const at = <T>(path: string) => get<T>(server.port, path)

  test('node/connectioncount and node/state', async () => {
    expect(await at('node/connectioncount')).toBe(0)
    const state = await at<Record<string, unknown>>('node/state')
    expect(Object.keys(state)).toEqual(stateMembers)
    expect(state).toEqual({
      Compile: '0.1.0-test',
      ID: 0x1234567890abc,
      HexID: '0x1234567890abc',
      Height: 15,
      Version: 2,
      Services: 1,
      Relay: true,
      TxnCnt: 5,
      RxTxnCnt: 7,
      Port: 0,
      PRCPort: 20336,
      RestPort: 20334,
      WSPort: 0,
      OpenPort: 0,
      OpenService: false,
      Neighbors: [],
    })
    const neighbor = {
      id: 2 ** 53 - 1,
      name: 'x',
      height: 9,
      services: 1,
      relay: false,
      external: true,
      address: '[::1]:20338',
    }
    info = { ...testNodeInfo, neighbors: [neighbor] }
    const [shown] = (await at<{ Neighbors: object[] }>('node/state')).Neighbors
    info = testNodeInfo
    expect(Object.entries(shown as object)).toEqual([
      ['ID', 9007199254740991],
      ['HexID', '0x1fffffffffffff'],
      ['Height', 9],
      ['Services', 1],
      ['Relay', false],
      ['External', true],
      ['State', 'ESTABLISH'],
      ['NetAddress', '[::1]:20338'],
    ])
  })

  test('block/height and block/hash', async () => {
    expect(await at('block/height')).toBe(15)
    expect(await at('block/hash/0')).toBe(node.chain.genesis.hash)
    expect(await at('block/hash/1')).toBe(blocks[0]?.hash)
    expect(await fails(server.port, 'block/hash/16')).toEqual([404, 44003])
    expect(await fails(server.port, 'block/hash/4294967295')).toEqual([404, 44003])
  })

  test('block details by height hold whole transactions', async () => {
    const block = await at<BlockJson>('block/details/height/13')
    expectBlock(block)
    const own = blocks[12] as Block
    expect(block).toMatchObject({
      hash: own.hash,
      confirmations: 3,
      size: own.bytes.length,
      height: 13,
      versionhex: '00000000',
      merkleroot: displayHash(own.header.merkleRoot),
      time: own.header.time,
      mediantime: (blocks[7] as Block).header.time,
      bits: 0x207fffff,
      difficulty: '1',
      chainwork: (2n * 14n).toString(16).padStart(64, '0'),
      previousblockhash: blocks[11]?.hash,
      nextblockhash: await at('block/hash/14'),
    })
    // The header of 84 bytes, the AuxPow, the byte 01.
    expect(toHex(own.bytes.subarray(84)).startsWith(`${block.auxpow}01`)).toBe(true)
    expect(Block.fromBytes(own.bytes).hash).toBe(block.hash)
    const [coinbase, paid] = block.tx as [TxJson, TxJson]
    for (const tx of [coinbase, paid]) {
      expectTransaction(tx)
      expect(tx).toMatchObject({ blockhash: own.hash, confirmations: 3, time: own.header.time })
    }
    expect(coinbase).toMatchObject({
      type: 0,
      payloadversion: 4,
      locktime: 13,
      payload: { CoinbaseData: 'didledger' },
      vin: [{ txid: zeros, vout: 65535, sequence: 4294967295 }],
      programs: [],
    })
    expect(paid.txid).toBe(transfer.txid)
    expect(paid.payload).toEqual({})
  })

  test('by hash they hold ids; the case of the hash does not matter', async () => {
    const own = blocks[12] as Block
    const block = await at<BlockJson>(`block/details/hash/${own.hash}`)
    expectBlock(block)
    expect(block.tx).toEqual(own.transactions.map(({ txid }) => txid))
    const whole = await at<BlockJson>('block/details/height/13')
    expect({ ...block, tx: [] }).toEqual({ ...whole, tx: [] })
    expect(await at(`block/details/hash/${own.hash.toUpperCase()}`)).toEqual(block)
    expect(await fails(server.port, `block/details/hash/${zeros}`)).toEqual([404, 44003])
  })

  test('genesis answers in full, and nothing is before it', async () => {
    const genesis = await at<BlockJson>('block/details/height/0')
    expectBlock(genesis)
    expect(genesis).toMatchObject({
      height: 0,
      confirmations: 16,
      previousblockhash: zeros,
      nextblockhash: blocks[0]?.hash,
    })
    expect(genesis.mediantime).toBe(genesis.time)
    const [coinbase, registration] = genesis.tx as [TxJson, TxJson]
    expect(coinbase.payload).toEqual({ CoinbaseData: `didledger:${toHex(node.spec.digest)}` })
    expect(registration).toMatchObject({
      type: 1,
      txid: displayHash(node.chain.sanity.assetId),
      payload: {
        Asset: { Name: 'ELA', Description: '', Precision: 8, AssetType: 0, RecordType: 0 },
        Amount: '0.00000000',
        Controller: '00'.repeat(21),
      },
    })
  })

  test('nothing is above the tip, until there is', async () => {
    const { hash, nextblockhash, confirmations } = await at<BlockJson>('block/details/height/15')
    expect([nextblockhash, confirmations]).toEqual([zeros, 1])
    const other = await TestChain.open(oneValidator())
    const own = await serve(contextOf(other))
    const [first] = await other.mine()
    // Asked for twice, so that the second answer is the kept one.
    for (let i = 0; i < 2; i++) {
      expect(await get(own.port, 'block/details/height/1')).toMatchObject({ nextblockhash: zeros, confirmations: 1 })
    }
    const [second] = await other.mine()
    for (let i = 0; i < 2; i++) {
      expect(await get(own.port, 'block/details/height/1')).toMatchObject({
        nextblockhash: second?.hash,
        confirmations: 2,
      })
    }
    expect(await get(own.port, `transaction/${first?.transactions[0]?.txid}`)).toMatchObject({ confirmations: 2 })
    await own.close()
    await other.close()
    expect(hash).toBe(node.chain.tip.header.id)
  })

  test('block/transactions', async () => {
    const block = blocks[12] as Block
    const answer = await at<object>('block/transactions/height/13')
    expect(Object.entries(answer)).toEqual([
      ['Hash', block.hash],
      ['Height', 13],
      ['Transactions', block.transactions.map(({ txid }) => txid)],
    ])
    expect(await fails(server.port, 'block/transactions/height/16')).toEqual([404, 44003])
  })

  test('confirms have an envelope of their own, on failure too', async () => {
    const block = blocks[12] as Block
    const key = toHex(testPublicKey(0))
    for (const path of ['height/13', `hash/${block.hash}`]) {
      const { status, text: body } = await ask(server.port, `/api/v1/confirm/details/${path}`)
      expectRestAnswer(`/api/v1/confirm/details/${path}`, { status, body: JSON.parse(body) })
      expect(status).toBe(200)
      expect(body).toBe(
        `{"error":null,"id":null,"jsonrpc":"2.0","result":{"blockhash":"${block.hash}","sponsor":"${key}",` +
          `"viewoffset":0,"votes":[{"signer":"${key}","accept":true}]}}`,
      )
    }
    const rows: [string, number, number, string][] = [
      ['height/0', 404, 44004, 'Unknown Confirm'],
      [`hash/${node.chain.genesis.hash}`, 404, 44004, 'Unknown Confirm'],
      ['height/16', 404, 44003, 'Unknown Block'],
      [`hash/${zeros}`, 404, 44003, 'Unknown Block'],
      ['height/x', 400, 42002, 'Invalid Params'],
      ['hash/x', 400, 42002, 'Invalid Params'],
    ]
    for (const [path, expected, code, message] of rows) {
      const { status, body } = await ask(server.port, `/api/v1/confirm/details/${path}`)
      expectRestAnswer(`/api/v1/confirm/details/${path}`, { status, body })
      expect(status).toBe(expected)
      expect(Object.keys(body as object)).toEqual(['error', 'id', 'jsonrpc', 'result'])
      expect(body).toEqual({ error: { code, message, data: text }, id: null, jsonrpc: '2.0', result: null })
    }
  })

  test('transaction: of the chain, with a DID operation, unknown', async () => {
    const tx = await at<TxJson>(`transaction/${transfer.txid}`)
    expectTransaction(tx)
    expect(tx).toEqual((await at<BlockJson>('block/details/height/13')).tx[1])
    const operation = await at<TxJson>(`transaction/${create.toUpperCase()}`)
    expectTransaction(operation)
    expect(operation.type).toBe(10)
    expect(Object.keys(operation.payload as object)).toEqual(['header', 'payload', 'proof'])
    expect(await fails(server.port, `transaction/${zeros}`)).toEqual([404, 44001])
  })

  test('balances and unspent outputs add up', async () => {
    expect(await at(`asset/balances/${testAddress(12)}`)).toBe('1.23456789')
    expect(await at(`asset/balances/${testAddress(99)}`)).toBe('0.00000000')
    expect(await at(`asset/utxos/${testAddress(99)}`)).toEqual([])
    const asset = displayHash(node.chain.sanity.assetId)
    const item = { Txid: transfer.txid, Index: 0, Value: '1.23456789' }
    const groups = await at<object[]>(`asset/utxos/${testAddress(12)}`)
    expect(groups).toEqual([{ AssetId: asset, AssetName: 'ELA', Utxo: [item] }])
    expect(Object.keys(groups[0] as object)).toEqual(['AssetId', 'AssetName', 'Utxo'])
    const list = await at<object[]>(`asset/utxo/${testAddress(12)}/${asset.toUpperCase()}`)
    expect(list).toEqual([item])
    expect(Object.keys(list[0] as object)).toEqual(['Txid', 'Index', 'Value'])
    expect(await at(`asset/balance/${testAddress(12)}/${asset}`)).toBe('1.23456789')
    expect(await at(`asset/balance/${testAddress(12)}/${zeros}`)).toBe('0.00000000')
    expect(await at(`asset/utxo/${testAddress(12)}/${zeros}`)).toEqual([])
    // Coinbases of every block, immature ones too.
    const mined = await at<[{ Utxo: { Value: string }[] }]>(`asset/utxos/${testAddress(20)}`)
    const sum = mined[0].Utxo.reduce((total, { Value }) => total + BigInt(Value.replace('.', '')), 0n)
    expect(mined[0].Utxo).toHaveLength(15)
    expect(await at(`asset/balances/${testAddress(20)}`)).toBe(sum.toString().replace(/(\d{8})$/, '.$1'))
  })

  test('asset describes the native one whatever is asked', async () => {
    for (const any of [zeros, 'x', '%F0%9F%92%A9', 'balances', '..%2F..']) {
      const asset = await at<object>(`asset/${any}`)
      expect(Object.entries(asset)).toEqual([
        ['Name', 'ELA'],
        ['Description', ''],
        ['Precision', 8],
        ['AssetType', 0],
        ['RecordType', 0],
      ])
    }
  })

  test('queries are not read', async () => {
    expect(await at('block/height?x=%zz&height=3')).toBe(15)
  })

  test('HEAD is answered like GET, without the body', async () => {
    const { status, text: body, headers } = await ask(server.port, '/api/v1/block/hash/0', { method: 'HEAD' })
    expect([status, body]).toEqual([200, ''])
    expect(headers['content-length']).toBe(String((await ask(server.port, '/api/v1/block/hash/0')).text.length))
  })
})

describe('a chain where work decides', () => {
  test('a posted transaction waits in the pool and is mined', async () => {
    const node = await TestChain.open()
    const server = await serve(contextOf(node))
    const at = <T>(path: string) => get<T>(server.port, path)
    expect(await at('transactionpool')).toEqual([])
    const first = await node.transfer(testAddress(12), 1n)
    const sent = await askJson(server.port, '/api/v1/transaction', {
      Action: 'sendrawtransaction',
      data: first.toHex(),
    })
    expect([sent.status, sent.text]).toEqual([200, `{"Desc":"Success","Error":0,"Result":"${first.txid}"}`])
    const pool = await at<TxJson[]>('transactionpool')
    expect(pool).toHaveLength(1)
    const [waiting] = pool as [TxJson]
    expectTransaction(waiting)
    expect(waiting).toMatchObject({ txid: first.txid, blockhash: '', confirmations: 0, time: 0, blocktime: 0 })
    for (let i = 0; i < 2; i++) expect(await at(`transaction/${first.txid}`)).toEqual(waiting)
    // The pool counts for no balance.
    expect(await at(`asset/balances/${testAddress(12)}`)).toBe('0.00000000')
    const second = await node.transfer(testAddress(13), 2n)
    // The member may be spelt as the family's documentation does, and the hex be of either case.
    const request = { Action: 'sendrawtransaction', Data: second.toHex().toUpperCase() }
    expect((await askJson(server.port, '/api/v1/transaction', request)).body).toMatchObject({ Result: second.txid })
    expect((await at<TxJson[]>('transactionpool')).map(({ txid }) => txid)).toEqual([first.txid, second.txid])
    const [block] = await node.mine()
    expect(await at('transactionpool')).toEqual([])
    expect(await at(`transaction/${first.txid}`)).toMatchObject({
      blockhash: block?.hash,
      confirmations: 1,
      time: block?.header.time,
    })
    expect(await at(`asset/balances/${testAddress(12)}`)).toBe('0.00000001')
    await server.close()
    await node.close()
  })

  test('a block off the active chain is still found by its hash', async () => {
    const node = await TestChain.open()
    const rival = await TestChain.open()
    const server = await serve(contextOf(node))
    const own = await node.mine(2)
    const better = await rival.mine(4)
    const before = await get<BlockJson>(server.port, `block/details/hash/${own[0]?.hash}`)
    expect(before).toMatchObject({ confirmations: 2, nextblockhash: own[1]?.hash })
    for (const block of better) await node.chain.acceptBlock(block.bytes)
    const aside = await get<BlockJson>(server.port, `block/details/hash/${own[0]?.hash}`)
    expectBlock(aside)
    expect(aside).toEqual({ ...before, confirmations: 0, nextblockhash: zeros })
    const last = await get<BlockJson>(server.port, `block/details/hash/${own[1]?.hash}`)
    // By its own ancestors: genesis, the block before, itself.
    const times = [node.chain.genesis.header.time, own[0]?.header.time, own[1]?.header.time] as number[]
    expect(last.mediantime).toBe(times.sort((a, b) => a - b)[1])
    expect(await get(server.port, 'block/hash/1')).toBe(better[0]?.hash)
    expect(await get(server.port, 'block/details/height/1')).toMatchObject({ hash: better[0]?.hash, confirmations: 4 })
    // A block that was off the chain from the start.
    const late = await TestChain.open()
    const [stray] = await late.mine()
    await node.chain.acceptBlock((stray as Block).bytes)
    expect(await get(server.port, `block/details/hash/${stray?.hash}`)).toMatchObject({ confirmations: 0, height: 1 })
    const confirm = await ask(server.port, `/api/v1/confirm/details/height/1`)
    expect([confirm.status, (confirm.body as { error: { code: number } }).error.code]).toEqual([404, 44004])
    await server.close()
    for (const chain of [node, rival, late]) await chain.close()
  })

  test('a transaction that left the pool unmined is reported with the reason', async () => {
    const node = await TestChain.open()
    const rival = await TestChain.open()
    const server = await serve(contextOf(node))
    const mine = await node.transfer(testAddress(12), 1n)
    const theirs = await rival.transfer(testAddress(13), 1n)
    await node.mempool.accept(mine.bytes, { local: true })
    await rival.mempool.accept(theirs.bytes, { local: true })
    for (const block of await rival.mine()) await node.chain.acceptBlock(block.bytes)
    const { status, body } = await ask(server.port, `/api/v1/transaction/${mine.txid}`)
    expect(status).toBe(404)
    expect(body).toMatchObject({ Error: 44001, Result: expect.stringContaining(theirs.txid) })
    await server.close()
    await node.close()
    await rival.close()
  })

  test('answers stay whole while blocks come', async () => {
    const node = await TestChain.open()
    const server = await serve(contextOf(node))
    await node.mine(3)
    let done = false
    const mining = node.mine(30).then(() => (done = true))
    while (!done) {
      const [height, third, tip] = await Promise.all([
        get<number>(server.port, 'block/height'),
        get<BlockJson>(server.port, 'block/details/height/3'),
        get<BlockJson>(server.port, `block/details/height/${node.reader.height}`),
      ])
      expect(third['confirmations'] as number).toBeGreaterThanOrEqual(height - 2)
      expect((tip['nextblockhash'] === zeros) === (tip['confirmations'] === 1)).toBe(true)
      for (const tx of third.tx as TxJson[]) expect(tx.confirmations).toBe(third['confirmations'])
    }
    await mining
    await server.close()
    await node.close()
  })
})
