import {
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shellWord } from '../../src/program/cli/print-output.js'
import { SeededRandom, Load } from '../support/builders/test-payer.js'
import { type ChainInfo, CommandProcess, Directories, NodeProcess, run, runJson } from '../support/process/spawn.js'
import { thorough } from '../support/process/thorough.js'
import { unprivileged } from '../support/process/unprivileged.js'

const directories = new Directories()
const devnet = ['devnet', '--no-automine', '--data-dir'] as const
/** A killed directory: its first blocks are in tables, those after them in the log only. */
const killed = directories.fresh('killed')
/** The block at each height. */
const hashes: string[] = []
/** Of a transaction whose row is in a table. */
const old = { txid: '', height: 3, signature: Buffer.alloc(0) }

beforeAll(async () => {
  const load = new Load(new SeededRandom(7))
  let node = await NodeProcess.start(...devnet, killed)
  await load.prepare(node.client, 100)
  await work(node, load, 4)
  const details = (await node.get(`block/details/height/${old.height}`)).body.Result as {
    tx: { txid: string; programs: { parameter: string }[] }[]
  }
  const transaction = details.tx[1] as (typeof details.tx)[number]
  old.txid = transaction.txid
  old.signature = Buffer.from(transaction.programs[0]?.parameter.slice(2) ?? '', 'hex')
  expect((await node.stop()).code).toBe(0)
  node = await NodeProcess.start(...devnet, killed)
  await work(node, load, 7)
  await fill(node, load)
  for (let height = 0; height <= (await node.client.height()); height++) hashes.push(await node.hashAt(height))
  await node.stop('SIGKILL')
})

afterAll(() => directories.remove())

describe('damage to the files of a killed node', () => {
  it('is none: it starts with everything', async () => {
    const directory = directories.copyOf(killed)
    expect(await startAndCheck(directory)).toBe(hashes.length - 1)
  })

  it.each<[string, RegExp, (chain: string) => void]>([
    [
      'a bit flipped in the middle of the log',
      /log has records that cannot be read/,
      (chain) => flip(logOf(chain), 0.5),
    ],
    [
      '4 KiB of zeros in the middle of the log',
      /log has records that cannot be read/,
      (chain) => zero(logOf(chain), 4096),
    ],
    ['an empty CURRENT', /CURRENT names no MANIFEST/, (chain) => truncateSync(join(chain, 'CURRENT'))],
    ['no CURRENT', /CURRENT is missing/, (chain) => rmSync(join(chain, 'CURRENT'))],
    ['an empty MANIFEST', /MANIFEST-\d+ is empty/, (chain) => truncateSync(manifestOf(chain))],
    ['no MANIFEST', /MANIFEST-\d+ is missing/, (chain) => rmSync(manifestOf(chain))],
    ['a missing table', /ldb is missing/, (chain) => rmSync(tablesOf(chain)[0] as string)],
    ['4 KiB of zeros in a table', /ldb has /, (chain) => zero(largest(tablesOf(chain)), 4096)],
    ['half of a table', /ldb has \d+ bytes instead/, (chain) => cut(largest(tablesOf(chain)), 0.5)],
    ['a byte flipped in a table', /ldb has \d+ of \d+ blocks/, (chain) => flip(largest(tablesOf(chain)), 0.5)],
    ['no log', /log is missing/, (chain) => rmSync(logOf(chain))],
    ['no files at all', /empty although/, (chain) => rmSync(chain, { recursive: true })],
  ])('%s is named with the command that mends it', async (_, message, damage) => {
    const directory = directories.copyOf(killed)
    damage(join(directory, 'chain'))
    await expectRefusal(directory, message)
    await mend(directory)
  })

  it.each<[string, (chain: string) => void]>([
    ['the last bytes of the log', (chain) => cut(logOf(chain), 0.97)],
    ['half of the log', (chain) => cut(logOf(chain), 0.5)],
  ])('the loss of %s takes the last blocks and nothing else', async (_, damage) => {
    const directory = directories.copyOf(killed)
    damage(join(directory, 'chain'))
    expect(await startAndCheck(directory)).toBeLessThan(hashes.length)
  })

  it('a cut MANIFEST loses the last blocks or is named', async () => {
    const directory = directories.copyOf(killed)
    cut(manifestOf(join(directory, 'chain')), 0.6)
    const command = new CommandProcess([...devnet, directory, '--port-base', '0', '--json'])
    const serves = (await command.firstLine()) !== undefined
    command.kill('SIGTERM')
    await command.finished
    if (serves) await startAndCheck(directory)
    else await expectRefusal(directory, /damaged|gone|opened/)
    await mend(directory)
  })

  it('a changed row of a table is never served', async () => {
    const directory = directories.copyOf(killed)
    const node = await NodeProcess.start(...devnet, directory)
    await tablesRest(join(directory, 'chain'))
    flipInTable(join(directory, 'chain'), old.signature)
    const { status, body } = await node.get(`transaction/${old.txid}`)
    expect({ status, error: body.Error }).toEqual({ status: 500, error: 45002 })
    expect((await node.get(`block/details/height/${old.height}`)).body.Error).not.toBe(0)
    expect((await node.get(`block/details/height/${old.height + 1}`)).body.Error).toBe(0)
    const { err: log } = await node.stop()
    expect(log).toMatch(/row 04000000\w+ is not as it was written; run: npx didledger chain reindex/)
    // A compaction may have copied the row into a new table with a right checksum: the row's own still tells.
    const { code, err } = await run('chain', 'verify', '--data-dir', directory)
    expect(code).toBe(1)
    expect(err).toContain(`npx didledger chain reindex --data-dir ${shellWord(directory)}`)
    // What LevelDB reads at once holds its neighbours too.
    const mended = await mend(directory)
    expect(mended).toBeLessThan(old.height)
    expect(mended).toBeGreaterThan(old.height - 4)
  })

  it.each(thorough ? [0.2, 0.4, 0.6, 0.8] : [0.3, 0.7])(
    'a byte flipped in a table, at %d of it, is found',
    async (part) => {
      const directory = directories.copyOf(killed)
      flip(largest(tablesOf(join(directory, 'chain'))), part)
      const { code, err } = await run('chain', 'verify', '--data-dir', directory)
      if (code === 0) {
        // The byte belonged to a row that a later one has replaced.
        expect(await startAndCheck(directory)).toBe(hashes.length - 1)
        return
      }
      expect(code).toBe(1)
      expect(err).toContain(`npx didledger chain reindex --data-dir ${shellWord(directory)}`)
      await mend(directory)
    },
  )

  it('a directory that cannot be written is no damage', async () => {
    const directory = directories.copyOf(killed)
    const chain = join(directory, 'chain')
    for (const path of [...readdirSync(chain).map((name) => join(chain, name)), chain]) chmodSync(path, 0o500)
    const command = new CommandProcess([...devnet, directory, '--port-base', '0'], { through: unprivileged() })
    const { code, out, err } = await command.finished
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/cannot be opened: .*permission denied.*look at its owner/i)
    expect(err).not.toContain('reindex')
    for (const path of [chain, ...readdirSync(chain).map((name) => join(chain, name))]) chmodSync(path, 0o700)
    expect(await startAndCheck(directory)).toBe(hashes.length - 1)
  })
})

/** Blocks of thirty transactions. */
async function work(node: NodeProcess, load: Load, blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await fill(node, load)
    await load.mine(node.client)
  }
}

async function fill(node: NodeProcess, load: Load): Promise<void> {
  await load.send(node.client, () => load.pending >= 30)
}

/** Starts a node, which must serve a prefix of the blocks, and returns its height; a replay makes the same state. */
async function startAndCheck(directory: string): Promise<number> {
  const node = await NodeProcess.start(...devnet, directory)
  const { height } = node.line
  expect(await node.hashAt(height)).toBe(hashes[height])
  expect((await node.stop()).code).toBe(0)
  const info = await runJson<ChainInfo>('chain', 'info', '--data-dir', directory)
  const replayed = await runJson<ChainInfo>('chain', 'verify', '--data-dir', directory)
  expect(info).toMatchObject({ height, tip: hashes[height] })
  expect(replayed).toMatchObject({ height, tip: hashes[height], state: info.state })
  return height
}

async function expectRefusal(directory: string, message: RegExp): Promise<void> {
  const command = new CommandProcess([...devnet, directory, '--port-base', '0'])
  // A node that serves after all fails the test instead of running for ever.
  if ((await command.firstLine()) !== undefined) command.kill('SIGKILL')
  const { code, out, err } = await command.finished
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(message)
  expect(err).toContain(`run: npx didledger chain reindex --data-dir ${shellWord(directory)}`)
  expect(err).not.toMatch(/ at .*\.js/)
}

/** Runs the command that the messages name and returns the height that the directory has after it. */
async function mend(directory: string): Promise<number> {
  const { height } = await runJson<{ height: number }>('chain', 'reindex', '--data-dir', directory)
  if (thorough) {
    expect(await startAndCheck(directory)).toBe(height)
  } else {
    // The rebuild has replayed every block already.
    const opened = await runJson<ChainInfo>('chain', 'info', '--data-dir', directory)
    expect(opened).toMatchObject({ height, tip: hashes[height] })
  }
  return height
}

function filesOf(chain: string, name: RegExp): string[] {
  return readdirSync(chain)
    .filter((file) => name.test(file))
    .map((file) => join(chain, file))
}

function largest(files: readonly string[]): string {
  const [first] = [...files].sort((a, b) => statSync(b).size - statSync(a).size)
  if (first === undefined) throw new Error('no such file')
  return first
}

const tablesOf = (chain: string) => filesOf(chain, /\.ldb$/)
const manifestOf = (chain: string) => largest(filesOf(chain, /^MANIFEST/))

/** The log, which is long enough that the middle of it is not its last part. */
function logOf(chain: string): string {
  const log = largest(filesOf(chain, /\.log$/))
  expect(statSync(log).size).toBeGreaterThan(200_000)
  return log
}

function change(file: string, edit: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file)
  edit(bytes)
  writeFileSync(file, bytes)
}

function flip(file: string, part: number): void {
  change(file, (bytes) => {
    const at = Math.floor(bytes.length * part)
    bytes[at] = (bytes[at] as number) ^ 0x10
  })
}

function zero(file: string, length: number): void {
  change(file, (bytes) => bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + length))
}

function cut(file: string, part: number): void {
  truncateSync(file, Math.floor(statSync(file).size * part))
}

/**
 * Waits until LevelDB has made no table for half a second: while it compacts, two tables hold a row, and a change of the
 * one that it is about to delete changes nothing.
 */
async function tablesRest(chain: string): Promise<void> {
  let before: string
  do {
    before = tablesOf(chain).join()
    await setTimeout(500)
  } while (tablesOf(chain).join() !== before)
}

/** Flips a bit in the table that holds `content`, in place: a node that has the file open meets it. */
function flipInTable(chain: string, content: Buffer): void {
  const part = content.subarray(8, 24)
  const file = tablesOf(chain).find((table) => readFileSync(table).includes(part))
  if (file === undefined) throw new Error('no table holds these bytes')
  const bytes = readFileSync(file)
  const descriptor = openSync(file, 'r+')
  for (let at = bytes.indexOf(part); at >= 0; at = bytes.indexOf(part, at + 1)) {
    writeSync(descriptor, Buffer.of((bytes[at] as number) ^ 1), 0, 1, at)
  }
  closeSync(descriptor)
}
