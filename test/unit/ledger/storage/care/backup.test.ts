import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UserError } from '../../../../../src/base/errors/rule-error.js'
import { mapKey } from '../../../../../src/base/primitives/bytes.js'
import { type BackupProgress, writeBackup } from '../../../../../src/ledger/storage/care/backup.js'
import { checkJournal } from '../../../../../src/ledger/storage/care/check-journal.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { changesOf } from '../../../../../src/ledger/storage/write/row-changes.js'
import { DataDirectory } from '../../../../../src/ledger/storage/directory.js'
import { journalDigest } from '../../../../../src/ledger/storage/write/journal.js'
import { meta, schemaVersion, tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { checkFiles } from '../../../../../src/ledger/storage/care/start-check.js'
import { SeededRandom } from '../../../../support/builders/seeded-random.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-backup-'))
const random = new SeededRandom(11)
const tip = { height: 5, hash: Buffer.from(random.bytes(32)) }
let directory: DataDirectory
let database: Database
let count = 0

beforeAll(async () => {
  directory = await DataDirectory.open(join(root, 'data'))
  await directory.claim('test', random.bytes(32), true)
  database = await Database.open(directory.database)
  await commit([
    [meta.tip.key, meta.tip.encode(tip)],
    [meta.version.key, Uint8Array.of(schemaVersion)],
  ])
  for (let i = 0; i < 20; i++) {
    await commit(Array.from({ length: 40 }, () => [tables.pool.key(random.bytes(32)), random.bytes(1000)]))
  }
})
afterAll(async () => {
  await database.close()
  rmSync(root, { recursive: true })
})

function commit(rows: readonly (readonly [Buffer, Uint8Array])[]): Promise<void> {
  const changes = new Map(rows.map(([key, value]) => [mapKey(key), { key, value }]))
  return database.commit(changesOf(changes), { kind: 'block', ...tip }, { sync: false })
}

const fresh = () => join(root, `backup-${++count}`)
const source = () => ({ directory, database })

async function rowsAt(path: string): Promise<string[]> {
  const copy = await Database.open(join(path, 'chain'))
  try {
    return (await copy.rows({})).map(([key, value]) => `${key.toString('hex')} ${value.toString('hex')}`)
  } finally {
    await copy.close()
  }
}

async function refusal(path: string, options: Parameters<typeof writeBackup>[2] = {}): Promise<string> {
  const error: unknown = await writeBackup(source(), path, options).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(UserError)
  return (error as Error).message
}

describe('a backup', () => {
  it('has every row as it is, and one checkpoint more', async () => {
    const path = fresh()
    const steps: BackupProgress[] = []
    const made = await writeBackup(source(), path, { progress: (step) => steps.push(step) })
    const own = (await database.rows({})).map(([key, value]) => `${key.toString('hex')} ${value.toString('hex')}`)
    const copied = await rowsAt(path)
    const more = copied.filter((row) => !own.includes(row))
    expect(copied.filter((row) => own.includes(row))).toEqual(own)
    expect(more).toHaveLength(1)
    expect(more[0]).toMatch(/^01/)
    expect(made).toMatchObject({ path, ...tip, rows: own.length, bytes: steps.at(-1)?.bytes })
    expect(steps.length).toBeGreaterThan(1)
    expect(steps.at(-1)?.total).toBe(await directory.databaseBytes())
  })

  it('continues the journal, and its files are whole', async () => {
    const path = fresh()
    await writeBackup(source(), path)
    await checkFiles(join(path, 'chain'), Infinity)
    const copy = await Database.open(join(path, 'chain'))
    expect(await checkJournal(copy)).toEqual({ fromHeight: tip.height })
    expect(copy.sequence).toBe(database.sequence + 1)
    const [last, before] = await copy.rows(tables.journal.range(), { reverse: true, limit: 2 })
    const { kind, previous } = tables.journal.decode(last![1])
    expect(kind).toBe('checkpoint')
    expect(Buffer.from(previous)).toEqual(Buffer.from(journalDigest(database.sequence, before![1])))
    await copy.close()
  })

  it('is as the database was when it began, whatever is written meanwhile', async () => {
    const path = fresh()
    const before = await database.rows(tables.pool.range())
    let more = 0
    await writeBackup(source(), path, {
      progress: () => {
        if (more++ < 3) void commit([[tables.pool.key(random.bytes(32)), random.bytes(2000)]])
      },
    })
    await database.idle()
    expect((await database.rows(tables.pool.range())).length).toBeGreaterThan(before.length)
    const copy = await Database.open(join(path, 'chain'))
    expect(await copy.rows(tables.pool.range())).toEqual(before)
    await checkJournal(copy)
    await copy.close()
  })

  it('holds the chain and no secret, for its owner alone', async () => {
    const path = fresh()
    for (const name of ['peer.key', 'admin.token', 'sign-0011223344556677.state', 'running']) {
      writeFileSync(join(directory.path, name), 'secret')
    }
    mkdirSync(path)
    await writeBackup(source(), path)
    expect(readdirSync(path).sort()).toEqual(['backup.json', 'chain', 'network.json'])
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(path, 'network.json'), 'utf8')).toBe(readFileSync(directory.claimFile, 'utf8'))
    expect(JSON.parse(readFileSync(join(path, 'backup.json'), 'utf8'))).toMatchObject({ complete: true, height: 5 })
    expect(existsSync(`${path}.partial`)).toBe(false)
  })

  it('is not faster than it may be', async () => {
    const began = performance.now()
    const { bytes } = await writeBackup(source(), fresh(), { rate: 4_000_000 })
    // The last page is not waited for by more than its own time.
    expect(performance.now() - began).toBeGreaterThan((bytes / 4_000_000) * 1000 * 0.8)
  })
})

describe('a backup that ends early', () => {
  it('leaves nothing when it is aborted', async () => {
    const path = fresh()
    const abort = new AbortController()
    const stopped = new Error('stopped')
    const options = { rate: 1_000_000, signal: abort.signal, progress: () => abort.abort(stopped) }
    await expect(writeBackup(source(), path, options)).rejects.toThrow()
    expect([existsSync(path), existsSync(`${path}.partial`)]).toEqual([false, false])
    await writeBackup(source(), path)
  })

  it('leaves an empty directory as it was', async () => {
    const path = fresh()
    mkdirSync(path)
    await refusal(path, { freeBytes: async () => 0 })
    expect(readdirSync(path)).toEqual([])
    expect(existsSync(`${path}.partial`)).toBe(false)
  })

  it('says how much space is missing, and leaves some to the node', async () => {
    const path = fresh()
    const needed = (await directory.databaseBytes()) + 256 * 1024 * 1024
    expect(await refusal(path, { freeBytes: async () => needed - 1 })).toMatch(
      /^the backup .* needs 27\d MB free in .*, 269 MB of them left to the node on the same disk; 27\d MB are free$/,
    )
    await writeBackup(source(), path, { freeBytes: async () => needed })
  })

  it('reports a row that is not as it was written', async () => {
    const damagedRow = {
      pages: () => {
        throw new UserError('row 20 is not as it was written')
      },
    }
    const frozen = database.freeze()
    const broken = { ...source(), database: { freeze: () => ({ ...frozen, ...damagedRow }) } as unknown as Database }
    const path = fresh()
    await expect(writeBackup(broken, path)).rejects.toThrow('row 20 is not as it was written')
    frozen.close()
    expect(existsSync(`${path}.partial`)).toBe(false)
  })
})
