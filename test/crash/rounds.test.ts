import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SeededRandom } from '../support/builders/seeded-random.js'
import { BaseChain, checkCut, damage, lastBatches, settle } from './damaged-chain.js'

/** Some rounds of `npm run damage`. */
const rounds = 12
/** Places of a cut, of the thousands that the script tries. */
const cuts = 40
const seed = Number(process.env['DIDLEDGER_SEED'] ?? Date.now() % 2 ** 32)

let base: BaseChain
beforeAll(async () => {
  base = await BaseChain.build(new SeededRandom(seed))
}, 600_000)
afterAll(() => base.remove())

it(`damage at random places is named and mended (DIDLEDGER_SEED=${seed})`, { timeout: 600_000 }, async () => {
  for (let round = 1; round <= rounds; round++) {
    const random = new SeededRandom((seed ^ Math.imul(round, 0x9e3779b1)) >>> 0)
    const directory = base.copy()
    const what = damage(join(directory, 'chain'), random)
    const outcome = await settle(base, directory, random).catch((error: unknown) => {
      throw new Error(`round ${round} (${what}): ${String(error)}`)
    })
    expect(outcome.lost).toBeLessThan(base.hashes.length)
    rmSync(directory, { recursive: true })
  }
})

it(`a log that is cut keeps all whole batches (DIDLEDGER_SEED=${seed})`, { timeout: 600_000 }, async () => {
  const log = await lastBatches(base, 2)
  const [begin, middle, end] = log.ends as [number, number, number]
  const random = new SeededRandom(seed)
  const places = Array.from({ length: cuts }, () => begin + random.below(end - begin))
  for (const at of [begin, begin + 1, middle - 1, middle, middle + 1, end - 1, end, ...places]) {
    await checkCut(base, log, at)
  }
})
