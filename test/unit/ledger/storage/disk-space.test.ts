import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diskSpaceOf } from '../../../../src/ledger/storage/disk-space.js'

test('the space of a disk is what df tells of it', async () => {
  const before = await diskSpaceOf(tmpdir())
  const [, line = ''] = execFileSync('df', ['-Pk', tmpdir()], { encoding: 'utf8' }).split('\n')
  const [, size, , free] = line.split(/\s+/).map((field) => Number(field) * 1024)
  const after = await diskSpaceOf(tmpdir())
  expect(Math.abs(before.size - (size as number))).toBeLessThan(1024)
  // Others write meanwhile.
  const slack = 256 * 1024 * 1024
  expect(free).toBeGreaterThan(Math.min(before.free, after.free) - slack)
  expect(free).toBeLessThan(Math.max(before.free, after.free) + slack)
})

test('a directory that is not there has none', async () => {
  await expect(diskSpaceOf(join(tmpdir(), 'didledger-no-such-directory'))).rejects.toThrow(/ENOENT/)
})
