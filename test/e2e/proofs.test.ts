import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandProcess, Directories, type Finished, NodeProcess, run, runJson } from '../support/process/spawn.js'

/** Proofs of a devnet by the commands: made by its node, and checked by processes that believe nothing of it. */

const directories = new Directories()
const dataDir = directories.fresh('chain')
let node: NodeProcess
let did: string
let bundle: string

const file = (name: string, text: string) => {
  const path = join(directories.root, name)
  writeFileSync(path, text)
  return path
}

beforeAll(async () => {
  node = await NodeProcess.start('devnet', '--data-dir', dataDir)
  const created = await runJson<{ did: string }>(
    ...['did', 'create', '--devnet-account', '2'],
    '--rest',
    node.line.rest,
  )
  did = created.did
  bundle = file('bundle.json', (await run('did', 'prove', did, '--all', '--rest', node.line.rest)).out)
})
afterAll(async () => {
  await node.stop()
  directories.remove()
})

describe('didledger did prove and did verify', () => {
  it('show what is proved, with the node and without it', async () => {
    const { code, out, err } = await run('did', 'verify', bundle, '--trust', 'devnet')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`${did} is valid.\n`)
    expect(out).toContain('operations  1 of 1 shown\n')
    expect(out).toContain('trust root  genesis of devnet\n')
    const shown = await runJson('did', 'verify', bundle, '--trust', 'devnet')
    expect(shown).toMatchObject({ did, status: 0, proved: { hash: await node.hashAt(1), height: 1 } })
  })

  it('take the Trust of the spec as a file, and prove what is not there', async () => {
    const trust = file('trust.json', (await run('genesis', 'trust', 'devnet')).out)
    const absent = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'
    const none = file('none.json', (await run('did', 'prove', absent, '--rest', node.line.rest)).out)
    expect((await run('did', 'verify', none, '--trust', trust)).out).toContain(
      `${absent} does not exist on this chain.`,
    )
    const credential = file('id.json', (await run('did', 'prove', `${did}#degree`, '--rest', node.line.rest)).out)
    const said = await run('did', 'verify', credential, '--trust', trust)
    expect(said).toMatchObject({ code: 0, out: expect.stringContaining('is neither declared nor revoked.') })
  })

  it('refuse a changed bundle, and one of another chain, by name', async () => {
    const lie = file('lie.json', readFileSync(bundle, 'utf8').replace('"status": 0', '"status": 2'))
    expectFailure(await run('did', 'verify', lie, '--trust', 'devnet'), 'answer-status')
    expectFailure(await run('did', 'verify', bundle, '--trust', 'localnet'), 'chain')
    expectFailure(await run('did', 'verify', bundle, '--trust', 'pow'), 'chain')
  })

  it('say in plain words where there is no node', async () => {
    const ran = await run('did', 'prove', did, '--rest', 'http://127.0.0.1:2')
    expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^error: no node listens at/) })
  })
})

describe('didledger light', () => {
  interface LightLine {
    readonly listens: readonly [string]
    readonly nodes: readonly string[]
  }

  async function light(...args: string[]): Promise<{ process: CommandProcess; url: string; line: LightLine }> {
    const command = ['light', '--trust', 'devnet', '--port', '0', ...args, '--json']
    const process = new CommandProcess(command)
    const text = await process.firstLine()
    if (text === undefined) throw new Error(`${command.join(' ')}: ${(await process.finished).err}`)
    const line = JSON.parse(text) as LightLine
    return { process, url: line.listens[0], line }
  }

  const call = async (url: string, method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(`${url}/rpc`, { method: 'POST', body })
    return (await response.json()) as { result?: object; error?: { data: string } }
  }

  it('answers over two nodes what is proved, keeps what it saw, and stops cleanly', async () => {
    const state = join(directories.root, 'light.json')
    const nodes = [node.line.rest, node.line.rest.replace('127.0.0.1', 'localhost')] as const
    const { process, url, line } = await light(
      '--rest',
      nodes[0],
      '--rest',
      `${nodes[1]}/`,
      '--needed',
      '2',
      '--state',
      state,
    )
    expect(line).toEqual({ listens: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)], nodes, mirrors: [] })
    const proved = { height: 1, hash: await node.hashAt(1), servers: nodes }
    expect((await call(url, 'resolvedid', { did })).result).toMatchObject({ did, status: 0, proved })
    const accept = { accept: 'application/did-resolution' }
    const w3c = await fetch(`${url}/1.0/identifiers/${did}`, { headers: accept })
    expect(await w3c.json()).toMatchObject({ didDocument: { id: did }, didResolutionMetadata: { proved } })
    expect((await call(url, 'did_resolveCredential', { id: `${did}#x` })).result).toMatchObject({ status: 3, proved })
    for (const path of ['healthz', 'readyz']) expect((await fetch(`${url}/${path}`)).status).toBe(200)
    const again = await run('light', ...honest(), '--state', state, '--port', '0')
    const inUse = `another process is using the state of a light resolver in ${state}; stop it first`
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining(inUse) })
    process.kill('SIGTERM')
    expect(await process.finished).toMatchObject({ code: 0, signal: null, err: '' })
    expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ format: 'didledger/light/1', height: 1 })
  })

  it('begins anew where a devnet did, and believes no other chain that has gone back, also after a restart', async () => {
    const other = await NodeProcess.start('devnet')
    await other.client.rpc('dev_mine', { blocks: 1 })
    const state = join(directories.root, 'other.json')
    const first = await light('--rest', node.line.rest, '--state', state)
    first.process.kill('SIGTERM')
    await first.process.finished
    const shipped = (await run('genesis', 'trust', 'devnet')).out
    const strict = file('strict.json', shipped.replace('"devnet": true', '"devnet": false'))
    const believing = ['light', '--rest', other.line.rest, '--state', state, '--port', '0', '--allow-old-root']
    expectFailure(await run(...believing, '--trust', strict), 'fork')
    const second = await light('--rest', other.line.rest, '--state', state)
    const { result } = await call(second.url, 'resolvedid', { did })
    expect(result).toMatchObject({ status: 3, proved: { height: 1, hash: await other.hashAt(1) } })
    second.process.kill('SIGTERM')
    const { code, err } = await second.process.finished
    expect([code, err.match(/the devnet went back or began anew/g)?.length]).toEqual([0, 1])
    await other.stop()
  })

  it('waits for a node that starts later', async () => {
    const port = Number(new URL(node.line.rest).port)
    const door = createServer((socket) => void socket.pipe(connect(port, '127.0.0.1')).pipe(socket))
    const listen = async (at: number) => {
      await new Promise<void>((listens) => door.listen(at, '127.0.0.1', listens))
      return (door.address() as AddressInfo).port
    }
    const free = await listen(0)
    await new Promise((closed) => door.close(closed))
    const { process, url } = await light('--rest', `http://127.0.0.1:${free}`)
    const ask = () => fetch(`${url}/1.0/identifiers/${did}`)
    const early = await ask()
    expect([early.status, early.headers.has('retry-after')]).toEqual([503, true])
    await listen(free)
    await expect.poll(async () => (await ask()).status, { timeout: 60_000 }).toBe(200)
    process.kill('SIGTERM')
    const { code, err } = await process.finished
    expect([code, err]).toEqual([0, expect.stringMatching(/nothing is proved yet: a node or mirror cannot be reached/)])
    door.close()
  })

  it.each<[string, () => string[], number, string]>([
    ['no host of the name', () => ['--rest', 'http://a..b', '--trust', 'devnet'], 2, 'no host of the name a..b'],
    ['a trust of another chain', () => ['--rest', node.line.rest, '--trust', 'pow'], 1, '(chain)'],
    ['a damaged state', () => [...honest(), '--state', file('bad.json', '{"format"')], 1, '(form)'],
    [
      'a state of another chain',
      () => [...honest(), '--state', file('no.json', '{"format":"didledger/light/1","chain":"00"}')],
      1,
      '(form)',
    ],
    ['a folder for a state', () => [...honest(), '--state', directories.root], 1, 'it is a directory'],
    ['a state in no folder', () => [...honest(), '--state', '/none/light.json'], 2, 'there is no folder /none'],
    [
      'a checkpoint that is not of the chain',
      () => [...honest(), '--checkpoint', wrongCheckpoint()],
      1,
      '(checkpoint-hash)',
    ],
    ['a root that is too old', () => ['--rest', node.line.rest, '--trust', 'localnet'], 1, '(trust-expired)'],
    ['more nodes needed than named', () => [...honest(), '--needed', '2'], 2, '--needed 2: one server is named'],
    ['a node twice', () => [...honest(), ...honest()], 2, 'is given twice: its answer counts once'],
    ['no node', () => ['--trust', 'devnet'], 2, '--rest <url> or --mirror <url> is missing'],
    ['no trust', () => ['--rest', node.line.rest], 2, '--trust <name|file> is missing'],
    ['what is no URL', () => ['--rest', 'ftp://x', '--trust', 'devnet'], 2, 'not a URL'],
  ])('ends with plain words for %s', async (_, args, code, said) => {
    const ran = await run('light', '--port', '0', ...args())
    expect(ran).toMatchObject({ code, out: '', err: expect.stringContaining(said) })
    expect(ran.err).toMatch(/^error: /)
    expect(existsSync(`${directories.root}.lock`)).toBe(false)
  })

  const honest = () => ['--rest', node.line.rest, '--trust', 'devnet']

  function wrongCheckpoint(): string {
    const { chain } = JSON.parse(readFileSync(bundle, 'utf8')).answer.proof as { chain: string }
    const hash = '11'.repeat(32)
    return file('cp.json', JSON.stringify({ format: 'didledger/checkpoint/1', chain, height: 1, hash, keysHash: hash }))
  }
})

describe('didledger chain checkpoint', () => {
  it('is refused while a node has the directory, and afterwards is where a check begins', async () => {
    const busy = await run('chain', 'checkpoint', '--data-dir', dataDir)
    expect(busy).toMatchObject({ code: 1, out: '', err: expect.stringContaining('another process is using') })
    const asked = await run('chain', 'checkpoint', '--rest', node.line.rest)
    const { chain } = JSON.parse(readFileSync(bundle, 'utf8')).answer.proof as { chain: string }
    await node.stop()
    const printed = await run('chain', 'checkpoint', '--data-dir', dataDir)
    expect(JSON.parse(printed.out)).toMatchObject({ format: 'didledger/checkpoint/1', chain, height: 1 })
    // The node has said the same.
    expect(asked).toMatchObject({ code: 0, out: printed.out, err: '' })
    const checkpoint = file('checkpoint.json', printed.out)
    const ran = await run('did', 'verify', bundle, '--trust', 'devnet', '--checkpoint', checkpoint)
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(`trust root  the block of ${checkpoint}`) })
    const above = await run('chain', 'checkpoint', '--data-dir', dataDir, '--height', '7')
    expect(above).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('the chain ends at height 1, below 7'),
    })
  })
})

function expectFailure({ code, out, err }: Finished, failure: string): void {
  expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringMatching(`^error: .* \\(${failure}\\)\n$`) })
}
