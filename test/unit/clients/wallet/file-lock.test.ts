import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ownerText } from '../../../../src/base/runtime/process-owner.js'
import { withFileLock } from '../../../../src/clients/wallet/file-lock.js'

const directory = mkdtempSync(join(tmpdir(), 'didledger-lock-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('the lock of a file', () => {
  it('is free again after the work, also where that fails', async () => {
    const path = join(directory, 'free')
    expect(await withFileLock(path, () => existsSync(`${path}.lock`))).toBe(true)
    const failed = withFileLock(path, () => {
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('is waited for while another process has it, and for no longer than it is told', async () => {
    const [path, lock] = [join(directory, 'taken'), join(directory, 'taken.lock')]
    writeFileSync(lock, ownerText())
    await expect(withFileLock(path, () => 0, 50)).rejects.toThrow(
      `another command is changing ${path}; if there is none, remove ${lock}`,
    )
    expect(readFileSync(lock, 'utf8')).toBe(ownerText())
    const waiting = withFileLock(path, () => 1)
    rmSync(lock)
    expect(await waiting).toBe(1)
  })

  it('of a process that was killed does not count', async () => {
    const path = join(directory, 'left')
    const { pid } = spawnSync(process.execPath, ['-e', '0'])
    writeFileSync(`${path}.lock`, JSON.stringify({ ...(JSON.parse(ownerText()) as object), pid }))
    expect(await withFileLock(path, () => 2, 1000)).toBe(2)
    writeFileSync(`${path}.lock`, JSON.stringify({ pid, space: 'of another container' }))
    await expect(withFileLock(path, () => 3, 50)).rejects.toThrow('another command')
  })

  it('needs a folder that can be written', async () => {
    await expect(withFileLock(join(directory, 'none', 'file'), () => 0)).rejects.toThrow(
      'there is no such file or directory',
    )
  })
})
