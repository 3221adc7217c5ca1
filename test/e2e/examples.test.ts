import { type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { devnet, type TestDevnet } from '../../src/node/library/testing-entry.js'
import { startChild } from '../support/process/children.js'
import { eventually } from '../support/process/patience.js'
import { portBase } from '../support/process/ports.js'
import { NodeProcess } from '../support/process/spawn.js'
import { runTool, runToolWith } from '../support/process/tool.js'
import { bundleForBrowser } from '../support/web/bundle.js'

/** The apps of examples/, each against a devnet of its own, with didledger-client as it is built in this checkout. */

const json = { 'content-type': 'application/json' }
const root = fileURLToPath(new URL('../../', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'didledger-examples-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

let net: TestDevnet
beforeEach(async () => {
  net = await devnet({ allowOrigins: ['http://localhost:5173'] })
})
afterEach(() => net.close())

const keyOf = (index: number) => Buffer.from(net.accounts[index]?.privateKey ?? []).toString('hex')

/** An example as a process, with what it has printed so far. */
class Example {
  out = ''
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(file: string, variables: Readonly<Record<string, string>>) {
    const env = { ...process.env, NODE: net.urls.rest, ...variables }
    this.#child = startChild(process.execPath, [join(root, 'examples', file)], { env })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.out += text))
    }
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  async url(): Promise<string> {
    const found = () => / at (http:\S+)\n/.exec(this.out)?.[1]
    await eventually('the example serves', () => found() !== undefined)
    return found() ?? ''
  }

  /** Waits until it has printed a text. */
  async told(text: string): Promise<void> {
    await eventually(`the example prints ${text}`, () => this.out.includes(text))
  }

  async stop(): Promise<void> {
    this.#child.kill()
    await this.#ended
  }
}

it('each has at most 150 lines, and a README of at most fifteen', () => {
  for (const folder of ['page', 'issuer', 'indexer']) {
    const files = readdirSync(join(root, 'examples', folder))
    const lines = (file: string) => readFileSync(join(root, 'examples', folder, file), 'utf8').split('\n').length - 1
    expect(lines('README.md')).toBeLessThanOrEqual(15)
    const code = files.filter((file) => file !== 'README.md')
    expect(code.reduce((sum, file) => sum + lines(file), 0)).toBeLessThanOrEqual(150)
  }
})

describe('examples/page', () => {
  it('is built by Vite into a script that needs nothing else', async () => {
    const dist = join(work, 'page')
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    await runTool(root, process.execPath, vite, 'build', 'examples/page', '--outDir', dist, '--logLevel', 'error')
    const html = readFileSync(join(dist, 'index.html'), 'utf8')
    const [, file = ''] = /<script type="module"[^>]* src="\/(assets\/[^"]+)"/.exec(html) ?? []
    const script = readFileSync(join(dist, file), 'utf8')
    expect(bundleForBrowser(`import ${JSON.stringify(join(dist, file))}`).imports).toEqual([])
    expect(script).not.toContain('typebox')
    expect(script).toContain('dev_faucet')
    expect(script.length).toBeLessThan(200_000)
  })

  it('makes a wallet with coins, and a DID that resolves', async () => {
    const module = pathToFileURL(join(root, 'examples/page/wallet.js')).href
    const { createFundedDid } = (await import(/* @vite-ignore */ module)) as {
      createFundedDid(node: string): Promise<{ mnemonic: string; did: string; document: { id: string } }>
    }
    const { mnemonic, did, document } = await createFundedDid(net.urls.rest)
    expect(mnemonic.split(' ')).toHaveLength(12)
    expect(document.id).toBe(did)
    expect((await net.node.resolver.resolve(did)).status).toBe(0)
  })

  it('may ask the faucet from the origin that the devnet allows, and from no other', async () => {
    const body = JSON.stringify({ method: 'dev_faucet', params: { address: net.accounts[0]?.address, amount: '1' } })
    const ask = async (origin: string) => {
      const headers = { ...json, origin }
      const response = await fetch(`${net.urls.rest}/rpc`, { method: 'POST', headers, body })
      return (await response.json()) as { result?: string; error?: { data: string } }
    }
    expect((await ask('http://localhost:5173')).result).toMatch(/^[0-9a-f]{64}$/)
    expect((await ask('http://localhost:5174')).error?.data).toMatch(/--allow-origin/)
  })
})

describe('examples/issuer', () => {
  it('issues, presents, checks and revokes over HTTP', async () => {
    const office = { TOKEN: 'office', PORT: '0' }
    const issuer = new Example('issuer/issuer.js', { ...office, KEY: keyOf(0) })
    const verifier = new Example('issuer/verifier.js', { PORT: '0' })
    const variables = { NODE: net.urls.rest, TOKEN: 'office', KEY: keyOf(1) }
    const services = { ISSUER: await issuer.url(), VERIFIER: await verifier.url() }
    const holder = join(root, 'examples/issuer/holder.js')
    const { out } = await runToolWith({ ...variables, ...services }, work, process.execPath, holder)
    const shown = out.trim().split('\n')
    const { did } = net.accounts[1] ?? {}
    expect(shown.map((line) => JSON.parse(line) as unknown)).toEqual([
      { valid: true, holder: did, failed: [] },
      { valid: false, holder: did, failed: ['credentials'] },
    ])

    const post = async (url: string, body: string) => {
      const response = await fetch(url, { method: 'POST', body })
      return `${response.status} ${((await response.json()) as { error?: string }).error}`
    }
    const credential = JSON.stringify({ token: 'guess', subject: did, degree: 'PhD' })
    expect(await post(`${services.ISSUER}/credentials`, credential)).toBe('400 this needs the token of the office')
    expect(await post(`${services.ISSUER}/revoke`, '{}')).toBe('400 this needs the token of the office')
    expect(await post(`${services.VERIFIER}/check`, '{"nonce":"guess"}')).toMatch(/^400 this nonce was not given out/)
    expect(await post(`${services.VERIFIER}/check`, 'null')).toBe('400 the request is no JSON object')
    expect(await post(`${services.VERIFIER}/check`, '{')).toMatch(/^400 .*JSON/)
    expect(await post(`${services.VERIFIER}/check`, ' '.repeat(100_001))).toMatch(/^400 a request has at most/)
    expect(await post(`${services.VERIFIER}/none`, '')).toMatch(/^404 nothing is at POST/)
    await Promise.all([issuer.stop(), verifier.stop()])
  })
})

describe('examples/indexer', () => {
  const read = (file: string) =>
    JSON.parse(readFileSync(file, 'utf8')) as {
      block: string
      height: number
      taken: number
      dids: object
      takenMissed: boolean
    }

  /** Waits until the file has the tip of the devnet. */
  async function expectIndex(file: string, dids: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const { hash } = net.node.chain.tip
    await eventually('the file has the tip', () => {
      try {
        return read(file).block === hash
      } catch {
        return false
      }
    })
    expect(read(file).dids).toEqual(dids)
  }

  async function register(index: number, name: string): Promise<string> {
    const account = net.node.wallet.account(index)
    const services = [{ id: '#name', type: 'Name', serviceEndpoint: `urn:name:${name}` }]
    const { did, txid } = await net.node.wallet.createDid({ account, services })
    await net.node.chain.waitFor(txid)
    return did
  }

  it('keeps DIDs by name across restarts, reorganisations and another chain', async () => {
    const FILE = join(work, 'names.json')
    let indexer = new Example('indexer/indexer.js', { FILE })
    const ada = await register(0, 'ada')
    await expectIndex(FILE, { ada: [ada] })

    // Blocks leave the chain while it runs.
    const snapshot = await net.snapshot()
    const bob = await register(1, '__proto__')
    await expectIndex(FILE, JSON.parse(`{"ada":["${ada}"],"__proto__":["${bob}"]}`) as Record<string, string[]>)
    await snapshot.restore()
    await expectIndex(FILE, { ada: [ada] })

    // A restart goes on after the last block.
    await indexer.stop()
    const second = await register(2, 'ada')
    indexer = new Example('indexer/indexer.js', { FILE })
    await expectIndex(FILE, { ada: [ada, second] })
    await indexer.told('\n')
    expect(indexer.out).toBe(`apply ${net.node.chain.height}\n`)

    // A chain that does not have the last block is read from its start.
    await indexer.stop()
    await net.close()
    net = await devnet()
    const other = await register(4, 'eve')
    indexer = new Example('indexer/indexer.js', { FILE })
    await expectIndex(FILE, { eve: [other] })
    await indexer.told('begin anew')
    await indexer.stop()
  })

  it('notes a gap where a node that was started again cannot tell what its pool took', async () => {
    const FILE = join(work, 'gap.json')
    const start = async (base: string) =>
      NodeProcess.start('devnet', '--data-dir', join(work, 'node'), '--port-base', base)
    const base = await portBase()
    let node = await start(base)
    const indexer = new Example('indexer/indexer.js', { FILE, NODE: node.line.rest })
    const mine = () => fetch(node.line.rpc, { method: 'POST', headers: json, body: '{"method":"dev_mine"}' })
    await indexer.told('apply 0')
    await mine()
    await indexer.told('apply 1')
    expect(read(FILE).takenMissed).toBe(false)
    await node.stop()
    node = await start(base)
    await mine()
    await indexer.told('apply 2')
    expect(read(FILE).takenMissed).toBe(true)
    expect(read(FILE)).toMatchObject({ dids: {}, taken: 0 })
    await indexer.stop()
    await node.stop()
  })
})
