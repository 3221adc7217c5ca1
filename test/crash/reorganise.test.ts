import { writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { exportBlocks } from '../../src/ledger/chain/block-file.js'
import type { Block } from '../../src/base/primitives/block.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import { Database } from '../../src/ledger/storage/database.js'
import { DataDirectory } from '../../src/ledger/storage/directory.js'
import { meta } from '../../src/ledger/storage/rows/tables.js'
import type { CraftedInput } from '../support/builders/blocks.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { holder } from '../support/builders/did.js'
import { SeededRandom } from '../support/builders/test-payer.js'
import { type ChainInfo, CommandProcess, Directories, run, runJson } from '../support/process/spawn.js'
import { testSpec } from '../support/builders/spec.js'
import { rounds } from '../support/process/thorough.js'

/** Kills between two batches of the change, and kills at most. */
const wanted = rounds(1, 4)
const mostKills = 40
const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
/** Of a branch: several batches of a reorganisation. */
const length = 16
const recordBytes = 1_000_000
/** What is written at least once the change has begun: the last block of the new branch. */
const firstBatch = recordBytes
/** Each block creates a DID, so that the index of searches changes as well; the same ones in both branches, in another order. */
const creates = Array.from({ length: length + 1 }, () => holder().create())

const spec = { maturity: 2, ...withoutValidators }
const directories = new Directories()
afterAll(() => directories.remove())

describe('a process that is killed while it changes to another branch', () => {
  const file = (name: string) => join(directories.root, name)
  const chainCommand = (command: string, dataDir: string, ...args: string[]) => {
    return ['chain', command, ...args, '--genesis', file('spec.json'), '--data-dir', dataDir]
  }

  /** A process that imports the new branch, as soon as its first batch is written. */
  async function changing(dataDir: string): Promise<CommandProcess> {
    const before = await bytesBelow(dataDir)
    const importing = new CommandProcess(chainCommand('import', dataDir, file('new.bin')))
    let ended = false
    void importing.finished.then(() => (ended = true))
    while (!ended && (await bytesBelow(dataDir)) < before + firstBatch) await sleep(1)
    return importing
  }

  it(`has the old branch or the new one, and goes on (DIDLEDGER_SEED=${seed})`, async () => {
    writeFileSync(file('spec.json'), testSpec(spec))
    const old = await branch(file('old.bin'), length)
    // All but the last block of the new branch, of less work than the old one: what is left is the change alone.
    await branch(file('side.bin'), length - 1)
    const next = await branch(file('new.bin'), length + 1)
    const base = directories.fresh()
    for (const part of ['old.bin', 'side.bin']) await runJson(...chainCommand('import', base, file(part)))
    expect((await runJson<ChainInfo>(...chainCommand('info', base))).tip).toBe(old)

    const whole = directories.copyOf(base)
    const undisturbed = await changing(whole)
    const began = performance.now()
    expect((await undisturbed.finished).code).toBe(0)
    const lasts = performance.now() - began
    const { tip, state } = await runJson<ChainInfo>(...chainCommand('info', whole))

    expect(tip).toBe(next)

    const random = new SeededRandom(seed)
    let halfDone = 0
    for (let kill = 0; halfDone < wanted && kill < mostKills; kill++) {
      const dataDir = directories.copyOf(base)
      const importing = await changing(dataDir)
      await sleep(random.below(Math.ceil(lasts)))
      importing.kill('SIGKILL')
      await importing.finished
      if (!(await isHalfDone(dataDir))) continue
      halfDone++
      const { tip } = await runJson<ChainInfo>(...chainCommand('info', dataDir))
      expect([old, next]).toContain(tip)
      expect((await run(...chainCommand('verify', dataDir))).code).toBe(0)
      await runJson(...chainCommand('import', dataDir, file('new.bin')))
      expect(await runJson<ChainInfo>(...chainCommand('info', dataDir))).toMatchObject({ tip: next, state })
    }
    expect(halfDone).toBe(wanted)
  })
})

/** Bytes of all files below a directory. */
async function bytesBelow(directory: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    // Files may go meanwhile.
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size
  }
  return bytes
}

/** Whether the rows say that a change to another branch is under way. */
async function isHalfDone(dataDir: string): Promise<boolean> {
  const database = await Database.open((await DataDirectory.existing(dataDir)).database)
  try {
    return database.newest.get(meta.reorganisation.key) !== undefined
  } finally {
    await database.close()
  }
}

/** Writes a file with a branch of so many large blocks, and returns its tip. All that are not of the old one's length begin alike. */
async function branch(path: string, count: number): Promise<string> {
  const test = await TestChain.open(spec)
  const nonce = (height: number) => Buffer.of(count === length ? 1 : 2, height)
  let coin: CraftedInput = genesisCoin(test.chain)
  let value = 100_000_000_000n
  let last: Block | undefined
  for (let height = 1; height <= count; height++) {
    value -= BigInt(recordBytes + 1000)
    const payload = { type: 3, recordType: '', content: new Uint8Array(recordBytes).fill(height) } as const
    const tx = craft(test.spec, [coin], [{ to: 10, value }], [10], { payload })
    const operation = creates[count === length ? length - height : height - 1] as DidOperation
    value -= 1_000_000n
    const create = craft(test.spec, [outputOf(tx)], [{ to: 10, value }], [10], { payload: { type: 10, operation } })
    last = craftBlock(test.chain, { transactions: [tx, create], nonce: nonce(height) })
    await test.chain.acceptBlock(last.bytes)
    coin = outputOf(create)
  }
  const pieces: Uint8Array[] = []
  for await (const piece of exportBlocks(test.chain)) pieces.push(Uint8Array.from(piece))
  writeFileSync(path, Buffer.concat(pieces))
  await test.close()
  return last?.hash ?? ''
}
