import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { NodeStatus } from '../../src/program/cli/local-status.js'
import { portOffsets } from '../../src/node/ports.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { aloneOnLocalnet } from '../support/network/shipped-chain.js'
import { Deadline } from '../support/process/patience.js'
import { CommandProcess, Directories, run, runJson, type StartLine } from '../support/process/spawn.js'

interface NetworkLine {
  readonly name: string
  readonly dataDir: string
  readonly nodes: readonly StartLine[]
  readonly accounts: readonly { readonly address: string; readonly balance: string }[]
}

aloneOnLocalnet()
const directories = new Directories()
let network: CommandProcess | undefined
afterEach(async () => {
  network?.kill('SIGKILL')
  await network?.finished
})
afterAll(() => directories.remove())

async function start(...args: string[]): Promise<{ command: CommandProcess; line: NetworkLine }> {
  const nodes = args.includes('--nodes') ? [] : ['--nodes', '4']
  const command = new CommandProcess(['devnet', '--port-base', '0', '--json', ...nodes, ...args])
  network = command
  const line = await command.firstLine()
  if (line === undefined) throw new Error((await command.finished).err)
  return { command, line: JSON.parse(line) as NetworkLine }
}

/** What was said last about each node. */
function statuses({ out }: CommandProcess): NodeStatus[] {
  const last: NodeStatus[] = []
  const lines = out.split('\n').slice(1, -1)
  for (const status of lines.map((line) => JSON.parse(line) as NodeStatus)) last[status.node - 1] = status
  return last
}

/** Ids of the node processes that work in a directory, those of one node or of all. */
function processesIn(directory: string): number[] {
  const rows = execFileSync('ps', ['-axo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  const nodes = rows.filter((row) => row.includes(`--data-dir ${directory}`) && row.includes(' start '))
  return nodes.map((row) => parseInt(row, 10))
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = new Deadline(90)
  while (!(await condition())) {
    if (deadline.over) throw new Error(`${what} did not come about: ${network?.out}${network?.err}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A port of this machine that somebody uses. */
function listening(): Promise<{ readonly port: number; close(): void }> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      resolve({ port: (server.address() as AddressInfo).port, close: () => server.close() })
    })
  })
}

const balanceOf = (rest: string, address: string) =>
  runJson<{ balance: string }[]>('wallet', 'balance', address, '--rest', rest).then((answer) => JSON.stringify(answer))

describe('devnet --nodes 4', () => {
  it('is a network: what is sent to one node is confirmed by all, with one of them dead as well', async () => {
    const { command, line } = await start()
    const [first, , third] = line.nodes as [StartLine, StartLine, StartLine, StartLine]
    expect(line).toMatchObject({ name: 'localnet', nodes: [{ height: 0 }, {}, {}, {}] })
    expect(processesIn(`${line.dataDir}/node-`)).toHaveLength(4)
    expect(line.accounts[0]?.balance).toBe('10000.00000000')
    await until('a vote of all four', () => {
      const now = statuses(command)
      return now.length === 4 && now.every(({ signing, peers }) => signing === 'yes' && peers === 3)
    })

    const { address } = devnetAccount(1)
    const pay = (amount: string) => {
      const payment = ['--devnet-account', '0', '--to', address, '--amount', amount]
      return runJson<{ height: number }>('wallet', 'send', '--genesis', 'localnet', '--rest', first.rest, ...payment)
    }
    await pay('12.5')
    await until('the payment on node 3', async () => (await balanceOf(third.rest, address)).includes('10012.5'))

    const [second] = processesIn(`${line.dataDir}/node-2`) as [number]
    process.kill(second, 'SIGKILL')
    await until('the end of node 2', () => statuses(command)[1]?.state === 'ended: signal SIGKILL')
    await pay('1')
    await until('a block without node 2', async () => (await balanceOf(third.rest, address)).includes('10013.5'))

    command.kill('SIGINT')
    expect(await command.finished).toMatchObject({ code: 0, err: '' })
    expect(processesIn(line.dataDir)).toEqual([])
    expect(existsSync(line.dataDir)).toBe(false)
  })

  it('goes on where it stopped, and leaves no process behind when it is killed', async () => {
    const dataDir = directories.fresh()
    const before = await start('--data-dir', dataDir)
    await until('a block', () => (statuses(before.command)[0]?.height ?? 0) > 0)
    before.command.kill('SIGKILL')
    await before.command.finished
    await until('the end of all nodes', () => processesIn(dataDir).length === 0)

    const { command, line } = await start('--data-dir', dataDir)
    const height = line.nodes[0]?.height ?? 0
    expect(height).toBeGreaterThan(0)
    await until('another block', () => {
      const now = statuses(command)
      return now.length === 4 && now.every((status) => status.signing === 'yes' && (status.height ?? 0) > height)
    })
    command.kill('SIGTERM')
    expect(await command.finished).toMatchObject({ code: 0, err: '' })
    expect(processesIn(dataDir)).toEqual([])
  })

  it('ends at once at a second signal, and leaves neither a node nor its directory', async () => {
    const { command, line } = await start()
    // A node that hears nothing does not stop.
    const [second] = processesIn(`${line.dataDir}/node-2`) as [number]
    process.kill(second, 'SIGSTOP')
    command.kill('SIGINT')
    const signalled = performance.now()
    await until('the end of the others', () => processesIn(line.dataDir).length === 1)
    // One within half a second is the same stop.
    await until('the time of one stop', () => performance.now() - signalled > 1000)
    command.kill('SIGINT')
    expect(await command.finished).toMatchObject({ code: 130, err: '' })
    await until('the end of all nodes', () => processesIn(line.dataDir).length === 0)
    expect(existsSync(line.dataDir)).toBe(false)
  })

  it('lets a node vote that comes to the directory of fewer', async () => {
    const dataDir = directories.fresh()
    const three = await start('--nodes', '3', '--data-dir', dataDir)
    const [first] = three.line.nodes as [StartLine]
    const payment = ['--devnet-account', '0', '--to', devnetAccount(1).address, '--amount', '1']
    await runJson('wallet', 'send', '--genesis', 'localnet', '--rest', first.rest, ...payment)
    three.command.kill('SIGINT')
    expect(await three.command.finished).toMatchObject({ code: 0, err: '' })

    const { command } = await start('--data-dir', dataDir)
    await until('a vote of all four', () => {
      const now = statuses(command)
      return now.length === 4 && now.every(({ signing, height = 0 }) => signing === 'yes' && height > 0)
    })
    command.kill('SIGINT')
    expect(await command.finished).toMatchObject({ code: 0, err: '' })
  })

  it('says why a node does not start, and leaves none behind', async () => {
    const { port, close } = await listening()
    const dataDir = directories.fresh()
    try {
      const base = String(port - portOffsets.rest)
      const { code, err } = await run('devnet', '--nodes', '2', '--port-base', base, '--data-dir', dataDir)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(
          /^(?:Node [12] of 2 (?:has started|is ready)\.\n)+error: node [12] ended with exit code 1:\nport \d+ of .* is in use;/,
        ),
      ])
      expect(processesIn(dataDir)).toEqual([])
    } finally {
      close()
    }
  })

  it.each([
    [['--nodes', '5'], 'Not a number of nodes from 1 to 4'],
    [['--nodes', '2', '--block-time', '5'], 'devnet.blockTime (flag --block-time) is for a devnet of one node'],
    [['--nodes', '2', '--no-automine'], 'devnet.automine (flag --no-automine) is for a devnet of one node'],
    [['--nodes', '2', '--port-base', '65000'], 'leaves no ports for node 2'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await run('devnet', ...args)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })
})
