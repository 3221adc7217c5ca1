import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { portOffsets } from '../../src/node/ports.js'
import { SeededRandom, Load } from '../support/builders/test-payer.js'
import { stopwatch } from '../support/process/patience.js'
import { portBase } from '../support/process/ports.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const portOf = (url: string) => Number(new URL(url).port)

/** A connection with half a request on it. */
function halfRequest(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST /api/v1/transaction HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{', () =>
        resolve(socket),
      )
    })
    socket.on('error', (error) => (socket.connecting ? reject(error) : undefined))
  })
}

describe('stopping', () => {
  it('takes less than five seconds under load and loses nothing', async () => {
    const dataDir = directories.fresh()
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    const load = new Load(new SeededRandom(3))
    await load.prepare(node.client, 100)
    let stopped = false
    const sending = load.send(node.client, () => stopped)
    // Rejected when the node goes.
    const mining = node.client.rpc('dev_mine', { blocks: 10_000 }).catch((error: unknown) => error)
    const socket = await halfRequest(portOf(node.line.rest))
    while (load.acknowledged.size < 100) await new Promise((resolve) => setTimeout(resolve, 10))

    const elapsed = stopwatch()
    expect(await node.stop('SIGTERM')).toMatchObject({ code: 0, err: '' })
    expect(elapsed()).toBeLessThan(5000)
    stopped = true
    await Promise.all([sending, mining])
    socket.destroy()

    const again = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    for (const txid of load.acknowledged) expect(await again.client.transaction(txid), txid).toBeDefined()
    await again.stop()
    const { height, tip, state } = await runJson<ChainInfo>('chain', 'info', '--data-dir', dataDir)
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toEqual({ height, tip, state, ok: true })
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('a second %s ends it at once', async (signal) => {
    const node = await NodeProcess.start('devnet')
    const socket = await halfRequest(portOf(node.line.rest))
    node.process.kill(signal)
    // The request under way holds the first one up.
    const early = await Promise.race([node.process.finished, new Promise((resolve) => setTimeout(resolve, 700))])
    expect(early).toBeUndefined()
    const elapsed = stopwatch()
    expect(await node.stop(signal)).toMatchObject({ code: signal === 'SIGINT' ? 130 : 143 })
    expect(elapsed()).toBeLessThan(1000)
    socket.destroy()
  })
})

it.each([
  ['SIGTERM', 0],
  ['SIGINT', 130],
] as const)('%s ends a long start with its code, before it serves', async (signal, code) => {
  const dataDir = directories.fresh()
  const args = ['devnet', '--port-base', '0', '--json', '--seed-dids', '100000', '--data-dir', dataDir]
  const command = new CommandProcess(args)
  // It writes blocks by then, and needs a minute or more for all.
  await vi.waitFor(() => expect(command.err).toContain('DIDs are being registered'), { timeout: 60_000 })
  command.kill(signal)
  expect(await command.finished).toMatchObject({ code, signal: null, out: '' })
  expect(existsSync(join(dataDir, 'running'))).toBe(false)
})

describe('start --stop-on-eof', () => {
  const args = ['start', '--genesis', 'pow', '--no-p2p', '--data-dir', directories.fresh()]

  it.each([
    ['/dev/null', '</dev/null'],
    ['a file', `<${process.execPath}`],
    ['what cannot be read', `<${directories.root}`],
    ['no input', '<&-'],
  ])('stops at the end of %s', async (_, input) => {
    const through = ['sh', '-c', `exec "$@" ${input}`, 'sh']
    const command = new CommandProcess([...args, '--stop-on-eof', '--port-base', '0', '--json'], { through })
    const { code, out, err } = await command.finished
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({ name: 'pow', height: 0 })
  })

  it('stops when the writer of a pipe is gone, and not before', async () => {
    const through = ['bash', '-c', 'exec {held}> >("$@"); exec sleep 1000', 'bash']
    const command = new CommandProcess([...args, '--stop-on-eof', '--port-base', '0', '--json'], { through })
    const line = JSON.parse((await command.firstLine()) ?? '{}') as { rest: string }
    expect((await fetch(`${line.rest}/api/v1/block/height`)).status).toBe(200)
    command.kill('SIGKILL')
    await vi.waitFor(() => expect(fetch(line.rest)).rejects.toThrow('fetch failed'), { timeout: 10_000 })
  })
})

it('a node is found by its data directory, at any port', async () => {
  const dataDir = directories.fresh()
  const node = await NodeProcess.start('devnet', '--data-dir', dataDir)
  const { rest } = node.line
  expect(readFileSync(join(dataDir, 'rest.url'), 'utf8')).toBe(`${rest}\n`)
  expect(await runJson('node', 'call', 'getblockcount', '--data-dir', dataDir)).toBe(1)
  expect(await runJson('node', 'status', '--data-dir', dataDir)).toMatchObject({ status: 'ready', height: 0 })
  expect(await runJson('node', 'peers', '--data-dir', dataDir)).toEqual([])
  expect(await runJson('node', 'evidence', '--data-dir', dataDir)).toEqual([])
  expect(await runJson('chain', 'backup', directories.fresh('copy'), '--data-dir', dataDir)).toMatchObject({
    height: 0,
  })
  expect(await runJson('node', 'stop', '--data-dir', dataDir)).toEqual({ stopped: rest })
  expect(existsSync(join(dataDir, 'rest.url'))).toBe(false)

  const killed = await NodeProcess.start('devnet', '--data-dir', dataDir)
  await killed.stop('SIGKILL')
  const { code, err } = await run('node', 'stop', '--data-dir', dataDir)
  expect(code).toBe(1)
  expect(err).toContain(`no node listens at ${killed.line.rest}; if the node of ${dataDir} serves REST elsewhere`)

  // Another node took that port.
  const other = await NodeProcess.start('devnet')
  writeFileSync(join(dataDir, 'rest.url'), other.line.rest)
  for (const words of [['status'], ['peers'], ['evidence'], ['log'], ['bans'], ['call', 'getblockcount'], ['stop']]) {
    const refused = await run('node', ...words, '--data-dir', dataDir)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain(`${dataDir} does not have the token of the node at ${other.line.rest}`)
  }
  await other.stop()
})

it('node stop notices that the node was killed instead', async () => {
  const dataDir = directories.fresh()
  const node = await NodeProcess.start('devnet', '--data-dir', dataDir)
  // The request under way holds its end up.
  const socket = await halfRequest(portOf(node.line.rest))
  const stop = new CommandProcess(['node', 'stop', '--rest', node.line.rest])
  await vi.waitFor(() => expect(node.get('block/height')).rejects.toThrow('fetch failed'), { timeout: 10_000 })
  const elapsed = stopwatch()
  await node.stop('SIGKILL')
  const { code, out, err } = await stop.finished
  expect({ code, out, err }).toEqual({
    code: 1,
    out: '',
    err: `error: the node at ${node.line.rest} was told to stop, and ended without closing ${dataDir}, as after a kill: its next start checks it\n`,
  })
  expect(elapsed()).toBeLessThan(10_000)
  socket.destroy()
})

describe('the temporary directory of a devnet', () => {
  it.each(['SIGHUP', 'SIGTERM', 'SIGINT'] as const)('goes with %s, also where it arrives twice', async (signal) => {
    const node = await NodeProcess.start('devnet')
    expect(existsSync(node.line.dataDir)).toBe(true)
    node.process.kill(signal)
    expect(await node.stop(signal)).toMatchObject({ code: 0, err: '' })
    expect(existsSync(node.line.dataDir)).toBe(false)
  })

  it('goes where the devnet is ended at once, and where it has only begun to open it', async () => {
    const node = await NodeProcess.start('devnet')
    const socket = await halfRequest(portOf(node.line.rest))
    node.process.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect(await node.stop('SIGINT')).toMatchObject({ code: 130 })
    socket.destroy()
    expect(existsSync(node.line.dataDir)).toBe(false)

    const TMPDIR = mkdtempSync(join(directories.root, 'tmp-'))
    for (const wait of [0, 20, 50, 100]) {
      const command = new CommandProcess(['devnet', '--port-base', '0', '--json'], { env: { TMPDIR } })
      while (readdirSync(TMPDIR).length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
      await new Promise((resolve) => setTimeout(resolve, wait))
      command.kill('SIGTERM')
      expect([0, 130]).toContain((await command.finished).code)
      expect(readdirSync(TMPDIR)).toEqual([])
    }
  })

  it('is swept by the next start after a kill; those of others stay', async () => {
    const TMPDIR = mkdtempSync(join(directories.root, 'tmp-'))
    const killed = await NodeProcess.startWith({ env: { TMPDIR } }, 'devnet')
    await killed.stop('SIGKILL')
    const alive = await NodeProcess.startWith({ env: { TMPDIR } }, 'devnet', '--no-automine')
    const foreign = join(TMPDIR, 'didledger-foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'owner.json'), JSON.stringify({ pid: killed.process.pid, space: 'elsewhere' }))
    const named = join(TMPDIR, 'didledger-named')
    mkdirSync(named)
    symlinkSync(killed.line.dataDir, join(TMPDIR, 'didledger-link'))
    const node = await NodeProcess.startWith({ env: { TMPDIR } }, 'devnet')
    await vi.waitFor(() => expect(existsSync(killed.line.dataDir)).toBe(false), { timeout: 10_000 })
    expect([alive, node].map(({ line }) => existsSync(line.dataDir))).toEqual([true, true])
    expect([foreign, named].map((path) => existsSync(path))).toEqual([true, true])
    await Promise.all([alive.stop(), node.stop()])
  })

  it('is asked for elsewhere where there is none', async () => {
    const TMPDIR = join(directories.root, 'missing')
    const { code, err } = await new CommandProcess(['devnet', '--port-base', '0'], { env: { TMPDIR } }).finished
    expect(code).toBe(1)
    expect(err).toMatch(/^error: no temporary directory can be made in .*missing: .*; set TMPDIR to .*--data-dir\n$/)
  })
})

describe('a port in use', () => {
  it('is named, with what to do, and nothing is left behind', async () => {
    const node = await NodeProcess.start('devnet', '--port-base', await portBase())
    const port = portOf(node.line.rest)
    const dataDir = directories.fresh()
    for (const offset of [portOffsets.rest, portOffsets.ws, portOffsets.rpc]) {
      const { code, out, err } = await run('devnet', '--port-base', String(port - offset), '--data-dir', dataDir)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(new RegExp(`^error: port ${port} of .* is in use; .*--port-base`))
    }
    expect((await node.get('block/height')).body.Result).toBe(0)
    await node.stop()
    const later = await NodeProcess.start('devnet', '--data-dir', dataDir)
    expect((await later.stop()).code).toBe(0)
  })
})
