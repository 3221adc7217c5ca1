import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { DataDirectory } from '../../../../src/ledger/storage/directory.js'
import { makeDirectory } from '../../../../src/ledger/storage/make-directory.js'

const folder = mkdtempSync(join(tmpdir(), 'didledger-make-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('takes a directory that a link leads to, and makes parents that are missing', async () => {
  mkdirSync(join(folder, 'disk'))
  symlinkSync('disk', join(folder, 'link'))
  await makeDirectory(join(folder, 'link'))
  await makeDirectory(join(folder, 'link', 'a', 'b'))
  expect(existsSync(join(folder, 'disk', 'a', 'b'))).toBe(true)
})

it('takes a directory that others make at the same time', async () => {
  for (let round = 0; round < 50; round++) {
    const path = join(folder, `${round}`, 'a', 'b')
    await Promise.all(Array.from({ length: 8 }, () => makeDirectory(path)))
    expect(existsSync(path)).toBe(true)
  }
})

it('names a file in the place of a directory', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await expect(DataDirectory.open(file)).rejects.toThrow(
    `cannot be made: ${file} is a file, and no directory: choose another place`,
  )
})

it.each([[[]], [['data', 'deep']]])(
  'names a link to nothing, as to a disk that is not mounted, before %j',
  async (below) => {
    const link = join(folder, `gone${below.length}`)
    symlinkSync('/nowhere/disk', link)
    const path = join(link, ...below)
    await expect(DataDirectory.open(path)).rejects.toThrow(
      `the data directory ${path} cannot be made: ${link} is a link to /nowhere/disk, where nothing is: mount or make that first`,
    )
  },
)
