import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { maxFileSize, readTextFile } from '../../../src/wallet/files.js'

const directory = mkdtempSync(join(tmpdir(), 'didledger-files-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('a file of a user', () => {
  it('is read whole, up to its largest size', () => {
    const path = join(directory, 'text')
    for (const size of [0, 1, 65_535, 65_536, 65_537, maxFileSize]) {
      writeFileSync(path, 'x'.repeat(size))
      expect(readTextFile(path, 'file')).toHaveLength(size)
    }
    writeFileSync(path, 'x'.repeat(maxFileSize + 1))
    expect(() => readTextFile(path, 'file')).toThrow(/^the file .* is larger than/)
  })

  it('is not read for ever', () => {
    expect(() => readTextFile('/dev/zero', 'file')).toThrow(/^the file \/dev\/zero is larger than/)
  })

  it.each([
    [directory, 'it is a directory'],
    [join(directory, 'none'), 'there is no such file or directory'],
  ])('%s is none', (path, reason) => {
    expect(() => readTextFile(path, 'file')).toThrow(`cannot read the file ${path}: ${reason}`)
  })
})
