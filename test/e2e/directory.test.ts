import { chmodSync, existsSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shellWord } from '../../src/program/cli/print-output.js'
import { parseAddress, type ProgramHash } from '../../src/base/primitives/address.js'
import { Database } from '../../src/ledger/storage/database.js'
import { Overlay } from '../../src/ledger/storage/write/overlay.js'
import { meta, schemaVersion, tables } from '../../src/ledger/storage/rows/tables.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { SeededRandom, Load } from '../support/builders/test-payer.js'
import {
  type ChainInfo,
  CommandProcess,
  Directories,
  NodeProcess,
  program,
  run,
  runJson,
} from '../support/process/spawn.js'
import { unprivileged } from '../support/process/unprivileged.js'

const directories = new Directories()
/** A stopped devnet with ten blocks and transactions that wait. */
const original = directories.fresh('original')
let held: ChainInfo
let pending: string[]

beforeAll(async () => {
  const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', original)
  const load = new Load(new SeededRandom(5))
  await load.prepare(node.client, 50)
  for (let i = 0; i < 9; i++) {
    await load.send(node.client, () => load.pending >= 20)
    await load.mine(node.client)
  }
  await load.send(node.client, () => load.pending >= 10)
  pending = await waiting(node)
  await node.stop()
  held = await runJson<ChainInfo>('chain', 'info', '--data-dir', original)
})

afterAll(() => directories.remove())

async function waiting({ client }: NodeProcess): Promise<string[]> {
  return (await client.pool()).map(({ txid }) => txid).sort()
}

/** Changes rows of a directory behind the node's back. */
async function tamper(directory: string, edit: (overlay: Overlay) => void): Promise<void> {
  const database = await Database.open(join(directory, 'chain'))
  const { hash, height } = meta.tip.decode(database.get(meta.tip.key) as Buffer)
  const overlay = new Overlay(database)
  edit(overlay)
  await overlay.commit({ kind: 'header', hash, height }, { sync: true })
  await database.close()
}

const info = (directory: string) => runJson<ChainInfo>('chain', 'info', '--data-dir', directory)
const verify = (directory: string) => runJson<ChainInfo>('chain', 'verify', '--data-dir', directory)
const failure = async (...args: string[]) => {
  const { code, out, err } = await run(...args)
  expect({ code, out }, err).toEqual({ code: 1, out: '' })
  return err
}

describe('one directory', () => {
  it('serves one process at a time', async () => {
    const directory = directories.copyOf(original)
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    const busy = `error: another process is using ${directory}/chain; stop it, or choose another --data-dir\n`
    expect(await failure('devnet', '--port-base', '0', '--data-dir', directory)).toBe(busy)
    for (const command of ['info', 'verify', 'reindex']) {
      expect(await failure('chain', command, '--data-dir', directory)).toBe(busy)
    }
    const file = directories.fresh('blocks')
    expect(await failure('chain', 'export', file, '--data-dir', directory)).toBe(busy)
    await runJson('chain', 'export', file, '--data-dir', original)
    expect(await failure('chain', 'import', file, '--data-dir', directory)).toBe(busy)
    expect(await node.client.rpc('dev_mine', { blocks: 1 })).toHaveLength(1)
    expect((await node.stop()).code).toBe(0)
    expect((await verify(directory)).height).toBe(held.height + 1)
  })

  it('holds one chain', async () => {
    const other = /holds the chain devnet of another spec; choose another --data-dir/
    expect(await failure('start', '--genesis', 'pow', '--port-base', '0', '--data-dir', original)).toMatch(other)
    expect(await failure('chain', 'info', '--genesis', 'pow', '--data-dir', original)).toMatch(other)
    expect(await failure('chain', 'reindex', '--genesis', 'pow', '--data-dir', original)).toMatch(other)
    expect(await info(original)).toEqual(held)
  })

  it('must hold a chain for the commands that look after one', async () => {
    const nowhere = directories.fresh('nowhere')
    for (const command of [['info'], ['verify'], ['reindex'], ['export', 'blocks.bin']]) {
      expect(await failure('chain', ...command, '--data-dir', nowhere)).toBe(`error: ${nowhere} holds no chain\n`)
    }
    const file = directories.fresh('file')
    writeFileSync(file, 'no directory')
    expect(await failure('chain', 'info', '--data-dir', file)).toMatch(
      /^error: the data directory .* cannot be read: a file is where/,
    )
  })

  it('that may not be read is no empty one', async () => {
    const directory = directories.copyOf(original)
    chmodSync(directory, 0o000)
    const command = new CommandProcess(['chain', 'info', '--data-dir', directory], { through: unprivileged() })
    const { code, err } = await command.finished
    chmodSync(directory, 0o700)
    expect(code).toBe(1)
    expect(err).toMatch(/^error: the data directory .* cannot be read: this user may not do that/)
  })
})

describe('chain verify and chain reindex', () => {
  const account = parseAddress(devnetAccount(0).address) as ProgramHash

  it('agree on a directory that is right, and rebuilding it changes nothing', async () => {
    const directory = directories.copyOf(original)
    expect(await verify(directory)).toMatchObject({ height: held.height, tip: held.tip, state: held.state })
    const rebuilt = await runJson('chain', 'reindex', '--data-dir', directory)
    expect(rebuilt).toMatchObject({ height: held.height, tip: held.tip, gap: null, lost: 0 })
    expect(rebuilt['old']).toMatch(/\/chain\.old-\d{10}$/)
    expect(existsSync(rebuilt['old'] as string)).toBe(true)
    const again = await runJson('chain', 'reindex', '--data-dir', directory)
    expect(again['old']).not.toBe(rebuilt['old'])
    expect(await info(directory)).toEqual(held)
    await verify(directory)
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    expect(await waiting(node)).toEqual(pending)
    await node.stop()
  })

  it('refuse a database of an older layout, and build its rows again', async () => {
    const directory = directories.copyOf(original)
    await tamper(directory, (overlay) => overlay.put(meta.version.key, Uint8Array.of(schemaVersion - 1)))
    for (const command of [['chain', 'info'], ['chain', 'verify'], ['devnet']]) {
      const said = await failure(...command, '--data-dir', directory)
      expect(said).toMatch(/has layout 3, this version of didledger reads layout 4; to build it again .* chain reindex/)
    }
    expect(await runJson('chain', 'reindex', '--data-dir', directory)).toMatchObject({ height: held.height, lost: 0 })
    expect(await info(directory)).toEqual(held)
  })

  it.each<[string, RegExp, (overlay: Overlay) => void]>([
    [
      'a changed balance',
      /table 0a/,
      (overlay) => overlay.put(tables.balance.key(account), tables.balance.encode({ sum: 1n, count: 1 })),
    ],
    ['a missing undo record', /undo record for height 4|table 0c/, (overlay) => overlay.del(tables.undo.key(4))],
    ['a missing confirm', /height 4 .*confirm/, (overlay) => overlay.del(tables.confirm.key(hashAt(overlay, 4)))],
    ['a missing transaction', /height 4/, (overlay) => overlay.del(tables.transaction.key(4, 3))],
  ])('find %s', async (what, message, edit) => {
    const directory = directories.copyOf(original)
    await tamper(directory, edit)
    const err = await failure('chain', 'verify', '--data-dir', directory)
    expect(err).toMatch(message)
    expect(err).toContain(`run: npx didledger chain reindex --data-dir ${shellWord(directory)}\n`)
    const rebuilt = await runJson<{ height: number; gap: { height: number } | null }>(
      ...['chain', 'reindex', '--data-dir', directory],
    )
    if (/confirm|transaction/.test(what)) {
      expect(rebuilt).toMatchObject({ height: 3, gap: { height: 4 } })
    } else {
      expect(rebuilt).toMatchObject({ height: held.height, gap: null })
      expect((await info(directory)).state).toBe(held.state)
    }
    await verify(directory)
    const node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)
    expect(node.line.height).toBe(rebuilt.height)
    await node.stop()
  })

  it('say in words up to which height blocks could be read', async () => {
    const directory = directories.copyOf(original)
    await tamper(directory, (overlay) => overlay.del(tables.transaction.key(6, 1)))
    const { code, out } = await run('chain', 'reindex', '--data-dir', directory)
    expect(code).toBe(0)
    expect(out).toMatch(/^rebuilt up to height 5; the old database is in .*\nheight 6 could not be read: /)
  })
})

describe('a reindex that was killed between taking the old database away and putting the new one in', () => {
  it.each(['start', 'info'])('is finished by the next command: %s', async (next) => {
    const directory = directories.copyOf(original)
    renameSync(join(directory, 'chain'), join(directory, 'chain.new'))
    if (next === 'start') await (await NodeProcess.start('devnet', '--no-automine', '--data-dir', directory)).stop()
    expect(await info(directory)).toEqual(held)
  })
})

describe('chain export and chain import', () => {
  const file = join(directories.root, 'blocks.bin')

  it('carry a chain into another directory, all rules checked', async () => {
    const exported = await runJson('chain', 'export', file, '--data-dir', original)
    expect(exported).toEqual({ height: held.height, tip: held.tip, file })
    const directory = directories.fresh()
    const imported = await runJson('chain', 'import', file, '--data-dir', directory)
    expect(imported).toEqual({ read: held.height, added: held.height, height: held.height, tip: held.tip })
    expect(await info(directory)).toEqual(held)
    await verify(directory)
    expect(await runJson('chain', 'import', file, '--data-dir', directory)).toMatchObject({ added: 0 })
  })

  const through = (script: string, ...args: string[]) =>
    new CommandProcess(['chain', ...args], { through: ['sh', '-c', script, 'sh'] }).finished

  it.each(['-', '/dev/stdout'])('write to standard output as %s, and words to standard error', async (name) => {
    const copy = directories.fresh('blocks')
    const args = ['export', name, '--data-dir', original]
    const line = `wrote ${held.height} blocks to ${name}\n`
    // A pipe, then a file.
    for (const script of [`"$@" | cat > ${copy}`, `"$@" > ${copy}`]) {
      expect(await through(script, ...args)).toMatchObject({ code: 0, out: '', err: line })
      expect(readFileSync(copy).equals(readFileSync(file))).toBe(true)
    }
  })

  it.each(['-', '/dev/stdin'])('read from a pipe as %s, which is not looked at before', async (name) => {
    const fromPipe = (from: string, ...args: string[]) =>
      through(`cat ${from} | "$@"`, 'import', name, '--json', ...args)
    const args = ['--genesis', 'devnet', '--data-dir', directories.fresh()]
    const { code, out } = await fromPipe(file, ...args)
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, added: held.height, tip: held.tip })
    expect((await fromPipe(program, ...args)).err).toContain('it is no file of blocks')
    const unnamed = await fromPipe(file, '--data-dir', directories.fresh())
    expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining('it can be read only once') })
  })

  it('write into a pipe that has a name', async () => {
    const [pipe, copy] = [directories.fresh('pipe'), directories.fresh('blocks')]
    const script = `mkfifo ${pipe} && (cat ${pipe} > ${copy} & "$@"; wait)`
    expect(await through(script, 'export', pipe, '--data-dir', original)).toMatchObject({ code: 0, err: '' })
    expect(readFileSync(copy).equals(readFileSync(file))).toBe(true)
  })

  it.each<[string, RegExp, (copy: string) => void]>([
    [
      'is cut',
      /: the file is damaged after 9 blocks: it ends too early/,
      (copy) => truncateSync(copy, -20 + size(copy)),
    ],
    ['is changed', /: the file is damaged after \d blocks: a checksum does not match/, (copy) => flip(copy)],
    ['is none', /: it is no file of blocks/, (copy) => writeFileSync(copy, 'once upon a time '.repeat(9))],
    ['is empty', /: it is no file of blocks/, (copy) => truncateSync(copy)],
  ])('refuse a file that %s', async (_, message, edit) => {
    const copy = directories.fresh('blocks')
    writeFileSync(copy, readFileSync(file))
    edit(copy)
    const directory = directories.fresh()
    const err = await failure('chain', 'import', copy, '--data-dir', directory)
    expect(err).toContain(`error: ${copy}`)
    expect(err).toMatch(message)
    // What was right before the damage is kept; for what is no such file nothing is begun.
    if (/no file of blocks/.test(err)) expect(existsSync(directory)).toBe(false)
    else await verify(directory)
  })

  it('refuse blocks of another chain, files that are not there and places that cannot be written', async () => {
    const pow = ['--genesis', 'pow', '--data-dir', directories.fresh()]
    expect(await failure('chain', 'import', file, ...pow)).toMatch(/blocks of another chain, with genesis [0-9a-f]{64}/)
    expect(await failure('chain', 'import', '/nowhere/blocks', '--data-dir', original)).toMatch(
      /\/nowhere\/blocks: there is no such file or directory/,
    )
    expect(await failure('chain', 'export', '/nowhere/blocks', '--data-dir', original)).toMatch(
      /\/nowhere\/blocks: there is no such file or directory/,
    )
    expect((await run('chain', 'export', '--data-dir', original)).code).toBe(2)
    expect((await run('chain', 'import', file)).code).toBe(2)
  })
})

function hashAt(overlay: Overlay, height: number): Uint8Array {
  return overlay.get(tables.active.key(height)) as Uint8Array
}

function size(file: string): number {
  return readFileSync(file).length
}

function flip(file: string): void {
  const bytes = readFileSync(file)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] as number) ^ 1
  writeFileSync(file, bytes)
}
