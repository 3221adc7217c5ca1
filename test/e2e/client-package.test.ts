import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryFile } from '../support/assert/markdown.js'
import { fetchedProgram } from '../support/process/fetched-program.js'
import { runTool } from '../support/process/tool.js'
import { devnet } from '../../src/node/library/testing-entry.js'
import { bundleForBrowser } from '../support/web/bundle.js'

/** The small package as others get it: packed, installed without a registry beside copies of the packages here, used from there. */

const root = fileURLToPath(new URL('../../', import.meta.url))
const entries = ['resolver', 'light', 'verify', 'wallet', 'events']

interface Manifest {
  readonly version: string
  readonly license: string
  readonly engines: object
  readonly dependencies: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, unknown>>
}
const [small, large] = ['packages/client/package.json', 'package.json'].map(
  (file) => JSON.parse(repositoryFile(file)) as Manifest,
) as [Manifest, Manifest]

/** These packages and all that they depend on. */
function neededBy(names: readonly string[], found = new Set<string>()): string[] {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const { dependencies = {} } = JSON.parse(repositoryFile(`node_modules/${name}/package.json`)) as Partial<Manifest>
    neededBy(Object.keys(dependencies), found)
  }
  return [...found]
}

/** The most bytes that the package takes where it is installed. */
const most = 300_000

/** Registers a DID with coins of an account, resolves it by word and by proof, follows it, and has a credential checked and revoked. */
const script = `
import { readFileSync } from 'node:fs'
import { followEvents } from 'didledger-client/events'
import { LightResolver } from 'didledger-client/light'
import { HttpResolver, RuleError } from 'didledger-client/resolver'
import { checkCredential, verifyDocument } from 'didledger-client/verify'
import { buildRevoke, issueCredential, RuleError as WalletError } from 'didledger-client/wallet'
import { accountOf, Ledger, timestamp } from './ledger.js'

const [rest, ws, key, trust] = process.argv.slice(2)
const ledger = new Ledger(rest)
const account = accountOf(key)
const did = await ledger.createDid(account)
const word = await new HttpResolver(ledger.rpc).resolve(did)
const light = new LightResolver({ servers: [rest], trust: JSON.parse(readFileSync(trust, 'utf8')) })
const proved = await light.resolve(did)
const same = proved.transaction[0].txid === word.transaction[0].txid
const document = await ledger.document(did)
const credential = issueCredential({ account, document, created: timestamp() }, { id: 'a', types: ['T'], claims: { b: 1 } })
const before = (await checkCredential(credential, light)).valid
await ledger.send(account, ({ credential: [specification] }) => buildRevoke({ account, specification }, document, did + '#a'), true)
const after = (await checkCredential(credential, ledger.resolver)).valid
const refused = await ledger.resolver.query({}).catch((error) => error)
const told = []
for await (const { topic, operation, height } of followEvents({ url: ws, topics: ['block', 'did'], from: { fromHeight: 0 } })) {
  told.push(operation ?? topic)
  if (height === 1 && topic === 'block') break
}
const payload = Buffer.from(word.transaction[0].operation.payload, 'base64url').toString()
const classes = [RuleError === WalletError, refused instanceof RuleError, refused.code]
console.log(JSON.stringify({ same, status: proved.status, before, after, told, valid: verifyDocument(payload, { method: 'ledger' }).valid, classes }))
`

const typed = `
import { followEvents, type FollowedEvent } from 'didledger-client/events'
import { LightResolver } from 'didledger-client/light'
import { HttpResolver, RuleError } from 'didledger-client/resolver'
import { checkCredential, type CredentialReport } from 'didledger-client/verify'
import { accountSource, chainTerms, generateMnemonic, parseChain, systemRandom, UserError } from 'didledger-client/wallet'

const account = accountSource({ kind: 'mnemonic', mnemonic: generateMnemonic(systemRandom) })(0)
const chain = parseChain({})
export const maturity: number | undefined = chainTerms(chain, chain.height).maturity
export const report: Promise<CredentialReport> = checkCredential('', new HttpResolver('http://127.0.0.1'))
export const proved: Promise<CredentialReport> = checkCredential('', new LightResolver({ servers: [], trust: {} as never }))
export const first: AsyncGenerator<FollowedEvent, void> = followEvents({ url: account.did })
export const error: string = new RuleError('busy', 'full').code + new UserError('').exitCode
// @ts-expect-error there is no such option
followEvents({ uri: '' })
// @ts-expect-error there is no such code
new RuleError('bussy', 'full')
`

describe('the package didledger-client', () => {
  const work = mkdtempSync(join(tmpdir(), 'didledger-client-'))
  const project = join(work, 'project')
  const installed = join(project, 'node_modules/didledger-client')
  let packed: { readonly unpackedSize: number; readonly files: readonly { readonly path: string }[] }

  beforeAll(async () => {
    const args = ['pack', '-w', 'packages/client', '--ignore-scripts', '--json', '--pack-destination', work]
    const [first] = JSON.parse((await runTool(root, 'npm', ...args)).out) as (typeof packed & { filename: string })[]
    if (first === undefined) throw new Error('npm packed nothing')
    packed = first
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}')
    const folders = neededBy(Object.keys(small.dependencies)).map((name) => join(root, 'node_modules', name))
    await runTool(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', work, ...folders)
    const tarballs = readdirSync(work).filter((name) => name.endsWith('.tgz'))
    await runTool(project, 'npm', 'install', '--offline', ...tarballs.map((name) => join(work, name)))
    cpSync(join(root, 'examples/ledger.js'), join(project, 'ledger.js'))
  })

  afterAll(() => rmSync(work, { recursive: true, force: true }))

  it(`takes at most ${most} bytes, of code, types and what explains them`, () => {
    const others = packed.files.filter(({ path }) => !/^dist\/[\w-]+\.(js|d\.ts)$/.test(path)).map(({ path }) => path)
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(packed.unpackedSize).toBeLessThanOrEqual(most)
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).map((name) => join(installed, name))
    const sizes = files.map((file) => statSync(file)).filter((stat) => stat.isFile())
    expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBe(packed.unpackedSize)
    for (const { path } of packed.files) expect(readFileSync(join(installed, path), 'utf8')).not.toContain(root)
  })

  it('comes with its dependencies alone, in the versions of the large package, and nothing native', () => {
    const names = Object.keys(small.dependencies)
    expect(names.filter((name) => !/^@noble\/|^@scure\/|^bs58$/.test(name))).toEqual([])
    expect(small.dependencies).toEqual(Object.fromEntries(names.map((name) => [name, large.dependencies[name]])))
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { peer?: boolean }>
    }
    const places = Object.keys(packages).filter((place) => place !== '' && packages[place]?.peer !== true)
    const besides = places.map((place) => place.replace('node_modules/', '')).filter((name) => !names.includes(name))
    expect(besides.filter((name) => name !== 'base-x')).toEqual(['didledger-client'])
    const files = readdirSync(join(project, 'node_modules'), { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => /\.node$|binding\.gyp$|\.wasm$/.test(file))).toEqual([])
  })

  it('has the version, the licence and the versions of Node of the large one', () => {
    const { version, license, engines } = large
    expect(small).toMatchObject({ version, license, engines })
    expect(repositoryFile('packages/client/LICENSE')).toBe(repositoryFile('LICENSE'))
  })

  it.each(entries)(
    'exports by ./%s what the large package does, but for specs, names and the table of codes',
    async (entry) => {
      const names = async (path: string) => Object.keys((await import(path)) as object).sort()
      const own = await names(join(root, `packages/client/dist/${entry}.js`))
      const known = await names(join(root, `src/node/library/${entry}-entry.ts`))
      expect(own.length).toBeGreaterThan(2)
      const rooms = ['named-identity', 'review-draft'].map((file) => names(join(root, `src/clients/wallet/${file}.ts`)))
      const large = ['parseSpec', 'codes', ...(await Promise.all(rooms)).flat()]
      expect(own).toEqual(known.filter((name) => !large.includes(name)))
    },
  )

  it('has these entries and no other', () => {
    const paths = entries.map((entry) => `./${entry}`)
    expect(Object.keys(small.exports)).toEqual([...paths, './package.json'])
    expect(Object.keys(large.exports)).toEqual(expect.arrayContaining(paths))
  })

  it('resolves, proves, verifies, signs and follows against a devnet, under this Node and the package ws', async () => {
    await expectUse(process.execPath)
  })

  it.each([
    ['Deno', 'deno@2.9.6', '.bin/deno', ['run', '--allow-net', '--allow-read']],
    ['Bun', 'bun@1.4.5', '.bin/bun', ['run']],
  ] as const)('does so under %s', async (_, pinned, path, args) => {
    await expectUse(await fetchedProgram(pinned, path), ...args)
  })

  async function expectUse(program: string, ...args: readonly string[]): Promise<void> {
    writeFileSync(join(project, 'use.js'), script)
    cpSync(join(root, 'node_modules/ws'), join(project, 'node_modules/ws'), { recursive: true })
    const net = await devnet({ accounts: 1 })
    try {
      const key = Buffer.from(net.accounts[0]?.privateKey ?? []).toString('hex')
      const trust = join(root, 'genesis/devnet.trust.json')
      const { out, err } = await runTool(project, program, ...args, 'use.js', net.urls.rest, net.urls.ws, key, trust)
      expect(err).toBe('')
      expect(JSON.parse(out)).toEqual({
        same: true,
        status: 0,
        before: true,
        after: false,
        told: ['block', 'create', 'block'],
        valid: true,
        classes: [true, true, 'query-invalid'],
      })
    } finally {
      await net.close()
    }
  }

  it('has types for a strict project that checks libraries too, and need no other package', async () => {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      module: 'nodenext',
      target: 'es2022',
      noEmit: true,
      types: [],
    }
    writeFileSync(join(project, 'typed.ts'), typed)
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
    const tsc = join(root, 'node_modules/typescript-7/bin/tsc')
    expect((await runTool(project, process.execPath, tsc, '-p', '.')).out).toBe('')
    const declarations = packed.files.filter(({ path }) => path.endsWith('.d.ts'))
    const specifiers = declarations.flatMap(({ path }) =>
      [...readFileSync(join(installed, path), 'utf8').matchAll(/ ?from ?"([^"]+)"|import\("([^"]+)"\)/g)].map(
        ([, from, inline]) => from ?? inline,
      ),
    )
    expect(specifiers.length).toBeGreaterThan(5)
    expect(specifiers.filter((specifier) => !specifier?.startsWith('./'))).toEqual([])
  })

  it('bundles for pages, in parts', () => {
    for (const entry of entries) {
      const { imports } = bundleForBrowser(`export * from 'didledger-client/${entry}'`, { from: project })
      expect(imports).toEqual([])
    }
    const sizeOf = (name: string, entry: string) =>
      bundleForBrowser(`import { ${name} } from 'didledger-client/${entry}'; console.log(${name})`, { from: project })
        .size
    expect(sizeOf('HttpResolver', 'resolver')).toBeLessThan(45_000)
    expect(sizeOf('parseAddress', 'wallet')).toBeLessThan(12_000)
    expect(bundleForBrowser("import 'didledger-client/wallet'", { from: project }).size).toBe(0)
  })
})
