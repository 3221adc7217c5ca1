import { existsSync, readFileSync, renameSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { CommandProcess, Directories, NodeProcess, run } from '../support/process/spawn.js'

const directories = new Directories()
const processes: CommandProcess[] = []
afterAll(async () => {
  for (const one of processes) one.kill('SIGKILL')
  await Promise.all(processes.map(({ finished }) => finished))
  directories.remove()
})

/** A devnet as a user starts it: for people. */
async function devnet(...args: string[]) {
  const command = new CommandProcess(['devnet', '--port-base', '0', ...args])
  processes.push(command)
  await expect.poll(() => command.out).toContain('Ctrl-C stops the devnet.')
  const url = (name: string) => new RegExp(`^${name} +(\\S.*?)(?:/api/v1)?$`, 'm').exec(command.out)?.[1] as string
  return { command, rest: url('REST'), ws: url('WebSocket'), rpc: url('JSON-RPC'), data: url('Data') }
}

function call(url: string, method: string, params: object = {}, headers: Record<string, string> = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
}

describe('the live log of a devnet', () => {
  it('shows calls, blocks, start and stop on standard error, and nothing that steers a terminal', async () => {
    const { command, rest, ws, rpc } = await devnet()
    const start = command.out
    await fetch(`${rest}/api/v1/block/height`)
    await fetch(`${rest}/api/v1/nothing`)
    await call(rpc, '\x1b[2J\u202eevil\n00:00:00 block 1')
    await call(rpc, 'dev_mine', { blocks: 1 })
    await call(rpc, 'dev_faucet', { address: 'ERQKUFnK9umvRhnRqq6BqXpo4LeBfM4KUy', amount: '2.5' })
    await expect.poll(() => command.err).toMatch(/block 2 /)
    const socket = new WebSocket(ws)
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const answered = new Promise((resolve) => socket.once('message', resolve))
    socket.send('{"jsonrpc":"2.0","id":1,"method":"getblockcount"}')
    await answered
    socket.close()
    await expect.poll(() => command.err).toMatch(/ws getblockcount {2}ok/)
    command.kill('SIGTERM')
    const { code, err, out } = await command.finished
    expect({ code, out }).toEqual({ code: 0, out: start })
    const lines = err.trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d (?:call|tx|block|node) [^\p{Cc}\p{Cf}]+$/u)
    const time = '\\d+(?:\\.\\d\\d)? ms$'
    for (const expected of [
      '^.{9}node  didledger .* serves devnet from height 0, REST at ',
      `call  GET /api/v1/block/height  ok  ${time}`,
      `call  GET /api/v1/nothing  404 request-path nothing is at /api/v1/nothing  ${time}`,
      'call  \\\\u001b\\[2J\\\\u202eevil\\\\u000a00:00:00 block 1  -32601 request-action ',
      `call  dev_mine  ok  ${time}`,
      'block 1 [0-9a-f]{64}  1 transaction, 0 DID operations$',
      'tx    [0-9a-f]{64}  transfer, fee 0\\.\\d{8}$',
      'block 2 [0-9a-f]{64}  2 transactions, 0 DID operations$',
      `call  ws getblockcount  ok  ${time}`,
      'node  stopping: SIGTERM$',
      'node  stopped at height 2 after \\d+ s$',
    ]) {
      expect(lines).toContainEqual(expect.stringMatching(expected))
    }
  })

  it('is silent with -q, and shows what setloglevel asks for from then on', async () => {
    const { command, rest, rpc, data } = await devnet('-q')
    await fetch(`${rest}/api/v1/block/height`)
    const token = readFileSync(`${data}/admin.token`, 'utf8').trim()
    const owner = { authorization: `Bearer ${token}` }
    await call(rpc, 'setloglevel', { categories: 'blocks' }, owner)
    await call(rpc, 'dev_mine', { blocks: 2 })
    command.kill('SIGTERM')
    const { code, err } = await command.finished
    expect(code).toBe(0)
    expect(err).toMatch(/^.{9}block 1 .*\n.{9}block 2 .*\n$/)
  })

  it('sums up what would flood it', async () => {
    const { command, rpc } = await devnet()
    const body = JSON.stringify(Array.from({ length: 100 }, () => ({ jsonrpc: '2.0', id: 1, method: 'getblockcount' })))
    const batch = async () => (await fetch(rpc, { method: 'POST', body })).text()
    await Promise.all(Array.from({ length: 5 }, batch))
    command.kill('SIGTERM')
    const { err } = await command.finished
    const shown = err.split('\n').filter((line) => line.includes('getblockcount')).length
    const more = [...err.matchAll(/… ([\d,]+) more calls$/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
    expect(shown + more).toBe(500)
    expect(more).toBeGreaterThan(0)
  })
})

describe('for programs', () => {
  it('--json leaves standard error empty, and --log writes JSON there', async () => {
    const quiet = await NodeProcess.start('devnet')
    await call(quiet.line.rpc, 'getblockcount')
    expect((await quiet.stop()).err).toBe('')
    const node = await NodeProcess.start('devnet', '--log', 'calls,node')
    await call(node.line.rpc, 'getblockcount')
    const { err } = await node.stop()
    const lines = err.trimEnd().split('\n')
    const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(read.map(({ category, call: called, event }) => [category, called ?? event])).toEqual([
      ['node', 'started'],
      ['calls', 'getblockcount'],
      ['node', 'stopping'],
      ['node', 'stopped'],
    ])
    expect(read[1]).toMatchObject({ level: 30, via: 'http', status: 'ok', ms: expect.any(Number) as number })
  })

  it('a log file takes the log instead, is opened again at SIGHUP, and the node goes on', async () => {
    const file = directories.fresh('node.log')
    const node = await NodeProcess.start('devnet', '--log-file', file, '--log', 'calls')
    await call(node.line.rpc, 'getblockcount')
    renameSync(file, `${file}.moved`)
    node.process.kill('SIGHUP')
    await expect.poll(() => existsSync(file)).toBe(true)
    await call(node.line.rpc, 'getconnectioncount')
    const { code, err } = await node.stop()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(readFileSync(`${file}.moved`, 'utf8')).toMatch(/^\{.*"call":"getblockcount".*\}\n$/)
    expect(readFileSync(file, 'utf8')).toMatch(/^\{.*"call":"getconnectioncount".*\}\n$/)
  })

  it.each([
    [['devnet', '--log', 'call'], '--log'],
    [['devnet', '--log-format', 'xml'], '--log-format'],
    [['devnet', '--nodes', '2', '--log-file', 'x.log'], 'node.logFile (flag --log-file) is for a devnet of one node'],
    [['devnet', '--port-base', '0', '--log-file', '/'], 'the log file / cannot be opened: it is a directory'],
  ])('%j is refused', async (args, reason) => {
    const { code, err } = await run(...args)
    expect(code).not.toBe(0)
    expect(err).toContain(reason)
  })
})
