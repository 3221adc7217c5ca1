import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const tests = readdirSync(new URL('test/unit/', root), { recursive: true, encoding: 'utf8' })

it('test/unit has files of tests alone, each named as the source that it tests', () => {
  const files = tests.filter((path) => path.endsWith('.ts'))
  expect(files.length).toBeGreaterThan(100)
  const strangers = files.filter((path) => {
    const source = path.replace(/\.test\.ts$/, '.ts')
    return source === path || !existsSync(new URL(`src/${source}`, root))
  })
  expect(strangers).toEqual([])
})

it('tests pass wherever a clone lies: none becomes a user by number, or takes a path from a URL unread', () => {
  const files = readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' })
  const own = ['support/process/unprivileged.ts', 'docs/test-tree.test.ts']
  const faults = files.filter((path) => {
    if (!path.endsWith('.ts') || path.includes('node_modules') || own.includes(path)) return false
    return /'setpriv'|import\.meta\.url\)\.pathname/.test(readFileSync(new URL(`test/${path}`, root), 'utf8'))
  })
  expect(faults).toEqual([])
})

it('a test that replaces a module shares none with others', () => {
  const config = readFileSync(new URL('vitest.config.ts', root), 'utf8')
  const files = readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' })
  const replacing = files.filter((path) => {
    if (!path.endsWith('.test.ts') || path.includes('node_modules')) return false
    return /^vi\.mock\(/m.test(readFileSync(new URL(`test/${path}`, root), 'utf8'))
  })
  expect(replacing.length).toBeGreaterThan(0)
  for (const path of replacing) expect(config).toContain(`'test/${path}'`)
})
