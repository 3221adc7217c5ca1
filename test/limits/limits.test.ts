import { describe, expect, it } from 'vitest'
import { type Limit, refusalOf } from './limit.js'
import { primitives } from './primitives.js'

const rows: readonly Limit[] = [...primitives]

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
