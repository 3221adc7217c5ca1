import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mapKey } from '../../../src/base/primitives/bytes.js'
import { ownerText } from '../../../src/base/runtime/process-owner.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { changesOf } from '../../../src/ledger/storage/write/row-changes.js'
import { crc32c, maskCrc } from '../../../src/ledger/storage/care/level/crc32c.js'
import { levelFiles, readPart } from '../../../src/ledger/storage/care/level/level-files.js'
import { isInUse, isLeft, withLock } from '../../../src/ledger/storage/care/level/lock.js'
import { readLog, writeLog } from '../../../src/ledger/storage/care/level/log-records.js'
import { salvage } from '../../../src/ledger/storage/care/level/salvage.js'
import { checkTable, mendTable } from '../../../src/ledger/storage/care/level/table-file.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { bytesToCheck, checkFiles } from '../../../src/ledger/storage/care/start-check.js'
import { SeededRandom } from '../../support/builders/seeded-random.js'

const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)
const root = mkdtempSync(join(tmpdir(), 'didledger-level-'))
const origin = join(root, 'origin')
const info = { kind: 'pool', height: 0, hash: new Uint8Array(32) } as const
let copies = 0

/** Rows of all sizes in several tables and in the log. */
beforeAll(async () => {
  const random = new SeededRandom(seed)
  for (let life = 0; life < 3; life++) {
    const database = await Database.open(origin)
    for (let batch = 0; batch < 4; batch++) {
      const rows = Array.from({ length: 30 }, () => {
        const key = tables.pool.key(random.bytes(32))
        return [
          mapKey(key),
          { key, value: random.bytes(1 + random.below(random.below(10) === 0 ? 20_000 : 300)) },
        ] as const
      })
      await database.commit(changesOf(new Map(rows)), info, { sync: false })
      if (batch === 2) await database.checkpoint(info)
    }
    await database.close()
  }
})
afterAll(() => rmSync(root, { recursive: true }))

const copy = () => {
  const path = join(root, `copy-${++copies}`)
  cpSync(origin, path, { recursive: true })
  return path
}
const plain = ({ records, damaged }: Pick<ReturnType<typeof readLog>, 'records' | 'damaged'>) => ({
  records: records.map(mapKey),
  damaged,
})
const tablesOf = (directory: string) => levelFiles(directory).tables
const fileOf = (bytes: Uint8Array) => ({
  size: bytes.length,
  read: (offset: number, length: number) => bytes.subarray(Math.max(0, offset), offset + length),
})

async function rowsOf(directory: string): Promise<Map<string, string>> {
  const database = await Database.openDamaged(directory)
  const rows = (await database.rows({})).map(([key, value]) => [mapKey(key), value.toString('hex')] as const)
  await database.close()
  return new Map(rows)
}

describe('the checksum of LevelDB', () => {
  it('is CRC-32C, as its standard gives it', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
    expect(maskCrc(0)).toBe(0xa282ead8)
  })
})

describe('the log format', () => {
  it(`gives back what was written, and every whole record before a cut (DIDLEDGER_SEED=${seed})`, () => {
    const random = new SeededRandom(seed)
    for (let round = 0; round < 30; round++) {
      const records = Array.from({ length: 1 + random.below(8) }, () =>
        random.bytes(random.below(random.below(3) === 0 ? 70_000 : 90)),
      )
      const bytes = writeLog(records)
      expect(plain(readLog(bytes))).toEqual(plain({ records, damaged: false }))
      const at = random.below(bytes.length)
      const cut = readLog(bytes.subarray(0, at))
      expect(plain(cut)).toEqual(plain({ records: records.slice(0, cut.records.length), damaged: false }))
      expect(writeLog(records.slice(0, cut.records.length + 1)).length).toBeGreaterThan(at)
    }
  })

  it(`reports every change that is no cut (DIDLEDGER_SEED=${seed})`, () => {
    const random = new SeededRandom(seed)
    const records = Array.from({ length: 40 }, () => random.bytes(1 + random.below(4_000)))
    for (let round = 0; round < 60; round++) {
      const bytes = Buffer.from(writeLog(records))
      const at = random.below(bytes.length)
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
      const read = readLog(bytes)
      const known = new Set(records.map(mapKey))
      expect(
        read.records.every((record) => known.has(mapKey(record))),
        `byte ${at}`,
      ).toBe(true)
      // A length of the last fragment that reaches beyond the end looks like a crash.
      const isLastLength = writeLog(records.slice(0, -1)).length <= at && read.records.length === records.length - 1
      expect(read.damaged || isLastLength, `byte ${at}`).toBe(true)
    }
  })

  it('takes zeros at the end for a record that a power cut left without its data', () => {
    const records = [Uint8Array.of(1, 2, 3), new Uint8Array(100).fill(7)]
    const bytes = Buffer.from(writeLog(records))
    const zeros = Buffer.alloc(5_000)
    expect(plain(readLog(Buffer.concat([bytes, zeros])))).toEqual(plain({ records, damaged: false }))
    expect(readLog(bytes.subarray(0, bytes.length - 60)).torn).toBe(false)
    const read = readLog(bytes.fill(0, bytes.length - 60))
    expect(plain(read)).toEqual(plain({ records: records.slice(0, 1), damaged: false }))
    expect(read.torn).toBe(true)
  })

  it('is what LevelDB itself writes', () => {
    for (const name of readdirSync(origin).filter((file) => /^MANIFEST|\.log$/.test(file))) {
      const bytes = readFileSync(join(origin, name))
      const { records, damaged } = readLog(bytes)
      expect(damaged).toBe(false)
      expect(Buffer.from(writeLog(records))).toEqual(bytes)
    }
  })
})

describe('a table', () => {
  it('of LevelDB is whole, and all are named', () => {
    expect(tablesOf(origin).length).toBeGreaterThan(1)
    expect(levelFiles(origin).damages).toEqual([])
    for (const name of tablesOf(origin)) {
      expect(checkTable(fileOf(readFileSync(join(origin, name))), { data: true })).toMatchObject({
        damaged: false,
        lost: 0,
      })
    }
  })

  it(`shows every changed, zeroed or missing byte, and its other blocks are kept (DIDLEDGER_SEED=${seed})`, () => {
    const random = new SeededRandom(seed)
    for (let round = 0; round < 100; round++) {
      const names = tablesOf(origin)
      const whole = readFileSync(join(origin, names[random.below(names.length)] as string))
      const { readable } = checkTable(fileOf(whole), { data: true })
      const at = random.below(whole.length)
      const action = random.below(3)
      const bytes = action === 2 ? whole.subarray(0, at) : Buffer.from(whole)
      if (action === 0) bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
      if (action === 1) bytes.fill(0, at, Math.min(bytes.length, at + 4096))
      const state = checkTable(fileOf(bytes), { data: true })
      const where = `round ${round}: action ${action} at ${at} of ${whole.length}`
      // The varints of the footer leave some bytes before its end unused.
      const unused = at >= whole.length - 44 && at < whole.length - 8
      expect(state.damaged || (unused && action === 0) || bytes.equals(whole), where).toBe(true)
      const length = action === 0 ? 1 : action === 1 ? 4096 : whole.length
      const spared = readable.filter(({ offset, size }) => offset + size + 5 <= at || offset >= at + length)
      if (state.lost !== undefined) expect(state.readable.length, where).toBeGreaterThanOrEqual(spared.length)
      const before = readable.filter(({ offset, size }) => offset + size + 5 <= at)
      expect(state.readable.length, where).toBeGreaterThanOrEqual(before.length)
      expect(checkTable(fileOf(mendTable(fileOf(bytes), state)), { data: true }), where).toMatchObject({
        damaged: false,
        lost: 0,
        readable: state.readable.map(() => expect.anything() as unknown),
      })
    }
  })
})

describe('what can be read of a damaged database', () => {
  it(`holds rows of the database alone, and all of the blocks that are whole (DIDLEDGER_SEED=${seed})`, async () => {
    const random = new SeededRandom(seed)
    const all = await rowsOf(copy())
    for (let round = 0; round < 15; round++) {
      const damaged = copy()
      const names = tablesOf(damaged)
      const file = join(damaged, names[random.below(names.length)] as string)
      const bytes = readFileSync(file)
      const at = random.below(bytes.length)
      bytes.fill(0, at, Math.min(bytes.length, at + 4096))
      writeFileSync(file, bytes)
      const before = readdirSync(damaged).map((name) => [name, readFileSync(join(damaged, name)).toString('hex')])
      const salvaged = `${damaged}.salvage`
      const { damages, repair } = await salvage(damaged, salvaged)
      expect(damages).toHaveLength(1)
      if (repair) await Database.repair(salvaged)
      const left = await rowsOf(salvaged)
      for (const [key, value] of left) expect(all.get(key)).toBe(value)
      // Zeros reach two or three blocks of 4 kB, and rows of 20 kB make some larger.
      expect(left.size, `round ${round}`).toBeGreaterThan(all.size / 2)
      expect(readdirSync(damaged).map((name) => [name, readFileSync(join(damaged, name)).toString('hex')])).toEqual(
        before,
      )
    }
  })

  it('opens wherever a MANIFEST ends, and has all its rows where the end is named', async () => {
    const rows = await rowsOf(copy())
    const name = readdirSync(origin).find((file) => file.startsWith('MANIFEST')) as string
    const { records } = readLog(readFileSync(join(origin, name)))
    expect(records.length).toBeGreaterThan(2)
    let named = 0
    for (let count = 0; count < records.length; count++) {
      const directory = copy()
      writeFileSync(join(directory, name), writeLog(records.slice(0, count)))
      const isNamed = levelFiles(directory).damages.length > 0
      if (isNamed) named++
      const { repair } = await salvage(directory, `${directory}.salvage`)
      if (repair) await Database.repair(`${directory}.salvage`)
      const saved = await rowsOf(`${directory}.salvage`)
      if (isNamed) expect(saved, `${count} of ${records.length} edits`).toEqual(rows)
    }
    expect(named).toBeGreaterThan(2)
  })

  it('has its index of files made anew where zeros stand in a MANIFEST, which LevelDB refuses', async () => {
    const directory = copy()
    const manifest = join(directory, readFileSync(join(directory, 'CURRENT'), 'utf8').trim())
    const bytes = readFileSync(manifest)
    writeFileSync(manifest, bytes.fill(0, bytes.length - 20))
    expect(levelFiles(directory).damages.map(({ what }) => what)).toEqual(['is not as it was written'])
    const into = `${directory}-salvaged`
    expect(await salvage(directory, into)).toMatchObject({ repair: true })
    await Database.repair(into)
    expect((await rowsOf(into)).size).toBe((await rowsOf(copy())).size)
  })

  it('reads zeros where the disk gives nothing', () => {
    const disk = Buffer.alloc(20_000, 7)
    const readAt = (_: number, bytes: Uint8Array, at: number, length: number, offset: number): number => {
      if (offset < 9_000 && offset + length > 8_500)
        throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
      const part = disk.subarray(offset, offset + length)
      bytes.set(part, at)
      return part.length
    }
    const read = readPart(0, 0, 30_000, readAt)
    expect(read.length).toBe(disk.length)
    const zeros = read.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0)
    expect(zeros).toBeGreaterThan(0)
    expect(zeros).toBeLessThanOrEqual(2 * 4096)
    const refused = () => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
    }
    expect(() => readPart(0, 0, 10, refused)).toThrow(/EACCES/)
  })
})

describe('the look at the files before a start', () => {
  it('finds nothing in whole ones, and names what is damaged', async () => {
    const directory = copy()
    await checkFiles(directory, Infinity)
    await checkFiles(join(root, 'absent'), Infinity)
    const oldest = tablesOf(directory).at(-1) as string
    const file = join(directory, oldest)
    const bytes = readFileSync(file)
    bytes.fill(0, 10, 40)
    writeFileSync(file, bytes)
    await expect(checkFiles(directory, Infinity)).rejects.toThrow(
      new RegExp(`${oldest} has 1 of \\d+ blocks .*chain reindex`),
    )
    // The latest tables use up the budget: the index of this one is whole.
    await checkFiles(directory, 1)
    writeFileSync(file, bytes.fill(0, bytes.length - 200, bytes.length - 50))
    await expect(checkFiles(directory, 1)).rejects.toThrow(`${oldest} has no readable index`)
    rmSync(file)
    await expect(checkFiles(directory, 1)).rejects.toThrow(`${oldest} is missing`)
  })

  it('reaches further with each run that did not stop', () => {
    const reached = [0, 1, 2, 3, 100].map(bytesToCheck)
    expect(reached.slice(1).every((bytes, i) => bytes >= (reached[i] as number))).toBe(true)
    expect(reached[0]).toBeLessThan(2 ** 27)
    expect(reached[2]).toBe(Infinity)
  })
})

describe('the lock of a database', () => {
  const locks = () => readdirSync(root).filter((name) => name.includes('.lock'))

  it('is taken without opening it, and given back', async () => {
    const directory = copy()
    let ran = false
    await withLock(directory, () => {
      ran = true
      return Promise.resolve()
    })
    expect(ran).toBe(true)
    expect(await isInUse(directory)).toBe(false)
    await (await Database.open(directory)).close()
    expect(locks()).toEqual([])
  })

  it('is looked at beside an open database without leaving anything', async () => {
    const directory = copy()
    const database = await Database.open(directory)
    expect(await Promise.all(Array.from({ length: 8 }, () => isInUse(directory)))).toEqual(Array(8).fill(true))
    expect(locks()).toEqual([])
    await database.close()
    const left = ['1', '2', '3', '4'].map((name) => `${directory}.lock-${name}`)
    const [old, gone, alive, young] = left as [string, string, string, string]
    for (const path of left) mkdirSync(path)
    writeFileSync(join(alive, 'owner.json'), ownerText())
    const ended = spawnSync(process.execPath, ['-e', '']).pid
    writeFileSync(join(gone, 'owner.json'), JSON.stringify({ ...(JSON.parse(ownerText()) as object), pid: ended }))
    utimesSync(old, 0, 0)
    expect(await isInUse(directory)).toBe(false)
    expect([old, gone, alive, young].map((path) => existsSync(path))).toEqual([false, false, true, true])
    for (const path of [alive, young]) rmSync(path, { recursive: true })
  })

  it('is looked at without making anything where the database was, or may be going', async () => {
    const directory = copy()
    const names = () => readdirSync(root).sort()
    const before = names()
    expect(await isLeft(directory)).toBe(true)
    expect(names()).toEqual(before)
    const looks = Array.from({ length: 20 }, () => isLeft(directory))
    rmSync(directory, { recursive: true, maxRetries: 10 })
    await Promise.all(looks)
    expect(await isLeft(directory)).toBe(false)
    expect(names()).toEqual(before.filter((name) => !directory.endsWith(name)))
  })
})
