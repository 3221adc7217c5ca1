import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeWithParents } from '../../../../src/base/runtime/make-with-parents.js'

const root = mkdtempSync(join(tmpdir(), 'didledger-make-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

it('makes all that is missing, and leaves what is there', () => {
  const path = join(root, 'a', 'b', 'c')
  makeWithParents(path, 0o700)
  makeWithParents(path, 0o755)
  expect(statSync(path).mode & 0o777).toBe(0o700)
})

it('throws where a file is in the way', () => {
  writeFileSync(join(root, 'file'), '')
  expect(() => makeWithParents(join(root, 'file'))).toThrow('EEXIST')
  expect(() => makeWithParents(join(root, 'file', 'a'))).toThrow('ENOTDIR')
})

it('ends on a file system that takes no directory and says that the one above is missing', () => {
  if (existsSync('/proc/self')) expect(() => makeWithParents('/proc/.cache/didledger')).toThrow('ENOENT')
})
