import { expect, it, vi } from 'vitest'
import { repeatRounds } from '../../../../src/program/cli/repeat-rounds.js'
import { quietLog } from '../../../support/builders/chain.js'

/** Runs rounds with these outcomes, a text for a failure, and returns what was logged. */
async function loggedBy(outcomes: readonly (string | undefined)[]): Promise<unknown[]> {
  const log = quietLog()
  let rounds = 0
  const round = async () => {
    const failure = outcomes[rounds++]
    if (failure !== undefined) throw new Error(failure)
  }
  const end = repeatRounds(round, log, 1)
  await vi.waitFor(() => expect(rounds).toBeGreaterThanOrEqual(outcomes.length))
  await end()
  return log.errors
}

it('tells a failure that stays once, though the numbers in it change, and another one again', async () => {
  const old = Array.from({ length: 30 }, (_, i) => `the believed block is ${3_000_000 + i} s old`)
  expect(await loggedBy(old)).toHaveLength(1)
  expect(await loggedBy([...old, 'no room', 'no room', old[0]])).toHaveLength(3)
  expect(await loggedBy(['no room', undefined, 'no room', undefined])).toHaveLength(2)
})

it('waits at its end for the round under way, and begins no other', async () => {
  let rounds = 0
  let release = () => {}
  const round = () => {
    rounds++
    return new Promise<void>((resolve) => (release = resolve))
  }
  const end = repeatRounds(round, quietLog(), 1)
  await vi.waitFor(() => expect(rounds).toBe(1))
  let ended = false
  const ending = end().then(() => (ended = true))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(ended).toBe(false)
  release()
  await ending
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(rounds).toBe(1)
})
