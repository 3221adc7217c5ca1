import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchange, NodeRefusal, sendBy } from '../../../../src/clients/client/http.js'
import { defaultRestUrl, NodeClient } from '../../../../src/clients/client/node-client.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { parseAddress, singleKeyCode } from '../../../../src/base/primitives/address.js'
import { buildTransfer } from '../../../../src/clients/wallet/build-transaction.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { signTransaction } from '../../../../src/clients/wallet/sign-transaction.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'
import { transactionJson } from '../../../../src/base/primitives/transaction-json.js'
import { FakeNode } from '../../../support/fakes/fake-node.js'

const alice = devnetAccount(0)
const bob = devnetAccount(1)

describe('the client of a node', () => {
  let node: FakeNode
  let client: NodeClient
  beforeEach(async () => {
    node = new FakeNode()
    client = new NodeClient({ rest: `${await node.start()}/` })
  })
  afterEach(() => node.stop())

  const transfer = async (value: bigint, seed = 1) => {
    const { transaction } = buildTransfer(
      {
        code: singleKeyCode(alice.publicKey),
        coins: await client.coins(alice.address, node.assetId),
        fee: 100n,
        assetId: node.assetId,
        maxMoney: 10n ** 15n,
        random: seededRandom(seed),
      },
      [{ programHash: parseAddress(bob.address) as Uint8Array, value }],
    )
    return signTransaction(transaction, [alice.privateKey]).transaction
  }

  it('reads heights, blocks, balances and unspent outputs', async () => {
    node.fund(alice.address, 250_000_000n)
    node.mine()
    expect(await client.height()).toBe(1)
    const block = await client.blockAt(1)
    expect(block).toMatchObject({ height: 1, time: node.now })
    expect(await client.blockByHash(block.hash)).toEqual(block)
    expect(await client.balance(alice.address)).toBe(250_000_000n)
    expect(await client.balance(bob.address)).toBe(0n)
    expect(await client.utxos(alice.address, node.assetId)).toMatchObject([{ index: 0, value: 250_000_000n }])
    expect(await client.utxos(bob.address, node.assetId)).toEqual([])
  })

  it('asks for the waiting transactions of an address alone, since a full pool is long', async () => {
    node.fund(alice.address, 1000n)
    const paid = await transfer(300n)
    const asked: unknown[] = []
    node.overrides.set('GET /api/v1/transactionpool', () => ({ status: 500, body: 'full' }))
    node.overrides.set('POST /rpc getrawmempool', (body) => {
      asked.push((body as { params: unknown }).params)
      return { body: { jsonrpc: '2.0', id: 1, result: [transactionJson(paid)] } }
    })
    expect(await client.coins(alice.address, node.assetId)).toMatchObject([{ confirmations: 0, ancestors: 1 }])
    expect(await client.waiting([alice.address], node.assetId)).toMatchObject([{ txid: paid.txid }])
    expect(asked).toEqual(Array(2).fill({ state: 'all', addresses: [alice.address] }))
  })

  it('asks for the whole pool where a node does not take that question, and not where it is busy', async () => {
    node.fund(alice.address, 1000n)
    const refused = (code: number) => () => ({ body: { jsonrpc: '2.0', id: 1, error: { code, message: 'no' } } })
    node.overrides.set('POST /rpc getrawmempool', refused(-32602))
    expect(await client.waiting([alice.address], node.assetId)).toEqual([])
    node.overrides.set('POST /rpc getrawmempool', refused(-32005))
    await expect(client.waiting([alice.address], node.assetId)).rejects.toMatchObject({ code: -32005 })
  })

  it('sends a transaction and waits for its block', async () => {
    node.fund(alice.address, 1000n)
    const transaction = await transfer(300n)
    expect(await client.sendRawTransaction(transaction.toHex())).toBe(transaction.txid)
    expect(await client.waitForBlock(transaction.txid)).toMatchObject({ height: 1 })
    expect(await client.transaction(transaction.txid)).toMatchObject({ txid: transaction.txid, confirmations: 1 })
    expect(await client.balance(bob.address)).toBe(300n)
  })

  it('waits while the transaction is in the pool, and says when its time is over', async () => {
    node.fund(alice.address, 1000n)
    node.automine = false
    const txid = await client.sendRawTransaction((await transfer(300n)).toHex())
    await expect(client.waitForBlock(txid, { timeout: 60, interval: 10 })).rejects.toThrow(/waits in the pool/)
    const waiting = client.waitForBlock(txid, { interval: 10 })
    setTimeout(() => node.mine(), 50)
    expect(await waiting).toMatchObject({ height: 1 })
  })

  it('says why no block took it, and how to look for it later', async () => {
    node.fund(alice.address, 1000n)
    node.automine = false
    const txid = await client.sendRawTransaction((await transfer(300n)).toHex())
    const detail = 'votes of 2 of 4 validators have arrived'
    node.overrides.set('POST /rpc getarbitersinfo', () => ({
      body: {
        jsonrpc: '2.0',
        id: 1,
        result: { validators: 4, heard: 2, stalled: { reason: 'no-quorum', since: 1, detail } },
      },
    }))
    expect(await client.stalled()).toBe(detail)
    await expect(client.waitForBlock(txid, { timeout: 20, interval: 10 })).rejects.toMatchObject({
      message:
        `transaction ${txid} was accepted and waits in the pool, but no block took it within 0.02 s: the chain is stalled, ` +
        `${detail}. It may still be mined; to look what became of it: curl -s ${client.rest}/api/v1/transaction/${txid}`,
    })
  })

  it('says that an accepted transaction may be mined when its node dies, and nothing of how to start', async () => {
    node.fund(alice.address, 1000n)
    node.automine = false
    const txid = await client.sendRawTransaction((await transfer(300n)).toHex())
    const waiting = client.waitForBlock(txid, { interval: 10 })
    waiting.catch(() => {})
    await node.stop()
    await expect(waiting).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(
        new RegExp(
          `^transaction ${txid} was accepted, but its node cannot be asked for the block: .*It may still be mined, so do not `,
        ),
      ),
    })
    await expect(waiting).rejects.toThrow(`curl -s ${client.rest}/api/v1/transaction/${txid}`)
    await expect(waiting).rejects.not.toThrow('npx didledger devnet')
    await node.start()
  })

  it('notices that a transaction was dropped, but not by one look', async () => {
    await expect(client.waitForBlock('ab'.repeat(32), { interval: 1 })).rejects.toThrow(/has dropped transaction abab/)
    node.fund(alice.address, 1000n)
    const { txid } = await transfer(300n)
    let looks = 0
    node.overrides.set(`GET /api/v1/transaction/${txid}`, () =>
      ++looks > 2 ? undefined : { body: { Error: 44001, Desc: 'Unknown Transaction', Result: '' } },
    )
    await client.sendRawTransaction((await transfer(300n)).toHex())
    expect(await client.waitForBlock(txid, { interval: 1 })).toMatchObject({ height: 1 })
  })

  it('lists locks, coinbases and unconfirmed change, and leaves out what the pool spends', async () => {
    node.fund(alice.address, 1000n)
    node.fund(alice.address, 50n, { outputLock: 9 })
    node.fund(alice.address, 60n, { coinbase: true })
    node.automine = false
    await client.sendRawTransaction((await transfer(300n)).toHex())
    const coins = await client.coins(alice.address, node.assetId)
    expect(coins).toMatchObject([
      { value: 50n, outputLock: 9, coinbase: false, confirmations: 1 },
      { value: 60n, coinbase: true },
      { value: 600n, confirmations: 0 },
    ])
    // 50 and 60 do not suffice, so the change joins them.
    await client.sendRawTransaction((await transfer(200n, 2)).toHex())
    expect((await client.coins(alice.address, node.assetId)).map(({ value }) => value)).toEqual([410n])
  })

  it('does with plain REST where a node has no listunspent', async () => {
    node.fund(alice.address, 1000n)
    node.overrides.set('POST /rpc listunspent', () => ({
      body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } },
    }))
    expect(await client.coins(alice.address, node.assetId)).toMatchObject([{ value: 1000n }])
  })

  it('takes a waiting transaction and its coins by their ids alone, or from the list where the node gave bytes up', async () => {
    node.fund(alice.address, 5000n)
    node.automine = false
    const parent = await transfer(300n)
    await client.sendRawTransaction(parent.toHex())
    const child = await transfer(200n, 2)
    await client.sendRawTransaction(child.toHex())
    const waiting = client.waitingTransaction(child.txid, node.assetId)
    await expect(waiting).rejects.toBeInstanceOf(UserError)
    const bytes = new Map([parent, child].map((one) => [one.txid, one.toHex()]))
    node.overrides.set('POST /rpc getrawtransaction', (body) => {
      const result = bytes.get((body as { params: { txid: string } }).params.txid)
      const error = { code: -32000, message: 'pruned', data: 'pruned' }
      return { body: { jsonrpc: '2.0', id: 1, ...(result === undefined ? { error } : { result }) } }
    })
    const { transaction, spent } = await client.waitingTransaction(child.txid, node.assetId)
    expect(transaction.txid).toBe(child.txid)
    expect(spent).toMatchObject([{ value: 4600n }])
    expect(await client.childrenOf(parent.txid)).toEqual([child.txid])
    expect(await client.childrenOf(child.txid)).toEqual([])
    // The coin that the parent spends is of no transaction that the node has.
    expect((await client.waitingTransaction(parent.txid, node.assetId)).spent).toMatchObject([{ value: 5000n }])
    bytes.set(parent.txid, child.toHex())
    await expect(client.waitingTransaction(child.txid, node.assetId)).rejects.toThrow('are not those of a transaction')
    node.mine()
    await expect(client.waitingTransaction(child.txid, node.assetId)).rejects.toThrow('waits no more: it is mined')
  })

  it('resolves', async () => {
    expect(await client.resolve(alice.did)).toEqual({ did: alice.did, status: 3 })
  })

  it('turns a failed envelope into its code, description and reason', async () => {
    const body = { Desc: 'INTERNAL ERROR, ErrDoubleSpend', Error: 45010, Result: 'input 0 is spent by abc' }
    node.overrides.set('POST /api/v1/transaction', () => ({ status: 400, body }))
    const error: unknown = await client.sendRawTransaction('00').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(NodeRefusal)
    expect(error).toMatchObject({
      code: 45010,
      description: body.Desc,
      reason: body.Result,
      exitCode: 1,
      message: 'the node refused the transaction: input 0 is spent by abc (45010)',
    })
  })

  it('turns a JSON-RPC error into its code, message and data', async () => {
    node.overrides.set('POST /rpc resolvedid', () => ({
      body: { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'Resolver internal error.', data: 'at 5 of 9' } },
    }))
    await expect(client.resolve(alice.did)).rejects.toMatchObject({
      code: -32001,
      message: 'the node refused resolvedid: at 5 of 9 (-32001)',
    })
  })

  it.each<[string, unknown, RegExp]>([
    ['no JSON', '<html>', /answered HTTP 200 and no JSON/],
    ['no envelope', { height: 1 }, /has no envelope/],
    ['null', 'null', /has no envelope/],
    ['a height that is no number', { Error: 0, Desc: 'Success', Result: '1' }, /block\/height is not an integer/],
  ])('refuses an answer with %s', async (_, body, message) => {
    node.overrides.set('GET /api/v1/block/height', () => ({ body }))
    await expect(client.height()).rejects.toThrow(UserError)
    await expect(client.height()).rejects.toThrow(message)
  })

  it.each<[string, unknown]>([
    ['another status', { did: alice.did, status: 4 }],
    ['no transactions', { did: alice.did, status: 0 }],
    ['no did', { status: 3 }],
    [
      'an operation without header',
      { did: alice.did, status: 0, transaction: [{ txid: '', timestamp: '', operation: {} }] },
    ],
  ])('refuses a resolve result with %s', async (_, result) => {
    node.overrides.set('POST /rpc resolvedid', () => ({ body: { jsonrpc: '2.0', id: 1, result } }))
    await expect(client.resolve(alice.did)).rejects.toThrow(/answered something unexpected/)
  })
})

describe('a node that does not answer', () => {
  it('is named with the command that starts one', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((ready) => server.once('listening', ready))
    const { port } = server.address() as AddressInfo
    await new Promise((closed) => server.close(closed))
    const failure = new NodeClient({ rest: `http://127.0.0.1:${port}` }).height()
    await expect(failure).rejects.toThrow(UserError)
    await expect(failure).rejects.toThrow(
      `no node listens at http://127.0.0.1:${port}; start a chain with "npx didledger devnet"`,
    )
  })

  it('is not called absent where its name cannot be resolved', async () => {
    const failure = new NodeClient({ rest: 'http://no-such-node.invalid:1234' }).height()
    await expect(failure).rejects.toThrow(/^the name no-such-node\.invalid cannot be resolved; /)
  })

  it.each<[string, string, RegExp]>([
    ['has a port that fetch blocks', 'http://127.0.0.1:1', /^cannot reach http:\/\/127\.0\.0\.1:1 \(bad port\); /],
    ['speaks no TLS', 'https', /^cannot reach https:\S+ \((ERR_SSL_[A-Z_]+|EPROTO)\); /],
    ['hangs up', 'http', /^cannot reach http:\S+ \((UND_ERR_SOCKET|ECONNRESET)\); /],
  ])('is not "fetch failed" when it %s', async (_, url, message) => {
    const server = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1')
    await new Promise((ready) => server.once('listening', ready))
    const { port } = server.address() as AddressInfo
    const rest = url.includes(':') ? url : `${url}://127.0.0.1:${port}`
    await expect(new NodeClient({ rest }).height()).rejects.toThrow(message)
    await new Promise((closed) => server.close(closed))
  })

  it.each([
    ['closes the connection of a question once', 1, 'answered'],
    ['closes that of every question', Infinity, 'cannot reach'],
  ])('is asked once more where it %s', async (_, closes, outcome) => {
    let asked = 0
    const server = createServer((request, response) => {
      if (++asked <= closes) request.socket.destroy()
      else response.end('{}')
    }).listen(0, '127.0.0.1')
    await new Promise((ready) => server.once('listening', ready))
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const answer = exchange(url, undefined, { timeout: 10_000 }).then(
      ({ status }) => `answered ${status}`,
      (error: Error) => error.message,
    )
    expect(await answer).toContain(outcome)
    expect(asked).toBe(2)
    // What may have been carried out is not sent twice.
    asked = 0
    const sent = exchange(url, { method: 'sendrawtransaction' }, { timeout: 10_000 })
    await expect(sent).rejects.toMatchObject({ mayHaveArrived: true })
    expect(asked).toBe(1)
    await new Promise((closed) => server.close(closed))
  })

  it('is sent few requests at a time, also for a wallet of many accounts', async () => {
    const waiting: (() => void)[] = []
    let most = 0
    sendBy(async () => {
      await new Promise<void>((release) => {
        most = Math.max(most, waiting.push(release))
      })
      return new Response('{"Error":0,"Desc":"Success","Result":"1.00000000"}')
    })
    try {
      const client = new NodeClient()
      const balances = Promise.all(Array.from({ length: 100 }, () => client.balance(alice.address)))
      let ended = false
      void balances.then(() => (ended = true))
      while (!ended) {
        await new Promise(setImmediate)
        waiting.shift()?.()
      }
      expect(await balances).toHaveLength(100)
      expect(most).toBe(16)
    } finally {
      sendBy((url, sent) => fetch(url, sent))
    }
  })

  it('is given up after the time-out', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((ready) => server.once('listening', ready))
    const { port } = server.address() as AddressInfo
    const failure = new NodeClient({ rest: `http://127.0.0.1:${port}`, timeout: 50 }).height()
    await expect(failure).rejects.toThrow(/did not answer within 0\.05 s/)
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })

  it('must have an http URL', () => {
    expect(() => new NodeClient({ rest: 'ftp://x' })).toThrow(UserError)
    expect(new NodeClient().rest).toBe(defaultRestUrl)
  })
})
