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
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import {
  isThere,
  makeDirectory,
  maxFileSize,
  readTextFile,
  writeFileAtomically,
} from '../../../../src/clients/wallet/files.js'

const directory = mkdtempSync(join(tmpdir(), 'didledger-files-'))
afterAll(() => rmSync(directory, { recursive: true }))

it('a file that is kept is not standard output', () => {
  for (const replace of [false, true]) {
    expect(() => writeFileAtomically('-', 'x', { mode: 0o600, replace })).toThrow(/^- is standard output.*name one/)
  }
  expect(isThere('-', 'file')).toBe(false)
  const path = join(directory, '-')
  writeFileAtomically(path, 'x', { mode: 0o600 })
  expect(readTextFile(path, 'file')).toBe('x')
})

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

  it('is the same text with a byte order mark, in UTF-8 or UTF-16', () => {
    const path = join(directory, 'marked')
    const text = 'pässwort \u{1f511}\r\n'
    const little = Buffer.from(`\ufeff${text}`, 'utf16le')
    for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`), little, Buffer.from(little).swap16()]) {
      writeFileSync(path, bytes)
      expect(readTextFile(path, 'file')).toBe(text)
    }
    writeFileSync(path, `\ufeff\ufeff${text}`)
    expect(readTextFile(path, 'file')).toBe(`\ufeff${text}`)
  })

  it.each<[string, Buffer, string]>([
    ['Latin-1', Buffer.from('one\ntwo\npässwort\n', 'latin1'), 'UTF-8 (line 3)'],
    ['a character that is cut', Buffer.from('one\nä').subarray(0, -1), 'UTF-8 (line 2)'],
    ['half of a pair', Buffer.from('\ufeffa\ud83dz', 'utf16le'), 'UTF-16LE'],
    ['UTF-16 that is cut', Buffer.from('\ufeffab', 'utf16le').subarray(0, -1), 'UTF-16LE'],
  ])('is refused where it is no text: %s', (_, bytes, encoding) => {
    const path = join(directory, 'other')
    writeFileSync(path, bytes)
    const read = () => readTextFile(path, 'file')
    expect(read).toThrow(UserError)
    expect(read).toThrow(`the file ${path} is no text in ${encoding}; save it as UTF-8`)
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

describe('a file that is written', () => {
  const place = (name: string) => {
    const path = join(directory, name)
    mkdirSync(path)
    return path
  }

  it('is replaced where a link leads to it, and keeps its permissions', () => {
    const where = place('linked')
    const [link, file] = [join(where, 'link'), join(where, 'file')]
    writeFileSync(file, 'old')
    chmodSync(file, 0o660)
    symlinkSync('file', link)
    writeFileAtomically(link, 'new', { mode: 0o600, replace: true })
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(statSync(file).mode & 0o777).toBe(0o660)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readdirSync(where)).toEqual(['file', 'link'])
  })

  it('is not replaced unasked, also where a link leads to none', () => {
    const where = place('unasked')
    const [link, file] = [join(where, 'link'), join(where, 'file')]
    symlinkSync('none', link)
    writeFileSync(file, 'old')
    for (const path of [link, file]) {
      expect(() => writeFileAtomically(path, 'new', { mode: 0o600 })).toThrow('exists already and is not overwritten')
    }
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(where)).toEqual(['file', 'link'])
  })
})

describe('a directory', () => {
  it('is made with those above it, and is there already', () => {
    const path = join(directory, 'a', 'b', 'c')
    makeDirectory(path)
    makeDirectory(path)
    expect(statSync(path).isDirectory()).toBe(true)
  })

  it('is refused in words where it cannot be made', () => {
    const file = join(directory, 'file')
    writeFileSync(file, '')
    const refused = (path: string, reason: string) => [path, `cannot make the directory ${path}: ${reason}`] as const
    for (const [path, message] of [
      refused(file, 'a file of that name is in the way'),
      refused(join(file, 'below'), 'a part of its path is no directory'),
      // Where the system says of every new name that it does not exist, an end must come too.
      ...(process.platform === 'linux' ? [refused('/proc/none/b', 'there is no such file or directory')] : []),
    ]) {
      expect(() => makeDirectory(path)).toThrow(message)
    }
  })
})

describe('whether something is at a path', () => {
  it('is seen, or it is said that it cannot be', () => {
    const file = join(directory, 'there')
    writeFileSync(file, '')
    expect(isThere(file, 'key')).toBe(true)
    expect(isThere(directory, 'key')).toBe(true)
    expect(isThere(join(directory, 'nothing'), 'key')).toBe(false)
    expect(isThere(join(file, 'below'), 'key')).toBe(false)
    const loop = join(directory, 'loop')
    symlinkSync(loop, loop)
    expect(() => isThere(loop, 'key')).toThrow(`cannot see whether the key ${loop} exists: `)
    expect(() => isThere(join(directory, 'x'.repeat(5000)), 'key')).toThrow(UserError)
  })
})
