import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { replaceFile } from '../../../../src/ledger/storage/replace-file.js'

const root = mkdtempSync(join(tmpdir(), 'replace-file-'))
afterAll(() => rmSync(root, { recursive: true }))

let places = 0
function place(): string {
  const path = join(root, String(places++))
  mkdirSync(path)
  return path
}

const pieces = [Buffer.from('new '), Buffer.from('content')]
const textIn = (path: string) => readFileSync(path, 'utf8')
const modeOf = (path: string) => statSync(path).mode & 0o777

describe('replaceFile', () => {
  it.each([0o600, 0o640, 0o666])('keeps the permissions %o of the file that was there', async (mode) => {
    const file = join(place(), 'file')
    writeFileSync(file, 'old')
    chmodSync(file, mode)
    await replaceFile(file, pieces, 0o644)
    expect({ text: textIn(file), mode: modeOf(file) }).toEqual({ text: 'new content', mode })
  })

  it('gives a new file the mode that the caller asks for', async () => {
    const file = join(place(), 'file')
    await replaceFile(file, pieces)
    expect(modeOf(file)).toBe(0o600)
  })

  it.each(['there', 'not there yet'])('replaces the file that a link names, beside itself: %s', async (state) => {
    const [where, elsewhere] = [place(), place()]
    const [link, file] = [join(where, 'link'), join(elsewhere, 'file')]
    symlinkSync(join('..', elsewhere.slice(root.length + 1), 'file'), link)
    if (state === 'there') writeFileSync(file, 'old')
    await replaceFile(link, pieces)
    expect(textIn(file)).toBe('new content')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect([readdirSync(where), readdirSync(elsewhere)]).toEqual([['link'], ['file']])
  })

  it('leaves file and link as they were when the pieces fail', async () => {
    const where = place()
    const [link, file] = [join(where, 'link'), join(where, 'file')]
    writeFileSync(file, 'old')
    symlinkSync('file', link)
    async function* failing() {
      yield pieces[0]!
      throw new Error('no more')
    }
    await expect(replaceFile(link, failing())).rejects.toThrow('no more')
    expect(textIn(link)).toBe('old')
    expect(readdirSync(where)).toEqual(['file', 'link'])
  })

  it.runIf(process.platform !== 'win32')('writes into a pipe, which stays one', async () => {
    const where = place()
    const pipe = join(where, 'pipe')
    execFileSync('mkfifo', [pipe])
    const [text] = await Promise.all([readFile(pipe, 'utf8'), replaceFile(pipe, pieces)])
    expect(text).toBe('new content')
    expect(lstatSync(pipe).isFIFO()).toBe(true)
    expect(readdirSync(where)).toEqual(['pipe'])
  })

  it('refuses a directory', async () => {
    const where = place()
    await expect(replaceFile(where, pieces)).rejects.toMatchObject({ code: 'EISDIR' })
  })
})
