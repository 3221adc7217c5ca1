import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { parsed } from '../../scripts/docs/constant-values.js'
import { readRows } from '../../scripts/docs/limit-rows.js'
import { closing, type Limit, refusalOf } from './limit.js'

const directory = new URL('.', import.meta.url)
const files = readdirSync(directory).filter((name) => name.endsWith('.ts') && !/^limit\.ts$|\.test\.ts$/.test(name))

const rows: Limit[] = []
for (const file of files) {
  const exported = (await import(new URL(file, directory).href)) as Record<string, unknown>
  rows.push(...(Object.values(exported).filter(Array.isArray).flat() as Limit[]))
}

afterAll(() => Promise.all(closing.map((close) => close())))

describe('a bound', () => {
  for (const { name, unit, value, beyond = value + 1, feed, refusal } of rows) {
    it(`${name} accepts ${value} ${unit} and refuses ${beyond}`, async () => {
      expect(await refusalOf(() => feed(value))).toBeUndefined()
      const refused = await refusalOf(() => feed(beyond))
      expect(refused, `${beyond} was accepted`).toBeDefined()
      expect(refused).toMatch(refusal)
    })
  }
})

it('the rows that run are those that npm run docs:check counts', () => {
  const texts = new Map(files.map((file) => [file, readFileSync(new URL(file, directory), 'utf8')]))
  const counted = readRows(parsed(texts)).map(({ name }) => name)
  expect(rows.map(({ name }) => name).sort()).toEqual(counted.sort())
})
