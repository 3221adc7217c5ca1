import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codes, RuleError } from '../../src/errors.js'
import type { RuleRow } from './row.js'

const directory = new URL('.', import.meta.url)
const files = readdirSync(directory).filter((name) => name.endsWith('.ts') && !/^row\.ts$|\.test\.ts$/.test(name))

const rows = new Map<string, RuleRow[]>()
for (const file of files) {
  const exported = (await import(new URL(file, directory).href)) as Record<string, unknown>
  rows.set(file, Object.values(exported).filter(Array.isArray).flat() as RuleRow[])
}

/** What a call is refused with; undefined when it is not. */
function refusalOf(call: () => void | Promise<void>): Promise<unknown> {
  return Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error,
    )
}

describe.each([...rows])('the rules in %s', (_, ofFile) => {
  it.each(ofFile.map((row) => [row.code, row] as const))('%s: accepted and refused', async (code, row) => {
    await row.accepts()
    const refusal = await refusalOf(() => row.refuses())
    expect(refusal).toBeInstanceOf(RuleError)
    expect([(refusal as RuleError).code, (refusal as RuleError).message]).toEqual([code, expect.stringMatching(/./)])
  })
})

describe('the table of codes', () => {
  it('has a row for every code', () => {
    const shown = new Set([...rows.values()].flat().map(({ code }) => code))
    expect(Object.keys(codes).filter((code) => !shown.has(code as RuleRow['code']))).toEqual([])
  })
})
