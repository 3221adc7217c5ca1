import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { oneValidator, TestChain } from '../support/builders/chain.js'
import { testAddress, testKey } from '../support/builders/spec.js'
import { Payer, SeededRandom } from '../support/builders/test-payer.js'
import { ask } from '../support/client/api.js'
import { type Balancer, installedBalancers, openInstalled, SmallBalancer } from '../support/network/balancer.js'
import { BlockWatch, FleetClient } from '../support/network/fleet-clients.js'
import { until } from '../support/network/test-network.js'
import { importChain } from '../support/process/import-chain.js'
import { Directories, NodeProcess, run } from '../support/process/spawn.js'
import { portBase } from '../support/process/ports.js'
import { rounds, thorough } from '../support/process/thorough.js'
import { portOffsets } from '../../src/node/ports.js'

/** Followers of one validator behind a balancer. */

const directories = new Directories()
const genesis = directories.fresh('genesis.json')
const whole = directories.fresh('whole')
const running: NodeProcess[] = []
const balancers = thorough ? ['small', ...installedBalancers] : [installedBalancers[0] ?? 'small']
/** Clients of each balancer; account 0 belongs to the other tests. */
const clientCount = 50
const accounts = Array.from({ length: 1 + clientCount * balancers.length }, (_, i) => devnetAccount(i).address)
/** The chain has blocks up to here before the first start, and a state below. */
const firstHeight = 332
const spec = {
  ...oneValidator(),
  maturity: 2,
  coinInterval: 330,
  // Peers take states of the last 30 days alone.
  time: Math.floor(Date.now() / 1000) - 86_400,
  // A block soon after each transaction.
  timing: { minInterval: 200, emptyInterval: 2000, maxDrift: 5000, propose: 3000, delta: 500 },
  allocations: [testAddress(10), ...accounts].map((address) => ({ address, amount: '10000000000' })),
}
const validatorArgs: string[] = []
let validator: NodeProcess
let payer: Payer

async function start(...args: string[]): Promise<NodeProcess> {
  const dataDir = args.includes('--data-dir') ? [] : ['--data-dir', directories.fresh()]
  const node = await NodeProcess.start('start', '--genesis', genesis, '--p2p-host', '127.0.0.1', ...dataDir, ...args)
  running.push(node)
  return node
}

const follower = (...args: string[]) => start('--follow', validator.line.rest, '--prune', '1000', ...args)
/** The same with the blocks of the beginning, which it need not verify first. */
const ready = (...args: string[]) => follower('--data-dir', directories.copyOf(whole), ...args)

/** Makes the chain that all have, with blocks enough for a state that others can begin with. */
async function prepareChain(): Promise<void> {
  const source = await TestChain.open(spec)
  await source.mineEmpty(firstHeight)
  await importChain(source, directories, { genesis, dataDir: whole })
}

beforeAll(async () => {
  await prepareChain()
  payer = new Payer(new SeededRandom(5), genesis)
  const key = directories.fresh('validator.key')
  writeFileSync(key, toHex(testKey(0)), { mode: 0o600 })
  const dataDir = directories.copyOf(whole)
  validatorArgs.push('--data-dir', dataDir, '--validator-key', key, '--port-base', await portBase())
  validator = await start(...validatorArgs, '--reset-sign-state=now')
})
afterAll(async () => {
  await Promise.all(running.map((node) => node.stop('SIGKILL')))
  directories.remove()
})

const isReady = (node: NodeProcess) => async () => {
  const answer = await fetch(`${node.line.rest}/readyz?within=1`)
  return answer.ok || (await answer.text())
}

interface Said {
  readonly status: number
  /** `X-Chain-Height` of the answer. */
  readonly height: number
  readonly result?: unknown
  readonly error?: unknown
}

/** A call of JSON-RPC that must not be answered from less than a height. */
async function call(url: string, method: string, params: object, minHeight = 0): Promise<Said> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params, minHeight })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/rpc`, { method: 'POST', headers, body })
  const text = await answer.text()
  const height = Number(answer.headers.get('x-chain-height'))
  return { status: answer.status, height, ...(text === '' ? {} : (JSON.parse(text) as object)) }
}

describe('a follower', () => {
  it.each(['URL', 'peer address'])(
    'passes on what it is sent, with the answer as it is, to the node that a %s names',
    async (by) => {
      const [peer = ''] = validator.line.p2p
      const dataDir = directories.copyOf(whole)
      const follows = await start('--follow', by === 'URL' ? validator.line.rest : peer, '--data-dir', dataDir)
      await until('a follower that is ready', 60, isReady(follows))
      expect((await follows.get('node/state')).body.Result).toMatchObject({ Relay: false })
      const transaction = await payer.transfer(validator.client, 0, devnetAccount(5).address, 1n)
      const answers = (data: string) =>
        Promise.all(
          [validator, follows].map(async ({ line: { rest } }) => {
            const { status, result, error } = await call(rest, 'sendrawtransaction', { data })
            const body = JSON.stringify({ Action: 'sendrawtransaction', data })
            const headers = { 'content-type': 'application/json' }
            const posted = await fetch(`${rest}/api/v1/transaction`, { method: 'POST', headers, body })
            return { status, result, error, rest: [posted.status, await posted.text()] }
          }),
        )
      const [own, passed] = await answers('00')
      expect(passed).toEqual(own)
      expect(own?.error).toBeDefined()
      expect(await call(follows.line.rest, 'sendrawtransaction', { data: transaction.toHex() })).toMatchObject({
        result: transaction.txid,
      })
      expect((await follows.get('transactionpool')).body.Result).toEqual([])
      await until(
        'the block',
        30,
        async () => (await follows.client.transaction(transaction.txid)) !== undefined || 'none',
      )
      expect(await call(follows.line.rest, 'createauxblock', { paytoaddress: devnetAccount(0).address })).toMatchObject(
        {
          error: { code: -32008 },
        },
      )
      await follows.stop()
    },
  )

  it('of another chain does not start with a URL, and passes nothing on to a peer', async () => {
    const other = ['--genesis', 'localnet', '--data-dir', directories.fresh(), '--port-base', await portBase()]
    const own = (await validator.client.rpc('getchaininfo', {})) as { readonly genesis: string }
    const refused = await run('start', ...other, '--follow', validator.line.rest)
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        `the node to follow at ${validator.line.rest}: it is of another chain, with genesis block ${own.genesis}`,
      ) as string,
    })
    const [peer = ''] = validator.line.p2p
    const follows = await NodeProcess.start('start', ...other, '--p2p-host', '127.0.0.1', '--follow', peer)
    running.push(follows)
    const transaction = await payer.transfer(validator.client, 0, devnetAccount(6).address, 1n)
    expect(await call(follows.line.rest, 'sendrawtransaction', { data: transaction.toHex() })).toMatchObject({
      error: { code: -32023, data: expect.stringContaining(`${own.genesis}, and not `) as string },
    })
    expect(await validator.client.rpc('getrawmempool', {})).not.toContain(transaction.txid)
    await follows.stop()
  })

  it('is refused what it has no use for', async () => {
    const nowhere = directories.fresh()
    const base = ['start', '--genesis', genesis, '--data-dir', nowhere, '--follow', validator.line.rest]
    for (const more of [
      ['--peer', '127.0.0.1:9'],
      ['--no-p2p'],
      ['--validator-signer', '/nowhere'],
      ['--mine', devnetAccount(0).address],
    ]) {
      const { code, err } = await run(...base, ...more)
      expect([more, code]).toEqual([more, 2])
      expect(err).toContain('network.')
    }
    expect((await run('start', '--genesis', 'devnet', '--data-dir', nowhere, '--follow', '127.0.0.1:20338')).code).toBe(
      2,
    )
    expect((await run('start', '--genesis', genesis, '--data-dir', nowhere, '--follow', 'ftp://a')).code).toBe(2)
  })

  it('says that the node that it follows is gone, and answers from its chain', async () => {
    const alone = await start('--follow', 'http://127.0.0.1:9', '--answer-out-of-step')
    const data = (await payer.transfer(validator.client, 0, devnetAccount(5).address, 1n)).toHex()
    expect(await call(alone.line.rest, 'sendrawtransaction', { data })).toMatchObject({ error: { code: -32023 } })
    expect(await call(alone.line.rest, 'getcurrentheight', {})).toMatchObject({ status: 200, result: 0 })
    await alone.stop()
  })

  it('that is told to stop goes on for as long as --drain says, not ready, and completes what it has begun', async () => {
    const drained = await ready('--drain', '1')
    await until('a follower that is ready', 60, isReady(drained))
    drained.process.kill('SIGTERM')
    await until('not ready', 2, async () => (await fetch(`${drained.line.rest}/readyz`)).status === 503 || 'ready')
    expect((await drained.get('block/height')).status).toBe(200)
    const late = call(drained.line.rest, 'getcurrentheight', {}, 4_000_000)
    expect(await late).toMatchObject({ status: 503, error: { code: -32022 } })
    expect(await drained.process.finished).toMatchObject({ code: 0, err: '' })
    await expect(fetch(`${drained.line.rest}/readyz`)).rejects.toThrow()
  })
})

/** Lets a node work for a moment only, again and again: its blocks come late. */
async function lag(node: NodeProcess | undefined, stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    node?.process.kill('SIGSTOP')
    await pause(150)
    node?.process.kill('SIGCONT')
    await pause(100)
  }
}

/** Options of a follower behind a balancer, at ports where another one can take its place. */
const placed = (base: string) => [
  ...['--port-base', base, '--trusted-proxy', '127.0.0.1'],
  // All requests come by one address.
  ...['--rate-requests', '1000000'],
]

/**
 * Asks a node from before its ports are open until it is ready. Not ready → no answer, 503, or one of a height that was named; ready → it
 * has what the chain had in the beginning.
 */
async function watchJoin(base: string, height: number): Promise<unknown[]> {
  const port = Number(base) + portOffsets.rest
  const untrue: unknown[] = []
  const headers = { 'x-min-height': String(height) }
  await until('a node that is ready', 60, async () => {
    const [ready, read] = await Promise.all([
      ask(port, '/readyz?within=1'),
      ask(port, '/api/v1/block/height', { headers }),
    ])
    const heightRead = (read.body as { Result: number }).Result
    if (read.status === 200 ? heightRead < height : read.status !== 503) untrue.push(read)
    const { height: heightReady } = ready.body as { height: number }
    if (ready.status === 200 && heightReady < height) untrue.push(ready)
    return ready.status === 200 || ready.text
  })
  return untrue
}

describe.each(balancers)('three followers behind a balancer (%s)', (name) => {
  const operations = rounds(2_000, 10_000)
  const clients: FleetClient[] = []
  const bases: string[] = []
  let fleet: NodeProcess[] = []
  let balancer: Balancer
  let blocks: BlockWatch
  beforeAll(async () => {
    for (let i = 0; i < 3; i++) bases.push(await portBase())
    fleet = await Promise.all(bases.map((base) => ready(...placed(base))))
    for (const node of fleet) await until('a node that is ready', 60, isReady(node))
    const urls = fleet.map(({ line }) => line.rest)
    balancer = await (name === 'small' ? SmallBalancer.open(urls) : openInstalled(name, directories.fresh(name), urls))
    blocks = new BlockWatch(() => validator, await validator.client.height())
    blocks.start()
    const options = { fleet: balancer.url, blocks, payer, reads: 12 }
    const first = 1 + clientCount * balancers.indexOf(name)
    for (let account = first; account < first + clientCount; account++) {
      const [coin] = await validator.client.coins(accounts[account] as string, payer.assetId)
      if (coin === undefined) throw new Error(`account ${account} has no coin`)
      clients.push(new FleetClient(options, account, coin))
    }
  })
  afterAll(async () => {
    await blocks.close()
    await balancer.close()
    await Promise.all(fleet.map((node) => node.stop()))
  })

  /** Lets all clients work, the second follower lagging, until `during` is over and they did so many operations. */
  async function work(count: number, during: (did: (part: number) => Promise<void>) => Promise<void>): Promise<void> {
    const before = sum(({ operations: done }) => done)
    const done = () => sum((client) => client.operations) - before
    const did = (part: number) => until(`${part} operations`, 120, async () => done() >= part || String(done()))
    let stopped = false
    const lagging = lag(fleet[1], () => stopped)
    const working = Promise.all(clients.map((client) => client.work(() => stopped)))
    try {
      await during(did)
      await did(count)
    } finally {
      stopped = true
    }
    await Promise.all([working, lagging])
    expect(clients.flatMap(({ wrong }) => wrong)).toEqual([])
  }

  const sum = (figure: (client: FleetClient) => number) => clients.reduce((all, client) => all + figure(client), 0)

  it('give every client what it wrote and nothing older, while one is killed and one that joins by state takes its place', async () => {
    await work(operations, async (did) => {
      await did(operations / 4)
      await fleet[0]?.stop('SIGKILL')
      const joining = watchJoin(bases[0] as string, await validator.client.height())
      fleet[0] = await follower(...placed(bases[0] as string), '--state-from', 'peers')
      expect(await joining).toEqual([])
    })
    const { joined } = (await fleet[0]?.client.rpc('getchaininfo', {})) as { readonly joined?: number }
    expect(joined).toBeGreaterThan(0)
  })

  it('take what is sent while the node that they follow starts again', async () => {
    await work(operations / 4, async (did) => {
      await did(operations / 16)
      await validator.stop()
      validator = await start(...validatorArgs)
    })
  })

  it('have every transaction once, and are of one mind', async () => {
    const sent = clients.flatMap((client) => client.sent)
    expect(clients.filter((client) => client.sent.length === 0)).toEqual([])
    expect(sent.filter((txid) => blocks.heightOf(txid) === undefined)).toEqual([])
    expect(blocks.twice).toEqual([])
    expect(new Set(sent).size).toBe(sent.length)
    const height = await validator.client.height()
    for (const node of fleet) {
      await until('the last block', 30, async () => (await node.client.height()) >= height || 'not there')
      expect(await node.hashAt(height)).toBe(await validator.hashAt(height))
    }
  })
})
