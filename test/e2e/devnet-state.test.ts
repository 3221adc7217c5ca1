import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { shellWord } from '../../src/program/cli/print-output.js'
import { devnetAccount, devnetAccountsOf } from '../../src/clients/wallet/devnet-accounts.js'
import { CommandProcess, Directories, NodeProcess, run } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

/** An empty directory. */
function place(): string {
  const path = directories.fresh()
  mkdirSync(path)
  return path
}

const recipient = devnetAccount(1).address

async function call<T>(node: NodeProcess, method: string, params: object = {}): Promise<T> {
  const response = await fetch(node.line.rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: T; error?: unknown }
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

/** What a devnet has to bring back. */
async function stateOf(node: NodeProcess) {
  return {
    tip: await call(node, 'getbestblockhash'),
    balance: await node.client.balance(recipient),
    waiting: await call(node, 'getrawmempool'),
  }
}

describe('devnet --state', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'keeps chain, pool and clock from one run to the next, after %s',
    async (end) => {
      const file = join(place(), 'state')
      const first = await NodeProcess.start('devnet', '--no-automine', '--state', file)
      await call(first, 'dev_faucet', { address: recipient, amount: '5' })
      await call(first, 'dev_mine', { blocks: 20 })
      await call(first, 'dev_increaseTime', { seconds: 10_000_000 })
      await call(first, 'dev_faucet', { address: recipient, amount: '7' })
      const before = await stateOf(first)
      expect(existsSync(file)).toBe(false)
      expect(await first.stop(end)).toMatchObject({ code: 0 })
      expect(existsSync(first.line.dataDir)).toBe(false)

      const second = await NodeProcess.start('devnet', '--no-automine', '--state', file)
      expect(second.line.height).toBe(20)
      expect(await stateOf(second)).toEqual(before)
      const now = await call<number>(second, 'dev_increaseTime', { seconds: 0 })
      expect(now).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1000) + 9_999_000)
      await call(second, 'dev_mine')
      await second.stop(end)
      const third = await NodeProcess.start('devnet', '--state', file)
      expect(third.line.height).toBe(21)
      expect(await third.client.balance(recipient)).toBe(before.balance + 700_000_000n)
      await third.stop()
    },
  )

  it('leaves the file as it was after a kill', async () => {
    const where = place()
    const file = join(where, 'state')
    const whole = await threeBlocks(file)
    const second = await NodeProcess.start('devnet', '--state', file)
    await call(second, 'dev_mine', { blocks: 3 })
    expect(await second.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
    expect(readFileSync(file)).toEqual(whole)
    const third = await NodeProcess.start('devnet', '--state', file)
    expect(third.line.height).toBe(3)
    await third.stop()
    expect(readdirSync(where)).toEqual(['state'])
  })

  it('keeps the chain where the file cannot be written at the end, and says where', async () => {
    const TMPDIR = place()
    const file = join(place(), 'state')
    const first = await NodeProcess.startWith({ env: { TMPDIR } }, 'devnet', '--state', file)
    await call(first, 'dev_mine', { blocks: 3 })
    const before = await stateOf(first)
    mkdirSync(file)
    const { dataDir } = first.line
    const { code, err } = await first.stop()
    expect(code).toBe(1)
    expect(err).toContain(`the state cannot be written to ${file}`)
    expect(err.replaceAll('\\"', '"')).toContain(
      `the chain stays in ${dataDir}: "npx didledger devnet --data-dir ${dataDir}" continues there`,
    )
    // The next devnet would sweep what a killed one left.
    const other = await NodeProcess.startWith({ env: { TMPDIR } }, 'devnet', '--state', join(place(), 'state'))
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await other.stop()
    const second = await NodeProcess.startWith({ env: { TMPDIR } }, 'devnet', '--data-dir', dataDir)
    expect(await stateOf(second)).toEqual(before)
    await second.stop()
  })

  it('is refused to a second devnet, also through a link', async () => {
    const where = place()
    const [file, link] = [join(where, 'state'), join(where, 'link')]
    symlinkSync('state', link)
    const first = await NodeProcess.start('devnet', '--state', file)
    for (const path of [file, link]) {
      const { code, err } = await run('devnet', '--port-base', '0', '--state', path)
      expect({ code, err }).toEqual({
        code: 1,
        err: `error: another process is using the state of a devnet in ${path}; stop it first\n`,
      })
    }
    expect(await first.stop()).toMatchObject({ code: 0 })
    const second = await NodeProcess.start('devnet', '--state', link)
    await second.stop()
    expect(readdirSync(where)).toEqual(['link', 'state'])
  })

  it('says where the state comes from and where it is', async () => {
    const file = join(place(), 'state')
    for (const said of ['not there yet', 'read, with 0 blocks']) {
      const devnet = new CommandProcess(['devnet', '--port-base', '0', '--state', file])
      await expect.poll(() => devnet.out).toContain('Ctrl-C stops the devnet.')
      expect(devnet.out).toContain(`State     ${file} (${said}; saved when the devnet ends)`)
      expect(devnet.out).not.toContain('temporary')
      devnet.kill('SIGTERM')
      const { out } = await devnet.finished
      expect(out).toContain(`The state is in ${file}, at height 0: --state ${shellWord(file)} goes on there.\n`)
    }
  })

  it('refuses a file that is none, or damaged, in plain words, and leaves it and nothing else', async () => {
    const where = place()
    const file = join(where, 'state')
    const whole = await threeBlocks(file)
    const cases: [() => void, string][] = [
      [() => truncateSync(file, whole.length - 40), 'the file is damaged after 2 blocks: it ends too early'],
      [() => writeFileSync(file, Buffer.concat([whole, Buffer.of(1)])), 'something follows its end'],
      [() => writeFileSync(file, Buffer.from(whole).fill(0xff, 200, 201)), 'damaged'],
      [() => writeFileSync(file, ''), 'it is no state of a devnet: it does not begin as one'],
      [() => writeFileSync(file, '{"state": "of something else"}'), 'it is no state of a devnet'],
    ]
    for (const [damage, reason] of cases) {
      damage()
      const before = readFileSync(file)
      const { code, out, err } = await run('devnet', '--port-base', '0', '--state', file)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain(file)
      expect(err).toContain(reason)
      expect(readFileSync(file)).toEqual(before)
      expect(readdirSync(where)).toEqual(['state'])
    }
  })

  it('refuses a place where no file can be, and what keeps the chain elsewhere', async () => {
    const where = place()
    const file = join(where, 'state')
    const refusals: [string[], number, string][] = [
      [['--state', where], 1, `--state ${where}: it is a directory`],
      [['--state', join(where, 'none', 'state')], 1, `the directory ${join(where, 'none')} does not exist`],
      [['--state', file, '--data-dir', join(where, 'data')], 2, 'use one of them'],
      [['--state', file, '--nodes', '2'], 2, 'is for a devnet of one node'],
      [['--state', ''], 2, 'Not a file'],
    ]
    for (const [args, exit, reason] of refusals) {
      const { code, err } = await run('devnet', '--port-base', '0', ...args)
      expect(err).toContain(reason)
      expect(code).toBe(exit)
    }
    expect(readdirSync(where)).toEqual([])
  })
})

describe('what a devnet begins with', () => {
  const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

  interface Line {
    readonly mnemonic: string
    readonly accounts: readonly { readonly address: string; readonly balance: string }[]
    readonly dids?: { readonly count: number; readonly first: readonly string[] }
  }

  it('are accounts of a mnemonic with a balance, and DIDs', async () => {
    const args = ['--mnemonic', mnemonic, '--accounts', '3', '--balance', '123.5', '--seed-dids', '7']
    const node = await NodeProcess.start('devnet', ...args)
    const line = node.line as typeof node.line & Line
    expect(line.mnemonic).toBe(mnemonic)
    const account = devnetAccountsOf(mnemonic)
    expect(line.accounts.map(({ address, balance }) => ({ address, balance }))).toEqual(
      [0, 1, 2].map((index) => ({ address: account(index).address, balance: '123.50000000' })),
    )
    expect(line.dids).toMatchObject({
      count: 7,
      first: [expect.stringMatching(/^did:ledger:/), expect.any(String), expect.any(String)],
    })
    for (const did of line.dids?.first ?? []) {
      expect(await call(node, 'resolvedid', { did, all: false })).toMatchObject({ status: 0 })
    }
    await node.stop()
  })

  it.each([
    [['--mnemonic', 'test test test'], 'an English BIP-39 mnemonic'],
    [['--balance', '-1'], 'coins with at most eight decimals'],
    [['--balance', '1e3'], 'coins with at most eight decimals'],
    [['--seed-dids', '100001'], 'a number of DIDs from 0 to 100000'],
    [['--seed-dids', 'many'], 'a number of DIDs'],
  ])('refuses %j', async (args, reason) => {
    const { code, err } = await run('devnet', '--port-base', '0', ...args)
    expect(err).toContain(reason)
    expect(code).toBe(2)
  })

  it('is refused in plain words beyond the coins of the faucet', async () => {
    const { code, err } = await run('devnet', '--port-base', '0', '--balance', '200000')
    expect(err).toContain('the faucet cannot pay 1900000.00000000 to 10 accounts, so that each has 200000.00000000')
    expect(code).toBe(1)
  })
})

/** Makes a state file with three blocks, and returns what is in it. */
async function threeBlocks(file: string): Promise<Buffer> {
  const node = await NodeProcess.start('devnet', '--state', file)
  await call(node, 'dev_mine', { blocks: 3 })
  await node.stop()
  return readFileSync(file)
}
