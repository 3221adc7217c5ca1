import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { cacheFolder, commandOf, type Compiled } from '../../../../src/program/cli/compile-cache.js'

const home = mkdtempSync(join(tmpdir(), 'didledger-home-'))
const folder = join(home, '.cache/didledger')
const script = join(home, 'program.cjs')
const starter = join(home, 'start.mjs')
const module = new URL('../../../../src/program/cli/compile-cache.ts', import.meta.url).href
afterAll(() => rmSync(home, { recursive: true }))

writeFileSync(
  script,
  `(function (exports, require, module, __filename, __dirname) {
     const { basename } = require('node:path')
     const called = () => basename(__filename)
     console.log(called(), __dirname === require('node:path').dirname(__filename), this === module.exports)
   })`,
)
writeFileSync(
  starter,
  `
   import { runCompiled } from ${JSON.stringify(module)}
   runCompiled(JSON.parse(process.argv[2]))`,
)

/** Runs the script in a process of its own, and returns what it printed. */
function run(changed: Partial<Compiled> = {}): string {
  const compiled: Compiled = { file: script, digest: 'ab', command: 'devnet', folder, ...changed }
  return execFileSync(process.execPath, ['--import', 'tsx', starter, JSON.stringify(compiled)], { encoding: 'utf8' })
}

describe.skipIf(process.platform === 'win32')('the folder of compiled code', () => {
  it('is one of this user alone', () => {
    expect(cacheFolder({ HOME: home })).toBe(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(cacheFolder({ HOME: home })).toBe(folder)
  })

  it('is none where others can write, or nothing can be', () => {
    chmodSync(folder, 0o770)
    expect(cacheFolder({ HOME: home })).toBeUndefined()
    writeFileSync(join(home, 'file'), '')
    expect(cacheFolder({ HOME: home, XDG_CACHE_HOME: join(home, 'file') })).toBeUndefined()
  })
})

describe('a script that runs from compiled code', () => {
  const printed = 'program.cjs true true\n'
  const kept = join(folder, `devnet-${process.version.split('.')[0]}.code`)
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
  })

  it('runs alike without a folder, the first time and the next', () => {
    expect(run({ folder: undefined })).toBe(printed)
    expect(readdirSync(folder)).toEqual([])
    expect(run()).toBe(printed)
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([kept])
    const { mtimeMs } = statSync(kept)
    expect(run()).toBe(printed)
    expect(statSync(kept).mtimeMs).toBe(mtimeMs)
  })

  it('keeps code by command', () => {
    for (const command of ['wallet-send', 'help']) expect(run({ command })).toBe(printed)
    expect(readdirSync(folder).map((name) => name.replace(/-v.*/, ''))).toEqual(['help', 'wallet-send'])
  })

  it('names a command by its words, and by two in large groups', () => {
    const named = (...args: string[]) => commandOf(args)
    expect(named('devnet', '--nodes', '2')).toBe('devnet')
    expect(named('serve-static', 'public')).toBe('serve-static')
    expect(named('did', 'resolve', 'did:ledger:x')).toBe('did-resolve')
    expect(named('did', '--help')).toBe('did')
    expect(named('wallet', '../../x')).toBe('wallet')
    for (const args of [[], ['--help'], ['-h', 'did'], ['../../x'], ['a/b'], ['..'], ['A'], ['did:x']])
      expect(named(...args)).toBe('help')
  })

  it('keeps nothing of a wrong call, whose first word may be any', () => {
    const wrong = join(home, 'wrong.cjs')
    writeFileSync(wrong, '(function () { process.exitCode = 2 })')
    expect(() => run({ file: wrong, command: 'slip' })).toThrow('Command failed')
    expect(readdirSync(folder)).toEqual([])
  })

  it('compiles anew what is damaged, of another script or cut', () => {
    expect(run()).toBe(printed)
    const whole = readFileSync(kept)
    const flipped = Buffer.from(whole)
    flipped[whole.length - 9]! ^= 1
    for (const bytes of [
      flipped,
      whole.subarray(0, -1),
      whole.subarray(0, 40),
      whole.subarray(0, 7),
      Buffer.alloc(0),
    ]) {
      writeFileSync(kept, bytes)
      expect(run()).toBe(printed)
      expect(readFileSync(kept).equals(bytes)).toBe(false)
    }
    const before = readFileSync(kept).subarray(0, 32)
    expect(run({ digest: 'cd' })).toBe(printed)
    expect(readFileSync(kept).subarray(0, 32).equals(before)).toBe(false)
  })

  it('runs where its code cannot be written', () => {
    mkdirSync(kept)
    expect(run()).toBe(printed)
    expect(run({ folder: join(home, 'missing') })).toBe(printed)
  })
})
