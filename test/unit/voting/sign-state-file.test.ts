import type * as fs from 'node:fs'
import { fstatSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SignStateFile } from '../../../src/voting/sign-state-file.js'

const seen = vi.hoisted(() => ({ sync: undefined as ((fd: number) => void) | undefined }))
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const fsync: typeof real.fsync = Object.assign((fd: number, done: fs.NoParamCallback) => {
    seen.sync?.(fd)
    real.fsync(fd, done)
  }, real.fsync)
  return { ...real, fsync }
})

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sign-file-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('the file of a sign state', () => {
  it('holds what was saved last, readable by its owner alone', async () => {
    const file = new SignStateFile(join(directory, 'state'))
    expect(await file.load()).toBeUndefined()
    for (const bytes of [Uint8Array.of(1, 2, 3), Uint8Array.of(4), new Uint8Array(100_000).fill(7)]) {
      await file.save(bytes)
      expect(Buffer.from((await new SignStateFile(file.path).load()) as Uint8Array).equals(bytes)).toBe(true)
    }
    expect((await stat(file.path)).mode & 0o777).toBe(0o600)
    expect(await readdir(directory)).toEqual(['state'])
  })

  it('is untouched by what a crash left half written, and replaces that', async () => {
    const file = new SignStateFile(join(directory, 'state'))
    await file.save(Uint8Array.of(1))
    await writeFile(`${file.path}.new`, 'half')
    expect([...((await file.load()) as Uint8Array)]).toEqual([1])
    await file.save(Uint8Array.of(2))
    expect([...((await file.load()) as Uint8Array)]).toEqual([2])
    expect(await readdir(directory)).toEqual(['state'])
  })

  it('is synced before it gets its name, and its directory after that', async () => {
    const file = new SignStateFile(join(directory, 'state'))
    await file.save(Uint8Array.of(1))
    const synced: string[] = []
    seen.sync = (fd) => {
      const what = fstatSync(fd).isDirectory() ? 'directory' : 'file'
      synced.push(`${what} while the state is ${readFileSync(file.path).toString('hex')}`)
    }
    await file.save(Uint8Array.of(2))
    seen.sync = undefined
    expect(synced).toEqual(['file while the state is 01', 'directory while the state is 02'])
  })

  it('rejects when it cannot be written or read', async () => {
    const nowhere = new SignStateFile(join(directory, 'none', 'state'))
    await expect(nowhere.save(Uint8Array.of(1))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(new SignStateFile(directory).load()).rejects.toThrow(`cannot read ${directory}, where`)
  })
})
