import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetAccount, devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { Payer, SeededRandom } from '../support/builders/test-payer.js'
import { Balancer } from '../support/network/balancer.js'
import { chainLikeLocalnet } from '../support/network/shipped-chain.js'
import { until } from '../support/network/test-network.js'
import { Directories, NodeProcess, run } from '../support/process/spawn.js'
import { portBase } from '../support/process/ports.js'
import { rounds } from '../support/process/thorough.js'

/** Followers of one validator behind a balancer. */

const directories = new Directories()
const genesis = chainLikeLocalnet(directories)
const running: NodeProcess[] = []
let validator: NodeProcess
let payer: Payer

/** The chain has one validator, and a block soon after each transaction. */
function quickChain(): void {
  const spec = JSON.parse(readFileSync(genesis, 'utf8')) as { validators: unknown[]; timing: object }
  const timing = { ...spec.timing, minInterval: 200, emptyInterval: 2000 }
  writeFileSync(genesis, JSON.stringify({ ...spec, validators: spec.validators.slice(0, 1), timing }))
}

async function start(...args: string[]): Promise<NodeProcess> {
  const base = ['--genesis', genesis, '--p2p-host', '127.0.0.1', '--data-dir', directories.fresh()]
  const node = await NodeProcess.start('start', ...base, ...args)
  running.push(node)
  return node
}

const follower = (...args: string[]) => start('--follow', validator.line.rest, '--prune', '1000', ...args)

beforeAll(async () => {
  quickChain()
  payer = new Payer(new SeededRandom(5), genesis)
  const key = directories.fresh('validator.key')
  writeFileSync(key, toHex(devnetValidatorKey(0).privateKey), { mode: 0o600 })
  validator = await start('--validator-key', key, '--reset-sign-state=now', '--port-base', String(await portBase()))
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

/** One of several clients of the fleet: pays to a new address again and again, and reads what came of it. */
class Client {
  readonly sent: string[] = []
  reads = 0
  wrong: unknown[] = []
  /** Greatest height of an answer so far. */
  #seen = 0
  readonly #account: number
  readonly #fleet: string

  constructor(fleet: string, account: number) {
    this.#fleet = fleet
    this.#account = account
  }

  async work(stopped: () => boolean): Promise<void> {
    for (let i = 0; !stopped(); i++) await this.#pay(devnetAccount(1000 + this.#account * 1000 + i).address)
  }

  async #pay(to: string): Promise<void> {
    const transaction = await payer.transfer(validator.client, this.#account, to, 1000n)
    const { txid } = transaction
    const data = { data: transaction.toHex() }
    for (let answer = await this.#call('sendrawtransaction', data); answer.result !== txid;) {
      // An answer that was lost leaves it open whether the transaction arrived.
      if (JSON.stringify(answer.error)?.includes('tx-known') || (await validator.client.transaction(txid))) break
      answer = await this.#call('sendrawtransaction', data)
    }
    this.sent.push(txid)
    const height = await this.#mined(txid)
    for (let i = 0; i < 8; i++) {
      const { result } = await this.#read('getreceivedbyaddress', { address: to }, height)
      if (result !== '0.00001000') this.wrong.push({ txid, height, result })
    }
  }

  /** Waits for the block of a transaction where it is made, before the fleet may have it; its height. */
  async #mined(txid: string): Promise<number> {
    for (;;) {
      const { blockhash = '' } = (await validator.client.transaction(txid)) ?? {}
      if (blockhash !== '') return (await validator.client.blockByHash(blockhash)).height
      await pause(10)
    }
  }

  /** A read that has to be as new as all that this client has seen; a busy fleet is asked again. */
  async #read(method: string, params: object, height = 0): Promise<Said> {
    const least = Math.max(this.#seen, height)
    for (;;) {
      const answer = await this.#call(method, params, least)
      if (answer.status >= 500) {
        await pause(20)
        continue
      }
      this.reads++
      if (answer.height < least) this.wrong.push({ least, ...answer })
      this.#seen = Math.max(this.#seen, answer.height)
      return answer
    }
  }

  #call(method: string, params: object, minHeight?: number): Promise<Said> {
    return call(this.#fleet, method, params, minHeight).catch((error: unknown) => ({ status: 502, height: 0, error }))
  }
}

describe('a follower', () => {
  it.each(['URL', 'peer address'])(
    'passes on what it is sent, with the answer as it is, to the node that a %s names',
    async (by) => {
      const [peer = ''] = validator.line.p2p
      const follows = await start('--follow', by === 'URL' ? validator.line.rest : peer)
      await until('a follower that is ready', 60, isReady(follows))
      expect((await follows.get('node/state')).body.Result).toMatchObject({ Relay: false })
      const transaction = await payer.transfer(validator.client, 9, devnetAccount(5).address, 1n)
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
    expect(await call(alone.line.rest, 'sendrawtransaction', { data: '00' })).toMatchObject({ error: { code: -32023 } })
    expect(await call(alone.line.rest, 'getcurrentheight', {})).toMatchObject({ status: 200, result: 0 })
    await alone.stop()
  })

  it('that is told to stop goes on for as long as --drain says, not ready, and completes what it has begun', async () => {
    const drained = await follower('--drain', '1')
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

describe('three followers behind a balancer', () => {
  it('give every client what it wrote and nothing older, while one is killed and another takes its place', async () => {
    const balancer = await Balancer.open(2)
    const fleet = await Promise.all([follower(), follower(), follower()])
    balancer.nodes.push(...fleet.map(({ line }) => line.rest))
    await until('three nodes', 60, async () => balancer.ready.length === 3 || String(balancer.ready.length))
    const clients = Array.from({ length: 6 }, (_, i) => new Client(balancer.url, i))
    let stopped = false
    const lagging = lag(fleet[1], () => stopped)
    const working = Promise.all(clients.map((client) => client.work(() => stopped)))
    const paid = () => clients.reduce((sum, { sent }) => sum + sent.length, 0)
    const payments = rounds(15, 300)
    const more = (count: number) => until('payments', 120, async () => paid() >= count || String(paid()))

    await more(payments)
    await fleet[0]?.stop('SIGKILL')
    await more(2 * payments)
    const fresh = await follower()
    balancer.nodes.splice(0, 1, fresh.line.rest)
    await until('a fresh node', 60, async () => balancer.ready.includes(fresh.line.rest) || 'not ready')
    await more(3 * payments)
    stopped = true
    await Promise.all([working, lagging])
    await balancer.close()

    expect(clients.flatMap(({ wrong }) => wrong)).toEqual([])
    for (const txid of clients.flatMap(({ sent }) => sent)) {
      expect(await validator.client.transaction(txid), txid).toMatchObject({
        blockhash: expect.stringMatching(/./) as string,
      })
    }
    expect(clients.reduce((sum, { reads }) => sum + reads, 0)).toBeGreaterThanOrEqual(3 * payments * 8)
  })
})
