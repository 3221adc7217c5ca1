import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Database } from '../../../../src/ledger/storage/database.js'
import { DataDirectory } from '../../../../src/ledger/storage/directory.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-data-'))
afterAll(() => rmSync(root, { recursive: true }))

it('a data directory is not begun in the database of another one', async () => {
  const path = join(root, 'data')
  const directory = await DataDirectory.open(path)
  await (await Database.open(directory.database)).close()
  await expect(DataDirectory.open(directory.database)).rejects.toThrow(
    `${directory.database} is a database, and no data directory; that may be ${path}`,
  )
  expect((await DataDirectory.open(path)).path).toBe(path)
})
