import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RuleError } from '../../../../../src/base/errors/rule-error.js'
import { mapKey } from '../../../../../src/base/primitives/bytes.js'
import { BackupJob, backupLease } from '../../../../../src/ledger/storage/care/backup-job.js'
import { Database } from '../../../../../src/ledger/storage/database.js'
import { changesOf } from '../../../../../src/ledger/storage/write/row-changes.js'
import { DataDirectory } from '../../../../../src/ledger/storage/directory.js'
import { meta, tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { SeededRandom } from '../../../../support/builders/seeded-random.js'
import { ManualTimers } from '../../../../support/fakes/manual-timers.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-job-'))
const random = new SeededRandom(12)
const tip = { height: 5, hash: Buffer.from(random.bytes(32)) }
const stays = new AbortController().signal
let directory: DataDirectory
let database: Database
let count = 0

beforeAll(async () => {
  directory = await DataDirectory.open(join(root, 'data'))
  await directory.claim('test', random.bytes(32), true)
  database = await Database.open(directory.database)
  const rows = Array.from({ length: 900 }, () => [tables.pool.key(random.bytes(32)), random.bytes(1000)] as const)
  const all = [[meta.tip.key, meta.tip.encode(tip)] as const, ...rows]
  const changes = new Map(all.map(([key, value]) => [mapKey(key), { key, value }]))
  await database.commit(changesOf(changes), { kind: 'block', ...tip }, { sync: false })
})
afterAll(async () => {
  await database.close()
  rmSync(root, { recursive: true })
})

const fresh = () => join(root, `backup-${++count}`)
/** A job that copies so slowly that it does not end by itself in a test, unless it may be fast. */
function jobOf(rate = 1000) {
  const timers = new ManualTimers()
  return { timers, job: new BackupJob({ directory, database, timers, options: { rate } }) }
}
const gone = (path: string) => !existsSync(path) && !existsSync(`${path}.partial`)
async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(RuleError)
  expect((error as RuleError).code).toBe('backup-failed')
  return (error as Error).message
}

/** Begins a backup; resolves when it is under way. */
async function begin({ job, timers }: ReturnType<typeof jobOf>, path: string): Promise<void> {
  const first = job.follow(path, 1, stays)
  timers.fire(1)
  expect((await first).backup).toBeUndefined()
}

describe('a backup of a running node', () => {
  it('is made while its client waits', async () => {
    const { job } = jobOf(1e9)
    const path = fresh()
    expect(await job.follow(path, 1000, stays)).toMatchObject({ path, backup: { path, ...tip } })
    expect(existsSync(path)).toBe(true)
  })

  it('is followed by asking again, and its end is told once', async () => {
    const { job, timers } = jobOf(8_000_000)
    const path = fresh()
    await begin({ job, timers }, path)
    expect((await job.follow(path, 1000, stays)).backup).toMatchObject(tip)
    expect(await reasonOf(job.follow(path, 1000, stays))).toMatch(/is not empty/)
  })

  it('is one at a time', async () => {
    const made = jobOf()
    const path = fresh()
    await begin(made, path)
    expect(await reasonOf(made.job.follow(fresh(), 1000, stays))).toBe(
      `a backup to ${path} is being made; one at a time`,
    )
    await made.job.close()
  })

  it('ends when its client leaves', async () => {
    const { job, timers } = jobOf()
    const path = fresh()
    await begin({ job, timers }, path)
    const client = new AbortController()
    const waiting = job.follow(path, 1000, client.signal)
    client.abort()
    expect((await waiting).backup).toBeUndefined()
    expect(await reasonOf(job.follow(path, 1000, stays))).toBe('its client left')
    expect(gone(path)).toBe(true)
  })

  it('goes on when one of two clients leaves', async () => {
    const { job, timers } = jobOf()
    const path = fresh()
    const client = new AbortController()
    const [one, other] = [job.follow(path, 1000, client.signal), job.follow(path, 2000, stays)]
    client.abort()
    await one
    timers.fire(2000)
    expect((await other).backup).toBeUndefined()
    expect(timers.pending).toEqual([backupLease])
    await job.close()
  })

  it('ends when its client asks no more', async () => {
    const { job, timers } = jobOf()
    const path = fresh()
    await begin({ job, timers }, path)
    timers.fire(backupLease)
    expect(await reasonOf(job.follow(path, 1000, stays))).toMatch(/did not ask again within 30 s/)
    expect(gone(path)).toBe(true)
  })

  it('ends with the node', async () => {
    const made = jobOf()
    const path = fresh()
    await begin(made, path)
    await made.job.close()
    expect(gone(path)).toBe(true)
    expect(await reasonOf(made.job.follow(fresh(), 1, stays))).toBe('the node is stopping')
  })

  it('passes on why it is refused, and then makes another', async () => {
    const { job } = jobOf(1e9)
    expect(await reasonOf(job.follow('relative', 1000, stays))).toMatch(/begins at the root/)
    expect((await job.follow(fresh(), 1000, stays)).backup).toMatchObject(tip)
  })
})
