import { afterEach, describe, expect, it } from 'vitest'
import { ChainWatch, watchInterval } from '../../../src/node/standing/chain-watch.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { testPublicKey } from '../../support/builders/spec.js'
import { TestNet, type TestNode } from '../../support/network/voting-net.js'

const timing = { minInterval: 1_000, emptyInterval: 10_000, maxDrift: 15_000, propose: 3_000, delta: 500 }
/** Until an idle chain of these timers has begun to vote, waited for a proposal and for votes. */
const noticed = 10_000 + 3_000 + 10_000

let net: TestNet
let cancel: () => void
const watches = new Map<TestNode, ChainWatch>()
const warnings = new Map<TestNode, string[]>()
afterEach(async () => {
  cancel()
  watches.clear()
  warnings.clear()
  await net.close()
})

/** The watch of a node, in the time of the network. */
function watch(node: TestNode): ChainWatch {
  const { chain, clock, log } = node.test
  const said: string[] = []
  const made = new ChainWatch({
    chain,
    clock,
    log: { ...log, warn: (_, message) => void said.push(message) },
    voting: node.voting,
    peers: () => net.nodes.filter((other) => other !== node && other.online).length,
    catchingUp: () => false,
    behindByClock: () => false,
  })
  watches.set(node, made)
  warnings.set(node, said)
  return made
}

async function open(validators: number, followers = 0): Promise<void> {
  const keys = Array.from({ length: validators }, (_, person) => toHex(testPublicKey(person)))
  net = new TestNet({ timing, validators: keys })
  for (let person = 0; person < validators; person++) watch(await net.add({ person }))
  for (let i = 0; i < followers; i++) watch(await net.add({ person: undefined }))
  const beat = () => {
    for (const made of watches.values()) made.look()
    cancel = net.timers.after(watchInterval, beat)
  }
  cancel = net.timers.after(watchInterval, beat)
}

const stalls = () => net.nodes.map((node) => watches.get(node)?.stalled)
const node = (index: number) => net.nodes[index] as TestNode

/** What every other node of the network is told of a validator. */
const nameOf = (person: number) => `validator ${person + 1} (${toHex(testPublicKey(person)).slice(0, 12)}…`

describe('four validators and a follower', () => {
  it('go on without an alarm, also with one of them gone', async () => {
    await open(4, 1)
    await net.advance(120_000)
    node(2).online = false
    await net.advance(240_000)
    node(2).online = true
    await net.advance(120_000)
    const others = net.nodes.filter(({ plan }) => plan.person !== 2)
    expect(others.map((one) => [watches.get(one)?.stalled, warnings.get(one)])).toEqual(
      others.map(() => [undefined, []]),
    )
    // The one that is cut off knows that it is alone, and that it came back.
    expect(warnings.get(node(2))).toEqual(['the chain is stalled', 'the chain goes on'])
  })

  it('say that the chain is stalled when two are gone, whom they miss, and that it goes on when one is back', async () => {
    await open(4, 1)
    await net.allAt(2, 60_000)
    const gone = [node(2), node(3)]
    for (const { plan } of [...gone]) await net.remove(net.nodes.find((one) => one.plan === plan) as TestNode)
    const height = node(0).height()
    await net.advance(noticed - 3_000)
    expect(stalls()).toEqual([undefined, undefined, undefined])
    await net.advance(6_000)
    for (const stalled of stalls()) {
      expect(stalled).toMatchObject({ reason: 'no-quorum' })
      expect(stalled?.detail).toContain(`votes of 2 of 4 validators have arrived`)
      expect(stalled?.detail).toContain(`missing: ${nameOf(2)}), ${nameOf(3)})`)
    }
    expect(
      node(0)
        .voting.votes()
        .map(({ heard, prevote, precommit }) => [heard, prevote, precommit]),
    ).toEqual([
      [true, true, false],
      [true, true, false],
      [false, false, false],
      [false, false, false],
    ])
    await net.advance(120_000)
    expect(node(0).height()).toBe(height)
    expect(net.nodes.map((one) => warnings.get(one))).toEqual(net.nodes.map(() => ['the chain is stalled']))

    const { signs, store, plan } = gone[0] as TestNode
    watch(await net.add({ ...plan, signs, store }))
    await net.allAt(height + 1, 120_000)
    expect(stalls()).toEqual([undefined, undefined, undefined, undefined])
    await net.advance(60_000)
    expect(net.nodes.slice(0, 3).map((one) => warnings.get(one))).toEqual(
      [0, 1, 2].map(() => ['the chain is stalled', 'the chain goes on']),
    )
  })

  it('miss the one that died between its votes', async () => {
    await open(4)
    await net.allAt(1, 60_000)
    // Precommits of two are lost, prevotes of all arrive.
    net.filter = (bytes, from) => (from.plan.person ?? 0) < 2 || (bytes[0] ?? 0) <= 2
    net.healing = false
    await net.advance(30_000)
    for (const index of [2, 3]) node(index).online = false
    net.healing = true
    await net.advance(60_000)
    expect(watches.get(node(0))?.stalled).toMatchObject({ reason: 'no-quorum' })
    expect(watches.get(node(0))?.stalled?.detail).toContain(`${nameOf(2)}), ${nameOf(3)})`)
  })
})

it('the only validator of a chain raises no alarm, and its follower misses it when it is gone', async () => {
  await open(1, 1)
  await net.advance(120_000)
  expect(stalls()).toEqual([undefined, undefined])
  await net.remove(node(0))
  await net.advance(noticed + 3_000)
  expect(stalls()[0]).toMatchObject({ reason: 'no-quorum' })
  expect(stalls()[0]?.detail).toContain(`votes of 0 of 1 validators have arrived`)
})

describe('the clocks of four validators', () => {
  async function skewed(...skews: number[]): Promise<(number | undefined)[]> {
    const keys = skews.map((_, person) => toHex(testPublicKey(person)))
    net = new TestNet({ timing, validators: keys })
    for (const [person, skew] of skews.entries()) watch(await net.add({ person, skew }))
    cancel = () => {}
    for (let minute = 0; minute < 2; minute++) {
      await net.advance(60_000)
      for (const made of watches.values()) made.look()
    }
    return net.nodes.map((one) => watches.get(one)?.clockOffset)
  }

  it('agree', async () => {
    expect(await skewed(0, 3_000, -3_000, 0)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('are named to the one that is behind, and to no other', async () => {
    const [wrong, ...others] = await skewed(-90_000, 0, 0, 0)
    expect(wrong).toBeGreaterThan(85)
    expect(others).toEqual([undefined, undefined, undefined])
    expect(warnings.get(node(0))?.join()).toMatch(/is (8|9)\d s behind those of the others/)
  })

  it('are named to the one that is ahead, and to no other', async () => {
    const [wrong, ...others] = await skewed(90_000, 0, 0, 0)
    expect(wrong).toBeLessThan(-85)
    expect(others).toEqual([undefined, undefined, undefined])
  })
})
