import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChainWatch, watchInterval } from '../../../../src/node/standing/chain-watch.js'
import { paramsAt, type Spec } from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import type { Step } from '../../../../src/voting/tendermint/message.js'
import { TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { testSpec } from '../../../support/builders/spec.js'

type Line = { readonly fields: Record<string, unknown>; readonly message: string }

/** The watch of a chain in memory, with a vote, peers and a clock that the test sets. */
class Watched {
  readonly lines: Line[] = []
  readonly watch: ChainWatch
  catchingUp = false
  behindByClock = false
  view = 0
  step: Step = 'propose'
  /** How many validators have sent the vote of the present step. */
  voted = 0
  offsets: readonly number[] = []
  readonly #test: TestChain

  /** The blocks are those of the test; the spec may be another one. */
  constructor(test: TestChain, spec: Spec = test.spec) {
    this.#test = test
    const { validators } = paramsAt(spec, 1)
    const { chain } = test
    const warn = (fields: Record<string, unknown>, message: string) => void this.lines.push({ fields, message })
    const voting = {
      status: () => ({
        height: test.reader.height + 1,
        ...{ view: this.view, step: this.step },
        sponsor: new Uint8Array(33),
        signing: { kind: 'voting' } as const,
      }),
      votes: () =>
        validators.map((publicKey, place) => {
          const voted = place < this.voted
          return { publicKey, own: false, heard: voted, prevote: voted, precommit: voted }
        }),
      otherClocks: () => ({ validators: validators.length, offsets: this.offsets }),
    }
    this.watch = new ChainWatch({
      chain: {
        spec,
        events: chain.events,
        get tip() {
          return chain.tip
        },
      },
      clock: test.clock,
      log: { ...test.log, warn },
      voting: spec.hasValidators ? voting : undefined,
      peers: () => 3,
      catchingUp: () => this.catchingUp,
      behindByClock: () => this.behindByClock,
    })
  }

  get messages(): string[] {
    return this.lines.map(({ message }) => message)
  }

  /** So many seconds pass. */
  pass(seconds: number): void {
    for (let i = 0; i < seconds; i++) {
      this.#test.clock.time += watchInterval
      this.watch.look()
    }
  }
}

let test: TestChain
let node: Watched
afterEach(async () => {
  node.watch.close()
  await test.close()
})

describe('a chain with validators', () => {
  beforeEach(async () => {
    test = await TestChain.open(withoutValidators)
    node = new Watched(test, parseSpec(testSpec()))
    node.voted = 2
  })

  it('is stalled once a step has lasted for a view without a quorum, and says so once', () => {
    node.pass(30)
    node.step = 'prevote'
    node.pass(10)
    expect(node.watch.stalled).toBeUndefined()
    node.pass(1)
    const since = Math.floor(test.clock.time / 1000)
    expect(node.watch.stalled).toMatchObject({
      reason: 'no-quorum',
      since,
      detail: expect.stringContaining('validator 4'),
    })
    node.pass(100)
    expect(node.watch.stalled).toMatchObject({ reason: 'no-quorum', since })
    expect(node.lines).toEqual([
      { message: 'the chain is stalled', fields: expect.objectContaining({ height: 0, reason: 'no-quorum' }) },
    ])
  })

  it('is not while every step goes on in time', () => {
    for (let view = 0; view < 3; view++) {
      node.view = view
      for (const step of ['prevote', 'precommit'] as const) {
        node.step = step
        node.pass(9)
      }
    }
    expect([node.watch.stalled, node.messages]).toEqual([undefined, []])
  })

  it('is well again with the next block alone, and says so once', async () => {
    node.step = 'prevote'
    node.pass(20)
    ;[node.view, node.voted] = [1, 3]
    node.pass(20)
    expect(node.watch.stalled).toMatchObject({ reason: 'no-quorum' })
    await test.mine()
    // Before the next look, too.
    expect(node.watch.stalled).toBeUndefined()
    node.pass(5)
    expect(node.messages).toEqual(['the chain is stalled', 'the chain goes on'])
    expect(node.lines[1]?.fields).toMatchObject({ height: 1, seconds: expect.any(Number) })
  })

  it('is not judged while the node catches up', () => {
    node.catchingUp = true
    node.step = 'prevote'
    node.pass(10_000)
    node.catchingUp = false
    node.pass(5)
    expect(node.watch.stalled).toBeUndefined()
    node.pass(10)
    expect(node.watch.stalled).toMatchObject({ reason: 'no-quorum' })
  })

  it('is not stalled by a clock that is moved, nor by a process that slept', () => {
    node.step = 'prevote'
    node.pass(5)
    test.clock.time += 1e9
    node.pass(1)
    test.clock.time -= 2e9
    node.pass(1)
    expect(node.watch.stalled).toBeUndefined()
  })

  it('has the clock of the others as soon as most of them agree, and says so once', () => {
    node.offsets = [60_000, 60_000]
    node.pass(5)
    expect([node.watch.clockOffset, node.messages]).toEqual([undefined, []])
    node.offsets = [60_000, 60_000, 59_000]
    node.pass(5)
    expect(node.watch.clockOffset).toBe(59)
    node.offsets = [100, 100, -100]
    node.pass(5)
    expect(node.watch.clockOffset).toBeUndefined()
    expect(node.messages).toEqual([
      'the clock of this node is 59 s behind those of the others: set it right',
      'the clock of this node agrees with those of the others again',
    ])
  })
})

describe('a chain of miners', () => {
  beforeEach(async () => {
    test = await TestChain.open({ ...withoutValidators, retarget: { interval: 720, spacing: 2 } })
    node = new Watched(test)
  })

  it('is stalled thirty spacings after its last block, and not before', async () => {
    node.pass(50)
    await test.mine()
    node.pass(60)
    expect(node.watch.stalled).toBeUndefined()
    node.pass(1)
    expect(node.watch.stalled).toMatchObject({
      reason: 'tip-old',
      detail: expect.stringContaining('do its miners work?'),
    })
    await test.mine()
    node.pass(1)
    expect(node.messages).toEqual(['the chain is stalled', 'the chain goes on'])
  })

  it('is stalled for a node whose clock keeps it from the blocks of its peers', async () => {
    node.behindByClock = true
    node.pass(29)
    expect(node.watch.stalled).toBeUndefined()
    node.pass(1)
    expect(node.watch.stalled).toMatchObject({
      reason: 'tip-old',
      detail: 'blocks above height 0 are too far ahead of the clock of this node, say most of its peers: set it right',
    })
    await test.mine()
    node.pass(1)
    expect(node.messages).toEqual(['the chain is stalled', 'the chain goes on'])
  })

  /** So many blocks come, each of which states a time so many seconds from that of the node. */
  const blocks = async (count: number, seconds: number) => {
    for (let i = 0; i < count; i++) {
      await test.mine(1, { time: Math.floor(test.clock.time / 1000) + seconds })
      node.pass(1)
    }
  }

  it('has the middle clock of the last blocks, which a few wrong ones do not move', async () => {
    await blocks(5, 500)
    expect(node.watch.clockOffset).toBeUndefined()
    await blocks(6, 500)
    expect(node.watch.clockOffset).toBe(500)
    expect(node.messages).toEqual(['the clock of this node is 500 s behind those of the others: set it right'])
  })

  it('has no clock by blocks that come while it catches up', async () => {
    node.catchingUp = true
    await blocks(20, 500)
    expect(node.watch.clockOffset).toBeUndefined()
  })
})
