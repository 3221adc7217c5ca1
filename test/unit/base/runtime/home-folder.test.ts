import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { belowHome, homeOf, takesPath } from '../../../../src/base/runtime/home-folder.js'

describe('the home directory', () => {
  const variable = process.platform === 'win32' ? 'USERPROFILE' : 'HOME'
  const none = () => {
    throw new Error('no entry for this user')
  }

  it('is the variable, else that of the user, and never a relative path', () => {
    const home = join(tmpdir(), 'h')
    expect(homeOf({ [variable]: home }, none)).toBe(home)
    expect(homeOf({}, () => home)).toBe(home)
    for (const relative of ['.', 'h', '~']) expect(homeOf({ [variable]: relative }, () => home)).toBe(home)
    expect(isAbsolute(homeOf({}))).toBe(true)
  })

  it('is missed in words', () => {
    const hint = 'and this user has no home directory; set it, or use --data-dir DIR'
    for (const ofUser of [none, () => '', () => '.']) {
      expect(() => homeOf({}, ofUser)).toThrow(`${variable} is not set, ${hint}`)
      expect(() => homeOf({ [variable]: 'h' }, ofUser)).toThrow(`${variable} is h, which is no absolute path, ${hint}`)
    }
  })
})

describe('a path that begins with ~', () => {
  const home = join(tmpdir(), 'h')
  const env = { HOME: home, USERPROFILE: home }

  it.each([
    ['~', home],
    ['~/', `${home}/`],
    ['~/a/b.json', join(home, 'a', 'b.json')],
    ['~/../a', join(home, '..', 'a')],
    ['~a/b', '~a/b'],
    ['./~/a', './~/a'],
    ['a~', 'a~'],
    ['', ''],
    ['s3://~/a', 's3://~/a'],
  ])('%j is %j', (text, path) => {
    expect(belowHome(text, env)).toBe(path)
  })

  it('asks for no home directory where there is no such beginning', () => {
    expect(belowHome('/a', {})).toBe('/a')
  })

  it('is named where there is no home directory', () => {
    expect(() => belowHome('~/a', {}, () => '')).toThrow('no home directory; set it, or write ~/a as a whole path')
  })

  it.each([
    ['--data-dir <directory>', true],
    ['-o, --output <file>', true],
    ['--genesis <name|file>', true],
    ['<files...>', true],
    ['[file]', true],
    ['--mirror <target>', true],
    ['--validator-signer <socket>', true],
    ['--rest <url>', false],
    ['--claim <name=text>', false],
    ['--file', false],
  ])('is one for %s: %j', (flag, is) => {
    expect(takesPath(flag)).toBe(is)
  })
})
