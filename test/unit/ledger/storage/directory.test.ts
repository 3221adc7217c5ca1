import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Database } from '../../../../src/ledger/storage/database.js'
import { DataDirectory } from '../../../../src/ledger/storage/directory.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'didledger-data-')))
afterAll(() => rmSync(root, { recursive: true }))

it('a data directory is not begun in the database of another one', async () => {
  const path = join(root, 'data')
  const directory = await DataDirectory.open(path)
  await (await Database.open(directory.database)).close()
  const { database } = directory
  const link = join(root, 'link')
  symlinkSync(database, link)
  for (const place of [database, link, relative(process.cwd(), database)]) {
    await expect(DataDirectory.open(place)).rejects.toThrow(
      `${place} is a database, and no data directory; that may be ${path}`,
    )
  }
  const within = join(database, 'one', 'two')
  await expect(DataDirectory.open(within)).rejects.toThrow(
    `${within} is in the database ${database}, and no data directory; that may be ${path}`,
  )
  expect(existsSync(dirname(within))).toBe(false)
  expect((await DataDirectory.open(path)).path).toBe(path)
})

it('a data directory may be beside a file that is called as one of a database', async () => {
  const path = join(root, 'plain')
  mkdirSync(path)
  writeFileSync(join(path, 'CURRENT'), '')
  expect((await DataDirectory.open(join(path, 'data'))).path).toBe(join(path, 'data'))
})

it('a data directory says where its node serves, as long as that does', async () => {
  const directory = await DataDirectory.open(join(root, 'served'))
  const served = () => DataDirectory.servedAt(directory.path)
  expect(await served()).toBeUndefined()
  await directory.noteServed('http://[::1]:20334')
  expect(await served()).toBe('http://[::1]:20334')
  for (const text of ['', 'file:///etc/passwd', 'http://', 'x\nhttp://127.0.0.1:1']) {
    writeFileSync(join(directory.path, 'rest.url'), text)
    expect(await served()).toBeUndefined()
  }
  await directory.noteServed(undefined)
  await directory.noteServed(undefined)
  expect(existsSync(join(directory.path, 'rest.url'))).toBe(false)
})
