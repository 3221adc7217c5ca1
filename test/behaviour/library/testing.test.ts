import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HttpResolver, RuleError, UserError } from '../../../src/index.js'
import { devnet, type TestDevnet, type TestDevnetOptions } from '../../../src/node/library/testing-entry.js'
import { WsClient } from '../../support/client/ws.js'
import { stopwatch } from '../../support/process/patience.js'

const otherMnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
/** For one start, once the modules are loaded; some 25 in truth. */
const readyWithin = 150

/** What a snapshot has to bring back. */
async function stateOf({ node, accounts }: TestDevnet) {
  const [first] = accounts
  return {
    tip: node.chain.tip,
    balances: accounts.map(({ address }) => node.chain.balance(address)),
    pool: node.mempool.entries().map(({ transaction }) => transaction.txid),
    did: (await node.resolver.resolve(first?.did ?? '')).status,
  }
}

const refuses = async (url: string) => {
  await expect(fetch(url)).rejects.toThrow('fetch failed')
}

describe('a devnet of didledger/testing', () => {
  it('serves REST, JSON-RPC and WebSocket on free ports, with accounts that have keys, DIDs and coins', async () => {
    await using net = await devnet({ accounts: 3 })
    expect(net.accounts).toHaveLength(3)
    for (const { address, did, privateKey } of net.accounts) {
      expect([address, did]).toEqual([expect.stringMatching(/^E/), expect.stringMatching(/^did:ledger:i/)])
      expect(privateKey).toHaveLength(32)
      expect(net.node.chain.balance(address)).toBe(1_000_000_000_000n)
    }
    expect(new Set(Object.values(net.urls).map((url) => new URL(url).port)).size).toBe(3)
    const height = await fetch(`${net.urls.rest}/api/v1/block/height`)
    expect(await height.json()).toMatchObject({ Result: 0 })
    const ws = await WsClient.open(net.urls.ws)
    await ws.result('subscribe', { topics: ['did', 'block'] })
    const [account] = net.accounts
    if (account === undefined) throw new Error('no account')
    const { did } = await net.node.wallet.createDid({ account })
    await ws.until(() => ws.events.length === 2)
    expect(await new HttpResolver(net.urls.rpc).resolve(did)).toMatchObject({ status: 0 })
    await ws.close()
  })

  it('mines, moves its clock, and pays from the faucet', async () => {
    await using net = await devnet({ mining: 'manual' })
    expect(await net.mine()).toHaveLength(1)
    expect(await net.mine(3)).toHaveLength(3)
    expect(net.node.chain.height).toBe(4)
    const before = net.node.chain.tip.time
    const time = await net.increaseTime(86_400)
    await net.mine()
    expect(time).toBeGreaterThanOrEqual(before + 86_000)
    expect(net.node.chain.tip.time).toBeGreaterThanOrEqual(time)
    const [to] = net.accounts
    await net.node.devnet.faucet(to?.address ?? '', '5')
    await net.mine()
    expect(net.node.chain.balance(to?.address ?? '')).toBe(1_000_500_000_000n)
  })

  it('goes back to a snapshot as often as asked, with chain, pool, balances, DIDs and clock', async () => {
    await using net = await devnet({ mining: 'manual' })
    const [from, to] = net.accounts
    if (from === undefined || to === undefined) throw new Error('no accounts')
    await net.mine(2)
    await net.node.wallet.transfer({ from, to: to.address, amount: '1' })
    const back = await net.snapshot()
    const before = await stateOf(net)
    expect(before.pool).toHaveLength(1)
    const time = await net.increaseTime(0)
    for (let round = 0; round < 3; round++) {
      await net.node.wallet.createDid({ account: from })
      await net.increaseTime(1000)
      await net.mine(5)
      expect(await stateOf(net)).not.toEqual(before)
      await back.restore()
      expect(await stateOf(net)).toEqual(before)
      expect((await net.increaseTime(0)) - time).toBeLessThan(1000)
    }
  })

  it('says of a snapshot that an earlier one was restored since', async () => {
    await using net = await devnet()
    const early = await net.snapshot()
    await net.mine()
    const late = await net.snapshot()
    await late.restore()
    await early.restore()
    const rejected = late.restore()
    await expect(rejected).rejects.toThrow(RuleError)
    await expect(rejected).rejects.toThrow('snapshot 2 is gone: an earlier one was reverted to')
  })

  it('runs beside others, of which none sees another', async () => {
    const nets = await Promise.all([devnet(), devnet({ mining: 'manual' }), devnet({ mnemonic: otherMnemonic })])
    await nets[0]?.mine(3)
    expect(nets.map(({ node }) => node.chain.height)).toEqual([3, 0, 1])
    expect(new Set(nets.flatMap(({ urls }) => Object.values(urls))).size).toBe(9)
    expect(new Set(nets.map(({ node }) => node.dataDir)).size).toBe(3)
    await nets[0]?.close()
    expect(await nets[1]?.mine()).toHaveLength(1)
    await Promise.all(nets.map((net) => net.close()))
  })

  it('has the accounts, coins and DIDs that it is told', async () => {
    await using net = await devnet({ mnemonic: otherMnemonic, accounts: 2, balance: '123.5', seedDids: 3 })
    const { node, accounts } = net
    await using usual = await devnet({ accounts: 2 })
    expect(accounts[0]?.address).not.toBe(usual.accounts[0]?.address)
    expect(node.wallet.account(1)).toEqual(accounts[1])
    for (const { address } of accounts) expect(node.chain.balance(address)).toBe(12_350_000_000n)
    const [from] = accounts
    if (from === undefined) throw new Error('no account')
    const txid = await node.wallet.transfer({ from, to: from.address, amount: '1' })
    expect((await node.chain.waitFor(txid)).confirmations).toBe(1)
    expect((await node.resolver.query({ query: {} })).total).toBe(3)
  })

  it('lets in the pages that it is told, and no others', async () => {
    await using net = await devnet({ allowOrigins: ['http://localhost:5173'] })
    const statusFor = async (origin: string) =>
      (await fetch(`${net.urls.rest}/metrics`, { headers: { origin, 'sec-fetch-site': 'same-site' } })).status
    expect(await statusFor('http://localhost:5173')).toBe(200)
    expect(await statusFor('http://localhost:5174')).toBe(403)
  })

  it('leaves nothing open once it is closed, also where a test failed midway', async () => {
    let net: TestDevnet | undefined
    let ws: WsClient | undefined
    let waiting: Promise<unknown> | undefined
    const failing = async () => {
      await using own = await devnet({ mining: 'manual' })
      net = own
      ws = await WsClient.open(own.urls.ws)
      await ws.result('subscribe', { topics: ['block'] })
      const [from] = own.accounts
      if (from === undefined) throw new Error('no account')
      const txid = await own.node.wallet.transfer({ from, to: from.address, amount: '1' })
      waiting = own.node.chain.waitFor(txid).catch((error: Error) => error)
      throw new Error('the test failed')
    }
    await expect(failing()).rejects.toThrow('the test failed')
    expect(await waiting).toBeInstanceOf(UserError)
    expect((await ws?.closed)?.code).toBe(1001)
    const { urls, node } = net as unknown as TestDevnet
    for (const url of [urls.rest, urls.rpc, urls.ws.replace('ws', 'http')]) await refuses(url)
    expect(existsSync(node.dataDir)).toBe(false)
    await expect(net?.mine()).rejects.toThrow('the node is closed')
    await net?.close()
  })

  it(`is ready within ${readyWithin} ms once the first one was`, async () => {
    await (await devnet()).close()
    const took: number[] = []
    // The machine may be busy with something else.
    for (let time = 0; time < 5; time++) {
      const elapsed = stopwatch()
      const net = await devnet()
      took.push(elapsed())
      await net.close()
    }
    expect(Math.min(...took)).toBeLessThan(readyWithin)
  })

  it.each<[unknown, string]>([
    [null, 'devnet: an object with options is needed'],
    ['devnet', 'devnet: an object with options is needed'],
    [{ acounts: 3 }, 'acounts is no option of devnet; there are accounts'],
    [{ dataDir: '/tmp/x' }, 'dataDir is no option of devnet'],
    [{ accounts: 0 }, 'accounts: 0 is not a whole number from 1 to 100'],
    [{ accounts: 101 }, 'accounts: 101 is not'],
    [{ mnemonic: 'a b c' }, 'mnemonic: BIP-39 words in English are needed; it has 3 words'],
    [{ mnemonic: 5 }, 'mnemonic: BIP-39 words in English are needed'],
    [{ balance: 5 }, 'balance: 5 is neither an amount of coins as text'],
    [{ seedDids: -1 }, 'seedDids: -1 is not'],
    [{ seedDids: 100_001 }, 'seedDids: 100001 is not'],
    [{ mining: 'sometimes' }, "mining: neither 'auto' nor 'manual' nor an object"],
    [{ mining: { seconds: 1, minutes: 2 } }, 'minutes is no option of mining'],
    [{ allowOrigins: 'http://localhost:5173' }, 'api.allowOrigins: a list of at most 16 origins'],
    [{ allowOrigins: ['http://localhost:5173/'] }, 'api.allowOrigins: http://localhost:5173/ is no origin such as'],
    [{ allowOrigins: [5] }, 'api.allowOrigins: 5 is no origin'],
  ])('refuses %j in words', async (options, message) => {
    const starting = devnet(options as TestDevnetOptions)
    await expect(starting).rejects.toThrow(message)
  })
})
