import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { oneValidator, TestChain } from '../support/builders/chain.js'
import { holder } from '../support/builders/did.js'
import { testAddress } from '../support/builders/spec.js'
import { until } from '../support/network/test-network.js'
import { importChain } from '../support/process/import-chain.js'
import { CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'

const directories = new Directories()
const genesis = directories.fresh('genesis.json')
const whole = directories.fresh('whole')
const file = `${directories.fresh('state')}.dls`
// Peers take states of the last 30 days alone.
const time = Math.floor(Date.now() / 1000) - 86_400
const spec = { maturity: 2, ...oneValidator(), producer: 'sponsor' as const, coinInterval: 330, time }
const state = 330 - 288
const [ada, bea] = [holder(), holder()]
const start = (dataDir: string, ...more: string[]) =>
  [
    'start',
    '--genesis',
    genesis,
    '--data-dir',
    dataDir,
    '--p2p-host',
    '127.0.0.1',
    '--answer-out-of-step',
    ...more,
  ] as const

let first: string

/** The answer of JSON-RPC, an error too. */
async function ask({ line }: NodeProcess, method: string, params: object): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  return (await fetch(line.rpc, { method: 'POST', headers, body })).json()
}

/** Waits until a node has its state for peers. */
async function stateOf({ line }: NodeProcess): Promise<void> {
  const states = join(line.dataDir, 'states')
  const kept = () => (existsSync(states) ? readdirSync(states) : []).filter((name) => name.endsWith('.dls'))
  await until('a state for peers', 20, async () => (kept().length === 1 ? true : String(kept().length)))
}

/** Files of a chain in a data directory, which may not be there. */
const chainIn = (dataDir: string) =>
  (existsSync(dataDir) ? readdirSync(dataDir) : []).filter((name) => name.startsWith('chain'))

/** A command that takes a state into a data directory, and has read half of the file. */
async function halfWay(command: (from: string) => readonly string[], dataDir: string) {
  const pipe = `${directories.fresh('pipe')}.dls`
  execFileSync('mkfifo', [pipe])
  const process = new CommandProcess(command(pipe))
  const writer = await open(pipe, 'w')
  const bytes = readFileSync(file)
  await writer.write(bytes.subarray(0, bytes.length >> 1))
  await until('rows', 20, async () => existsSync(join(dataDir, 'chain.joining')) || 'none')
  const end = async (signal: NodeJS.Signals) => {
    process.kill(signal)
    const finished = await process.finished
    await writer.close()
    return finished
  }
  return { end }
}

beforeAll(async () => {
  const source = await TestChain.open(spec)
  first = await source.publish(ada.create(), ada.did)
  await source.publish(ada.update(first), ada.did)
  await source.publish(ada.declare(ada.issue(ada.did, { id: `${ada.did}#one` })), ada.did)
  await source.mineEmpty(state - source.reader.height)
  await source.publish(bea.create(), bea.did)
  await source.mineEmpty(332 - source.reader.height)
  await importChain(source, directories, { genesis, dataDir: whole })
  await runJson('chain', 'state', 'write', file, '--data-dir', whole)
})
afterAll(() => directories.remove())

describe('start --state-from', () => {
  it('begins with the state of a file, follows its peers, and answers as they do', async () => {
    const dataDir = directories.fresh('joined')
    // A kill while a state was taken left this.
    mkdirSync(join(dataDir, 'chain.joining'), { recursive: true })
    writeFileSync(join(dataDir, 'chain.joining', 'CURRENT'), 'half of it')
    const peer = await NodeProcess.start(...start(whole))
    let node = await NodeProcess.start(...start(dataDir, '--state-from', file, '--no-backfill'))
    expect(existsSync(join(dataDir, 'chain.joining'))).toBe(false)
    expect(node.line.height).toBe(state)
    // It has seen how far the chain went, and no block of it above the state.
    expect(await node.client.rpc('getsyncstatus', {})).toMatchObject({ catchingup: true, target: 330 })
    expect(await node.client.rpc('getchaininfo', {})).toMatchObject({ joined: state, pruned: state })
    expect((await node.get('node/state')).body.Result).toMatchObject({ Services: 0 })
    await node.stop('SIGKILL')

    const named = ['--peer', peer.line.p2p[0] as string, '--no-backfill']
    node = await NodeProcess.start(...start(dataDir, '--state-from', file, ...named))
    await until('the tip', 20, async () => {
      const height = await node.client.height()
      return height === 332 ? true : String(height)
    })
    expect((await node.get('node/state')).body.Result).toMatchObject({ Services: 6 })
    const questions: [string, Record<string, unknown>][] = [
      ['resolvedid', { did: ada.did, proof: true }],
      ['resolvedid', { did: bea.did, proof: true }],
      ['resolvecredential', { id: `${ada.did}#one`, proof: true }],
      ['query', { query: { service: { type: { $exists: true } } } }],
      ['countdids', {}],
      ['listcredentials', { did: ada.did }],
      ['listunspent', { addresses: [testAddress(0), testAddress(10)] }],
      ['getblockcount', {}],
    ]
    for (const [method, params] of questions) {
      const [mine, theirs] = [await ask(node, method, params), await ask(peer, method, params)]
      expect({ method, answer: mine }).toEqual({ method, answer: theirs })
    }

    // The operations are known by their hashes; those whose transactions are there are shown whole.
    const all = JSON.stringify(await ask(node, 'resolvedid', { did: ada.did, all: true }))
    expect(all).toContain(`"givenUp":[{"txid":"${first}"`)
    const version = await fetch(`${node.line.rest}/1.0/identifiers/${ada.did}?versionId=${first}`)
    expect([version.status, await version.text()]).toEqual([
      500,
      expect.stringContaining('took the state of a block from others'),
    ])
    expect((await node.get(`block/details/height/${state}`)).body).toMatchObject({ Error: 44003 })
    expect((await node.get(`transaction/${first}`)).body).toMatchObject({ Error: 44003 })
    expect((await node.get(`block/details/height/${state + 1}`)).body).toMatchObject({ Error: 0 })
    const operations = (await node.client.rpc('listdidoperations', {})) as { operations: unknown[]; next?: object }
    expect(operations).toEqual({ operations: [expect.objectContaining({ did: bea.did })], pruned: state })
    expect(await node.client.rpc('listdidoperations', { before: { height: state, index: 1 } })).toEqual({
      operations: [],
      pruned: state,
    })
    const blockhash = await node.hashAt(state)
    for (const [method, params] of [
      ['getblock', { blockhash, verbosity: 0 }],
      ['getconfirmbyheight', { height: state }],
      ['light_headers', { from: 1, count: 2 }],
    ] as const) {
      expect({ method, answer: await ask(node, method, params) }).toMatchObject({
        method,
        answer: { error: { code: -32021 } },
      })
    }
    expect(await node.client.rpc('listvoters', { from: 1, to: 3 })).toMatchObject({ heights: [], pruned: state })
    const blocks = (await node.client.rpc('listblocks', { before: state + 2, limit: 5 })) as { blocks: unknown[] }
    expect(blocks).toMatchObject({ blocks: [{ height: state + 1 }], pruned: state })
    const status = await run('node', 'status', '--rest', node.line.rest)
    expect(status.out).toContain(`state of height ${state} taken and checked`)

    await Promise.all([node.stop(), peer.stop()])
    for (const command of [['export', `${dataDir}.bin`], ['reindex'], ['state', 'write', `${dataDir}.dls`]]) {
      const { code, out, err } = await run('chain', ...command, '--data-dir', dataDir, '--genesis', genesis)
      expect({ command, code, out }).toEqual({ command, code: 1, out: '' })
      expect(err).toContain(
        `error: the directory took the state of block ${state} from others, and has not yet filled in`,
      )
      expect(err).not.toContain('given up')
    }
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toMatchObject({
      height: 332,
      pruned: state,
      ok: true,
    })
    expect(await runJson<{ state: string }>('chain', 'info', '--data-dir', dataDir)).toMatchObject({
      state: (await runJson<{ state: string }>('chain', 'info', '--data-dir', whole)).state,
    })
  })

  it('takes the state that peers have, each of them a part of it', async () => {
    const peers = await Promise.all(
      Array.from({ length: 3 }, () => NodeProcess.start(...start(directories.copyOf(whole)))),
    )
    for (const one of peers) await stateOf(one)
    const dataDir = directories.fresh('joined')
    const named = peers.flatMap(({ line }) => ['--peer', line.p2p[0] as string])
    const node = await NodeProcess.start(...start(dataDir, '--state-from', 'peers', ...named))
    expect(node.line.height).toBe(state)
    await until('the tip', 20, async () => {
      const height = await node.client.height()
      return height === 332 ? true : String(height)
    })
    const [peer] = peers as [NodeProcess, ...NodeProcess[]]
    const same = async (method: string, params: object) =>
      expect({ method, answer: await ask(node, method, params) }).toEqual({
        method,
        answer: await ask(peer, method, params),
      })
    await same('resolvedid', { did: ada.did, proof: true })
    // What lies below the state is verified meanwhile.
    await until('the history', 30, async () => {
      const { joined, verified } = (await node.client.rpc('getchaininfo', {})) as { joined?: number; verified?: number }
      return joined === undefined ? true : String(verified)
    })
    await same('getchaininfo', {})
    await same('resolvedid', { did: ada.did, all: true })
    await same('listdidoperations', { limit: 100 })
    await same('listblocks', { limit: 100 })
    await same('getaddresshistory', { address: testAddress(0) })
    expect((await node.get(`block/details/height/${state}`)).body).toEqual(
      (await peer.get(`block/details/height/${state}`)).body,
    )
    expect((await node.get('node/state')).body.Result).toMatchObject({ Services: 1 })
    await Promise.all([node, ...peers].map((one) => one.stop()))
    expect(readdirSync(dataDir).filter((name) => name.startsWith('chain'))).toEqual(['chain'])
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toMatchObject({ height: 332, ok: true })
    // A newcomer may take everything of it.
    const from = ['--state-from', 'peers', '--peer']
    const server = await NodeProcess.start(...start(dataDir))
    await stateOf(server)
    const late = await NodeProcess.start(...start(directories.fresh('late'), ...from, server.line.p2p[0] as string))
    expect(late.line.height).toBe(state)
    await Promise.all([late.stop(), server.stop()])
  })

  it('begins at the first block where peers have no state', async () => {
    const dataDir = directories.fresh('early')
    const peer = await NodeProcess.start(...start(directories.copyOf(whole), '--no-keep-state'))
    const node = await NodeProcess.start(
      ...start(dataDir, '--state-from', 'peers', '--peer', peer.line.p2p[0] as string),
    )
    await until('the tip', 20, async () => {
      const height = await node.client.height()
      return height === 332 ? true : String(height)
    })
    expect(((await node.client.rpc('getchaininfo', {})) as { joined?: number }).joined).toBeUndefined()
    await Promise.all([node.stop(), peer.stop()])
  })

  it('takes nothing of a file that is wrong, of another chain, or not there', async () => {
    const dataDir = directories.fresh('refused')
    const wrong = `${directories.fresh('wrong')}.dls`
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(wrong, bytes)
    const refused = await run(...start(dataDir, '--state-from', wrong))
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(`error: ${wrong}: part `)
    expect(existsSync(join(dataDir, 'chain'))).toBe(false)
    expect(existsSync(join(dataDir, 'chain.joining'))).toBe(false)
    const absent = await run(...start(dataDir, '--state-from', `${wrong}.none`))
    expect(absent.err).toMatch(/^error: .*\.none: .*there is no such file/)
    const devnet = await run('start', '--genesis', 'devnet', '--state-from', file)
    expect(devnet).toMatchObject({ code: 2, err: expect.stringContaining('a devnet begins with no state') as string })
    const other = await run(
      'start',
      '--genesis',
      'localnet',
      '--data-dir',
      directories.fresh('other'),
      '--state-from',
      file,
    )
    expect(other.err).toContain('it is of another chain')
    const node = await NodeProcess.start(...start(dataDir))
    expect(node.line.height).toBe(0)
    await node.stop()
  })

  it('takes nothing while another process takes a state there, and where the directory is of another chain', async () => {
    const dataDir = directories.fresh('shared')
    const half = await halfWay((from) => start(dataDir, '--state-from', from), dataDir)
    const second = new CommandProcess([...start(dataDir, '--state-from', file), '--port-base', '0', '--json'])
    expect(await second.firstLine()).toBeUndefined()
    expect((await second.finished).err).toContain('another process is using')
    const plain = new CommandProcess([...start(dataDir), '--port-base', '0', '--json'])
    expect(await plain.firstLine()).toBeUndefined()
    expect((await plain.finished).err).toContain('another process is using')
    expect(existsSync(join(dataDir, 'chain.joining'))).toBe(true)
    await half.end('SIGKILL')
    // A start without the option gives up what was taken.
    const node = await NodeProcess.start(...start(dataDir))
    expect(node.line.height).toBe(0)
    expect(chainIn(dataDir)).toEqual(['chain'])
    await node.stop()

    const claimed = directories.fresh('claimed')
    mkdirSync(claimed)
    writeFileSync(join(claimed, 'network.json'), JSON.stringify({ name: 'elsewhere', genesis: '00'.repeat(32) }))
    const refused = await run(...start(claimed, '--state-from', file))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('holds the chain elsewhere of') as string })
    expect(chainIn(claimed)).toEqual([])
  })
})

describe('chain state read', () => {
  const read = (from: string, dataDir: string, ...more: string[]) =>
    ['chain', 'state', 'read', from, '--data-dir', dataDir, '--genesis', genesis, ...more] as const
  const info = (dataDir: string) => runJson<{ state: string }>('chain', 'info', '--data-dir', dataDir)

  it('makes the chain that a start would begin with, with which it then verifies what lies below', async () => {
    const dataDir = directories.fresh('read')
    const { code, out, err } = await run(...read(file, dataDir))
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(
      `state of height ${state} taken from ${file} and checked against the validators' confirm of block 330 of `,
    )
    expect(out).toMatch(/\n {2}dids +1\n/)
    expect(readdirSync(dataDir).sort()).toEqual(['chain', 'network.json', 'spec.json'])
    const started = directories.fresh('started')
    await (await NodeProcess.start(...start(started, '--state-from', file))).stop()
    expect(await info(dataDir)).toEqual(await info(started))
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toMatchObject({ height: state, ok: true })

    const peer = await NodeProcess.start(...start(directories.copyOf(whole)))
    const node = await NodeProcess.start(...start(dataDir, '--peer', peer.line.p2p[0] as string))
    expect(node.line.height).toBe(state)
    await until('the tip, and the history', 30, async () => {
      const { joined, verified } = (await node.client.rpc('getchaininfo', {})) as { joined?: number; verified?: number }
      const height = await node.client.height()
      return height === 332 && joined === undefined ? true : `${height}, ${verified}`
    })
    await Promise.all([node.stop(), peer.stop()])
    expect((await info(dataDir)).state).toBe((await info(whole)).state)
  })

  it('says as JSON what it took, by a name of a file alone', async () => {
    // A start takes this word for those of the network.
    const cwd = directories.fresh('cwd')
    mkdirSync(cwd)
    cpSync(file, join(cwd, 'peers'))
    const { code, out } = await new CommandProcess(read('peers', 'data', '--json'), { cwd }).finished
    expect(code).toBe(0)
    const checked = await runJson('chain', 'state', 'check', file, '--genesis', genesis)
    expect({ ok: true, ...(JSON.parse(out) as object) }).toEqual({ ...checked, dataDir: 'data' })
  })

  it('makes nothing of a file that is wrong, cut, of another chain, or none', async () => {
    const dataDir = directories.fresh('refused')
    const bytes = readFileSync(file)
    const wrong = (name: string, content: Uint8Array) => {
      const path = `${directories.fresh(name)}.dls`
      writeFileSync(path, content)
      return path
    }
    const flipped = Uint8Array.from(bytes)
    flipped[bytes.length >> 1]! ^= 1
    for (const [from, reason] of [
      [wrong('flipped', flipped), /^error: .*\.dls: part /],
      [wrong('cut', bytes.subarray(0, -1)), /^error: .*\.dls: it ends too early/],
      [wrong('text', Buffer.from('text')), /^error: .*\.dls: it is no file of a state/],
      ['/nowhere/state.dls', /^error: \/nowhere\/state.dls: there is no such file/],
      [directories.root, /^error: .*directory/],
    ] as const) {
      const { code, out, err } = await run(...read(from, dataDir))
      expect({ from, code, out, err }).toMatchObject({ code: 1, out: '', err: expect.stringMatching(reason) as string })
      expect(chainIn(dataDir)).toEqual([])
    }
    const other = await run('chain', 'state', 'read', file, '--data-dir', dataDir, '--genesis', 'localnet')
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringContaining('the state of another chain, with the genesis') as string,
    })
    const devnet = await run('chain', 'state', 'read', file, '--data-dir', dataDir, '--genesis', 'devnet')
    expect(devnet).toMatchObject({ code: 2, err: expect.stringContaining('a devnet begins with no state') as string })
    const unnamed = await run('chain', 'state', 'read', file, '--data-dir', directories.fresh('unnamed'))
    expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining('name its spec with --genesis') as string })
    expect((await run('chain', 'state', 'read', file)).code).toBe(2)
    // After all of that it takes the right one.
    expect((await run(...read(file, dataDir))).code).toBe(0)
  })

  it('warns of a file whose block is old, as a start does', async () => {
    const skewedClock = new URL('../support/tools/skewed-clock.mjs', import.meta.url).href
    const skewed = { env: { NODE_OPTIONS: `--import=${skewedClock}`, SKEW_MS: String(40.5 * 86_400_000) } }
    const { code, out } = await new CommandProcess(read(file, directories.fresh('late')), skewed).finished
    expect([code, out]).toEqual([0, expect.stringContaining('block 330 is 41 days old')])
    const args = start(directories.fresh('late'), '--state-from', file)
    const { process } = await NodeProcess.startWith(skewed, ...args)
    process.kill('SIGTERM')
    expect((await process.finished).err).toContain('block 330 is 41 days old')
  })

  it('leaves a directory alone that has a chain, or is in use', async () => {
    const node = await NodeProcess.start(...start(directories.copyOf(whole)))
    const { dataDir } = node.line
    const used = await run(...read(file, dataDir))
    expect(used).toMatchObject({ code: 1, out: '', err: expect.stringContaining('another process is using') as string })
    await node.stop()
    const before = await info(dataDir)
    const { code, err } = await run(...read(file, dataDir))
    expect([code, err]).toEqual([
      1,
      `error: ${dataDir} has a chain, and a state begins one: name an empty directory by --data-dir, or continue with that chain by "start"\n`,
    ])
    expect(await info(dataDir)).toEqual(before)
  })

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'leaves no chain at %s, keeps others off before, and can be repeated',
    async (signal) => {
      const dataDir = directories.fresh('interrupted')
      const half = await halfWay((from) => read(from, dataDir), dataDir)
      expect((await run(...read(file, dataDir))).err).toContain('another process is using')
      expect(await half.end(signal)).toMatchObject({ signal, out: '' })
      expect(chainIn(dataDir)).not.toContain('chain')
      expect((await run(...read(file, dataDir))).code).toBe(0)
      expect(chainIn(dataDir)).toEqual(['chain'])
      expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toMatchObject({ height: state, ok: true })
    },
  )
})
