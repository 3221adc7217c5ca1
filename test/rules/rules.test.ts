import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RuleError } from '../../src/base/errors/rule-error.js'
import { type CodeEntry, codes } from '../../src/node/library/codes.js'
import type { RuleRow } from './row.js'
import { contradictionOf, otherStates, outcomeOf } from './states.js'

const directory = new URL('.', import.meta.url)
const files = readdirSync(directory).filter(
  (name) => name.endsWith('.ts') && !/^(row|states)\.ts$|\.test\.ts$/.test(name),
)

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

/** What is decided on one connection, or asked of this node alone: no other node relays it. */
const unrelayed =
  /^(peer|request|query|template|mining|subscription|snapshot|event|resolver|unknown|busy|internal|backup|gateway|shard|row)/
/** Their cases take a thousand blocks, and what they show costs nothing. */
const long: readonly string[] = ['block-too-deep', 'block-unsettled-full']

describe('no node is charged for relaying what it accepts', () => {
  const relayed = [...rows.values()].flat().filter(({ code }) => !unrelayed.test(code) && !long.includes(code))
  const cases = relayed.flatMap((row) => [
    [`${row.code}, accepted`, row.accepts.bind(row)] as const,
    [`${row.code}, refused`, row.refuses.bind(row)] as const,
  ])
  it.each(cases)('%s', async (_, run) => {
    const outcomes = [await outcomeOf(() => run())]
    for (const state of otherStates) outcomes.push(await outcomeOf(() => run(state)))
    expect(contradictionOf(outcomes), outcomes.join(', ')).toBeUndefined()
  })
})

describe('the table of codes', () => {
  it('lets only what is pinned cost points, also for the compiler', () => {
    const charged = Object.entries<CodeEntry>(codes).filter(([, { penalty }]) => penalty > 0)
    expect(charged.filter(([, { pinned }]) => pinned === 'state')).toEqual([])
    // @ts-expect-error: a code that the state of a node decides has no points.
    const wrong: Offence = { pinned: 'state', points: 10 }
    expect(wrong.points).toBe(10)
  })

  it('has a row for every code', () => {
    const shown = new Set([...rows.values()].flat().map(({ code }) => code))
    expect(Object.keys(codes).filter((code) => !shown.has(code as RuleRow['code']))).toEqual([])
  })
})
