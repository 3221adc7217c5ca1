import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { LogFile, reopenAtHangup } from '../../../../src/program/console/log-file.js'

const directory = mkdtempSync(join(tmpdir(), 'didledger-log-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let count = 0
let path = ''
beforeEach(() => void (path = join(directory, `${++count}.log`)))

it('appends lines to what is there', () => {
  for (const text of ['one', 'two']) {
    const file = new LogFile(path)
    expect(file.line(text)).toBe(true)
    file.close()
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
})

it('is never longer than its bound, and keeps one file before it', () => {
  const file = new LogFile(path, 100)
  for (let i = 0; i < 50; i++) expect(file.line(`line ${String(i).padStart(4, '0')}`)).toBe(true)
  file.close()
  expect(statSync(path).size).toBeLessThanOrEqual(100)
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(100)
  expect(readFileSync(`${path}.1`, 'utf8') + readFileSync(path, 'utf8')).toMatch(
    /^line 00[34][0-9]\n(?:line 00\d\d\n)*line 0049\n$/,
  )
})

it('takes one line that is longer than the bound', () => {
  const file = new LogFile(path, 10)
  expect(file.line('x'.repeat(100))).toBe(true)
  expect(file.line('y')).toBe(true)
  file.close()
  expect(readFileSync(path, 'utf8')).toBe('y\n')
})

it('drops lines that it can neither write nor rotate for, and goes on', () => {
  const file = new LogFile(path, 10)
  file.line('0123456789')
  mkdirSync(`${path}.1`)
  expect(file.line('more')).toBe(false)
  rmSync(`${path}.1`, { recursive: true })
  expect(file.line('more')).toBe(true)
  file.close()
})

it('is opened again at SIGHUP, and the signal ends nothing', async () => {
  const file = new LogFile(path)
  const end = reopenAtHangup(file)
  file.line('before')
  renameSync(path, `${path}.moved`)
  process.kill(process.pid, 'SIGHUP')
  await expect.poll(() => existsSync(path)).toBe(true)
  file.line('after')
  end()
  expect(process.listenerCount('SIGHUP')).toBe(0)
  file.close()
  expect([readFileSync(`${path}.moved`, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['before\n', 'after\n'])
})

it('keeps the open file where it cannot be opened again', () => {
  const file = new LogFile(path)
  rmSync(path)
  mkdirSync(path)
  file.reopen()
  expect(file.line('still')).toBe(true)
  file.close()
})

it('is refused where it cannot be opened', () => {
  const named = (what: string) => `the log file ${what} cannot be opened: `
  expect(() => new LogFile(directory)).toThrow(`${named(directory)}it is a directory`)
  const nowhere = join(directory, 'no', 'node.log')
  expect(() => new LogFile(nowhere)).toThrow(`${named(nowhere)}its directory does not exist`)
  execFileSync('mkfifo', [path])
  expect(() => new LogFile(path)).toThrow(`${named(path)}it is a pipe that no program reads`)
})
