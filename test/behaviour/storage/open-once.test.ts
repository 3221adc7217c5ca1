import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { holdLock, isInUse } from '../../../src/ledger/storage/care/level/lock.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../../../src/ledger/storage/temporary-directory.js'

/** What another process says of opening a database: the operating system ends a lock of this one without a word. */
function openElsewhere(directory: string): string {
  const program = `import { Level } from 'level'
    const level = new Level(${JSON.stringify(directory)})
    await level.open().then(() => console.log('opened'), (error) => console.log(error.cause.code))`
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).stdout.trim()
}

it('keeps a database from other processes whatever this one tries with it', async () => {
  const root = makeTemporaryDirectory()
  const [directory, link] = [join(root, 'chain'), join(root, 'link')]
  const database = await Database.open(directory)
  symlinkSync(directory, link)
  for (const path of [directory, link]) {
    await expect(Database.open(path)).rejects.toMatchObject({ kind: 'in-use' })
    expect(await isInUse(path)).toBe(true)
    expect(openElsewhere(directory)).toBe('LEVEL_LOCKED')
  }
  await database.close()
  expect(await isInUse(directory)).toBe(false)
  await (await Database.open(link)).close()
  expect(openElsewhere(directory)).toBe('opened')
  await removeTemporaryDirectory(root)
})

it('opens one of two that ask at once', async () => {
  const root = makeTemporaryDirectory()
  const answers = await Promise.allSettled([Database.open(join(root, 'chain')), Database.open(join(root, 'chain'))])
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(openElsewhere(join(root, 'chain'))).toBe('LEVEL_LOCKED')
  for (const answer of answers) if (answer.status === 'fulfilled') await answer.value.close()
  await removeTemporaryDirectory(root)
})

it('gives the lock of a directory to one of several that ask at once, of one that has none yet too', async () => {
  const root = makeTemporaryDirectory()
  const directory = join(root, 'chain')
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.allSettled([1, 2, 3].map(() => holdLock(directory)))
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(openElsewhere(directory)).toBe('LEVEL_LOCKED')
    for (const answer of answers) if (answer.status === 'fulfilled') await answer.value()
  }
  expect(openElsewhere(directory)).toBe('opened')
  await removeTemporaryDirectory(root)
})
