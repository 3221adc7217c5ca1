import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runTool, runToolWith } from '../../support/process/tool.js'

/** The packed package, installed as the README says by each package manager other than npm, whose test is test/e2e/package.test.ts. */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))

interface Installer {
  readonly script: string
  /** Arguments that refuse a package whose `engines` do not fit, where that is not the default. */
  readonly strict: readonly string[]
  readonly dependency: (tarball: string) => string
  /** Arguments that run a program of the package, and node. */
  readonly program: readonly string[]
  readonly node: readonly string[]
}

const installers: Readonly<Record<string, Installer>> = {
  pnpm: {
    script: 'pnpm/bin/pnpm.cjs',
    strict: ['--config.engine-strict=true', '--config.strict-peer-dependencies=true'],
    dependency: (tarball) => tarball,
    program: ['exec', 'didledger'],
    node: ['exec', 'node'],
  },
  'yarn 4, plug’n’play': {
    script: '@yarnpkg/cli-dist/bin/yarn.js',
    strict: [],
    dependency: (tarball) => `didledger@file:${tarball}`,
    program: ['didledger'],
    node: ['node'],
  },
  'yarn 1': {
    script: 'yarn/bin/yarn.js',
    strict: ['--non-interactive'],
    dependency: (tarball) => `file:${tarball}`,
    program: ['-s', 'didledger'],
    node: ['-s', 'node'],
  },
}

/** yarn 4 does not read how npm reaches the registry, as the others do. */
async function registryForYarn4(): Promise<Record<string, string>> {
  const { out } = await runTool(root, 'npm', 'config', 'list', '--json')
  const settings = JSON.parse(out) as Record<string, unknown>
  const given = {
    YARN_NPM_REGISTRY_SERVER: settings['registry'],
    YARN_HTTP_PROXY: settings['proxy'],
    YARN_HTTPS_PROXY: settings['https-proxy'],
    YARN_HTTPS_CA_FILE_PATH: settings['cafile'],
  }
  const texts = Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { ...Object.fromEntries(texts), YARN_UNSAFE_HTTP_WHITELIST: '*', YARN_ENABLE_TELEMETRY: '0' }
}

const use = `
import { createNode } from 'didledger'
const node = await createNode({ network: 'devnet' })
const { did, txid } = await node.wallet.createDid({ account: node.wallet.account(0) })
await node.chain.waitFor(txid)
console.log((await node.resolver.resolve(did)).status)
await node.close()
`

describe('the packed package', () => {
  const work = mkdtempSync(join(tmpdir(), 'didledger-install-'))
  const tarball = join(work, 'didledger.tgz')

  beforeAll(async () => {
    const { out } = await runTool(root, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', work)
    const [packed] = JSON.parse(out) as { filename: string }[]
    writeFileSync(tarball, readFileSync(join(work, packed?.filename ?? '')))
  })

  afterAll(() => rmSync(work, { recursive: true, force: true }))

  it.each(Object.entries(installers))('installs and runs with %s', async (name, installer) => {
    const project = join(work, name.replaceAll(/\W/g, '-'))
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}')
    // Without it yarn 4 takes the project for a part of one above it.
    if (name.startsWith('yarn 4')) writeFileSync(join(project, 'yarn.lock'), '')
    writeFileSync(join(project, 'use.js'), use)
    const script = join(modules, installer.script)
    const variables = name.startsWith('yarn 4') ? await registryForYarn4() : {}
    const call = (...args: string[]) => runToolWith(variables, project, process.execPath, script, ...args)
    await call('add', ...installer.strict, installer.dependency(tarball))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    expect((await call(...installer.program, '--version')).out.trim()).toContain(`didledger ${version} (commit `)
    expect((await call(...installer.node, 'use.js')).out.trim()).toBe('0')
  })
})
