import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { NodeStatus } from '../../src/program/cli/local-status.js'
import { callRpc } from '../../src/clients/client/rpc.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetAccount, devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { until } from '../support/network/test-network.js'
import { aloneOnLocalnet } from '../support/network/shipped-chain.js'
import { CommandProcess, Directories, NodeProcess, type StartLine } from '../support/process/spawn.js'

interface Vote {
  readonly validators: number
  readonly quorum: number
  readonly heard: number
  readonly votes: readonly { readonly publickey: string; readonly heard: boolean }[]
  readonly stalled?: { readonly reason: string; readonly since: number; readonly detail: string }
}

aloneOnLocalnet()
const directories = new Directories()
let network: CommandProcess | undefined
let back: NodeProcess | undefined
afterEach(async () => {
  network?.kill('SIGKILL')
  await network?.finished
  await back?.stop('SIGKILL')
  network = back = undefined
})
afterAll(() => directories.remove())

const voteOf = async ({ rpc }: StartLine) => (await callRpc(rpc, 'getarbitersinfo', {}, { timeout: 10_000 })) as Vote

async function readiness({ rest }: StartLine): Promise<{ http: number; status: string; reason?: string }> {
  const response = await fetch(`${rest}/readyz`)
  return { http: response.status, ...((await response.json()) as { status: string; reason?: string }) }
}

/** The process of a node of the network in a directory. */
function processOf(directory: string, node: number): number {
  const rows = execFileSync('ps', ['-axo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  const owner = rows.find((row) => row.includes(`--data-dir ${directory}/node-${node} `) && row.includes(' start '))
  if (owner === undefined) throw new Error(`node ${node} does not run`)
  return parseInt(owner, 10)
}

/** What was said last about a node. */
function statusOf({ out }: CommandProcess, node: number): NodeStatus | undefined {
  const lines = out.split('\n').slice(1, -1)
  return lines.map((line) => JSON.parse(line) as NodeStatus).findLast((status) => status.node === node)
}

describe('devnet --nodes 4, two of which are killed', () => {
  it('says at every door that the chain is stalled and who is missing, and that it goes on with one of them back', async () => {
    const dataDir = directories.fresh()
    const command = new CommandProcess(['devnet', '--nodes', '4', '--port-base', '0', '--json', '--data-dir', dataDir])
    network = command
    const line = await command.firstLine()
    if (line === undefined) throw new Error((await command.finished).err)
    const { nodes } = JSON.parse(line) as { nodes: readonly [StartLine, StartLine, StartLine, StartLine] }
    const alive = [nodes[0], nodes[1]]
    await until('a block at all nodes', 90, async () => {
      const heights = [1, 2, 3, 4].map((node) => statusOf(command, node)?.height ?? 0)
      return heights.every((height) => height > 0) || heights.join()
    })
    expect(await voteOf(nodes[0])).toMatchObject({ validators: 4, quorum: 3 })
    expect(await voteOf(nodes[0])).not.toHaveProperty('stalled')
    expect(await readiness(nodes[0])).toMatchObject({ http: 200, status: 'ready' })

    for (const node of [3, 4]) process.kill(processOf(dataDir, node), 'SIGKILL')
    for (const node of alive) {
      await until('a stalled chain', 90, async () => {
        const { http, status } = await readiness(node)
        return (http === 503 && status === 'stalled') || `${http} ${status}`
      })
    }
    const missing = [2, 3].map((index) => toHex(devnetValidatorKey(index).publicKey))
    for (const node of alive) {
      const { heard, votes, stalled } = await voteOf(node)
      expect(heard).toBe(2)
      expect(votes.filter((vote) => !vote.heard).map(({ publickey }) => publickey)).toEqual(missing)
      expect(stalled).toMatchObject({ reason: 'no-quorum', since: expect.any(Number) })
      for (const key of missing) expect(stalled?.detail).toContain(`(${key.slice(0, 12)}…)`)
      expect((await readiness(node)).reason).toBe(`no-quorum: ${stalled?.detail}`)
      expect((await fetch(`${node.rest}/healthz`)).status).toBe(200)
      const metrics = await (await fetch(`${node.rest}/metrics`)).text()
      expect(metrics).toMatch(/^didledger_stalled_chains 1$/m)
      expect(metrics).toMatch(/^didledger_voting_heard_validators 2$/m)
      expect(metrics).toMatch(/^didledger_voting_quorum_validators 3$/m)
    }
    await until('the stall in the table', 30, async () => {
      const shown = [1, 2].map((node) => statusOf(command, node)?.stalled ?? '')
      return shown.every((text) => text.startsWith('no-quorum: votes of 2 of 4')) || shown.join()
    })
    const sending = new CommandProcess([
      ...['wallet', 'send', '--genesis', 'localnet', '--rest', nodes[0].rest, '--devnet-account', '0'],
      ...['--to', devnetAccount(1).address, '--amount', '1'],
    ])
    await until('the reason of the wait', 30, async () => {
      return sending.err.includes('the chain is stalled: votes of') || sending.err
    })

    const peers = alive.flatMap(({ p2p }) => ['--peer', p2p[0] as string])
    const key = ['--validator-key', join(dataDir, 'validator-3.key')]
    const own = ['--data-dir', join(dataDir, 'node-3'), '--p2p-host', '127.0.0.1']
    back = await NodeProcess.start('start', '--genesis', 'localnet', ...own, ...key, ...peers)
    for (const node of [...alive, back.line]) {
      await until('a chain that goes on', 90, async () => {
        const { http, status } = await readiness(node)
        return (http === 200 && status === 'ready') || `${http} ${status}`
      })
      expect(await voteOf(node)).not.toHaveProperty('stalled')
    }
    expect(await sending.finished).toMatchObject({ code: 0, out: expect.stringContaining('Sent and mined.') })
    await until('the end of the stall in the table', 30, async () => {
      const shown = [1, 2].map((node) => statusOf(command, node)?.stalled)
      return shown.every((text) => text === undefined) || shown.join()
    })
  })
})

describe('a payment whose node is killed during the wait', () => {
  it('is named, and may be mined: it is mined once when the node is back', async () => {
    const args = ['devnet', '--no-automine', '--data-dir', directories.fresh()]
    const node = await NodeProcess.start(...args)
    const sending = new CommandProcess([
      ...['wallet', 'send', '--rest', node.line.rest, '--devnet-account', '0'],
      ...['--to', devnetAccount(1).address, '--amount', '1'],
    ])
    let txid = ''
    // The pool shows it a moment before it is on disk, and accepted.
    await until('the payment to be accepted', 60, () => {
      txid = /^accepted ([0-9a-f]{64})/m.exec(sending.err)?.[1] ?? ''
      return Promise.resolve(txid !== '' || sending.err)
    })
    await node.stop('SIGKILL')
    const { code, err } = await sending.finished
    expect(code).toBe(1)
    expect(err).toContain(`transaction ${txid} was`)
    expect(err).toContain('It may still be mined, so do not replace it by another one')
    expect(err).not.toMatch(/npx didledger devnet|again/)

    back = await NodeProcess.start(...args)
    await back.client.rpc('dev_mine', { blocks: 1 })
    expect(await back.client.transaction(txid)).toMatchObject({ confirmations: 1 })
  })
})
