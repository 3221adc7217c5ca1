import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { BackupPlace } from '../../../../../src/ledger/storage/care/backup-place.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-place-'))
const source = join(root, 'data')
mkdirSync(source)
afterAll(() => rmSync(root, { recursive: true }))

let count = 0
const fresh = () => join(root, `place-${++count}`)
const take = (path: string) => BackupPlace.take(path, source)

async function finished(path: string): Promise<string[]> {
  const place = await take(path)
  mkdirSync(place.directory.database)
  await place.finish()
  return readdirSync(path).sort()
}

describe('the place of a backup', () => {
  it('is absent, or an empty directory', async () => {
    expect(await finished(fresh())).toEqual(['backup.json', 'chain'])
    const empty = fresh()
    mkdirSync(empty)
    expect(await finished(empty)).toEqual(['backup.json', 'chain'])
  })

  it.each<[string, (path: string) => string, RegExp]>([
    ['a relative path', () => 'backup', /begins at the root/],
    ['a path with dots', (path) => `${path}/../x`, /begins at the root/],
    ['a parent that is missing', (path) => join(path, 'x'), /there is no directory .*place-\d+; make it first/],
    [
      'a parent that is a file',
      (path) => (writeFileSync(path, ''), join(path, 'x')),
      /is no directory|cannot be begun/,
    ],
    ['a file', (path) => (writeFileSync(path, ''), path), /exists and is no directory/],
    ['a link', (path) => (symlinkSync('/nowhere', path), path), /exists and is no directory/],
    ['a full directory', (path) => (mkdirSync(join(path, 'x'), { recursive: true }), path), /is not empty/],
    ['the data directory', () => source, /lies in the data directory/],
    ['a place in the data directory', () => join(source, 'x'), /lies in the data directory/],
    ['a directory that takes no files', () => '/proc/didledger-backup', /cannot be begun/],
  ])('is not %s', async (_, path, message) => {
    await expect(take(path(fresh()))).rejects.toThrow(message)
  })

  it('is not reached through a link into the data directory', async () => {
    const link = fresh()
    symlinkSync(source, link)
    await expect(take(join(link, 'x'))).rejects.toThrow(/lies in the data directory/)
  })

  it('loses what a killed backup left, and nothing else', async () => {
    const path = fresh()
    mkdirSync(`${path}.partial.lock`)
    mkdirSync(`${path}.partial`)
    for (const name of ['half', 'backup.json']) writeFileSync(join(`${path}.partial`, name), '')
    const again = await take(path)
    expect(readdirSync(again.directory.path)).toEqual(['backup.json'])
    await again.abandon()
    mkdirSync(`${path}.partial`)
    await (await take(path)).abandon()
    mkdirSync(join(`${path}.partial`, 'precious'), { recursive: true })
    await expect(take(path)).rejects.toThrow(/is in the way, and is no unfinished backup/)
    expect(existsSync(join(`${path}.partial`, 'precious'))).toBe(true)
  })

  it('stays with the one that took it, from its first file to its name', async () => {
    const path = fresh()
    const others = async () => {
      for (let i = 0; i < 3; i++) await expect(take(path)).rejects.toThrow(/another process is writing the backup/)
    }
    const [place, ...refused] = await Promise.allSettled([take(path), take(path), take(path)])
    expect([place.status, ...refused.map(({ status }) => status)].sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const taken = [place, ...refused].find(({ status }) => status === 'fulfilled')
    const { value } = taken as PromiseFulfilledResult<BackupPlace>
    await others()
    mkdirSync(value.directory.database)
    await others()
    await value.finish()
    await expect(take(path)).rejects.toThrow(/is not empty/)
    expect(readdirSync(root).filter((name) => name.startsWith(`${basename(path)}.`))).toEqual([])
  })

  it('is free again after a failure', async () => {
    const path = fresh()
    await (await take(path)).abandon()
    const full = vi.spyOn(BackupPlace.prototype, 'describe').mockRejectedValueOnce(new Error('no space'))
    await expect(take(path)).rejects.toThrow('no space')
    full.mockRestore()
    await (await take(path)).abandon()
    expect(readdirSync(root).filter((name) => name.startsWith(basename(path)))).toEqual([])
  })
})
