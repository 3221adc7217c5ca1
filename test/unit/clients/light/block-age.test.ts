import { describe, expect, it } from 'vitest'
import type { AnchoredBlock } from '../../../../src/identity/proofs/anchor.js'
import { readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { BlockAges } from '../../../../src/clients/light/block-age.js'
import { lightWorld } from '../../../support/builders/light-world.js'

const [validators, miners] = [lightWorld().book, lightWorld({ miners: true }).book]
const { header } = validators.page(5).block
const block = { header } as AnchoredBlock
const day = 24 * 60 * 60

/** What is said of a block at so many seconds after it: the name of a failure, or `fine`. */
function saidAt(
  seconds: number,
  check: (ages: BlockAges) => unknown,
  changes: object = {},
  book = validators,
): unknown {
  const now = () => (header.time + seconds) * 1000
  try {
    return check(new BlockAges(readTrust(book.trust(changes)), { now })) ?? 'fine'
  } catch (error) {
    return (error as { failure: string }).failure
  }
}

describe('the age of a block', () => {
  const fresh = (ages: BlockAges) => ages.requireFresh(block, 3600, () => ({ proved: {} }))
  const past = (ages: BlockAges) => ages.requirePast(block)
  const root = (ages: BlockAges) => ages.oldRoot(block)

  it('may be as much as is allowed, and not a second more', () => {
    expect([saidAt(3600, fresh), saidAt(3601, fresh)]).toEqual(['fine', 'stale'])
    expect(saidAt(1e9, (ages) => ages.requireFresh(block, undefined, () => ({ proved: {} })))).toBe('fine')
  })

  it('may lie as far ahead as the chain allows, and a minute', () => {
    expect([saidAt(-65, past), saidAt(-66, past)]).toEqual(['fine', 'future'])
    expect([saidAt(-75, past, { maxDrift: 15 }), saidAt(-76, past, { maxDrift: 15 })]).toEqual(['fine', 'future'])
  })

  it('is 30 days at most where it is believed, on a chain with validators', () => {
    expect([saidAt(30 * day, root), saidAt(30 * day + 1, root)]).toEqual(['fine', 'trust-expired'])
    expect(saidAt(60 * day, root, {}, miners)).toBe('fine')
  })

  it('is nothing on a devnet, whose clock is not that of the world', () => {
    const devnet = { devnet: true }
    expect([saidAt(1e9, fresh, devnet), saidAt(-1e9, past, devnet), saidAt(1e9, root, devnet)]).toEqual([
      'fine',
      'fine',
      'fine',
    ])
  })

  it('is shown in whole seconds, and never below none', () => {
    const age = (ages: BlockAges) => ages.proved(block, []).age
    expect([saidAt(1.9, age), saidAt(0, age), saidAt(-5, age)]).toEqual([1, 0, 0])
  })
})
