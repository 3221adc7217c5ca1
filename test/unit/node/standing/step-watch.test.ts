import { describe, expect, it } from 'vitest'
import { alonePatience, lookPatience, tipPatience } from '../../../../src/node/standing/pace.js'
import type { NodeWord } from '../../../../src/node/standing/node-word.js'
import { StepWatch, type StepWatchOptions } from '../../../../src/node/standing/step-watch.js'
import { loadSpec } from '../../../../src/program/cli/load-spec.js'

const [pow, localnet] = [loadSpec('pow'), loadSpec('localnet')]
const start = 1_800_000_000_000
const idle = { asking: false, arriving: false, met: true, behindByClock: false }
const hour = 3_600_000

type Tip = StepWatchOptions['chain']['tip']

/** A watch over a chain, by default one of miners, whose clocks, tip and peers a test moves. */
function scene({
  spec = pow,
  expectsPeers = true,
  hasNetwork = true,
  met = true,
  signedHeight = 0,
  tipAge = 60_000,
  hadPeers = false,
} = {}) {
  const tipAt = (height: number, now: number) => ({ header: { height, time: Math.floor(now / 1000) } }) as Tip
  const chain = { spec, tip: tipAt(100, start - tipAge), seenHeight: 0 }
  const now = { clock: start, steady: 5_000 }
  const askAnew = (slept: boolean) => {
    sync.asked++
    sync.slept = slept
  }
  const sync = { beyond: { ...idle, met }, asked: 0, slept: false, askAnew }
  const followed: { word: NodeWord | undefined } = { word: undefined }
  const watch = new StepWatch({
    chain,
    followed,
    clock: { now: () => now.clock },
    steady: { now: () => now.steady },
    sync: hasNetwork ? sync : undefined,
    voting: { signedHeight },
    expectsPeers,
    hadPeers,
    policy: { staleAfter: hour, always: false },
  })
  const pass = (clock: number, steady = clock) => {
    now.clock += clock
    now.steady += steady
  }
  const looks = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      pass(1_000)
      watch.look()
    }
  }
  looks(3)
  return {
    ...{ chain, sync, watch, pass, looks, followed },
    /** A time without looks; the peers have not answered since. */
    sleep: (clock: number, steady = clock) => {
      pass(clock, steady)
      sync.beyond = { ...idle, met: false }
    },
    moveTip: (time = now.clock) => (chain.tip = tipAt(chain.tip.header.height + 1, time)),
  }
}

/** How a machine sleeps, and what its clocks say: milliseconds by the one that can be set, and by the steady one. */
const sleeps: readonly [string, number, number][] = [
  ['whose process was stopped', 600_000, 600_000],
  ['whose machine slept', 600_000, 0],
  ['whose clock was set back meanwhile', -hour, 600_000],
  ['whose clock was set back by less than it slept', -lookPatience - 1, 0],
  ['that was late by more than a busy machine', lookPatience + 1, lookPatience + 1],
]

describe('a node', () => {
  it.each(sleeps)('%s is out of step at the first question, until a peer shows its chain', (_, clock, steady) => {
    const { sync, watch, sleep, looks } = scene()
    expect(watch.standing().inStep).toBe(true)
    sleep(clock, steady)
    expect(watch.standing()).toMatchObject({ inStep: false, missing: expect.stringMatching(/stood still for \d+ s/) })
    expect(sync.asked).toBe(1)
    looks(5)
    expect(watch.standing().inStep).toBe(false)
    sync.beyond = idle
    looks(1)
    // Ten minutes are young on this chain; set back by an hour, the clock is not late enough to be a wrong one there.
    expect(watch.standing().inStep).toBe(true)
    expect(sync.asked).toBe(1)
  })

  it('whose process was stopped is out of step at the first look as well, and gives what it has with its age', () => {
    const { watch, sleep } = scene()
    sleep(600_000)
    watch.look()
    expect(watch.standing()).toMatchObject({ inStep: false, reason: 'alone', answers: 'found', age: 663 })
  })

  it.each([
    ['slept', 600_000, 0, true],
    ['slept for as long as a busy machine is late', lookPatience, 0, false],
    ['was busy for long', 600_000, 600_000, false],
    ['had its clock set back', -600_000, 0, false],
  ])('doubts its connections where the machine slept alone: it %s', (_, clock, steady, slept) => {
    const { sync, watch, sleep } = scene()
    sleep(clock, steady)
    watch.look()
    expect(sync.slept).toBe(slept)
  })

  it('that slept within the life of its last answer does not repeat it', () => {
    const { watch, sleep } = scene()
    expect(watch.standing().inStep).toBe(true)
    sleep(5, 600_000)
    expect(watch.standing().inStep).toBe(false)
  })

  it('counts the time that its process was stopped for the age of the tip, though its clock was set back', () => {
    const { sync, watch, sleep, looks } = scene()
    sleep(-lookPatience - 1, tipPatience(pow) + 1_000)
    sync.beyond = idle
    looks(1)
    expect(watch.standing()).toMatchObject({ inStep: false, reason: 'old' })
  })

  it('that is late as a busy machine is stays in step', () => {
    const { sync, watch, pass } = scene()
    for (let i = 0; i < 20; i++) {
      pass(lookPatience)
      expect(watch.standing().inStep).toBe(true)
      pass(-lookPatience, lookPatience)
      watch.look()
      expect(watch.standing().inStep).toBe(true)
    }
    expect(sync.asked).toBe(0)
  })

  it('comes into step by a block that a quorum made since, not by one that was on its way before', () => {
    const { watch, sleep, moveTip } = scene({ spec: localnet, tipAge: 5_000 })
    expect(watch.standing().inStep).toBe(true)
    sleep(20_000)
    watch.look()
    moveTip(start)
    expect(watch.standing().inStep).toBe(false)
    moveTip()
    expect(watch.standing().inStep).toBe(true)
  })

  it('comes into step by no block that is mined, for it may have mined that on its old chain', () => {
    const { sync, watch, sleep, looks, moveTip } = scene()
    sleep(600_000)
    moveTip()
    looks(1)
    expect(watch.standing().inStep).toBe(false)
    sync.beyond = idle
    looks(1)
    expect(watch.standing().inStep).toBe(true)
  })

  it('is behind once its peers show more', () => {
    const { sync, watch, sleep, looks } = scene()
    sleep(600_000)
    sync.beyond = { ...idle, met: false, asking: true, arriving: true }
    looks(1)
    expect(watch.standing()).toMatchObject({ inStep: false, reason: 'behind', answers: 'none' })
  })

  it('that never met a peer says so, and still asks those that it has', () => {
    const { sync, watch, sleep } = scene({ met: false })
    expect(watch.standing()).toMatchObject({ reason: 'alone', missing: 'no peer has shown its chain yet' })
    sleep(600_000)
    expect(watch.standing().inStep).toBe(false)
    expect(sync.asked).toBe(1)
  })
})

describe('a node that expects no peers', () => {
  it('and has no network is in step whatever its clocks do', () => {
    const { watch, sleep } = scene({ expectsPeers: false, hasNetwork: false })
    for (const [, clock, steady] of sleeps) {
      sleep(clock, steady)
      expect(watch.standing().inStep).toBe(true)
      watch.look()
      expect(watch.standing().inStep).toBe(true)
    }
  })

  it('and has none, as one who mines alone, stays in step', () => {
    const { watch, sleep, looks } = scene({ expectsPeers: false, met: false })
    for (let i = 0; i < 2; i++) {
      sleep(600_000)
      expect(watch.standing().inStep).toBe(true)
      looks(1)
      expect(watch.standing().inStep).toBe(true)
    }
  })

  it('and has some all the same waits for them, as long as for lost ones', () => {
    const { watch, sleep, looks } = scene({ expectsPeers: false })
    sleep(600_000)
    expect(watch.standing()).toMatchObject({ inStep: false, reason: 'alone' })
    looks(alonePatience / 1000)
    expect(watch.standing().inStep).toBe(false)
    looks(1)
    expect(watch.standing().inStep).toBe(true)
    // Without them it is alone, as before they came.
    sleep(60_000)
    expect(watch.standing().inStep).toBe(true)
  })
})

describe('a node whose key signed on a longer chain', () => {
  it.each([true, false])('is behind until it has that, with a network: %s', (hasNetwork) => {
    const { watch, moveTip } = scene({ hasNetwork, signedHeight: 103 })
    expect(watch.standing()).toMatchObject({ inStep: false, height: 100, reason: 'behind' })
    moveTip()
    expect(watch.standing()).toMatchObject({ inStep: false, height: 101 })
    moveTip()
    expect(watch.standing()).toMatchObject({ inStep: true, height: 102 })
  })
})

describe('a node that had peers before it started, and is told of none', () => {
  const started = (met: boolean, hadPeers = true) => scene({ expectsPeers: false, met, hadPeers })

  it('is out of step until one of them has shown its chain', () => {
    const { watch, sync, looks } = started(false)
    expect(watch.standing()).toMatchObject({
      inStep: false,
      reason: 'alone',
      missing: expect.stringMatching(/started/),
    })
    sync.beyond = idle
    looks(1)
    expect(watch.standing().inStep).toBe(true)
  })

  it('waits for them as long as for lost ones, and not at all where it had none', () => {
    const { watch, looks } = started(false)
    looks(alonePatience / 1000 - 3)
    expect(watch.standing().inStep).toBe(false)
    looks(1)
    expect(watch.standing().inStep).toBe(true)
    expect(started(false, false).watch.standing().inStep).toBe(true)
  })
})

describe('a follower', () => {
  const word: NodeWord = { height: 100, target: 100, inStep: false, catchingUp: false }

  it('counts for how long the node that it follows was out of step, anew after each time that it was not', () => {
    const { watch, looks, followed } = scene()
    for (const other of [{ ...word, inStep: true }, undefined]) {
      followed.word = word
      looks(15)
      expect(watch.standing().inStep).toBe(true)
      followed.word = other
      looks(1)
    }
    followed.word = word
    looks(16)
    expect(watch.standing()).toMatchObject({ inStep: false, reason: 'alone' })
    followed.word = undefined
    looks(1)
    expect(watch.standing().inStep).toBe(true)
  })
})
