import { expect, it } from 'vitest'
import { thorough } from '../support/process/thorough.js'
import { brokenBy, junkAttack, smallAttack, wholeAttack } from './junk.js'

it('keeps what pays, and mines it first, while junk crowds the pool', { timeout: 600_000 }, async () => {
  expect(brokenBy(await junkAttack(thorough ? wholeAttack : smallAttack))).toEqual([])
})
