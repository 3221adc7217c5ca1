import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/primitives/bytes.js'
import { devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { withoutValidators } from '../support/builders/chain.js'
import { testSpec } from '../support/builders/spec.js'
import { aloneOnLocalnet } from '../support/network/shipped-chain.js'
import { portBase } from '../support/process/ports.js'
import { CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())
const commitFile = fileURLToPath(new URL('../../dist/commit.txt', import.meta.url))

/** The folder of a user with nothing in it. */
const userOf = () => ({ env: { XDG_DATA_HOME: directories.fresh('user') } })
const finish = (args: string[], options: { env: Record<string, string> }) => new CommandProcess(args, options).finished

describe('start without --data-dir', () => {
  it('keeps the chain of its user, finds it again, and is stopped by its owner', async () => {
    const user = userOf()
    const start = () => NodeProcess.startWith(user, 'start', '--genesis', 'pow', '--no-p2p')
    const first = await start()
    const { dataDir, rest, genesis } = first.line
    expect(dataDir).toBe(join(user.env.XDG_DATA_HOME, 'didledger', `pow-${genesis.slice(0, 8)}`))
    expect(await finish(['start', '--genesis', 'pow', '--port-base', '0'], user)).toMatchObject({
      code: 1,
      err: expect.stringContaining('another process is using'),
    })
    const stopped = await finish(['node', 'stop', '--rest', rest], user)
    expect(stopped).toMatchObject({ code: 0, out: `The node at ${rest} has stopped.\n`, err: '' })
    expect(await first.process.finished).toMatchObject({ code: 0, signal: null })
    expect(existsSync(join(dataDir, 'running'))).toBe(false)

    const token = readFileSync(join(dataDir, 'admin.token'), 'utf8')
    const again = await start()
    expect(again.line.dataDir).toBe(dataDir)
    expect(readFileSync(join(dataDir, 'admin.token'), 'utf8')).toBe(token)
    // A node that is gone leaves a directory that says it is open; the next one is stopped all the same.
    await again.stop('SIGKILL')
    const third = await start()
    expect((await finish(['node', 'stop', '--rest', `${third.line.rest}/api/v1/`], user)).code).toBe(0)
    expect((await third.process.finished).code).toBe(0)

    for (const where of [
      ['--data-dir', dataDir],
      ['--genesis', 'pow'],
    ]) {
      const { code, out } = await finish(['chain', 'info', ...where, '--json'], user)
      expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({ code: 0, name: 'pow', height: 0 })
    }
    expect(await finish(['chain', 'info'], user)).toMatchObject({
      code: 2,
      err: expect.stringContaining('where is the chain?'),
    })
  })

  describe('of localnet', () => {
    aloneOnLocalnet()

    it('is enough for a validator, whose signatures outlive the node there', async () => {
      const user = userOf()
      const key = directories.fresh('validator.key')
      writeFileSync(key, toHex(devnetValidatorKey(0).privateKey), { mode: 0o600 })
      const node = await NodeProcess.startWith(
        user,
        ...['start', '--genesis', 'localnet', '--validator-key', key, '--reset-sign-state=now'],
        ...['--p2p-host', '127.0.0.1'],
      )
      expect(node.line.dataDir).toBe(join(user.env.XDG_DATA_HOME, 'didledger', 'localnet-c856a89d'))
      const states = () => readdirSync(node.line.dataDir).filter((name) => /^sign-.*\.state$/.test(name))
      await expect.poll(states).toHaveLength(1)
      expect((await node.stop()).code).toBe(0)
      expect(states()).toHaveLength(1)
    })
  })

  it('keeps the spec of a chain of its own; an old directory takes it by --genesis', async () => {
    const user = userOf()
    const genesis = directories.fresh('own.json')
    writeFileSync(genesis, testSpec({ name: 'own', ...withoutValidators }))
    const node = await NodeProcess.startWith(user, 'start', '--genesis', genesis, '--no-p2p')
    expect((await node.stop('SIGKILL')).signal).toBe('SIGKILL')
    const info = (...args: string[]) => finish(['chain', 'info', '--data-dir', node.line.dataDir, ...args], user)
    expect((await info()).out).toContain('own')
    const again = await NodeProcess.startWith(user, 'start', '--data-dir', node.line.dataDir, '--no-p2p')
    expect(again.line).toMatchObject({ name: 'own', genesis: node.line.genesis })
    expect((await again.stop()).code).toBe(0)
    rmSync(join(node.line.dataDir, 'spec.json'))
    expect(await info()).toMatchObject({ code: 2, err: expect.stringContaining('name its spec with --genesis FILE') })
    expect((await info('--genesis', genesis)).code).toBe(0)
    // It is kept from then on.
    expect((await info()).code).toBe(0)
    expect((await info('--genesis', 'nope')).err).toContain('the chains that do: devnet, localnet, pow')
  })

  it('is not needed for a stop where the directory was given as a relative path', async () => {
    const dataDir = relative(process.cwd(), directories.fresh())
    const node = await NodeProcess.start('start', '--genesis', 'pow', '--no-p2p', '--data-dir', dataDir)
    const command = new CommandProcess(['node', 'stop', '--rest', node.line.rest], { cwd: resolve('/') })
    expect(await command.finished).toMatchObject({ code: 0, out: `The node at ${node.line.rest} has stopped.\n` })
    expect((await node.process.finished).code).toBe(0)
  })

  it('leaves a devnet temporary', async () => {
    const user = userOf()
    const node = await NodeProcess.startWith(user, 'devnet')
    expect(node.line.dataDir).not.toContain(user.env.XDG_DATA_HOME)
    expect((await finish(['node', 'stop', '--rest', node.line.rest], user)).code).toBe(0)
    expect((await node.process.finished).code).toBe(0)
    expect([existsSync(node.line.dataDir), existsSync(user.env.XDG_DATA_HOME)]).toEqual([false, false])
  })
})

describe('a running node', () => {
  it('is stopped by its owner alone, and never by a page', async () => {
    const node = await NodeProcess.start('devnet')
    const stop = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'stop', params: {} })
      const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
      return (await (await fetch(node.line.rpc, sent)).json()) as { error?: { code: number }; result?: unknown }
    }
    const token = readFileSync(join(node.line.dataDir, 'admin.token'), 'utf8').trim()
    const authorization = `Bearer ${token}`
    expect((await stop({})).error?.code).toBe(-32010)
    expect((await stop({ authorization, origin: 'https://example.org' })).error?.code).toBe(-32010)
    expect((await stop({ authorization: `Bearer ${'0'.repeat(64)}` })).error?.code).toBe(-32010)
    expect(await node.client.height()).toBe(0)
    expect((await stop({ authorization })).result).toBe(true)
    expect((await node.process.finished).code).toBe(0)
  })

  it('is followed event by event, from a height on, and across a stop without a gap', async () => {
    const dataDir = directories.fresh('devnet')
    const start = ['devnet', '--data-dir', dataDir, '--port-base', await portBase()]
    const node = await NodeProcess.start(...start)
    await node.client.rpc('dev_mine', { blocks: 2 })
    const { host } = new URL(node.line.rest)
    const log = new CommandProcess(['node', 'log', '--ws', `ws://${host}/ws`, '--from-height', '1', '--json'])
    const lines = () => log.out.split('\n').filter((line) => line !== '')
    await expect.poll(lines).toHaveLength(2)
    expect(lines().map((line) => JSON.parse(line) as object)).toMatchObject([
      { topic: 'block', action: 'apply', height: 1 },
      { topic: 'block', action: 'apply', height: 2 },
    ])
    await run('did', 'create', '--devnet-account', '0', '--rest', node.line.rest)
    await expect.poll(() => log.out).toContain('"topic":"did"')
    const text = new CommandProcess(['node', 'log', '--rest', node.line.rest, '--topic', 'block', '--from-height', '3'])
    await expect.poll(() => text.out).toMatch(/^\S+Z {2}\+ block {8}height 3, 2 transactions, [0-9a-f]{64}\n/)
    text.kill('SIGINT')
    expect(await text.finished).toMatchObject({ code: 0, err: '' })
    await node.stop('SIGKILL')
    await expect.poll(() => log.err).toContain('tried again until Ctrl-C')
    const again = await NodeProcess.start(...start)
    await again.client.rpc('dev_mine', { blocks: 2 })
    const heights = () =>
      lines()
        .map((line) => JSON.parse(line) as { readonly topic: string; readonly height: number })
        .filter(({ topic }) => topic === 'block')
        .map(({ height }) => height)
    // A line may tell besides that transactions were missed.
    await expect.poll(heights).toHaveLength(5)
    log.kill('SIGINT')
    expect((await log.finished).code).toBe(0)
    expect(heights()).toEqual([1, 2, 3, 4, 5])
    await again.stop()
  })

  it('has to be there to be followed, and to know the topic', async () => {
    const nowhere = await run('node', 'log', '--ws', '127.0.0.1:1')
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining('no events from ws://127.0.0.1:1') })
    expect((await run('node', 'log', '--topic', 'nonsense')).code).toBe(2)
    expect((await run('node', 'log', '--ws', 'http://x')).code).toBe(2)
  })
})

describe('wallet and DID commands', () => {
  it('build for the chain that the node has, and for none that is named wrongly', async () => {
    const node = await NodeProcess.start('devnet')
    const own = ['--devnet-account', '0', '--rest', `${node.line.rest}/api/v1`]
    try {
      const sent = await runJson('did', 'create', ...own)
      expect(sent).toMatchObject({ height: 1 })
      const wrong = await run(
        'wallet',
        'send',
        ...own,
        '--genesis',
        'localnet',
        '--to',
        'ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD',
        '--amount',
        '1',
      )
      expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('has the chain devnet (genesis block')])
    } finally {
      await node.stop()
    }
  })
})

it('--version has the commit of the build', async () => {
  const { out } = await run('--version')
  const commit = existsSync(commitFile) ? readFileSync(commitFile, 'utf8').trim() : 'unknown'
  expect(out).toMatch(/^didledger \d+\.\d+\.\d+ /)
  expect(out).toContain(`(commit ${commit}, Node ${process.version})`)
})
