import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenProof } from '../../../src/answers/api/http/token-proof.js'
import { hex, toHex } from '../../../src/base/primitives/bytes.js'
import type { DevnetControl } from '../../../src/answers/api/node-handles.js'
import { generateMnemonic } from '../../../src/base/crypto/hd.js'
import { systemRandom } from '../../../src/base/runtime/system-random.js'
import { devnetMnemonic } from '../../../src/clients/wallet/devnet-accounts.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { contextOf } from '../../support/client/api.js'
import { owner, RpcClient } from '../../support/client/rpc.js'

let node: TestChain
beforeAll(async () => {
  node = await TestChain.open(oneValidator())
  await node.mine(2)
})
afterAll(() => node.close())

const adminToken = new Uint8Array(32).fill(7)
const nonce = 'ab'.repeat(32)
const stranger = { ...owner, strangerRefusal: 'who are you', adminRefusal: 'who are you' }

describe('getchaininfo', () => {
  test('tells the chain, its tip and the rules of its next block', async () => {
    const { spec, genesis, tip } = node.chain
    expect(await new RpcClient(contextOf(node)).call('getchaininfo')).toMatchObject({
      ...{ name: spec.name, devnet: spec.devnet, genesis: genesis.hash, digest: toHex(spec.digest) },
      ...{ height: 2, hash: tip.header.id, validators: 1, quorum: 1, maturity: spec.maturity, coin: 'ELA' },
    })
  })
})

describe('provetoken', () => {
  const rpc = () => new RpcClient(contextOf(node, { adminToken, dataDir: '/data' }))

  test('proves the token for the place that was reached, and names the directory on this machine', async () => {
    expect(await rpc().call('provetoken', { nonce })).toEqual({
      proof: toHex(tokenProof(adminToken, hex(nonce), owner.place)),
      datadir: '/data',
    })
  })

  test('names no directory to others', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'provetoken', params: { nonce } })
    expect((await rpc().askText(body, stranger)).result).toMatchObject({ datadir: null })
  })

  test('is refused to pages of other sites, without a nonce, and where there is no token', async () => {
    const page = { ...owner, controlRefusal: 'a page' }
    expect(await rpc().refusal('provetoken', { nonce }, page)).toMatchObject({ code: -32010 })
    for (const bad of ['', 'ab', 'x'.repeat(64), 7]) {
      expect(await rpc().refusal('provetoken', { nonce: bad })).toMatchObject({ code: -32602 })
    }
    expect(await new RpcClient(contextOf(node)).refusal('provetoken', { nonce })).toMatchObject({ code: -32601 })
  })
})

describe('dev_keys', () => {
  const rpc = (mnemonic: string) =>
    new RpcClient(contextOf(node, { devnet: { mnemonic, accounts: [] } as unknown as DevnetControl }))

  test('tells another mnemonic than that of every devnet to this machine alone', async () => {
    const own = generateMnemonic(systemRandom)
    expect(await rpc(own).call('dev_keys')).toEqual({ mnemonic: own, keys: [] })
    const refusal = await rpc(own).refusal('dev_keys', {}, stranger)
    expect(refusal).toMatchObject({ code: -32010, data: expect.stringContaining('who are you') as string })
    expect(JSON.stringify(refusal)).not.toContain(own)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_keys', params: {} })
    expect((await rpc(devnetMnemonic).askText(body, stranger)).result).toMatchObject({ mnemonic: devnetMnemonic })
  })
})

describe('stop', () => {
  test('asks the program for it, once the owner does', async () => {
    let stopped = 0
    const rpc = new RpcClient(contextOf(node, { adminToken, stop: () => stopped++ }))
    expect(await rpc.refusal('stop', {}, stranger)).toMatchObject({ code: -32010, data: 'stop: who are you' })
    expect(await rpc.refusal('stop', {}, { ...owner, controlRefusal: 'a page' })).toMatchObject({ code: -32010 })
    expect(stopped).toBe(0)
    expect(await rpc.call('stop')).toBe(true)
    expect(stopped).toBe(1)
  })

  test('is refused where the program does not take it', async () => {
    expect(await new RpcClient(contextOf(node)).refusal('stop')).toMatchObject({ code: -32601 })
  })
})
