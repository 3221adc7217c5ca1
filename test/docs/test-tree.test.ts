import { existsSync, readdirSync } from 'node:fs'
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
