import { afterEach, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { KnownHeader } from '../../../src/ledger/chain/header-index.js'
import { askJson, contextOf, serve } from '../../support/client/api.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { operationPaying, recordPaying } from '../../support/builders/priced.js'
import { RpcClient } from '../../support/client/rpc.js'

/** Prices of bytes and leaves, by the rules of a chain and by the policy of a pool, as clients and other nodes meet them. */

const priced = { fees: { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' } }
const unpriced = { fees: { minimum: '100', perByte: '0' } }

let server: ApiServer | undefined
let test: TestChain
afterEach(async () => {
  await server?.close()
  server = undefined
  await test.close()
})

const open = async (fees: object) => {
  test = await TestChain.open({ ...withoutValidators, ...fees })
  return test
}

/** Answer of REST to a transaction: its code, and a reason or the id. */
async function post(bytes: Uint8Array): Promise<{ Error: number; Result: string }> {
  server ??= await serve(contextOf(test))
  const body = { Action: 'sendrawtransaction', data: Buffer.from(bytes).toString('hex') }
  return (await askJson(server.port, '/api/v1/transaction', body)).body as { Error: number; Result: string }
}

describe.each([
  ['by rule', priced, 45006, 'the least is'],
  ['by policy', unpriced, 45024, 'this node asks'],
] as const)('over REST and JSON-RPC, %s', (_, fees, code, says) => {
  it('1,024 bytes cost the minimum, each further one 1 more, and a refusal says what is needed', async () => {
    await open(fees)
    const short = await post(recordPaying(test, 1025, 100n).bytes)
    expect(short).toMatchObject({
      Error: code,
      Result: expect.stringContaining(`${says} 101: 100, and 1 for each of 1 bytes beyond 1024`) as string,
    })
    expect(await post(recordPaying(test, 1024, 99n).bytes)).toMatchObject({ Error: 45006 })
    const rpc = new RpcClient(contextOf(test))
    const refusal = await rpc.refusal('sendrawtransaction', [recordPaying(test, 3000, 2075n).toHex()])
    expect(refusal).toMatchObject({ code: -32000, data: expect.stringContaining(`${says} 2076`) as string })
    const taken = recordPaying(test, 1025, 101n)
    expect(await post(taken.bytes)).toMatchObject({ Error: 0, Result: taken.txid })
  })

  it('a revoke of a credential that is not declared costs a leaf, also while a revoke by another waits', async () => {
    await open(fees)
    const [ada, bob, eve] = [holder(), holder(), holder()]
    for (const one of [ada, bob]) await test.publish(one.create(), one.did)
    const id = `${eve.did}#any`
    for (const one of [ada, bob]) {
      const revoke = { operation: one.revoke(id), did: one.did }
      const low = await post((await operationPaying(test, revoke, -1n)).bytes)
      expect(low).toMatchObject({
        Error: code,
        Result: expect.stringContaining('1200 for what stays in the state') as string,
      })
      expect(await post((await operationPaying(test, revoke, 0n)).bytes)).toMatchObject({ Error: 0 })
    }
  })

  it('a holder’s revoke costs no leaf once its declare waits in the pool', async () => {
    await open(fees)
    const ada = holder()
    await test.publish(ada.create(), ada.did)
    const declare = await test.carry(ada.declare(ada.issue(ada.did)), ada.did)
    await test.send(declare)
    const revoke = { operation: ada.revoke(`${ada.did}#profile`), did: ada.did }
    expect(await post((await operationPaying(test, revoke, -1201n)).bytes)).toMatchObject({ Error: 45006 })
    expect(await post((await operationPaying(test, revoke, -1200n)).bytes)).toMatchObject({ Error: 0 })
  })
})

describe('the price of a pool', () => {
  it('is no rule: a block with what it refuses is valid, and what was mined returns when the block is left', async () => {
    await open(unpriced)
    const cheap = recordPaying(test, 5000, 100n)
    await expect(test.send(cheap)).rejects.toMatchObject({ code: 'fee-too-low' })
    await test.accept(craftBlock(test.chain, { transactions: [cheap], fees: 100n }))
    expect(test.reader.transaction(cheap.hash)?.height).toBe(1)
    const { genesis } = test.chain
    const parent = test.chain.headers.get(genesis.header.hash) as KnownHeader
    const rival = craftBlock(test.chain, { parent })
    await test.accept(rival)
    const known = test.chain.headers.get(rival.header.hash) as KnownHeader
    await test.accept(craftBlock(test.chain, { parent: known }))
    await test.mempool.settled()
    expect(test.reader.height).toBe(2)
    expect(test.mempool.get(cheap.hash)?.fee).toBe(100n)
  })

  it('is one where the spec says so: the block is refused', async () => {
    await open(priced)
    for (const [fee, outcome] of [
      [4075n, 'tx-fee'],
      [4076n, undefined],
    ] as const) {
      const block = craftBlock(test.chain, { transactions: [recordPaying(test, 5000, fee)], fees: fee })
      const refusal = await test.accept(block).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect((refusal as { code?: string } | undefined)?.code).toBe(outcome)
    }
  })

  it('gives way to that of the rules from the height on at which they have one', async () => {
    const fees = { minimum: '100', perByte: '1', freeBytes: 4000, leaf: '1200' }
    await open({ ...unpriced, upgrades: [{ height: 2, name: 'prices', parameters: { fees } }] })
    const cheap = recordPaying(test, 4000, 100n)
    await expect(test.send(cheap)).rejects.toMatchObject({ code: 'fee-too-low' })
    await test.mine()
    await expect(test.send(recordPaying(test, 4001, 100n))).rejects.toMatchObject({ code: 'tx-fee' })
    await test.send(cheap)
  })
})
