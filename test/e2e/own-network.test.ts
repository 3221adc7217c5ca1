import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callRpc } from '../../src/clients/client/rpc.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { until } from '../support/network/test-network.js'
import { testPatience } from '../support/process/patience.js'
import { Directories, NodeProcess, runJson } from '../support/process/spawn.js'

/** A network with a spec and keys of its own, run as docs/network.md says. */

const directories = new Directories()
const directory = directories.fresh('corp')
const spec = join(directory, 'corp.json')
const running = new Set<NodeProcess>()

beforeAll(async () => {
  await runJson('genesis', 'create', 'corp', '--pay', devnetAccount(0).address, '--directory', directory)
})
afterAll(async () => {
  await Promise.all([...running].map((node) => node.stop('SIGKILL')))
  directories.remove()
})

async function start(name: string, ...args: string[]): Promise<NodeProcess> {
  const where = ['--data-dir', join(directory, name), '--p2p-host', '127.0.0.1']
  const peers = [...running].flatMap(({ line }) => ['--peer', line.p2p[0] as string])
  const node = await NodeProcess.start('start', '--genesis', spec, ...where, ...peers, ...args)
  running.add(node)
  return node
}

const validator = (number: number, ...args: string[]) =>
  start(`node-${number}`, '--validator-key', join(directory, `validator-${number}.key`), ...args)

async function stop(node: NodeProcess): Promise<void> {
  running.delete(node)
  expect(await node.stop()).toMatchObject({ code: 0 })
}

const ask = <T>(node: NodeProcess, method: string, params: object = {}) =>
  callRpc(node.line.rpc, method, { ...params }, { timeout: testPatience }) as Promise<T>

/** The same by the owner of the node. */
async function command(node: NodeProcess, method: string, params: object): Promise<unknown> {
  const token = readFileSync(join(node.line.dataDir, 'admin.token'), 'utf8').trim()
  const response = await fetch(node.line.rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ id: 1, method, params }),
  })
  return ((await response.json()) as { result?: unknown }).result
}

const signing = async (node: NodeProcess) => (await ask<{ signing: string }>(node, 'getarbitersinfo')).signing
const height = (node: NodeProcess) => ask<number>(node, 'getcurrentheight')

/** A payment, which does not wait for the time of an empty block. */
function pay(node: NodeProcess): Promise<unknown> {
  const payment = ['--devnet-account', '0', '--to', devnetAccount(1).address, '--amount', '1']
  return runJson('wallet', 'send', '--genesis', spec, '--rest', node.line.rest, ...payment)
}

describe('a network of four validators', () => {
  let nodes: NodeProcess[]

  it('makes blocks with three of them', async () => {
    nodes = [await validator(1), await validator(2), await validator(3)]
    await pay(nodes[0] as NodeProcess)
    expect(await height(nodes[0] as NodeProcess)).toBeGreaterThan(0)
  })

  it('tells the fourth, who comes late, that nobody knows what it has signed, and lets it vote when it is told to', async () => {
    const late = await validator(4)
    await until('the reason', 60, async () => {
      const said = await signing(late)
      return /^the sign state is missing; .*--reset-sign-state/.test(said) || said
    })
    await stop(late)
    const again = await validator(4, '--reset-sign-state')
    await until('the catching up', 60, async () => (await height(again)) > 0 || 'not yet')
    await until('a vote', 120, async () => {
      // It votes above the first block that is made 30 seconds after its start: by then the others' clocks do not matter.
      await pay(again)
      const said = await signing(again)
      return said === 'yes' || said
    })
    await stop(again)
    const third = await validator(4)
    await until('a vote without the flag', 60, async () => {
      const said = await signing(third)
      return said === 'yes' || said
    })
  })

  it('is joined by a node that is told of a peer, and left when it bans that one', async () => {
    const [first] = nodes as [NodeProcess]
    const follower = await NodeProcess.start(
      ...['start', '--genesis', spec, '--data-dir', join(directory, 'follower'), '--p2p-host', '127.0.0.1'],
      ...['--outbound', '0'],
    )
    running.add(follower)
    const [address] = first.line.p2p as [string]
    const peers = async () => (await ask<{ peers: { name: string; id: number }[] }>(follower, 'getsyncstatus')).peers
    expect(await peers()).toEqual([])
    expect(await command(follower, 'addpeer', { address })).toBe(true)
    const name = (await peers())[0]?.name as string
    expect(address.endsWith(`/p2p/${name}`)).toBe(true)
    await until('the tip', 60, async () => (await height(follower)) === (await height(first)) || 'behind')

    expect(await command(follower, 'addban', { peer: name, reason: 'a test' })).toBe(true)
    await until('the end of the connection', 30, async () => (await peers()).length === 0 || 'still there')
    expect(await command(follower, 'listbans', {})).toMatchObject([{ peer: name, reason: 'a test' }])
    expect(await command(follower, 'addpeer', { address })).toBeUndefined()
    expect(await command(follower, 'removeban', { peer: name })).toBe(true)
    expect(await command(follower, 'addpeer', { address })).toBe(true)
  })
})
