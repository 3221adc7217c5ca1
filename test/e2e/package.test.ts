import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fencedBlocks, filesOf, repositoryFile } from '../support/assert/markdown.js'
import { fetchedProgram } from '../support/process/fetched-program.js'
import { testPatience } from '../support/process/patience.js'
import { runTool, runToolWith } from '../support/process/tool.js'
import { build, bundleForBrowser, stop } from '../support/web/bundle.js'

/** The package as others get it: packed, installed in an empty directory, used from there. */

const root = fileURLToPath(new URL('../../', import.meta.url))
/** What a clone holds after npm ci. To pack it builds dist again where a source is newer, so nothing stale is packed. */
const sources = [
  'dist',
  'docs',
  'genesis',
  'man',
  'packages',
  'scripts',
  'src',
  '.npmrc',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'package.json',
  'tsconfig.json',
]
/** A current Node beside the one that runs the tests; the npm package of this name brings one. */
const current = 'node@26.10.0'

const script = `
import { createNode, getResolver } from 'didledger'
import { Resolver } from 'did-resolver'

const node = await createNode({ network: 'devnet' })
const { did, txid } = await node.wallet.createDid({ account: node.wallet.account(0) })
const { height } = await node.chain.waitFor(txid)
const { status, transaction } = await node.resolver.resolve(did, { all: true })
const { didDocument } = await new Resolver(getResolver(node)).resolve(did)
await node.close()
console.log(JSON.stringify({ version: process.version, height, status, operations: transaction.length, id: didDocument.id, did }))
const closed = performance.now()
process.on('exit', () => console.log(performance.now() - closed < ${10_000}))
`

/** Seventy signatures at once are verified by threads, which have to be found in the package and to end with their node. */
const threads = `
import { createNode } from 'didledger'

const [one, two] = await Promise.all([
  createNode({ network: 'devnet', mining: 'manual' }),
  createNode({ network: 'devnet' }),
])
for (let i = 0; i < 70; i++) {
  await one.wallet.transfer({ from: one.wallet.account(i % 10), to: one.wallet.account(0).address, amount: 1n })
}
const [hash] = await one.devnet.mine()
const block = await one.chain.block(hash)
await two.chain.acceptBlock(block.bytes, one.chain.confirm(hash))
const busy = process.getActiveResourcesInfo().includes('MessagePort')
console.log(two.chain.tip.hash === hash, block.transactions.length, busy)
await Promise.all([one.close(), two.close()])
`

/** A test that fails midway, with a request of HTTP kept alive, a silent WebSocket and a wait for a transaction. */
const leftOpen = `
import { once } from 'node:events'
import { connect } from 'node:net'
import { devnet } from 'didledger/testing'

const net = await devnet({ mining: 'manual' })
try {
  await (await fetch(net.urls.rest + '/api/v1/block/height')).text()
  const { hostname, port } = new URL(net.urls.ws)
  const socket = connect(Number(port), hostname)
  socket.write('GET / HTTP/1.1\\r\\nHost: localhost\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n')
  socket.write('Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n')
  await once(socket, 'data')
  const [from, to] = net.accounts
  const txid = await net.node.wallet.transfer({ from, to: to.address, amount: 1n })
  net.node.chain.waitFor(txid).catch(() => {})
  throw new Error('midway')
} catch ({ message }) {
  console.log(message)
} finally {
  await net.close()
}
const closed = performance.now()
process.on('exit', () => console.log('ended', performance.now() - closed < ${10_000}))
`

const typed = `
import { createNode, getResolver, HttpResolver, type LedgerNode, RuleError } from 'didledger'
import { getResolver as remote, w3cDocument } from 'didledger/resolver'
import { devnet, type TestDevnet, type TestSnapshot } from 'didledger/testing'
import { type Verdict, verifyDocument } from 'didledger/verify'
import { accountSource, generateMnemonic, systemRandom } from 'didledger/wallet'
import { Resolver } from 'did-resolver'
import { Resolver as Resolver4 } from 'did-resolver-4'

const node: LedgerNode = await createNode({ network: 'devnet', tuning: { mempool: { expiry: 5000 } } })
const account = accountSource({ kind: 'mnemonic', mnemonic: generateMnemonic(systemRandom) })(0)
await node.devnet?.faucet(account.address, '1')
const stop: () => void = node.events.on('did', ({ action, did }) => \`\${action} \${did}\`)
stop()
const { did, txid } = await node.wallet.createDid({ account, services: [] })
const { height, transaction: mined } = await node.chain.waitFor(txid, { timeout: ${testPatience} })
const { transaction, status } = await node.resolver.resolve(did)
const payload: string | undefined = transaction?.[0]?.operation.payload
const resolver = new Resolver({ ...getResolver(node), ...remote(new HttpResolver('http://127.0.0.1:20336')) })
const { didDocument } = await resolver.resolve(did)
const { didDocument: older } = await new Resolver4(getResolver(node, { expired: 'give' })).resolve(did)
// @ts-expect-error refuse or give
getResolver(node, { expired: 'yes' })
export const seen: readonly [number, string, 0 | 1 | 2 | 3, string | undefined] = [height, mined.txid, status, payload]
export const ids: (string | undefined)[] = [didDocument?.id, older?.id, w3cDocument('{}').document.id]
export const verdict: Verdict = verifyDocument(payload ?? '', { method: 'ledger' })
export const code: string = new RuleError('busy', 'too many').code
const net: TestDevnet = await devnet({ accounts: 2, mining: { seconds: 5 } })
const back: TestSnapshot = await net.snapshot()
await back.restore()
export const hashes: readonly string[] = await net.mine(2)
await net[Symbol.asyncDispose]()
// @ts-expect-error there is no such option
await devnet({ acounts: 2 })
// @ts-expect-error there is no such network
await createNode({ network: 'mainnet' })
// @ts-expect-error there is no such option
await createNode({ network: 'devnet', tuning: { mempool: { sise: 5 } } })
// @ts-expect-error it is a number
await createNode({ network: 'devnet', tuning: { api: { batch: '5' } } })
await node.close()
`

describe('the packed package', () => {
  const work = mkdtempSync(join(tmpdir(), 'didledger-package-'))
  const clone = join(work, 'clone')
  const project = join(work, 'project')
  let files: string[] = []

  beforeAll(async () => {
    for (const name of sources)
      cpSync(join(root, name), join(clone, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    const { out } = await runTool(clone, 'npm', 'pack', '--json')
    const [packed] = JSON.parse(out.slice(out.indexOf('[\n'))) as { filename: string; files: { path: string }[] }[]
    files = packed?.files.map(({ path }) => path) ?? []
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}')
    // What is optional beside it: the newest version of did-resolver, and the oldest one whose types fit.
    const beside = ['did-resolver@6.0.0', 'did-resolver-4@npm:did-resolver@4.1.0']
    await runTool(project, 'npm', 'install', '--engine-strict', join(clone, packed?.filename ?? ''), ...beside)
    writeFileSync(join(project, 'use.js'), script)
  })

  afterAll(() => rmSync(work, { recursive: true, force: true }))

  it('holds what runs and what explains it, and nothing else', () => {
    const outside = files.filter(
      (file) =>
        !/^dist\/.*\.(js|d\.ts)$|^docs\/([\w-]+\/)*([\w-]+\.\w+|Dockerfile|Caddyfile)$|^genesis\/\w+(\.trust)?\.json$/.test(
          file,
        ),
    )
    // Only a checkout knows its commit.
    const named = outside.filter((file) => file !== 'dist/commit.txt')
    expect(named.map((file) => file.replace(/-[\w-]{8}\.css$/, '.css')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/THIRD-PARTY-LICENCES.txt',
      'dist/cli/package.json',
      'dist/mirror.html',
      'dist/pages/assets/index.css',
      'dist/pages/favicon.svg',
      'dist/pages/index.html',
      'man/didledger.1',
      'package.json',
    ])
    // Threads of the library and of the program run files of their own.
    expect(files).toEqual(
      expect.arrayContaining([
        'dist/base/crypto/worker.js',
        'dist/cli/worker.js',
        'dist/ledger/state/document-worker.js',
        'dist/cli/document-worker.js',
        'dist/node/devnet/seed-worker.js',
        'dist/cli/seed-worker.js',
      ]),
    )
    const installed = join(project, 'node_modules/didledger')
    for (const file of files) {
      const text = readFileSync(join(installed, file), 'utf8')
      for (const place of [work, root]) expect({ file, place: text.includes(place) }).toEqual({ file, place: false })
    }
  })

  it('imports only packages that it declares', async () => {
    const installed = join(project, 'node_modules/didledger')
    const { metafile } = await build({
      entryPoints: files.filter((file) => file.endsWith('.js')).map((file) => join(installed, file)),
      outdir: join(work, 'imports'),
      bundle: true,
      splitting: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      write: false,
      metafile: true,
      logLevel: 'error',
    })
    await stop()
    const outside = Object.values(metafile.outputs)
      .flatMap(({ imports }) => imports.filter(({ external }) => external))
      .map(({ path }) => path)
    const packages = new Set(
      outside.filter((path) => !isBuiltin(path)).map((path) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0]),
    )
    const { dependencies, peerDependencies } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    ) as Readonly<Record<'dependencies' | 'peerDependencies', Record<string, string>>>
    expect(packages.size).toBeGreaterThan(0)
    // ws tries these, and does without them.
    const known = { ...dependencies, ...peerDependencies, bufferutil: '', 'utf-8-validate': '' }
    expect([...packages].filter((name = '') => !(name in known))).toEqual([])
  })

  it('resolves in the process of a program, which ends by itself, under this Node', async () => {
    await expectUse(process.execPath, process.version)
  })

  it('does so under a current Node', async () => {
    await expectUse(await fetchedProgram(current, 'node/bin/node'), `v${current.split('@')[1]}`)
  })

  it.each([
    ['this Node', () => process.execPath],
    ['a current Node', () => fetchedProgram(current, 'node/bin/node')],
  ])('keeps what %s compiles of a command', async (_, binaryOf) => {
    const [binary, cache] = [await binaryOf(), join(work, 'cache')]
    const run = () =>
      runToolWith(
        { XDG_CACHE_HOME: cache },
        project,
        binary,
        join(project, 'node_modules/didledger/dist/cli/main.js'),
        'wallet',
        '--help',
      ).then(({ out }) => out)
    const version = (await runTool(project, binary, '--version')).out.split('.')[0]
    const first = await run()
    const kept = join(cache, 'didledger', `wallet-${version}.code`)
    const { size, mtimeMs } = statSync(kept)
    expect(size).toBeGreaterThan(500_000)
    expect(await run()).toBe(first)
    expect(statSync(kept).mtimeMs).toBe(mtimeMs)
  })

  async function expectUse(binary: string, version: string): Promise<void> {
    const { out, err } = await runTool(project, binary, 'use.js')
    expect(err).toBe('')
    const [answer = '', prompt] = out.trim().split('\n')
    const did = expect.stringMatching(/^did:ledger:i/) as string
    expect(JSON.parse(answer)).toEqual({ version, height: 1, status: 0, operations: 1, id: did, did })
    expect(prompt).toBe('true')
  }

  it('verifies many signatures in threads, which end with their node', async () => {
    writeFileSync(join(project, 'threads.js'), threads)
    expect(await runTool(project, process.execPath, 'threads.js')).toMatchObject({ out: 'true 71 true\n', err: '' })
  })

  it('has types for a strict project that checks libraries too and knows nothing of Node', async () => {
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      module: 'nodenext',
      target: 'es2022',
      noEmit: true,
      types: [],
    }
    writeFileSync(join(project, 'typed.ts'), typed)
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    expect((await runTool(project, process.execPath, tsc, '-p', '.')).out).toBe('')
  })

  it('runs the examples of docs/library.md', async () => {
    const blocks = fencedBlocks(repositoryFile('docs/library.md'))
    const examples = blocks.flatMap(({ language, text }, i) =>
      language === 'js' ? [{ text, output: blocks[i + 1]?.text }] : [],
    )
    expect(examples.length).toBe(8)
    for (const { text, output } of examples) {
      writeFileSync(join(project, 'example.js'), text)
      const { out, err } = await runTool(project, process.execPath, 'example.js')
      expect({ out: out.trim(), err }).toEqual({ out: output, err: '' })
    }
  })

  it('runs the example and the recipes of docs/testing.md', async () => {
    const page = repositoryFile('docs/testing.md')
    const [example, output] = fencedBlocks(page)
    writeFileSync(join(project, 'example.js'), example?.text ?? '')
    const { out, err } = await runTool(project, process.execPath, 'example.js')
    expect({ out: out.trim(), err }).toEqual({ out: output?.text, err: '' })
    const recipes = filesOf(page)
    expect([...recipes.keys()]).toEqual([
      'ledger.test.js',
      'fixture.test.js',
      'ledger.node.js',
      'ledger.jest.js',
      'page.spec.js',
    ])
    for (const name of ['ledger.test.js', 'fixture.test.js', 'ledger.node.js']) {
      writeFileSync(join(project, name), recipes.get(name) ?? '')
    }
    const nodeTest = await runTool(project, process.execPath, '--test', 'ledger.node.js')
    expect(nodeTest.out).toMatch(/pass 2\n[^]*fail 0\n/)
    symlinkSync(join(root, 'node_modules/vitest'), join(project, 'node_modules/vitest'))
    const run = await runTool(
      project,
      process.execPath,
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      project,
    )
    expect(run.out).toMatch(/Tests .*3 passed/)
  })

  it('ends the process of a test that closed its devnet, whatever the test left open', async () => {
    writeFileSync(join(project, 'left.js'), leftOpen)
    const { out, err } = await runTool(project, process.execPath, 'left.js')
    expect({ out, err }).toEqual({ out: 'midway\nended true\n', err: '' })
  })

  it('bundles for browsers, but for the entry of a node', () => {
    const bundle = (name: string) => bundleForBrowser(`export * from 'didledger${name}'`, { from: project })
    for (const name of ['/resolver', '/verify', '/wallet']) expect(bundle(name).imports).toEqual([])
    expect(() => bundle('')).toThrow(/node:/)
    expect(bundleForBrowser("import 'didledger/wallet'", { from: project }).size).toBe(0)
  })

  it('gives its entries and nothing inside', async () => {
    const list =
      "for (const name of ['', '/resolver', '/verify', '/wallet']) console.log(Object.keys(await import('didledger' + name)).length > 5)"
    const { out } = await runTool(project, process.execPath, '--input-type=module', '-e', list)
    expect(out).toBe('true\ntrue\ntrue\ntrue\n')
    const testing = "console.log(Object.keys(await import('didledger/testing')).join())"
    const forTests = await runTool(project, process.execPath, '--input-type=module', '-e', testing)
    expect(forTests.out).toBe('RuleError,UserError,devnet\n')
    const inside = "await import('didledger/dist/node/start-node.js').catch((error) => console.log(error.code))"
    const refused = await runTool(project, process.execPath, '--input-type=module', '-e', inside)
    expect(refused.out).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n')
  })
})
