import { afterEach, describe, expect, it } from 'vitest'
import { lookPatience } from '../../src/node/standing/pace.js'
import { callRpc } from '../../src/clients/client/rpc.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { until } from '../support/network/test-network.js'
import { Directories, NodeProcess, runJson } from '../support/process/spawn.js'

const directories = new Directories()
const running: NodeProcess[] = []
afterEach(async () => {
  for (const { process } of running) process.kill('SIGCONT')
  await Promise.all(running.splice(0).map((node) => node.stop('SIGKILL')))
  directories.remove()
})

const { did } = devnetAccount(2)
const payee = devnetAccount(0).address

async function start(...args: string[]): Promise<NodeProcess> {
  const node = await NodeProcess.start('start', '--genesis', 'pow', '--p2p-host', '127.0.0.1', ...args)
  running.push(node)
  return node
}

async function heightOf({ client }: NodeProcess): Promise<number> {
  return (await client.chain())?.height ?? 0
}

/** A node that mines, with a DID, so many blocks ahead of genesis. */
async function miner(blocks: number): Promise<NodeProcess> {
  const node = await start('--data-dir', directories.fresh(), '--mine', payee)
  await until('a block', 60, async () => (await heightOf(node)) > 0 || 'none')
  await runJson('did', 'create', '--devnet-account', '2', '--rest', node.line.rest)
  await until(`${blocks} blocks`, 120, async () => {
    const height = await heightOf(node)
    return height >= blocks || String(height)
  })
  return node
}

/** The status of a DID at a node, or the code of the error. */
function statusOf({ line }: NodeProcess, asked: string, timeout = 10_000): Promise<number> {
  return callRpc(line.rpc, 'resolvedid', { did: asked, all: false }, { timeout }).then(
    (result) => (result as { status: number }).status,
    (error: unknown) => (error as { code: number }).code,
  )
}

/** What a node says at this moment: whether it is ready, and of the DID its status, or the code of the error. */
async function look(node: NodeProcess): Promise<{ ready: number; did: number; text: string }> {
  const ready = await fetch(`${node.line.rest}/readyz`)
  const text = await ready.text()
  return { ready: ready.status, did: await statusOf(node, did), text }
}

/** Looks at a node until it is ready, or so many seconds long; the changes of its readiness. */
async function watch(node: NodeProcess, seconds: number): Promise<number[]> {
  const changes: number[] = []
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    const { ready, did: said, text } = await look(node)
    if (changes.at(-1) !== ready) changes.push(ready)
    expect([0, -32001], text).toContain(said)
    const { height, target } = JSON.parse(text) as { height: number; target: number }
    if (ready === 200) expect(target - height, text).toBeLessThanOrEqual(1)
    if (ready === 200 && said === 0) break
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  return changes
}

describe('a node that joins', () => {
  it('denies no DID, becomes ready once, and is not in step again after a restart without its peer', async () => {
    const first = await miner(15)
    const [peer = ''] = first.line.p2p
    const dataDir = directories.fresh()
    const joining = await start('--data-dir', dataDir, '--peer', peer)
    expect(await watch(joining, 120)).toEqual([503, 200])

    await joining.stop()
    await first.stop('SIGKILL')
    const alone = await start('--data-dir', dataDir, '--peer', peer)
    for (let i = 0; i < 20; i++) {
      const { ready, did: said, text } = await look(alone)
      expect({ ready, said }, text).toEqual({ ready: 503, said: -32001 })
      expect(JSON.parse(text)).toMatchObject({ status: 'out of step', inStep: false })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })

  it('denies no DID of the meantime either where it is started again without --peer, for it knows its peers', async () => {
    const first = await miner(3)
    const [peer = ''] = first.line.p2p
    const dataDir = directories.fresh()
    const joining = await start('--data-dir', dataDir, '--peer', peer)
    expect((await watch(joining, 120)).at(-1)).toBe(200)
    await joining.stop()
    await runJson('did', 'create', '--devnet-account', '3', '--rest', first.line.rest)
    const later = devnetAccount(3).did
    const again = await start('--data-dir', dataDir)
    await until('the DID', 60, async () => {
      const said = await statusOf(again, later)
      expect([0, -32001]).toContain(said)
      return said === 0 || String(said)
    })
  })

  it('says nothing for as long as its only peer is silent', async () => {
    const ahead = 15
    const first = await miner(ahead)
    const [peer = ''] = first.line.p2p
    const joining = await start('--data-dir', directories.fresh(), '--peer', peer)
    await until('a connection', 60, async () => {
      const { peers } = (await callRpc(joining.line.rpc, 'getsyncstatus', {}, { timeout: 5_000 })) as {
        peers: unknown[]
      }
      if (peers.length === 0) return 'none'
      first.process.kill('SIGSTOP')
      return true
    })
    // What was sent before the signal still arrives, which may be all. A node in step may be one block behind.
    if ((await watch(joining, 15)).includes(200)) expect(await heightOf(joining)).toBeGreaterThanOrEqual(ahead - 1)
    first.process.kill('SIGCONT')
    expect((await watch(joining, 120)).at(-1)).toBe(200)
  })
})

describe('a node that was stopped', () => {
  it('denies no DID of the meantime from its first answer on, and is ready again by its peer', async () => {
    const first = await miner(3)
    const [peer = ''] = first.line.p2p
    const node = await start('--data-dir', directories.fresh(), '--peer', peer)
    expect((await watch(node, 120)).at(-1)).toBe(200)
    const later = devnetAccount(3).did
    node.process.kill('SIGSTOP')
    const since = Date.now()
    // They wait in the socket, and may be read before any timer comes due.
    const asked = Array.from({ length: 10 }, () => statusOf(node, later, 60_000))
    await runJson('did', 'create', '--devnet-account', '3', '--rest', first.line.rest)
    await until('the time', 60, () => Promise.resolve(Date.now() - since > lookPatience + 500 || 'not yet'))
    node.process.kill('SIGCONT')
    for (const said of await Promise.all(asked)) expect([0, -32001]).toContain(said)
    await until('the DID', 60, async () => {
      const said = await statusOf(node, later)
      expect([0, -32001]).toContain(said)
      return said === 0 || String(said)
    })
    expect((await watch(node, 60)).at(-1)).toBe(200)
  })
})
