import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { Block } from '../../../src/base/primitives/block.js'
import { displayHash, hex, toHex } from '../../../src/base/primitives/bytes.js'
import { parseConfirm } from '../../../src/base/primitives/confirm.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { RpcClient } from '../../support/client/rpc.js'
import { testAddress, testPublicKey } from '../../support/builders/spec.js'

const zeros = '0'.repeat(64)

describe('a chain with a validator', () => {
  let node: TestChain
  let rpc: RpcClient
  let server: ApiServer
  let blocks: Block[]

  beforeAll(async () => {
    node = await TestChain.open(oneValidator())
    await node.send(await node.transfer(testAddress(12), 500n))
    blocks = await node.mine(3)
    const context = contextOf(node)
    rpc = new RpcClient(context)
    server = await serve(context)
  })
  afterAll(async () => {
    await server.close()
    await node.close()
  })

  const rest = async (path: string) => {
    const body = (await ask(server.port, `/api/v1/${path}`)).body as { Result?: unknown; result?: unknown }
    return body.Result ?? body.result
  }

  test('counts its blocks', async () => {
    expect(await rpc.call('getblockcount')).toBe(4)
    expect(await rpc.call('getcurrentheight', [])).toBe(3)
    expect(await rpc.call('getbestblockhash', null)).toBe(blocks[2]?.hash)
  })

  test('names the block at a height', async () => {
    expect(await rpc.call('getblockhash', { height: 0 })).toBe(node.chain.genesis.hash)
    expect(await rpc.call('getblockhash', [2])).toBe(blocks[1]?.hash)
    expect(await rpc.refusal('getblockhash', [4])).toMatchObject({ code: -32004, data: expect.stringContaining('3') })
  })

  test('leaves out what is null in a list of parameters, where it may be missing', async () => {
    const last = await rpc.call('listblocks', { limit: 1 })
    expect(await rpc.call('listblocks', [null, 1])).toEqual(last)
    expect(await rpc.call('listblocks', [null, null])).toEqual(await rpc.call('listblocks'))
    expect(await rpc.refusal('getblockhash', [null])).toMatchObject({
      code: -32602,
      data: expect.stringMatching(/^height: /),
    })
    expect(await rpc.refusal('listblocks', { before: null })).toMatchObject({ code: -32602 })
    expect(await rpc.refusal('getblockcount', [null])).toMatchObject({ code: -32602 })
  })

  test('shows a block as bytes, with ids, and whole', async () => {
    const [block] = blocks as [Block]
    const blockhash = block.hash
    expect(await rpc.call('getblock', { blockhash, verbosity: 0 })).toBe(block.toHex())
    expect(await rpc.call('getblock', [blockhash])).toEqual(await rest(`block/details/hash/${blockhash}`))
    expect(await rpc.call('getblock', [blockhash.toUpperCase(), 1])).toMatchObject({ hash: blockhash })
    const whole = await rpc.call('getblock', { blockhash, verbosity: 2 })
    expect(whole).toEqual(await rest('block/details/height/1'))
    expect(await rpc.call('getblockbyheight', { height: 1 })).toEqual(whole)
    expect(Block.fromHex(await rpc.call('getblock', [node.chain.genesis.hash, 0])).hash).toBe(node.chain.genesis.hash)
    expect(await rpc.refusal('getblock', [zeros])).toMatchObject({ code: -32004 })
    expect(await rpc.refusal('getblockbyheight', [4])).toMatchObject({ code: -32004 })
  })

  test('shows who confirmed a block', async () => {
    const [block] = blocks as [Block]
    const confirm = await rpc.call('getconfirmbyheight', { height: 1 })
    expect(confirm).toEqual(await rest('confirm/details/height/1'))
    expect(await rpc.call('getconfirmbyhash', [block.hash, 1])).toEqual(confirm)
    const bytes = await rpc.call<string>('getconfirmbyhash', [block.hash, 0])
    expect(displayHash(parseConfirm(hex(bytes)).proposal.blockHash)).toBe(block.hash)
    expect(await rpc.call('getconfirmbyheight', [1, 0])).toBe(bytes)
    expect(await rpc.refusal('getconfirmbyheight', [0])).toMatchObject({ code: -32004 })
    expect(await rpc.refusal('getconfirmbyhash', [zeros])).toMatchObject({ code: -32004 })
  })

  test('names its validators', async () => {
    const key = toHex(testPublicKey(0))
    expect(await rpc.call('getarbitersinfo')).toEqual({
      height: 4,
      arbiters: [key],
      candidates: [],
      nextarbiters: [key],
      nextcandidates: [],
      ondutyarbiter: key,
      currentturnstartheight: 0,
      nextturnstartheight: null,
      view: 0,
      step: null,
      signing: 'no-key',
      alarm: null,
      ...{ validators: 1, quorum: 1, heard: 0 },
      votes: [{ publickey: key, heard: false, prevote: false, precommit: false }],
    })
  })
})

test('validators that change are announced', async () => {
  const keys = [0, 1, 2].map((person) => toHex(testPublicKey(person)))
  const [first, second, third] = keys as [string, string, string]
  const node = await TestChain.open({
    validators: [first],
    upgrades: [
      { height: 1, name: 'fees', parameters: { fees: { minimum: '200', perByte: '1' } } },
      { height: 3, name: 'more', parameters: { validators: [second, third] } },
    ],
  })
  const rpc = new RpcClient(contextOf(node))
  expect(await rpc.call('getarbitersinfo')).toMatchObject({
    arbiters: [first],
    nextarbiters: [second, third],
    currentturnstartheight: 0,
    nextturnstartheight: 3,
  })
  await node.mine(2)
  expect(await rpc.call('getarbitersinfo')).toMatchObject({
    arbiters: [second, third],
    nextarbiters: [second, third],
    // The duty goes round by height: 3 mod 2.
    ondutyarbiter: third,
    currentturnstartheight: 3,
    nextturnstartheight: null,
  })
  await node.close()
})

test('a chain without validators has no confirms, and shows blocks that lost', async () => {
  const node = await TestChain.open()
  const rival = await TestChain.open()
  const rpc = new RpcClient(contextOf(node))
  const [lost] = (await node.mine()) as [Block]
  expect(await rpc.refusal('getconfirmbyheight', [1])).toMatchObject({ code: -32004 })
  expect(await rpc.call('getarbitersinfo')).toMatchObject({
    ...{ arbiters: [], ondutyarbiter: '', validators: 0, quorum: 0, heard: 0, votes: [] },
  })
  for (const block of await rival.mine(2)) await node.accept(block)
  expect(await rpc.call('getblockcount')).toBe(3)
  expect(await rpc.call('getblock', [lost.hash])).toMatchObject({ confirmations: 0, nextblockhash: zeros })
  expect(await rpc.call('getblock', [lost.hash, 0])).toBe(lost.toHex())
  await node.close()
  await rival.close()
})
