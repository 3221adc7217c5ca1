import { expect, it } from 'vitest'
import { firstBlockText } from '../../../../src/program/cli/first-block.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { oneValidator } from '../../../support/builders/chain.js'
import { type SpecOverrides, testSpec } from '../../../support/builders/spec.js'

const timing = { minInterval: 500, emptyInterval: 500, maxDrift: 5_000, propose: 3_000, delta: 500 }

it.each<[SpecOverrides, string]>([
  [{}, '10 s after the start, or 1 s after the start if a transaction waits, once 3 of its 4 validators run'],
  [oneValidator(), '10 s after the start, or 1 s after the start if a transaction waits, once its validator runs'],
  [{ timing }, '0.5 s after the start, once 3 of its 4 validators run'],
  [{ producer: 'miners' }, 'when a miner makes it, once 3 of its 4 validators run'],
  [{ producer: 'miners', validators: [] }, 'when a miner makes it'],
])('says of a chain with %j when its first block comes', (overrides, text) => {
  expect(firstBlockText(parseSpec(testSpec(overrides)))).toBe(text)
})

it('says nothing of a devnet, which makes blocks when it is asked', () => {
  expect(firstBlockText(loadSpec('devnet'))).toBeUndefined()
})
