import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { CommandProcess, Directories, type Finished, NodeProcess, type SpawnOptions } from '../support/process/spawn.js'
import { parseMetrics, sampleOf } from '../support/assert/prometheus.js'

const directories = new Directories()
afterAll(() => directories.remove())

function file(text: string): string {
  const path = directories.fresh('node.json5')
  writeFileSync(path, text)
  return path
}

function run(args: readonly string[], options: SpawnOptions = {}): Promise<Finished> {
  return new CommandProcess(args, options).finished
}

const settings = (printed: string) => JSON.parse(printed) as Record<string, Record<string, unknown>>

describe('the configuration of a node', () => {
  it('comes from file, environment and flags together', async () => {
    const dataDir = directories.fresh()
    const path = file(`{
      // no blocks unless asked for
      devnet: { automine: false, accounts: 3 },
      storage: { dataDir: ${JSON.stringify(directories.fresh('never'))} },
      api: { batch: 2 },
    }`)
    const env = {
      DIDLEDGER_STORAGE_DATA_DIR: dataDir,
      DIDLEDGER_DEVNET_ACCOUNTS: '4',
      DIDLEDGER_PASSWORD: 'not one of them',
    }
    const node = await NodeProcess.startWith({ env }, 'devnet', '--config', path, '--accounts', '2')
    try {
      expect(node.line.dataDir).toBe(dataDir)
      expect(Reflect.get(node.line, 'accounts')).toHaveLength(2)
      const call = {
        method: 'resolvedid',
        id: 1,
        params: { did: 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc', all: false },
      }
      const ask = async (body: unknown) =>
        (await fetch(node.line.rpc, { method: 'POST', body: JSON.stringify(body) })).json()
      expect(await ask([call, call])).toHaveLength(2)
      expect(await ask([call, call, call])).toMatchObject({ error: { code: -32600 } })
    } finally {
      expect(await node.stop()).toMatchObject({ code: 0, err: '' })
    }
  })

  it('is printed with where it comes from, nothing is started, and what is printed is the same again', async () => {
    const env = {
      DIDLEDGER_CONFIG: file('{ node: { genesis: "pow" },\n api: { batch: 7 } }'),
      DIDLEDGER_API_CONNECTIONS: '9',
    }
    const dataDir = directories.fresh('untouched')
    const args = ['start', '--data-dir', dataDir, '--host', '127.0.0.1', '::1', '--print-config']
    const { code, out, err } = await run(args, { env })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/batch: 7, \/\/ file .*node\.json5-\d+:2\n/)
    expect(out).toContain('connections: 9, // environment DIDLEDGER_API_CONNECTIONS\n')
    expect(out).toContain('host: ["127.0.0.1","::1"], // flag --host\n')
    expect(out).toContain('rateWindow: 60000, // default\n')

    const json = (await run([...args, '--json'], { env })).out
    expect(settings(json)).toMatchObject({
      node: { genesis: 'pow' },
      storage: { dataDir },
      api: { batch: 7, connections: 9 },
    })
    for (const text of [out, json]) {
      const again = await run(['start', '--config', file(text), '--print-config', '--json'])
      expect(again).toEqual({ code: 0, signal: null, out: json, err: '' })
    }
  })

  it.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'a name in the file',
      ['devnet', '--config', file('{ api: {\n hots: ["::1"] } }')],
      {},
      /^error: .*node\.json5-\d+:2: there is no option api\.hots; did you mean api\.host\?\n$/,
    ],
    [
      'a value in the file',
      ['devnet', '--config', file('{ api: { batch: "7" } }')],
      {},
      /^error: .*node\.json5-\d+:1: api\.batch is not a number of requests .*: "7"\n$/,
    ],
    ['what is no JSON5', ['start', '--config', file('{ api: ')], {}, /^error: .*node\.json5-\d+:1: not JSON5: /],
    [
      'a variable',
      ['devnet'],
      { DIDLEDGER_API_HOTS: '::1' },
      /^error: the environment: there is no option DIDLEDGER_API_HOTS; did you mean DIDLEDGER_API_HOST\?\n$/,
    ],
    [
      'a variable of the other command',
      ['devnet'],
      { DIDLEDGER_NODE_GENESIS: 'pow' },
      /^error: .*DIDLEDGER_NODE_GENESIS is no option of devnet\n$/,
    ],
    [
      'a value of a variable',
      ['devnet'],
      { DIDLEDGER_NODE_PORT_BASE: '70000' },
      /^error: DIDLEDGER_NODE_PORT_BASE: node\.portBase is not a port from 0 to \d+: 70000\n$/,
    ],
    ['a flag', ['devnet', '--hosts', '::1'], {}, /^error: unknown option '--hosts'/],
    ['a value of a flag', ['devnet', '--block-time', '0'], {}, /^error: --block-time 0: Not a number of seconds/],
    [
      'two that exclude each other',
      ['devnet', '--no-automine'],
      { DIDLEDGER_DEVNET_BLOCK_TIME: '5' },
      /^error: devnet\.blockTime \(environment DIDLEDGER_DEVNET_BLOCK_TIME\) cannot be used where devnet\.automine \(flag --no-automine\) is false\n$/,
    ],
    ['no chain', ['start'], {}, /^error: which chain\?/],
    [
      'a directory without a chain',
      ['start', '--data-dir', '/nowhere/data'],
      {},
      /^error: \/nowhere\/data does not tell which chain it holds: name its spec with --genesis FILE\n$/,
    ],
  ])('is refused for %s, with exit code 2 and no stack', async (_, args, env, message) => {
    const { code, out, err } = await run(args, { env })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
    expect(err).not.toMatch(/\n\s+at /)
  })

  it('says so where the file is not there', async () => {
    const { code, err } = await run(['devnet', '--config', '/nowhere/node.json5'])
    expect({ code, err }).toEqual({
      code: 1,
      err: 'error: cannot read the configuration file /nowhere/node.json5: there is no such file or directory\n',
    })
  })
})

describe('a running devnet', () => {
  it('tells how it is, and its figures', async () => {
    const node = await NodeProcess.start('devnet')
    const get = async (path: string) => {
      const answer = await fetch(node.line.rest + path)
      return { status: answer.status, text: await answer.text() }
    }
    try {
      expect(await get('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' })
      expect(JSON.parse((await get('/readyz')).text)).toMatchObject({ status: 'ready', height: 0 })
      await node.client.rpc('dev_mine', { blocks: 3 })
      await node.get('block/height')
      expect(JSON.parse((await get('/readyz')).text)).toMatchObject({ status: 'ready', height: 3 })

      const { status, text } = await get('/metrics')
      expect(status).toBe(200)
      const families = parseMetrics(text)
      expect(sampleOf(families, 'didledger_chain_height_blocks')).toBe(3)
      expect(sampleOf(families, 'didledger_blocks_connected_total')).toBe(3)
      expect(sampleOf(families, 'didledger_database_size_bytes')).toBeGreaterThan(1000)
      expect(sampleOf(families, 'didledger_http_requests_total', { path: '/readyz', status: '200' })).toBe(2)
      const mine = { interface: 'http', method: 'dev_mine', status: 'ok' }
      expect(sampleOf(families, 'didledger_rpc_calls_total', mine)).toBe(1)
      expect(sampleOf(families, 'process_open_fds')).toBeGreaterThan(5)

      const socket = new WebSocket(node.line.ws)
      await once(socket, 'open')
      expect(sampleOf(parseMetrics((await get('/metrics')).text), 'didledger_websocket_connections')).toBe(1)
      socket.close()
    } finally {
      expect(await node.stop()).toMatchObject({ code: 0, err: '' })
    }
  })
})
