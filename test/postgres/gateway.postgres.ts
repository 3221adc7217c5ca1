import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { followEvents } from '../../src/clients/client/follow-events.js'
import { fillAll } from '../../src/ledger/shipping/fill-all.js'
import { seal, unseal } from '../../src/ledger/storage/rows/sealed-row.js'
import { PostgresEngine } from '../../src/ledger/engine/postgres-engine.js'
import { busyChain } from '../support/builders/busy-chain.js'
import { oneValidator } from '../support/builders/chain.js'
import { contextOf, serve } from '../support/client/api.js'
import { answerTo, contractQuestions } from '../support/client/contract-questions.js'
import { gatewayOver } from '../support/network/gateways.js'
import { portBase } from '../support/process/ports.js'
import { PostgresServer } from '../support/process/postgres.js'
import { Directories, NodeProcess, runJson } from '../support/process/spawn.js'

const directories = new Directories()
const servers: PostgresServer[] = []
const server = async (made: Promise<PostgresServer>) => {
  const one = await made
  servers.push(one)
  return one
}

afterAll(() => {
  for (const one of servers) one.close()
  directories.remove()
})

describe('a gateway over servers of PostgreSQL', () => {
  it.each([1, 2])('gives the answers of the node from %i of them, byte for byte', async (shards) => {
    const made = await Promise.all(Array.from({ length: shards }, () => server(PostgresServer.create())))
    const urls = made.map(({ url }) => url)
    const node = await busyChain({ ...oneValidator(), coinInterval: 330 })
    const rest = await serve(contextOf(node))
    const engine = await PostgresEngine.open(urls)
    const { database, chain } = node
    await fillAll({ database, engine, genesis: chain.genesis.header.hash, stream: randomBytes(16) })
    await engine.close()
    const nodes = [`http://127.0.0.1:${rest.port}`]
    const gateway = await gatewayOver(node, await PostgresEngine.open(urls), nodes)
    for (const question of await contractQuestions(node)) {
      const answer = await answerTo(gateway.ports.rest, question)
      expect({ question, answer }).toEqual({ question, answer: await answerTo(rest.port, question) })
    }
    await gateway.close()
    await rest.close()
    await node.close()
  })
})

/** A GET of the body alone, as of a height at least; undefined where the gateway refuses for now. */
async function bodyAt(rest: string, path: string, height: number): Promise<string | undefined> {
  const answer = await fetch(rest + path, { headers: { 'x-min-height': String(height) } })
  const text = await answer.text()
  return answer.status === 503 ? undefined : text
}

describe('gateways with a list of two databases for one shard', () => {
  it('answer as the node before, while and after the shard is divided', async () => {
    const [first, second] = [await server(PostgresServer.create()), await server(PostgresServer.create())]
    const args = ['devnet', '--data-dir', directories.fresh(), '--seed-dids', '300']
    let node = await NodeProcess.start(...args, '--ship', first.url)
    await node.admin('dev_mine', { blocks: 2 })
    const gateway = await NodeProcess.start('gateway', '--genesis', 'devnet', '--shards', first.url, second.url)
    const told: number[] = []
    let isOver = false
    const asking = (async () => {
      while (!isOver) told.push((await gateway.get('block/height')).status)
    })()
    await node.stop()
    node = await NodeProcess.start(...args, '--ship', first.url, second.url)
    const query = { path: '/rpc', call: { method: 'query', params: { query: {}, limit: 100, count: true } } }
    for (let i = 0; i < 10; i++) {
      await node.admin('dev_mine', { blocks: 1 })
      const { body } = await node.get('block/height')
      const height = Number(body.Result)
      await expect.poll(() => bodyAt(gateway.line.rest, '/api/v1/block/height', height)).toContain(String(height))
      const answers = [gateway, node].map(async ({ line }) => answerTo(Number(new URL(line.rest).port), query))
      const [given, wanted] = await Promise.all(answers)
      expect(given?.text).toBe(wanted?.text)
    }
    const places = async () => {
      const { shards } = await runJson<{ shards: object[] }>('ship', 'status', first.url, second.url)
      return shards
    }
    await expect.poll(places).toMatchObject([
      { shard: 0, shards: 2, swept: true, epoch: 1 },
      { shard: 1, shards: 2, swept: true, epoch: 1 },
    ])
    isOver = true
    await asking
    expect([told.length > 20, new Set(told)]).toEqual([true, new Set([200])])
    const counts = [first, second].map((one) => Number(one.sql('SELECT count(*) FROM didledger.row')))
    expect(Math.max(...counts)).toBeLessThan(0.7 * (counts[0]! + counts[1]!))
    await gateway.stop()
    await node.stop()
  })
})

describe('a gateway beside a primary and its replica', () => {
  let primary: PostgresServer
  let replica: PostgresServer
  let node: NodeProcess
  let gateway: NodeProcess
  let shipping: readonly string[]
  const accounts: string[] = []

  beforeAll(async () => {
    primary = await server(PostgresServer.create())
    replica = await server(PostgresServer.replicaOf(primary))
    const url = `postgres://postgres@${primary.host},${replica.host}/postgres`
    shipping = ['devnet', '--data-dir', directories.fresh(), '--ship', url, '--port-base', await portBase()]
    node = await NodeProcess.start(...shipping, '--seed-dids', '20')
    gateway = await NodeProcess.start('gateway', '--genesis', 'devnet', '--shards', url, '--node', node.line.rest)
    const listed = await node.admin<{ address: string }[]>('dev_accounts')
    accounts.push(...listed.slice(0, 3).map(({ address }) => address))
  })
  afterAll(async () => {
    await gateway.stop()
    await node.stop()
  })

  /** Lets the chain go on, and holds the answers of both against each other once the gateway is there. */
  async function expectSame(change: () => Promise<unknown>): Promise<void> {
    await change()
    const height = Number((await node.get('block/height')).body.Result)
    const paths = [
      ...accounts.flatMap((address) => [`/api/v1/asset/utxos/${address}`, `/api/v1/asset/balances/${address}`]),
      ...[height, height - 1, 2].map((at) => `/api/v1/block/details/height/${at}`),
      '/light/1/anchor',
      '/light/1/trust',
    ]
    for (const path of paths) {
      // What a reorganisation put back into the pool is mined a moment later: the node is asked each time as well.
      const isSame = async () => {
        const [given, expected] = await Promise.all([gateway, node].map(({ line }) => bodyAt(line.rest, path, height)))
        return expected !== undefined && given === expected
      }
      await expect.poll(isSame, { timeout: 30_000, message: path }).toBe(true)
    }
  }

  it('answers as the node while blocks come and are taken back', async () => {
    await expectSame(() => node.admin('dev_mine', { blocks: 3 }))
    await expectSame(() =>
      runJson(
        'wallet',
        'send',
        '--devnet-account',
        '0',
        '--to',
        accounts[1] as string,
        '--amount',
        '3',
        '--rest',
        gateway.line.rest,
      ),
    )
    await expectSame(() => node.admin('dev_reorg', { blocks: 2 }))
    await expectSame(() => node.admin('dev_mine', { blocks: 1 }))
  })

  it('tells events, and goes on when their node was killed and is there again', async () => {
    const end = new AbortController()
    const lost: string[] = []
    const height = Number((await node.get('block/height')).body.Result)
    const events = followEvents({
      url: gateway.line.ws,
      topics: ['block'],
      from: { fromHeight: height },
      signal: end.signal,
      onLost: ({ message }) => lost.push(message),
    })
    const heights: unknown[] = []
    const read = async (count: number) => {
      while (heights.length < count) {
        const { value } = await events.next()
        if (value !== undefined && 'height' in value) heights.push(value.height)
      }
    }
    await node.admin('dev_mine', { blocks: 2 })
    await read(3)
    await node.stop('SIGKILL')
    const reading = read(5)
    await expect.poll(() => lost.length).toBe(1)
    node = await NodeProcess.start(...shipping)
    await node.admin('dev_mine', { blocks: 2 })
    await reading
    expect(heights).toEqual([0, 1, 2, 3, 4].map((i) => height + i))
    end.abort()
  })

  it('reads where the rows are while the replica is gone, and while it is behind', async () => {
    replica.kill()
    await expectSame(() => node.admin('dev_mine', { blocks: 2 }))
    replica.start()
    await expectSame(() => node.admin('dev_mine', { blocks: 2 }))
    replica.sql('SELECT pg_wal_replay_pause()')
    await expectSame(() => node.admin('dev_mine', { blocks: 2 }))
    replica.sql('SELECT pg_wal_replay_resume()')
  })

  it('goes on with the replica once the primary is gone and that one takes writes', async () => {
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.sql("ALTER SYSTEM SET synchronous_commit = 'remote_write'")
    primary.sql('SELECT pg_reload_conf()')
    await expectSame(() => node.admin('dev_mine', { blocks: 2 }))
    primary.kill()
    await node.admin('dev_mine', { blocks: 2 })
    replica.promote()
    replica.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    replica.sql('SELECT pg_reload_conf()')
    await expectSame(() => node.admin('dev_mine', { blocks: 2 }))
  })

  it('starts again in the midst, with nothing of its own', async () => {
    await gateway.stop('SIGKILL')
    const url = `postgres://postgres@${replica.host}/postgres`
    gateway = await NodeProcess.start('gateway', '--genesis', 'devnet', '--shards', url, '--node', node.line.rest)
    await expectSame(() => node.admin('dev_mine', { blocks: 1 }))
  })

  it('stops where rows were forged together with their checksums, if it checks its own answers', async () => {
    const rows = replica.sql("SELECT encode(k, 'hex'), encode(v, 'hex') FROM didledger.row WHERE get_byte(k, 0) = 26")
    for (const line of rows.trim().split('\n')) {
      const [key, sealed] = line.split('|').map((text) => Buffer.from(text, 'hex')) as [Buffer, Buffer]
      const value = Buffer.from(unseal(key, sealed))
      value[value.length - 1] = (value.at(-1) as number) ^ 1
      const [k, v] = [key, seal(key, value)].map((bytes) => bytes.toString('hex'))
      replica.sql(`UPDATE didledger.row SET v = '\\x${v}' WHERE k = '\\x${k}'`)
    }
    const url = `postgres://postgres@${replica.host}/postgres`
    const checking = await NodeProcess.start('gateway', '--genesis', 'devnet', '--shards', url, '--verify-own')
    const [did] = (await node.admin<{ did: string }[]>('dev_accounts')).map((account) => account.did)
    const questions = Array.from({ length: 1000 }, (_, i) => ({
      ...{ jsonrpc: '2.0', id: i, method: 'resolvedid' },
      params: { did, all: true, limit: 1 + (i % 1000) },
    }))
    for (let i = 0; i < questions.length; i += 50) {
      const body = JSON.stringify(questions.slice(i, i + 50))
      const headers = { 'content-type': 'application/json' }
      await fetch(checking.line.rpc, { method: 'POST', headers, body }).then((answer) => answer.text())
    }
    const { code, err } = await checking.process.finished
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(`the answer about ${did}`) as string })
  })
})
