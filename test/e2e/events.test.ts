import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { startChild } from '../support/process/children.js'
import { ChainView, type ToldEvent } from '../support/assert/chain-view.js'
import { SeededRandom, Payer } from '../support/builders/test-payer.js'
import { repositoryFile } from '../support/assert/markdown.js'
import { portBase } from '../support/process/ports.js'
import { Deadline } from '../support/process/patience.js'
import { Directories, NodeProcess, runJson } from '../support/process/spawn.js'
import { WsClient } from '../support/client/ws.js'

const directories = new Directories()
afterAll(() => directories.remove())

const miner = devnetAccount(20).address

/** A subscription whose events make a view of the chain. */
async function follow(node: NodeProcess, view: ChainView, from: object): Promise<WsClient> {
  const client = await WsClient.open(node.line.ws)
  client.onEvent = (event) => view.take(event)
  await client.result('subscribe', { topics: ['block', 'did'], ...from })
  return client
}

async function reach(node: NodeProcess, height: number): Promise<void> {
  while ((await node.client.height()) < height) await sleep(50)
}

/** Waits until the view ends with the tip of the node, and compares every block and every operation with REST. */
async function expectSame(client: WsClient, view: ChainView, node: NodeProcess): Promise<void> {
  const height = await node.client.height()
  const tip = await node.hashAt(height)
  await client.until(() => view.tip?.hash === tip)
  const operations: string[] = []
  for (const [at, block] of view.blocks.entries()) {
    const { body } = await node.get(`block/details/height/${at}`)
    const { hash, tx } = body.Result as { hash: string; tx: { type: number; txid: string }[] }
    expect([block.height, block.hash]).toEqual([at, hash])
    operations.push(...tx.filter(({ type }) => type === 10).map(({ txid }) => txid))
  }
  expect(view.operations.map((operation) => operation.split(' ')[2])).toEqual(operations)
}

describe('a client that has nothing but events', () => {
  it('follows reorganisations and restarts', async () => {
    const payer = new Payer(new SeededRandom(21), 'pow')
    const [a, b] = [directories.fresh('a'), directories.fresh('b')]
    const exported = `${directories.root}/blocks`
    const start = (dataDir: string, mine: boolean) =>
      NodeProcess.start('start', '--genesis', 'pow', '--data-dir', dataDir, ...(mine ? ['--mine', miner] : []))
    const copy = async (from: string, to: string) => {
      await runJson('chain', 'export', exported, '--genesis', 'pow', '--data-dir', from)
      await runJson('chain', 'import', exported, '--genesis', 'pow', '--data-dir', to)
    }
    const register = async (node: NodeProcess, from: number, owner: number) => {
      const coins = await node.client.coins(devnetAccount(from).address, payer.assetId)
      const txid = await node.client.sendRawTransaction(payer.identity(from, owner, coins, undefined).toHex())
      return node.client.waitForBlock(txid)
    }
    const numbers: number[] = []

    // Both chains begin alike. The client has this one's first blocks, goes, and comes back by number.
    let node = await start(a, true)
    await reach(node, 2)
    await node.stop()
    await copy(a, b)
    node = await start(a, true)
    const view = new ChainView()
    let client = await follow(node, view, { fromHeight: 0 })
    await register(node, 2, 31)
    await client.until(() => view.number !== undefined)
    await client.close()
    await register(node, 3, 32)
    client = await follow(node, view, { after: view.number })
    await client.until(() => view.operations.length === 2)
    numbers.push(view.number as number)
    const left = view.tip?.height as number
    expect((await node.stop()).code).toBe(0)
    expect((await client.closed).code).toBe(1001)

    // Meanwhile a longer branch takes over.
    node = await start(b, true)
    await register(node, 4, 33)
    await reach(node, left + 3)
    await node.stop()
    await copy(b, a)

    node = await start(a, false)
    const gone = await WsClient.open(node.line.ws)
    expect(await gone.call('subscribe', { topics: ['block'], after: numbers[0] })).toMatchObject({
      error: { code: -32006 },
    })
    const { number } = await gone.result<{ number: number }>('subscribe', { topics: ['block'] })
    expect(number).toBeGreaterThan(numbers[0] as number)
    numbers.push(number)
    const before = view.blocks.length
    view.interrupted()
    client = await follow(node, view, { afterBlock: view.tip?.hash })
    await expectSame(client, view, node)
    expect(client.events.filter(({ action }) => action === 'revert').length).toBeGreaterThan(0)
    expect(view.blocks.length).toBeGreaterThan(before)
    expect(view.operations).toHaveLength(1)

    // A kill loses no number either.
    await node.stop('SIGKILL')
    await client.closed
    node = await start(a, true)
    view.interrupted()
    client = await follow(node, view, { afterBlock: view.tip?.hash })
    await reach(node, (view.tip?.height as number) + 2)
    await client.until(() => view.number !== undefined)
    expect(view.number).toBeGreaterThan(numbers[1] as number)
    await client.close()
    await node.stop()

    // From nothing to the same.
    node = await start(a, false)
    const anew = new ChainView()
    client = await follow(node, anew, { fromHeight: 0 })
    await expectSame(client, anew, node)
    await client.close()
    await node.stop()
  })

  it('sees a devnet go back in time', async () => {
    const node = await NodeProcess.start('devnet', '--no-automine')
    const view = new ChainView()
    const client = await follow(node, view, {})
    const mine = (blocks: number) => node.client.rpc('dev_mine', { blocks })
    await mine(3)
    const snapshot = await node.client.rpc('dev_snapshot', {})
    await runJson('did', 'create', '--devnet-account', '2', '--no-wait', '--rest', node.line.rest)
    await mine(2)
    await client.until(() => view.operations.length === 1 && view.blocks.length === 5)
    await node.client.rpc('dev_revert', { id: snapshot })
    await client.until(() => view.blocks.length === 3)
    expect(view.operations).toEqual([])
    await mine(1)
    await client.until(() => view.blocks.length === 4)
    expect(view.tip?.hash).toBe(await node.hashAt(4))
    await client.close()
    await node.stop()
  })
})

describe('the client of docs/events.md', () => {
  it('prints each event once, while the node is killed and started again again and again', async () => {
    const code = /```js\n([^]*?)```/.exec(repositoryFile('docs/events.md'))?.[1] ?? ''
    const dataDir = directories.fresh('devnet')
    const start = ['devnet', '--data-dir', dataDir, '--port-base', await portBase()]
    let node = await NodeProcess.start(...start)
    const program = code
      .replace('ws://127.0.0.1:20335', node.line.ws)
      .replace('console.log(event)', 'console.log(JSON.stringify(event))')
    expect(program).not.toBe(code)
    const client = startChild(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    try {
      const printed = outputOf(client)
      await printed.until(/"height":0,/)
      for (let round = 1; round <= 3; round++) {
        await runJson('did', 'create', '--devnet-account', String(round), '--rest', node.line.rest)
        // Blocks are on their way when the node is killed.
        const mining = node.client.rpc('dev_mine', { blocks: 3000 }).catch(() => {})
        await printed.until(new RegExp(devnetAccount(round).did))
        await node.stop('SIGKILL')
        await mining
        node = await NodeProcess.start(...start)
      }
      await node.client.rpc('dev_mine', { blocks: 2 })
      const height = await node.client.height()
      await printed.until(new RegExp(`"height":${height},`))
      const events = printed
        .text()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as ToldEvent)
      const view = new ChainView()
      for (const event of events) view.take(event)
      expect(view.blocks.map(({ height: at }) => at)).toEqual(Array.from({ length: height + 1 }, (_, at) => at))
      expect(view.tip?.hash).toBe(await node.hashAt(height))
      expect(view.operations).toHaveLength(3)
      expect(events.filter(({ topic, action }) => topic === 'block' && action === 'apply')).toHaveLength(height + 1)
    } finally {
      client.kill()
      await once(client, 'close')
      await node.stop()
    }
  })
})

function outputOf(child: ChildProcess): { text(): string; until(pattern: RegExp): Promise<void> } {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  }
  const until = async (pattern: RegExp) => {
    const deadline = new Deadline()
    while (!pattern.test(text)) {
      if (deadline.over) throw new Error(`no ${pattern.source} in: ${text}`)
      await sleep(50)
    }
  }
  return { text: () => text, until }
}
