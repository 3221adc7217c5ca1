import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AuxTree, legacyTransaction, ParentBlock, targetOf } from '../../../scripts/miner/parent.js'
import { devnetAccount } from '../../../src/clients/wallet/devnet-accounts.js'
import { Payer, SeededRandom } from '../../support/builders/test-payer.js'
import { NodeProcess } from '../../support/process/spawn.js'
import { btcpool, elaCli, filled } from './bodies.js'

interface Reply {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly data: string }
}

const payer = devnetAccount(1)
const receiver = devnetAccount(21).address

let node: NodeProcess
beforeAll(async () => {
  node = await NodeProcess.start('devnet')
})
afterAll(() => node.stop())

/** Without a configuration ela-cli sends an empty user and password. */
async function send(body: string, user = '', password = '', to = node): Promise<Reply> {
  const response = await fetch(to.line.rpc, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    },
    body,
  })
  return (await response.json()) as Reply
}

/** The result of a request; its id has to come back. */
async function result<T>(body: string, values?: Parameters<typeof filled>[1]): Promise<T> {
  const text = filled(body, values)
  const reply = await send(text)
  expect(reply).toEqual({ id: (JSON.parse(text) as Reply).id, jsonrpc: '2.0', result: expect.anything() as unknown })
  return reply.result as T
}

describe('ela-cli info', () => {
  it('tells of the node', async () => {
    expect(await result(elaCli.connections)).toBe(0)
    expect(await result(elaCli.neighbors)).toEqual([])
    expect(await result(elaCli.nodeState)).toMatchObject({ Neighbors: [] })
    expect(await result(elaCli.pool)).toEqual([])
  })

  it('tells of blocks and transactions', async () => {
    const height = await result<number>(elaCli.height)
    const hash = await result<string>(elaCli.bestBlock)
    // The height that a user typed goes out as a text, that of `getblock` as a number.
    expect(await result(elaCli.blockHash, { height })).toBe(hash)
    expect(await result(elaCli.blockHashOfBlock, { height })).toBe(hash)
    const block = await result<{ height: number; tx: { txid: string }[] }>(elaCli.block, { hash })
    expect(block.height).toBe(height)
    expect(await result(elaCli.transaction, { txid: block.tx[0]?.txid as string })).toMatch(/^[0-9a-f]+$/)
  })

  it('refuses a height that is no integer', async () => {
    const reply = await send(filled(elaCli.blockHash, { height: '01' }))
    expect(reply.error?.code).toBe(-32602)
  })
})

describe('ela-cli wallet', () => {
  it('finds coins, and sends what it made of them', async () => {
    const { address } = payer
    const coins = await result<{ address: string }[]>(elaCli.coins, { address, amount: '1.50010000' })
    expect(coins.map((coin) => coin.address)).toEqual([address])
    const transfer = await new Payer(new SeededRandom(5)).transfer(node.client, 1, receiver, 150_000_000n)
    const txid = await result<string>(elaCli.send, { hex: transfer.toHex() })
    await node.client.waitForBlock(txid)
    expect(await result(elaCli.balance, { address: receiver })).toMatchObject([{ txid, amount: '1.50000000' }])
  })

  it('learns that there is too little', async () => {
    const reply = await send(filled(elaCli.coins, { address: receiver, amount: '1000.00010000' }))
    const data = expect.stringMatching(/^45002 not enough utxo: 1\.5\d* can be spent of 1000\.00010000/) as string
    expect(reply.error).toMatchObject({ code: -32011, data })
  })
})

describe('ela-cli mine', () => {
  const token = () => readFileSync(join(node.line.dataDir, 'admin.token'), 'utf8').trim()

  it('makes blocks for the owner of the token, under any user', async () => {
    const before = await node.client.height()
    const made = (await send(filled(elaCli.mine, { count: 2 }), 'ela', token())).result
    expect(made).toHaveLength(2)
    expect(await node.client.height()).toBe(before + 2)
  })

  it.each([
    ['no token', ''],
    ['another token', 'f'.repeat(64)],
  ])('is refused with %s', async (_, password) => {
    const before = await node.client.height()
    for (const body of [filled(elaCli.mine, { count: 1 }), filled(elaCli.toggleMining, { mining: true })]) {
      expect((await send(body, 'ela', password)).error?.code).toBe(-32010)
    }
    expect(await node.client.height()).toBe(before)
  })
})

describe('btcpool', () => {
  interface Work {
    readonly chainid: number
    readonly hash: string
    readonly bits: string
    readonly height: number
    readonly previousblockhash: string
    readonly coinbasevalue: number
  }

  it.each([
    ['its maker', btcpool.create, btcpool.submit],
    ['its proxy', btcpool.proxyCreate, btcpool.proxySubmit],
  ])('has work from %s taken', async (_, create, submit) => {
    const before = await node.client.height()
    const work = await result<Work>(create, { address: receiver })
    expect(work).toEqual({
      chainid: expect.any(Number) as number,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      bits: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
      height: before + 1,
      previousblockhash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      coinbasevalue: expect.any(Number) as number,
    })
    const auxpow = proofFor(work)
    expect(await result(submit, { hash: work.hash, auxpow })).toBe(true)
    expect(await node.client.height()).toBe(before + 1)
    const again = await send(filled(submit, { hash: work.hash, auxpow }))
    expect(again.error?.code).toBe(-32007)
  })

  it('finds both methods in the help', async () => {
    const text = await result<string>(btcpool.help)
    expect(text).toContain('createauxblock')
    expect(text).toContain('submitauxblock')
  })

  it('is refused without work', async () => {
    const work = await result<Work>(btcpool.create, { address: receiver })
    const refused = await send(filled(btcpool.submit, { hash: work.hash, auxpow: '00' }))
    expect(refused.error?.code).toBe(-32000)
  })

  /** The AuxPow of a parent block that is made for this work alone. */
  function proofFor(work: Work): string {
    const tree = new AuxTree([{ chainId: work.chainid, hash: Buffer.from(work.hash, 'hex') }])
    const transaction = legacyTransaction({ txid: Buffer.alloc(32, 3), index: 0 }, Buffer.alloc(106, 5), 1n)
    const parent = new ParentBlock(tree, { height: 900_000, time: 1_700_000_000, transactions: [transaction] })
    expect(parent.search(targetOf(parseInt(work.bits, 16)), 0, 2 ** 20)).toBe(true)
    return parent.auxPow(tree.branch(work.chainid)).toString('hex')
  }
})
