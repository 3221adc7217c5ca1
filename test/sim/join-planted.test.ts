import { afterEach, expect, it, vi } from 'vitest'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import { Chain } from '../../src/ledger/chain/chain.js'
import { StateRows } from '../../src/ledger/state/state-rows.js'
import type { DiskFiles } from '../../src/ledger/storage/disk-files.js'
import { coinRowSize } from '../../src/ledger/consensus/coin-root.js'
import { type JoinScenario, type JoinTampering, plainJoin, simulateJoin } from './join.js'

/** Faults that are planted into a node that joins: a simulation that does not find them would find no others. */

afterEach(() => {
  vi.restoreAllMocks()
})

/** The promise that a simulation finds broken; none: it finds nothing. */
async function broken(scenario: JoinScenario, tampering: JoinTampering = {}): Promise<string | undefined> {
  try {
    await simulateJoin(scenario, undefined, tampering)
    return undefined
  } catch (error) {
    return error instanceof Error && error.name === 'Violation' ? error.message : String(error)
  }
}

it('nothing, where nothing is planted', async () => {
  expect(await broken(plainJoin())).toBeUndefined()
})

it('a coin of a state that gets lost', async () => {
  const { coins } = StateRows.prototype
  vi.spyOn(StateRows.prototype, 'coins').mockImplementation(function (this: StateRows, rows) {
    return coins.call(this, rows.subarray(coinRowSize))
  })
  expect(await broken(plainJoin())).toMatch(/commits to another state of all coins/)
})

it('places of credentials in their blocks that are wrong, to which no block commits', async () => {
  const { leaf } = StateRows.prototype
  vi.spyOn(StateRows.prototype, 'leaf').mockImplementation(function (this: StateRows, record, made, indices) {
    const wrong = record.credential === undefined ? indices : indices.map((index) => index + 1)
    return leaf.call(this, record, made, wrong)
  })
  expect(await broken(plainJoin())).toMatch(/^rows of credential differ at height/)
})

it('a node that says it has everything before it does', async () => {
  vi.spyOn(Chain.prototype, 'joinedHeight', 'get').mockReturnValue(0)
  expect(await broken(plainJoin())).toMatch(/^getchaininfo says/)
})

it('a restart that does not find the parts of before', async () => {
  const files = (real: DiskFiles): DiskFiles => {
    const made = new Set<string>()
    return {
      ...real,
      rename: (from, to) => real.rename(from, to).then(() => void made.add(to)),
      read: (path) => (made.has(path) ? real.read(path) : Promise.reject(new Error('it is not there'))),
    }
  }
  const kill = { phase: 'parts', nth: 30, what: 'crash-after', lasts: 1_000, breaks: false } as const
  expect(await broken(plainJoin({ troubles: [kill] }), { files })).toMatch(/parts are fetched again after a kill/)
})

it('a node that believes any signature, among liars', async () => {
  const verifier = ({ close }: Verifier): Verifier => ({ verifyAll: () => Promise.resolve(-1), close })
  const lies = { list: 'forked', slice: undefined, history: undefined, often: 1 } as const
  const { plan } = plainJoin()
  const scenario = plainJoin({ plan: { ...plan, fork: 3 }, honest: 1, liars: [lies, lies, lies] })
  expect(await broken(scenario, { verifier })).toMatch(/another block is confirmed at this height/)
})
