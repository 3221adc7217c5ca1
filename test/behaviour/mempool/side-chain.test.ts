import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import type { SideChainPow } from '../../../src/base/primitives/payload.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { sideChainPow } from '../../rules/transaction.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { craft, outputOf } from '../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'

const validated = { ...oneValidator(), producer: 'sponsor' }
const open = () => TestChain.open(validated)
const waiting = (test: TestChain) => [...test.mempool.entries()].map(({ transaction }) => transaction.txid)

/** A proof of block `blockHeight` of the side chain, paid with an output of genesis. */
const proof = async (test: TestChain, blockHeight: number, output: 0 | 1, changes: { signer?: number } = {}) =>
  sideChainPow({ blockHeight, sideBlock: blockHeight, output, ...changes })(test)

describe('proofs of side-chain work in the pool', () => {
  it('give way to one of a later block of the same side chain, with what builds on them', async () => {
    const test = await open()
    const first = await test.send(await proof(test, 9, 0))
    const child = await test.send(craft(test.spec, [outputOf(first)], [{ to: 31, value: 99_999_000_000n }], [30]))
    const second = await test.send(await proof(test, 10, 1))
    expect(waiting(test)).toEqual([second.txid])
    for (const gone of [first, child]) expect(test.mempool.droppedReason(gone.hash)).toContain(second.txid)
    await test.mine()
    expect(test.reader.transaction(second.hash)?.height).toBe(1)
  })

  it('do so where both spend the same coin', async () => {
    const test = await open()
    await test.send(await proof(test, 9, 0))
    const second = await test.send(await proof(test, 10, 0))
    expect(waiting(test)).toEqual([second.txid])
  })

  it('stay when the other is of the same block or an earlier one, or is not signed by a validator', async () => {
    const test = await open()
    const first = await test.send(await proof(test, 9, 0))
    for (const height of [8, 9]) {
      await expect(proof(test, height, 1).then((tx) => test.send(tx))).rejects.toMatchObject({
        code: 'pool-side-chain',
      })
    }
    const unsigned = await proof(test, 10, 1, { signer: 1 })
    await expect(test.send(unsigned)).rejects.toMatchObject({ code: 'tx-side-chain-signer' })
    expect(waiting(test)).toEqual([first.txid])
  })

  it('stay when the later one is paid with their change', async () => {
    const test = await open()
    const first = await test.send(await proof(test, 9, 0))
    const { payload } = await proof(test, 10, 1)
    const next = craft(test.spec, [outputOf(first)], [{ to: 31, value: 99_999_000_000n }], [30], { payload })
    await expect(test.send(next)).rejects.toMatchObject({ code: 'pool-side-chain' })
    expect(waiting(test)).toEqual([first.txid])
  })

  it('of different side chains wait side by side', async () => {
    const test = await open()
    const first = await test.send(await proof(test, 9, 0))
    const second = await test.send(await sideChainPow({ sideChain: 3, blockHeight: 10, output: 1 })(test))
    expect(waiting(test)).toEqual([first.txid, second.txid])
  })

  it('that were mined keep no place', async () => {
    const test = await open()
    const first = await test.send(await proof(test, 9, 0))
    await test.mine()
    const next = await test.send(await proof(test, 10, 1))
    expect(waiting(test)).toEqual([next.txid])
    expect(test.reader.transaction(first.hash)?.height).toBe(1)
  })
})

describe('a proof of side-chain work over REST', () => {
  let test: TestChain
  let server: ApiServer
  beforeAll(async () => {
    test = await open()
    server = await serve(contextOf(test))
  })
  afterAll(() => server.close())

  const submit = (tx: Transaction) =>
    askJson(server.port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: tx.toHex() })
  const result = async (path: string) => {
    const { body } = await ask(server.port, `/api/v1/${path}`)
    return (body as { Result: unknown }).Result
  }

  it('is taken, shown with hashes in internal order, mined, and replaced by later ones alone', async () => {
    const tx = await sideChainPow({ blockHeight: 9 })(test)
    const { sideBlockHash, sideGenesisHash, signedData } = tx.payload as SideChainPow
    const shown = {
      txid: tx.txid,
      type: 5,
      payloadversion: 0,
      payload: {
        BlockHeight: 9,
        SideBlockHash: toHex(sideBlockHash),
        SideGenesisHash: toHex(sideGenesisHash),
        SignedData: toHex(signedData),
      },
    }
    expect(Object.keys(shown.payload)).toEqual(Object.keys((tx.toJSON() as { payload: object }).payload))
    expect(await submit(tx)).toMatchObject({ status: 200, body: { Error: 0, Result: tx.txid } })
    expect(await result('transactionpool')).toMatchObject([shown])
    const [low, stranger] = [await proof(test, 9, 1), await proof(test, 10, 1, { signer: 1 })]
    expect(await submit(low)).toMatchObject({ status: 400, body: { Error: 45020 } })
    expect(await submit(stranger)).toMatchObject({ status: 400, body: { Error: 45020 } })
    await test.mine()
    expect(await result(`transaction/${tx.txid}`)).toMatchObject({ ...shown, confirmations: 1 })
    const block = (await result('block/details/height/1')) as { tx: unknown[] }
    expect(block.tx[1]).toMatchObject(shown)
    const { body } = await ask(server.port, `/api/v1/transaction/${tx.txid}`)
    expect(Transaction.fromHex(tx.toHex()).toJSON().payload).toEqual(
      (body as { Result: { payload: unknown } }).Result.payload,
    )
  })
})
