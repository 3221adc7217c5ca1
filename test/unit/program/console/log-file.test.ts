import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
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

describe('a file that cannot be renamed', () => {
  const lines = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1)

  it('grows on, and is renamed once that can be done', () => {
    const file = new LogFile(path, 10)
    mkdirSync(`${path}.1`)
    for (const text of ['0123456789', 'more', 'and more']) expect(file.line(text)).toBe(true)
    expect(lines(path)).toEqual(['0123456789', 'more', 'and more'])
    rmSync(`${path}.1`, { recursive: true })
    for (const text of ['a', 'b']) expect(file.line(text)).toBe(true)
    file.close()
    expect([...lines(`${path}.1`), ...lines(path)]).toEqual(['0123456789', 'more', 'and more', 'a', 'b'])
  })

  it('is begun anew where it was removed', () => {
    const file = new LogFile(path, 10)
    file.line('0123456789')
    rmSync(path)
    expect(file.line('more')).toBe(true)
    file.close()
    expect(lines(path)).toEqual(['more'])
  })

  it('leaves the file alone that came in its place', () => {
    const file = new LogFile(path, 10)
    file.line('0123456789')
    renameSync(path, `${path}.1`)
    writeFileSync(path, '')
    expect(file.line('more')).toBe(true)
    file.close()
    expect([lines(`${path}.1`), lines(path)]).toEqual([['0123456789'], ['more']])
  })

  it('is long by what it holds, not by what it held before it was copied and cut', () => {
    const file = new LogFile(path, 20)
    file.line('0123456789')
    copyFileSync(path, `${path}.1`)
    truncateSync(path)
    for (const text of ['more', 'and more']) file.line(text)
    file.close()
    expect([lines(`${path}.1`), lines(path)]).toEqual([['0123456789'], ['more', 'and more']])
  })

  it('is renamed where a link leads to it, and the link stays', () => {
    const link = `${path}.link`
    symlinkSync(path, link)
    const file = new LogFile(link, 10)
    for (const text of ['0123456789', 'more']) file.line(text)
    file.close()
    expect([lines(`${path}.1`), lines(path)]).toEqual([['0123456789'], ['more']])
    expect(readlinkSync(link)).toBe(path)
  })
})

it('never renames what a descriptor leads to', () => {
  const fd = openSync(path, 'a')
  const file = new LogFile(`/proc/self/fd/${fd}`, 10)
  for (const text of ['0123456789', 'more']) file.line(text)
  file.close()
  closeSync(fd)
  expect(readFileSync(path, 'utf8')).toBe('0123456789\nmore\n')
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
