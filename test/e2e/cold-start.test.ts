import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CommandProcess, Directories, NodeProcess } from '../support/process/spawn.js'

/** Files and modules that a command loads: what the start of the program takes, without a clock. */

const directories = new Directories()
const home = made()
/** Writes, at the end of a process, the files that it read at once, their bytes, and the modules of Node that it loaded. */
const counting = join(home, 'counting.cjs')
writeFileSync(
  counting,
  `const fs = require('node:fs')
   const { readFileSync, writeFileSync } = fs
   const read = {}
   fs.readFileSync = (file, ...options) => {
     const got = readFileSync(file, ...options)
     read[String(file)] = got.length
     return got
   }
   process.once('exit', () => {
     const modules = process.moduleLoadList.map((name) => name.split(' ').at(-1))
     writeFileSync(process.env.LOADED_FILE, JSON.stringify({ read, modules }))
   })`,
)

interface Loaded {
  /** Names and bytes of files. */
  readonly read: Readonly<Record<string, number>>
  readonly modules: readonly string[]
}

let node: NodeProcess
let payer: readonly string[]
beforeAll(async () => {
  node = await NodeProcess.start('devnet')
  payer = ['--devnet-account', '0', '--rest', node.line.rest]
})
afterAll(async () => {
  await node.stop('SIGKILL')
  directories.remove()
})

/** Runs a command with kept code of its own, twice; returns its output, what the second run loaded and the bytes of kept code. */
async function loadedBy(...args: readonly string[]) {
  const cache = made()
  const file = join(cache, 'loaded.json')
  const env = { XDG_CACHE_HOME: cache, LOADED_FILE: file, NODE_OPTIONS: `--require ${counting}` }
  await new CommandProcess(args, { env }).finished
  const { code, out, err } = await new CommandProcess(args, { env }).finished
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const kept = join(cache, 'didledger')
  const sizes = readdirSync(cache).includes('didledger')
    ? readdirSync(kept).map((name) => statSync(join(kept, name)).size)
    : []
  return { out, ...(JSON.parse(readFileSync(file, 'utf8')) as Loaded), kept: sizes }
}

/** A directory of a test. */
function made(): string {
  const directory = directories.fresh()
  mkdirSync(directory)
  return directory
}

const total = (read: Loaded['read']): number => Object.values(read).reduce((sum, size) => sum + size, 0)

it('prints the version without the program', async () => {
  const { read, modules, kept } = await loadedBy('--version')
  expect(Object.keys(read).length).toBeLessThanOrEqual(5)
  expect(total(read)).toBeLessThan(30_000)
  expect(modules).not.toContain('crypto')
  expect(kept).toEqual([])
})

it('resolves and sends with two scripts, little code, and without fetch, LevelDB and libp2p', async () => {
  const { out } = await new CommandProcess(['did', 'create', '--json', ...payer]).finished
  const { did } = JSON.parse(out) as { readonly did: string }
  const recipient = 'ENDyipsk2GW4bBAmpRoNBV3GKV55Nxw2RD'
  for (const args of [
    ['did', 'resolve', did, '--rest', node.line.rest],
    ['wallet', 'send', '--to', recipient, '--amount', '1', ...payer],
  ]) {
    const { read, modules, kept } = await loadedBy(...args)
    const scripts = Object.keys(read).filter((name) => name.endsWith('.js'))
    expect(scripts.map((name) => name.replace(/.*\//, ''))).toEqual(['main.js', 'program.js'])
    expect(Object.keys(read).length).toBeLessThanOrEqual(10)
    // The functions of all chunks in one scope would be 1.7 MB.
    expect(kept.length).toBe(1)
    expect(kept[0]).toBeLessThan(1_200_000)
    expect(modules.filter((name) => /undici|http2|worker_threads$/.test(name))).toEqual([])
  }
})

it('starts a devnet with two scripts, those that find the binary of LevelDB, and without TLS', async () => {
  const cache = made()
  const file = join(cache, 'loaded.json')
  const env = { XDG_CACHE_HOME: cache, LOADED_FILE: file, NODE_OPTIONS: `--require ${counting}` }
  const started = await NodeProcess.startWith({ env }, 'devnet')
  expect((await started.get('block/height')).status).toBe(200)
  expect((await started.stop()).code).toBe(0)
  const { read, modules } = JSON.parse(readFileSync(file, 'utf8')) as Loaded
  const scripts = Object.keys(read).filter((name) => name.endsWith('.js'))
  expect(scripts.map((name) => name.replace(/.*\//, ''))).toEqual([
    'main.js',
    'program.js',
    'binding.js',
    'index.js',
    'node-gyp-build.js',
  ])
  expect(modules.filter((name) => /^(https|tls|v8)$|undici|http2/.test(name))).toEqual([])
})
