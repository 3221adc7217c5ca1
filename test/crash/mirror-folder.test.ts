import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { FolderStore } from '../../src/ledger/mirror/folder-store.js'
import { SeededRandom } from '../support/builders/test-payer.js'
import { startChild } from '../support/process/children.js'
import { Directories } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'
import { unprivileged } from '../support/process/unprivileged.js'

const kills = rounds(25, 150)
const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const random = new SeededRandom(seed)
const directories = new Directories()
afterAll(() => directories.remove())

const module = new URL('../../dist/ledger/mirror/folder-store.js', import.meta.url)
const writer = fileURLToPath(new URL('../support/tools/mirror-writer.mjs', import.meta.url))
const folder = directories.fresh()

const sha = (text: string) => createHash('sha256').update(text).digest()
const namesOf = (round: number) =>
  Array.from({ length: 60 }, (_, i) => sha(`${round} ${i}`).toString('hex')).map(
    (hash) => `map/${hash.slice(0, 2)}/${hash}`,
  )

/** Starts a writer at a round, and kills it some rounds and some time after it has opened the folder; returns the last round that it had done. */
async function writeAndKill(begin: number): Promise<number> {
  const child = startChild(process.execPath, [writer, module.href, folder, String(begin)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
  let done = begin - 1
  // A time alone is too short for a round where the machine is busy.
  const last = done + random.below(5)
  const kill = async () => {
    await sleep(random.below(30))
    child.kill('SIGKILL')
  }
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    const [word, round] = line.split(' ')
    if (word !== 'writing') done = Number(round)
    if (done === last) void kill()
  }
  expect(await ended).toBe('SIGKILL')
  return done
}

it(`no file of a mirror is ever incomplete over ${kills} kills of its writer (DIDLEDGER_SEED=${seed})`, async () => {
  expect(existsSync(module), 'npm run build').toBe(true)
  let next = 0
  let unfinished = 0
  let written = 0
  for (let kill = 0; kill < kills; kill++) {
    const done = await writeAndKill(next)
    unfinished += readdirSync(join(folder, '.new')).length
    const store = await FolderStore.open(folder)
    expect(readdirSync(join(folder, '.new'))).toEqual([])
    const there = new Set<string>()
    for await (const names of store.names('map')) for (const name of names) there.add(name)
    for (const name of there) {
      const expected = Buffer.concat(Array<Buffer>(1 + ((sha(name)[0] as number) % 200)).fill(sha(name)))
      expect(readFileSync(join(folder, name)).equals(expected), name).toBe(true)
    }
    if (done >= 0) {
      // Replaced in the round under way, or of the last one.
      const [round = ''] = readFileSync(join(folder, 'head'), 'utf8').split(' ')
      expect([done, done + 1]).toContain(Number(round))
      expect(readFileSync(join(folder, 'head'), 'utf8')).toBe(`${round} `.repeat(1 + (Number(round) % 500)))
    }
    for (let round = Math.max(0, done - 4); round <= done; round++) {
      const missing = namesOf(round).map((name) => !there.has(name))
      // Deleted from the first on, and no other.
      expect(missing.lastIndexOf(true)).toBe(missing.filter(Boolean).length - 1)
      if (round % 3 !== 0 || round + 2 > done) expect(missing).not.toContain(true)
    }
    written += there.size
    await store.close()
    next = done + 1
  }
  expect(written).toBeGreaterThan(60 * kills)
  // Kills came in the midst of files.
  expect(unfinished).toBeGreaterThan(0)
})

/** What a writer says that fails by itself. */
async function failureOf(words: readonly string[], path: string): Promise<string> {
  const [command = '', ...args] = [...words, process.execPath, writer, module.href, path, '0']
  const child = startChild(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  return text(child.stderr as Readable)
}

it('says that the user may not write, and that a file may not become as large', async () => {
  const closed = directories.fresh()
  mkdirSync(closed, { mode: 0o555 })
  chmodSync(closed, 0o555)
  const said = await failureOf(unprivileged(), closed)
  expect(said).toContain(`the folder ${closed} of the mirror cannot be opened: this user may not do that`)
  expect(said).toContain('look at its owner and its permissions')
  const small = directories.fresh()
  // The largest file of the writer has 6,400 bytes.
  expect(await failureOf(['sh', '-c', 'ulimit -f 8; exec "$@"', 'sh'], small)).toContain(
    `the mirror in ${small}: the files cannot be written: a file may not become as large`,
  )
  expect(readdirSync(join(small, '.new'))).toEqual([])
  const store = await FolderStore.open(small)
  for await (const names of store.names('map')) {
    for (const name of names) expect(readFileSync(join(small, name)).length % 32).toBe(0)
  }
  await store.close()
})
