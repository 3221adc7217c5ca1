import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { longest } from '../../../scripts/config/longest-first.js'

it.each(longest)('the file that a run begins with is there: %s', (name) => {
  expect(existsSync(new URL(`../../../${name}`, import.meta.url))).toBe(true)
})
