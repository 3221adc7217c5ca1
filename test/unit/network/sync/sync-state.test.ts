import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { brokenRule } from '../../../../src/base/errors/broken-rule.js'
import type { PendingBlock } from '../../../../src/network/fetch/pending-block.js'
import { PendingHeaders } from '../../../../src/network/fetch/pending-headers.js'
import { type SyncEffect, type SyncEvent, type SyncFacts, SyncState } from '../../../../src/network/sync/sync-state.js'
import { oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { longChain, TestPeer, unitAt } from '../../../support/network/sync.js'

const wakeAll = ['ask-headers', 'download', 'check', 'write', 'tick']
const start = 1_900_000_000_000

/** The state of a sync on an empty chain, beside a peer with five blocks. */
function sceneOf(overrides: Parameters<typeof longChain>[0]) {
  const scene = {} as { own: TestChain; source: TestChain; peer: TestPeer; state: SyncState; facts: SyncFacts }
  beforeAll(async () => {
    scene.own = await TestChain.open(overrides)
    scene.source = await longChain(overrides, 5)
  })
  beforeEach(() => {
    const { own, source } = scene
    const branch = new PendingHeaders(own.chain.tip)
    scene.peer = new TestPeer(source)
    for (const height of [1, 2, 3]) branch.push(unitAt(source, height), scene.peer, false)
    scene.state = new SyncState(own.chain)
    scene.facts = { now: start, branch, arriving: undefined }
  })
  afterAll(async () => {
    await scene.own.close()
    await scene.source.close()
  })
  const step = (event: SyncEvent, facts: Partial<SyncFacts> = {}) =>
    scene.state.step(event, { ...scene.facts, ...facts })
  const blockAt = (height: number) => scene.facts.branch.at(height) as PendingBlock
  const idle = () => ({ branch: new PendingHeaders(scene.own.chain.tip) })
  return { scene, step, blockAt, idle }
}

const types = (effects: readonly SyncEffect[]) => effects.map(({ type }) => type)
const only = (effects: readonly SyncEffect[], type: SyncEffect['type']) =>
  effects.find((effect) => effect.type === type)

describe.each([
  ['with a validator', oneValidator()],
  ['without validators', withoutValidators],
])('the state of a sync %s', (_, overrides) => {
  const { scene, step, idle, blockAt } = sceneOf(overrides)

  it('wakes every stage when peers or the chain change, and the next one when a stage is done', () => {
    for (const type of ['peers', 'tip', 'written', 'tick'] as const) expect(types(step({ type }))).toEqual(wakeAll)
    expect(types(step({ type: 'headers' }))).toEqual(wakeAll.slice(1))
    expect(types(step({ type: 'bodies' }))).toEqual(['check'])
    expect(types(step({ type: 'checked' }))).toEqual(['write'])
    expect(types(step({ type: 'bad-body' }))).toEqual(['download'])
    expect(step({ type: 'arriving' })).toEqual([])
  })

  it('stops the node on an unexpected error', () => {
    const error = new TypeError('a fault')
    expect(step({ type: 'failed', error })).toEqual([{ type: 'fatal', error }])
  })

  it('counts as catching up with more than one block to go, and with one after two seconds', () => {
    const one = { branch: scene.facts.branch.upTo(1) }
    const isCatchingUp = (facts: Partial<SyncFacts>) => scene.state.isCatchingUp({ ...scene.facts, ...facts })
    expect([isCatchingUp({}), isCatchingUp(one), isCatchingUp(idle())]).toEqual([true, false, false])
    expect(isCatchingUp({ ...idle(), arriving: 2 })).toBe(true)
    step({ type: 'peers' }, one)
    expect(isCatchingUp({ ...one, now: start + 2_000 })).toBe(false)
    expect(isCatchingUp({ ...one, now: start + 2_001 })).toBe(true)
    // Asking changes nothing: only events do.
    isCatchingUp(idle())
    expect(isCatchingUp({ ...one, now: start + 2_001 })).toBe(true)
    step({ type: 'peers' }, idle())
    expect(isCatchingUp({ ...one, now: start + 2_001 })).toBe(false)
  })

  it('retries a refused block that the chain cannot judge now, or that is not pending any more', () => {
    for (const code of ['busy', 'block-stale'] as const) {
      expect(step({ type: 'refused', block: blockAt(2), error: brokenRule(code) })).toEqual([])
    }
    expect(step({ type: 'refused', block: blockAt(2), error: brokenRule('tx-signature') }, idle())).toEqual([])
    expect(scene.state.isAvoided(blockAt(2).unit.header.hash, start)).toBe(false)
  })

  it('asks for the headers of a block anew whose parent had to leave the store, and does not avoid it', () => {
    const effects = step({ type: 'refused', block: blockAt(2), error: brokenRule('block-parent-unknown') })
    expect(effects[0]).toEqual({ type: 'cut', height: 2 })
    expect(types(effects)).toEqual(['cut', 'unexplore', ...wakeAll])
    expect(scene.state.isAvoided(blockAt(2).unit.header.hash, start)).toBe(false)
  })

  it('avoids a refused block for five minutes, and then looks again', () => {
    const { hash } = blockAt(2).unit.header
    const effects = step({ type: 'refused', block: blockAt(2), error: brokenRule('tx-signature') })
    expect(only(effects, 'cut')).toEqual({ type: 'cut', height: 2 })
    expect(only(effects, 'look-later')).toEqual({ type: 'look-later', milliseconds: 301_000 })
    expect(types(effects).slice(-5)).toEqual(wakeAll)
    expect([start, start + 299_999, start + 300_000].map((now) => scene.state.isAvoided(hash, now))).toEqual([
      true,
      true,
      false,
    ])
    // One timer for all of them, set anew as long as there is one to avoid.
    expect(only(step({ type: 'refused', block: blockAt(3), error: brokenRule('tx-signature') }), 'look-later')).toBe(
      undefined,
    )
    expect(types(step({ type: 'look' }, { now: start + 1 }))).toEqual(['unexplore', ...wakeAll, 'look-later'])
    expect(types(step({ type: 'look' }, { now: start + 301_000 }))).toEqual(['unexplore', ...wakeAll])
  })

  it('avoids a refused block no longer because the clock was set back', () => {
    const { hash } = blockAt(2).unit.header
    step({ type: 'refused', block: blockAt(2), error: brokenRule('tx-signature') })
    const early = start - 86_400_000
    expect(scene.state.isAvoided(hash, early)).toBe(false)
    expect(types(step({ type: 'look' }, { now: early }))).toEqual(['unexplore', ...wakeAll])
  })

  it('remembers 256 avoided blocks, the latest ones', () => {
    const { header } = blockAt(1).unit
    const hashOf = (i: number) => Uint8Array.from({ length: 32 }, (_, at) => (at < 2 ? (i >> (8 * at)) & 255 : 7))
    for (let i = 0; i < 257; i++) {
      const other = Object.defineProperty(Object.create(header) as typeof header, 'hash', { value: hashOf(i) })
      step({ type: 'contradicted', header: other, peer: scene.peer, error: brokenRule('tx-signature') })
    }
    expect([0, 1, 256].map((i) => scene.state.isAvoided(hashOf(i), start))).toEqual([false, true, true])
  })

  it('passes on a conflict only where the own chain has another block', () => {
    expect(step({ type: 'conflict', unit: unitAt(scene.source, 1) })).toEqual([])
  })
})

describe('a block that no peer delivers', () => {
  const bound = sceneOf(oneValidator())
  const free = sceneOf(withoutValidators)

  it('is asked for again after ten seconds if a quorum confirmed it', () => {
    expect(bound.step({ type: 'missing', block: bound.blockAt(1) })).toEqual([])
    expect(types(bound.step({ type: 'tick' }, { now: start + 9_999 }))).toEqual(wakeAll)
    expect(types(bound.step({ type: 'tick' }, { now: start + 10_000 }))).toEqual(['forget-misses', ...wakeAll])
    expect(types(bound.step({ type: 'tick' }, { now: start + 20_000 }))).toEqual(wakeAll)
  })

  it('is avoided on a chain without validators; its source is dropped only if it says that it lacks the body', () => {
    const silent = free.blockAt(1)
    const effects = free.step({ type: 'missing', block: silent })
    expect(types(effects)).toEqual(['report', 'look-later', 'cut', 'unexplore', 'ask-headers'])
    silent.noteWithheld(free.scene.peer)
    expect(only(free.step({ type: 'missing', block: silent }), 'drop')).toMatchObject({ code: 'peer-withheld' })
  })

  it('is asked of each peer once that offers it later, and followed when one has it', () => {
    const block = free.blockAt(1)
    const { unit } = block
    const [first, second] = [new TestPeer(free.scene.source), new TestPeer(free.scene.source)]
    const offer = (peer: TestPeer) => free.step({ type: 'offered', peer, unit })
    expect(offer(first)).toEqual([])
    free.step({ type: 'missing', block })
    expect(offer(first)).toEqual([{ type: 'probe', peer: first, unit }])
    expect(offer(first)).toEqual([])
    expect(types(offer(second))).toEqual(['probe'])
    const effects = free.step({ type: 'delivered', peer: second, hash: unit.header.hash })
    expect(effects).toEqual([{ type: 'unexplore', peer: second }, { type: 'ask-headers' }])
    expect(free.scene.state.isAvoided(unit.header.hash, start)).toBe(false)
  })
})

describe('a block that the chain refuses', () => {
  const bound = sceneOf(oneValidator())
  const free = sceneOf(withoutValidators)

  it('confirmed by a quorum: penalises no peer, and the node goes on as one that is behind', () => {
    const error = brokenRule('tx-signature')
    const effects = bound.step({ type: 'refused', block: bound.blockAt(3), error })
    expect(only(effects, 'report')).toMatchObject({ level: 'error', report: { code: 'tx-signature', height: 3 } })
    expect(only(effects, 'drop')).toBeUndefined()
    expect(bound.scene.state.provedHeight).toBe(3)
    expect(bound.scene.state.isCatchingUp({ ...bound.scene.facts, ...bound.idle() })).toBe(true)
  })

  it('on a chain of miners: drops the peer that proved work for it', () => {
    const effects = free.step({ type: 'refused', block: free.blockAt(3), error: brokenRule('tx-signature') })
    expect(only(effects, 'report')).toMatchObject({ level: 'warn' })
    expect(only(effects, 'drop')).toMatchObject({ peer: free.scene.peer, code: 'tx-signature' })
    expect(free.scene.state.provedHeight).toBe(0)
  })

  it('of which honest nodes may differ: drops no peer', () => {
    const effects = free.step({ type: 'refused', block: free.blockAt(3), error: brokenRule('block-time-future') })
    expect(only(effects, 'drop')).toBeUndefined()
    expect(only(effects, 'cut')).toEqual({ type: 'cut', height: 3 })
  })
})
