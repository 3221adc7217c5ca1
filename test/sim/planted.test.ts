import { expect, it } from 'vitest'
import type { Verifier } from '../../src/base/crypto/verifier.js'
import type { SignStore } from '../../src/voting/sign-state-file.js'
import { encodeSignState, parseSignState } from '../../src/voting/tendermint/sign-state.js'
import { groundOf } from './ground.js'
import type { SimulatedNode } from './node.js'
import { plainScenario } from './plain.js'
import { everySide, quiet, type Scenario, type Storm } from './scenario.js'
import type { Habits } from './traitor.js'
import { type RunOptions, simulate } from './world.js'

/** Faults that are planted into nodes on purpose: a simulation that does not find them would find no others. */

const rough: Storm = { ...quiet(20_000), delay: [1, 1_500], loss: 0.1, crashes: 0.03 }
const conspiracy: Habits = { twins: 1, doubleVotes: 0, eagerness: 1, silence: 1, forgery: 0 }

/** Simulates seeds from one on until one breaks the promise that a pattern names, and hands out all that was said. */
async function found(
  promise: RegExp,
  scenario: (seed: number) => Scenario,
  tampering: RunOptions['tampering'] = {},
  first = 1,
): Promise<string> {
  const said: string[] = []
  for (let seed = first; seed < first + 40 && !promise.test(said.at(-1) ?? ''); seed++) {
    try {
      await simulate(scenario(seed), { tampering })
    } catch (error) {
      said.push(error instanceof Error ? error.message : String(error))
    }
  }
  return said.join('\n')
}

it('a validator that forgets what it signed', async () => {
  const forgetful = (_: unknown, store: SignStore): SignStore => {
    let first: Uint8Array | undefined
    return {
      load: () => store.load(),
      // Only the first state of each life is kept.
      save: async (bytes) => store.save((first ??= bytes)),
    }
  }
  const scenario = (seed: number) => plainScenario(seed, [rough])
  const promise = /contradicts itself/
  expect(await found(promise, scenario, { signStore: forgetful }, 3)).toMatch(promise)
})

it('a validator that forgets the block it is locked on', async () => {
  const scenario = (seed: number) => {
    const storm: Storm = { ...quiet(30_000), delay: [1, 300], muffled: 0.4 }
    return { ...plainScenario(seed, [storm]), crashWhenLocked: true }
  }
  const { genesis } = groundOf(scenario(1).plan)
  const forgetful = ({ publicKey }: SimulatedNode, store: SignStore): SignStore => ({
    load: async () => {
      const bytes = await store.load()
      if (bytes === undefined || publicKey === undefined) return bytes
      const owner = { genesis, publicKey }
      return encodeSignState({ ...parseSignState(bytes, owner), locked: undefined, valid: undefined }, owner)
    },
    save: (bytes) => store.save(bytes),
  })
  const promise = /is locked on/
  expect(await found(promise, scenario, { signStore: forgetful }, 9)).toMatch(promise)
})

it('a disk that says it has synced and has not', async () => {
  const scenario = (seed: number) => plainScenario(seed, [rough])
  const promise = /is back at height|lost transactions|contradicts itself|two blocks/
  expect(await found(promise, scenario, { disksLie: true })).toMatch(promise)
})

it('nodes that believe any signature, and a liar who shows them confirms', async () => {
  const verifier = ({ close }: Verifier): Verifier => ({ verifyAll: () => Promise.resolve(-1), close })
  const traitors = new Map([[3, { ...conspiracy, forgery: 1 }]])
  const scenario = (seed: number) => ({ ...plainScenario(seed, [quiet(20_000)]), traitors })
  const promise = /two blocks at height/
  expect(await found(promise, scenario, { verifier }, 36)).toMatch(promise)
})

it('a validator that votes twice, whose key others then hold evidence against', async () => {
  const honest: Habits = { twins: 0, doubleVotes: 0, eagerness: 0, silence: 0, forgery: 0 }
  const accused = async (habits: Habits) => {
    const scenario = { ...plainScenario(1, [quiet(20_000)]), traitors: new Map([[3, habits]]) }
    return (await simulate(scenario)).accused
  }
  expect(await accused({ ...honest, doubleVotes: 1 })).toEqual([3])
  expect(await accused(honest)).toEqual([])
})

it('more traitors than the protocol bears', async () => {
  const traitors = new Map([
    [2, conspiracy],
    [3, conspiracy],
  ])
  // The honest two hear nothing of each other, and each of them believes that three confirm its block.
  const partitions = [{ from: 3_000, until: 19_000, sides: [0, 1, everySide, everySide], breaks: false }]
  const scenario = (seed: number) => ({ ...plainScenario(seed, [{ ...quiet(20_000), partitions }]), traitors })
  const promise = /two blocks at height/
  expect(await found(promise, scenario)).toMatch(promise)
})
