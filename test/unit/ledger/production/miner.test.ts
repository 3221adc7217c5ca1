import { expect, it } from 'vitest'
import { Miner } from '../../../../src/ledger/production/miner.js'
import { personHash } from '../../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../../support/builders/chain.js'

it('a miner logs once that its clock is behind the tip, and again after a block', async () => {
  const test = await TestChain.open(withoutValidators)
  const { chain, mempool, clock, random, log } = test
  const warnings: string[] = []
  let attempts: (() => void)[] = []
  const timers = { after: (_: number, callback: () => void) => (attempts.push(callback), () => {}) }
  const miner = new Miner({
    ...{ chain, mempool, clock, random, timers, payTo: personHash(20) },
    log: { ...log, warn: ({ error }) => void warnings.push(String(error)) },
  })
  /** Makes an attempt; resolves when the next one waits. */
  const attempt = async () => {
    const [next] = attempts as [() => void]
    attempts = []
    next()
    while (attempts.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const late = 86_400_000
  miner.start()
  await attempt()
  clock.time -= late
  for (let i = 0; i < 3; i++) await attempt()
  expect(warnings).toEqual([expect.stringContaining('at most')])
  clock.time += late + 1000
  await attempt()
  expect(test.reader.height).toBe(2)
  clock.time -= late
  await attempt()
  expect(warnings).toHaveLength(2)
  await miner.close()
  await test.close()
})
