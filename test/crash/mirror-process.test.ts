import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadTrust } from '../../src/program/cli/load-proofs.js'
import { LightResolver } from '../../src/clients/light/light-resolver.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { SeededRandom } from '../support/builders/test-payer.js'
import { ObjectStore } from '../support/fakes/object-store.js'
import { CommandProcess, Directories, type Finished, NodeProcess, runJson } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'

/** Processes that write a mirror and are killed: in a folder at any time, at an object store with any request. */

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const random = new SeededRandom(seed)
const kills = rounds(3, 20)
const directories = new Directories()
const data = directories.fresh('data')
const dids = [0, 1, 2].map((account) => devnetAccount(account).did)
let store: ObjectStore
/** Called with each request to the object store. */
let onRequest = () => {}
/** Whether the chain has the DIDs. */
let isThere = false

beforeAll(async () => {
  store = await ObjectStore.open({ instead: () => void onRequest() })
})
afterAll(async () => {
  await store.close()
  directories.remove()
})

/** Makes blocks that change every DID. */
async function grow(): Promise<void> {
  const form = isThere ? 'update' : 'create'
  isThere = true
  const node = await NodeProcess.start('devnet', '--data-dir', data)
  for (const [account] of dids.entries()) {
    const changed = form === 'create' ? [] : ['--years', String(1 + random.below(4))]
    await runJson('did', form, '--devnet-account', String(account), '--rest', node.line.rest, ...changed)
  }
  await node.stop('SIGTERM')
}

/** Files of a mirror by their names, and the command that writes it. */
interface Place {
  files(): ReadonlyMap<string, Uint8Array>
  start(): CommandProcess
  /** Kills a command in its midst, unless it ends before; with `early` it does not. */
  killed(command: CommandProcess, early: boolean): Promise<Finished>
}

const mirrorTo = (to: string, env: Record<string, string> = {}) =>
  new CommandProcess(['mirror', '--to', to, '--data-dir', data, '--once'], { env })

class Folder implements Place {
  readonly #path = directories.fresh('mirror')

  files(): ReadonlyMap<string, Uint8Array> {
    if (!existsSync(this.#path)) return new Map()
    const entries = readdirSync(this.#path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const names = entries.map(({ parentPath, name }) => join(parentPath, name).slice(this.#path.length + 1))
    return new Map(
      names.filter((name) => !name.startsWith('.')).map((name) => [name, readFileSync(join(this.#path, name))]),
    )
  }

  start(): CommandProcess {
    return mirrorTo(this.#path)
  }

  async killed(command: CommandProcess, early: boolean): Promise<Finished> {
    let ended = false
    void command.finished.then(() => (ended = true))
    // It opens the folder when it has loaded the chain.
    const unfinished = join(this.#path, '.new')
    while (!ended && !existsSync(unfinished)) await sleep(1)
    if (!early) await sleep(random.below(60))
    command.kill('SIGKILL')
    return command.finished
  }
}

class Bucket implements Place {
  readonly #prefix = `mirror-${random.below(1_000_000)}`

  files(): ReadonlyMap<string, Uint8Array> {
    const objects = [...store.objects].filter(([key]) => key.startsWith(`${this.#prefix}/`))
    return new Map(objects.map(([key, { bytes }]) => [key.slice(this.#prefix.length + 1), bytes]))
  }

  start(): CommandProcess {
    return mirrorTo(`s3://${store.bucket}/${this.#prefix}`, store.variables)
  }

  killed(command: CommandProcess, early: boolean): Promise<Finished> {
    let left = 1 + random.below(early ? 4 : 40)
    onRequest = () => {
      if (--left === 0) command.kill('SIGKILL')
    }
    return command.finished.finally(() => (onRequest = () => {}))
  }
}

/** Resolves every DID by files alone, if there is a head. */
async function expectReadable(files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  if (!files.has('head')) return
  const resolver = new LightResolver({
    mirrors: ['http://mirror'],
    trust: loadTrust('devnet'),
    fetch: async (url) => {
      const bytes = files.get(url.slice('http://mirror/'.length))
      return bytes === undefined ? new Response(null, { status: 404 }) : new Response(Uint8Array.from(bytes))
    },
  })
  for (const did of dids) expect((await resolver.resolve(did, { history: true })).did).toBe(did)
}

const lasting = (files: ReadonlyMap<string, unknown>) =>
  [...files.keys()].filter((name) => /^(?:map|leaf)\//.test(name))

/** Names of files that wait for their time to be deleted. */
function goingIn(files: ReadonlyMap<string, Uint8Array>): string[] {
  return [...files]
    .filter(([name]) => name.startsWith('own/gone/'))
    .flatMap(([, bytes]) => gunzipSync(bytes).toString().split('\n'))
}

describe.each([
  ['a folder', () => new Folder()],
  ['an object store', () => new Bucket()],
] as const)('a mirror in %s', (_, placeOf) => {
  it(`is readable after ${kills} kills of its writer in each step, and whole and without orphans after one that ends (DIDLEDGER_SEED=${seed})`, async () => {
    const place = placeOf()
    let killed = 0
    for (let step = 0; step < 3; step++) {
      await grow()
      for (let kill = 0; kill < kills; kill++) {
        const { signal } = await place.killed(place.start(), kill === 0)
        if (signal === 'SIGKILL') killed++
        await expectReadable(place.files())
      }
      const ended = await place.start().finished
      expect(ended.code, ended.err).toBe(0)
      await expectReadable(place.files())
    }
    const fresh = new Folder()
    expect((await fresh.start().finished).code).toBe(0)
    const [files, needed] = [place.files(), fresh.files()]
    for (const name of lasting(needed)) expect(files.get(name), name).toEqual(needed.get(name))
    const going = goingIn(files)
    expect(lasting(files).filter((name) => !needed.has(name) && !going.includes(name))).toEqual([])
    expect(killed).toBeGreaterThan(0)
  })
})
