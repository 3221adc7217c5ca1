import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockPath } from '../../../../../../src/ledger/storage/care/level/lock-path.js'
import { Directories } from '../../../../../support/process/spawn.js'

const directories = new Directories()
beforeAll(() => mkdir(directories.root, { recursive: true }))
afterAll(() => directories.remove())

describe('the lock of a path', () => {
  it('is of one at a time, and again free after that', async () => {
    const path = join(directories.root, 'one.lock')
    const release = await lockPath(path, 'a state')
    await expect(lockPath(path, 'a state')).rejects.toThrow('another process is using a state; stop it first')
    await release()
    await (
      await lockPath(path, 'a state')
    )()
  })

  it.each([
    ['/proc/self/fd/63.lock', 'nothing can be made in /proc/self/fd'],
    [join(directories.root, 'none', 'a.lock'), `nothing can be made in ${join(directories.root, 'none')}`],
    ['/sys/a.lock', /this user may not do that|the file system is read-only/],
    [join(directories.root, 'n'.repeat(300)), 'choose a shorter path'],
  ])('that cannot be made at %s is no damage of a database', async (path, said) => {
    const refused: unknown = await lockPath(path, 'a state').catch((error: unknown) => error)
    expect(String(refused)).toMatch(said)
    expect(String(refused)).toContain('the lock of a state cannot be made')
    expect(refused).toMatchObject({ kind: 'environment' })
  })

  it('is to be removed where it is damaged: nothing is kept in it', async () => {
    const path = join(directories.root, 'damaged.lock')
    await (
      await lockPath(path, 'a state')
    )()
    await writeFile(join(path, 'CURRENT'), 'MANIFEST-999999\n')
    await expect(lockPath(path, 'a state')).rejects.toThrow(
      `${path}, the lock of a state, is damaged: remove it, then start again`,
    )
    await rm(path, { recursive: true })
    await (
      await lockPath(path, 'a state')
    )()
  })
})
