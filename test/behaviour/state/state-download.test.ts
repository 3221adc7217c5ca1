import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { Reader } from '../../../src/base/primitives/codec.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { checkState, type CheckedState } from '../../../src/ledger/state/check-state.js'
import type { ListedPart } from '../../../src/ledger/state/listed-part.js'
import { PartStore } from '../../../src/ledger/state/part-store.js'
import { type Part, partKind } from '../../../src/ledger/state/parts.js'
import { encodeHead, readHead } from '../../../src/ledger/state/state-head.js'
import { StateKeeper } from '../../../src/ledger/state/state-keeper.js'
import { latestState, stateParts } from '../../../src/ledger/state/write-state.js'
import { TimeoutsClosed } from '../../../src/network/fetch/timeouts.js'
import { LinkError } from '../../../src/network/link.js'
import { StateDownload } from '../../../src/network/join/state-download.js'
import { type StateList, stateListExchange, stateSliceExchange } from '../../../src/network/wire/state-message.js'
import { busyChain, stateHeight } from '../../support/builders/busy-chain.js'
import { oneValidator, quietLog, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { ManualTime } from '../../support/fakes/manual-time.js'
import { eventually } from '../../support/process/patience.js'
import { TestPeer } from '../../support/network/sync.js'

const verifier = createInlineVerifier()
const root = mkdtempSync(join(tmpdir(), 'didledger-join-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let directories = 0
const fresh = () => join(root, String(++directories))

/** Keeps the state of a chain as a node does for its peers. */
async function keeperOf({ chain, log }: TestChain): Promise<StateKeeper> {
  const writing = { leavesAtOnce: 2, bytes: 3_000 }
  const keeper = new StateKeeper({ chain, directory: fresh(), log, writing })
  keeper.start()
  await eventually('a state for peers', () => keeper.latest !== undefined)
  return keeper
}

interface Taking {
  readonly test: TestChain
  readonly peers: readonly TestPeer[]
  readonly directory?: string
  /** Replaces the check of the state. */
  readonly check?: (parts: AsyncIterable<Part>) => Promise<CheckedState>
  readonly days?: number
  /** Whether more peers may come; absent: that is not known. */
  readonly seeksMore?: boolean
  /** Takes the milliseconds until an offer was chosen. */
  readonly onChosen?: (waited: number) => void
  /** Runs at each step of the time. */
  readonly meanwhile?: (time: ManualTime) => Promise<void>
}

/** Takes the state that peers have, in a time that goes on while something waits for it. */
async function take(taking: Taking): Promise<CheckedState | undefined> {
  const { test, peers, directory = fresh(), check, days = 0, seeksMore, onChosen = () => {}, meanwhile } = taking
  const { spec, chain } = test
  const time = new ManualTime(chain.tip.header.time * 1000 + days * 86_400_000)
  const all = () => peers.filter(({ closed }) => !closed)
  const events = { on: () => {}, off: () => {} }
  const parts = await PartStore.open(directory)
  const said: { done: number; total: number }[] = []
  const progress = (done: number, total: number) => void said.push({ done, total })
  const options = {
    spec,
    verifier,
    clock: time,
    timers: time,
    log: quietLog(),
    peers: { all, events, ...(seeksMore !== undefined && { seeksMore }) },
    parts,
    progress,
  }
  const download = new StateDownload(options)
  let isOver = false
  const begun = time.now()
  const usual = (some: AsyncIterable<Part>) => {
    onChosen(time.now() - begun)
    return checkState(some, { spec, verifier, clock: time })
  }
  const taken = download.run(check ?? usual).finally(() => (isOver = true))
  taken.catch(() => {})
  while (!isOver) {
    await time.advance(100)
    await meanwhile?.(time)
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  download.close()
  // Each part counts once, however it came; an offer that was given up counts for itself.
  expect(said.filter(({ done, total }) => done > total)).toEqual([])
  const last = said.at(-1)
  if (last !== undefined && (await taken.catch(() => undefined)) !== undefined) expect(last.done).toBe(last.total)
  return taken
}

const penaltiesOf = (...peers: TestPeer[]) => peers.map(({ penalties }) => penalties.join())
const slicesOf = (...peers: TestPeer[]) => peers.map(({ asked }) => asked.get('state') ?? 0)

/** Has a peer list other parts. */
function listing(peer: TestPeer, change: (list: StateList) => StateList): TestPeer {
  return peer.answering(stateListExchange, async (_, honest) => change(await honest()))
}

const withHash = (list: StateList, at: number, hash = sha256(Uint8Array.of(at))): StateList => ({
  ...list,
  parts: list.parts.map((part, i) => (i === at ? { ...part, hash } : part)),
})

describe.each([
  ['with validators', { ...oneValidator(), producer: 'sponsor' as const }],
  ['of work', withoutValidators],
])('the state of a chain %s', (_, overrides) => {
  let test: TestChain
  let keeper: StateKeeper
  const peer = () => new TestPeer(test, {}, keeper)
  const three = () => [peer(), peer(), peer()] as const
  beforeAll(async () => {
    test = await busyChain({ ...overrides, coinInterval: 330 })
    keeper = await keeperOf(test)
  })
  afterAll(async () => {
    await keeper.close()
    await test.close()
  })

  it('comes from several peers, each part from one', async () => {
    const peers = three()
    expect(await take({ test, peers })).toMatchObject({ height: stateHeight })
    const slices = slicesOf(...peers)
    expect(slices.reduce((sum, n) => sum + n, 0)).toBe(keeper.latest?.state.total)
    expect(Math.min(...slices)).toBeGreaterThan(0)
    expect(penaltiesOf(...peers)).toEqual(['', '', ''])
  })

  it('comes from a single peer as well, and not at all from one that has none', async () => {
    expect(await take({ test, peers: [peer()] })).toMatchObject({ height: stateHeight })
    expect(await take({ test, peers: [new TestPeer(test)] })).toBeUndefined()
    const mixed = [new TestPeer(test), peer(), new TestPeer(test)]
    expect(await take({ test, peers: mixed })).toMatchObject({ height: stateHeight })
    expect(penaltiesOf(...mixed)).toEqual(['', '', ''])
  })

  it('waits two seconds for more peers, unless no further one is known or some have not answered', async () => {
    const silent = () => peer().answering(stateListExchange, () => new Promise(() => {}))
    const waited = async (peers: TestPeer[], seeksMore?: boolean) => {
      let chosen = NaN
      const onChosen = (after: number) => (chosen = after)
      const more = seeksMore === undefined ? {} : { seeksMore }
      expect(await take({ test, peers, onChosen, ...more })).toMatchObject({ height: stateHeight })
      return chosen
    }
    expect(await waited([peer()])).toBeGreaterThanOrEqual(2_000)
    expect(await waited([peer()], true)).toBeGreaterThanOrEqual(2_000)
    expect(await waited([peer(), silent()], false)).toBeGreaterThanOrEqual(2_000)
    expect(await waited([peer(), peer()], false)).toBeLessThan(1_000)
    expect(await waited([peer()], false)).toBeLessThan(1_000)
  })

  it('costs the sender alone whose part is another one than all list', async () => {
    const liar = peer().answering(stateSliceExchange, async (_, honest) => {
      const bytes = Uint8Array.from(await honest())
      bytes[0]! ^= 1
      return bytes
    })
    const honest = [peer(), peer()]
    expect(await take({ test, peers: [liar, ...honest] })).toMatchObject({ height: stateHeight })
    expect(penaltiesOf(liar, ...honest)).toEqual(['peer-state', '', ''])
    expect(liar.closed).toBe(true)
  })

  it('costs all who list a part that the blocks do not commit to, whichever it is, and no other peer', async () => {
    const kinds = new Map<number, number>()
    keeper.latest?.state.list(0, 4096).forEach(({ kind }, i) => kinds.set(kind, i))
    expect([...kinds.keys()]).toEqual([partKind.headers, partKind.blocks, partKind.chunks, partKind.coins, 7, 8])
    for (const [kind, at] of kinds) {
      const bytes = Buffer.from(await keeper.latest!.state.read(at, 0, 1 << 20))
      // Of the first header the hash of the one before it; subtrees without leaves make short parts.
      bytes[Math.min(10, bytes.length - 1)]! ^= 1
      const lie = () =>
        listing(peer(), (list) => withHash(list, at, sha256(bytes))).answering(stateSliceExchange, (question, honest) =>
          question.index === at ? Promise.resolve(bytes.subarray(question.from)) : honest(),
        )
      const peers = [lie(), lie(), lie(), peer()]
      const directory = fresh()
      expect({ at, state: await take({ test, peers, directory }) }).toMatchObject({
        at,
        state: { height: stateHeight },
      })
      // Hashes of chunks are found wrong with the first of these.
      if (kind !== partKind.chunks) expect(readdirSync(directory)).not.toContain(toHex(sha256(bytes)))
      expect({ at, penalties: penaltiesOf(...peers) }).toEqual({ at, penalties: [...Array(3).fill('peer-state'), ''] })
    }
  })

  it('costs who names another head with the right parts, and not those who list these parts', async () => {
    const changes = [{ coins: 1 }, { sum: 1n }, { depth: 1 }]
    for (const change of changes) {
      const lie = () =>
        listing(peer(), (list) => ({ ...list, head: encodeHead({ ...readHead(new Reader(list.head)), ...change }) }))
      const peers = [lie(), lie(), peer()]
      expect(await take({ test, peers })).toMatchObject({ height: stateHeight })
      expect(penaltiesOf(...peers)).toEqual(['peer-state', 'peer-state', ''])
    }
  })

  it('is not begun where no part could follow: of another chain, another height, with a confirm that does not hold, without end', async () => {
    const headed = (change: object) => (list: StateList) => ({
      ...list,
      head: encodeHead({ ...readHead(new Reader(list.head)), ...change }),
    })
    const lies: ((list: StateList) => StateList)[] = [
      headed({ genesis: sha256(new Uint8Array(1)) }),
      headed({ height: stateHeight + 1 }),
      headed({ height: stateHeight + 330 }),
      headed({ confirm: new Uint8Array(3) }),
      (list) => ({ ...list, head: list.head.subarray(1) }),
      (list) => ({ ...list, header: test.activeHeader(331).header }),
      (list) => ({ ...list, total: 200_001 }),
      (list) => ({ ...list, total: list.total + 1, parts: list.parts.slice(0, 1) }),
      (list) => ({ ...list, total: list.total - 1 }),
      (list) => ({ ...list, parts: [...list.parts].reverse() }),
      (list) => ({ ...list, parts: list.parts.map((part) => ({ ...part, length: 0 }) as ListedPart) }),
      (list) => ({ ...list, parts: list.parts.map((part) => ({ ...part, length: 0x7fffffff })) }),
    ]
    for (const [i, lie] of lies.entries()) {
      const peers = [listing(peer(), lie), peer()]
      expect({ i, state: await take({ test, peers }) }).toMatchObject({ i, state: { height: stateHeight } })
      expect({ i, slices: slicesOf(...peers)[0], fair: penaltiesOf(...peers)[1] }).toEqual({ i, slices: 0, fair: '' })
      expect({ i, penalty: penaltiesOf(...peers)[0] }).not.toEqual({ i, penalty: '' })
    }
  })

  it('goes on when peers leave, withhold parts or answer nothing', async () => {
    const leaving = peer()
    leaving.answering(stateSliceExchange, async () => {
      leaving.close('it left')
      return new Uint8Array(0)
    })
    const withholding = peer().answering(stateSliceExchange, async () => new Uint8Array(0))
    const peers = [leaving, withholding, peer()]
    expect(await take({ test, peers })).toMatchObject({ height: stateHeight })
    expect(penaltiesOf(...peers)).toEqual(['', '', ''])
    // It is asked a few times, and not for each part.
    expect(slicesOf(withholding)[0]).toBeLessThanOrEqual(3)
  })

  it('is taken from one that leaves in the middle and comes back, and is waited for no longer than minutes', async () => {
    const leaving = peer()
    let parts = 0
    leaving.answering(stateSliceExchange, async (_, honest) => {
      if (++parts > 1) leaving.close('it is started again')
      return honest()
    })
    const back = peer()
    const peers = [leaving]
    const comes = (after: number) => async (time: ManualTime) => {
      if (leaving.closed && !peers.includes(back)) await time.advance(after).then(() => peers.push(back))
    }
    expect(await take({ test, peers, meanwhile: comes(60_000) })).toMatchObject({ height: stateHeight })
    const gone = peer().answering(stateSliceExchange, async () => {
      gone.close('it left')
      return new Uint8Array(0)
    })
    expect(await take({ test, peers: [gone, new TestPeer(test)] })).toBeUndefined()
  })

  it('is asked for twice where a peer does not answer at first', async () => {
    let asked = 0
    const slow = peer().answering(stateListExchange, async (_, honest) => {
      if (++asked === 1) throw new LinkError('timeout', 'it is late')
      return honest()
    })
    expect(await take({ test, peers: [slow] })).toMatchObject({ height: stateHeight })
    const silent = peer().answering(stateListExchange, () => Promise.reject(new LinkError('timeout', 'it is late')))
    expect(await take({ test, peers: [silent] })).toBeUndefined()
    expect(silent.asked.get(stateListExchange.protocol.name)).toBeGreaterThanOrEqual(2)
  })

  it('does not wait for one that hands out drops, or is late', async () => {
    const dripping = peer().answering(stateSliceExchange, async (_, honest) => (await honest()).subarray(0, 1))
    const silent = peer().answering(stateSliceExchange, () => new Promise<never>(() => {}))
    const peers = [dripping, silent, peer()]
    expect(await take({ test, peers })).toMatchObject({ height: stateHeight })
    expect(penaltiesOf(...peers)).toEqual(['peer-state', '', ''])
    expect(slicesOf(dripping, silent)).toEqual([1, 1])
  })

  it('is taken up where it was left, but for one part of each peer', async () => {
    const directory = fresh()
    const total = keeper.latest!.state.total
    for (let left = 1; left <= total; left++) {
      const stopped = async (parts: AsyncIterable<Part>): Promise<CheckedState> => {
        let count = 0
        for await (const _part of parts) if (count++ === left) break
        throw new Error('a kill')
      }
      const peers = three()
      await expect(take({ test, peers, directory, check: stopped })).rejects.toThrow('a kill')
      // What was there is not asked for again.
      const asked = slicesOf(...peers).reduce((sum, n) => sum + n, 0)
      if (left > 1) expect(asked).toBeLessThanOrEqual(1 + 2 * peers.length)
    }
    const last = three()
    expect(await take({ test, peers: last, directory })).toMatchObject({ height: stateHeight })
    expect(slicesOf(...last)).toEqual([0, 0, 0])
  })

  it('is asked for again where a kept part was damaged', async () => {
    const directory = fresh()
    await take({ test, peers: three(), directory })
    const store = await PartStore.open(directory)
    const { hash } = keeper.latest!.state.list(1, 1)[0] as ListedPart
    await store.put(hash, new Uint8Array(7))
    const peers = three()
    expect(await take({ test, peers, directory })).toMatchObject({ height: stateHeight })
    expect(slicesOf(...peers).reduce((sum, n) => sum + n, 0)).toBe(1)
  })

  it('ends with the failure of the disk, which costs no peer anything', async () => {
    const directory = fresh()
    const peers = three()
    const check = async (parts: AsyncIterable<Part>): Promise<CheckedState> => {
      let at = 0
      for await (const _part of parts) if (at++ === 0) rmSync(directory, { recursive: true })
      throw new Error('it came to its end')
    }
    await expect(take({ test, peers, directory, check })).rejects.toThrow('ENOENT')
    expect(penaltiesOf(...peers)).toEqual(['', '', ''])
  })

  it('is not taken from peers when it is old', async () => {
    const peers = three()
    expect(await take({ test, peers, days: 31 })).toBeUndefined()
    expect(await take({ test, peers: three(), days: 28 })).toMatchObject({ height: stateHeight })
    expect(penaltiesOf(...peers)).toEqual(['', '', ''])
  })

  it('is the same on every node with these blocks', async () => {
    const other = await keeperOf(test)
    expect(other.latest?.state.list(0, 4096)).toEqual(keeper.latest?.state.list(0, 4096))
    await other.close()
    const parts: number[] = []
    const writing = { leavesAtOnce: 2, bytes: 3_000 }
    for await (const { kind } of stateParts(test.chain, latestState(test.chain), writing)) parts.push(kind)
    expect(parts.length).toBe((keeper.latest?.state.total ?? 0) + 1)
  })
})

describe('the state of a chain of work with branches', () => {
  it('is that of the branch with more work, whatever work a peer claims', async () => {
    const overrides = { ...withoutValidators, coinInterval: 330 }
    const [heavy, light] = [await TestChain.open(overrides), await TestChain.open(overrides)]
    await heavy.mineEmpty(331)
    light.clock.time += 1000
    await light.mine()
    await light.mineEmpty(330)
    const keepers = [await keeperOf(heavy), await keeperOf(light)] as const
    const [right, other] = [new TestPeer(heavy, {}, keepers[0]), () => new TestPeer(light, {}, keepers[1])]
    const boasting = [other(), other()].map((peer) =>
      listing(peer, (list) => ({ ...list, chainWork: list.chainWork * 2n })),
    )
    const state = await take({ test: heavy, peers: [...boasting, right] })
    expect(state?.committing.id).toBe(heavy.activeHeader(330).header.id)
    expect(penaltiesOf(...boasting, right)).toEqual(['peer-state', 'peer-state', ''])
    for (const keeper of keepers) await keeper.close()
    await heavy.close()
    await light.close()
  })
})

it('a node without an answer of any peer says what it waits for', async () => {
  const test = await TestChain.open({ ...withoutValidators, coinInterval: 330 })
  const said: string[] = []
  const log = { ...quietLog(), warn: (_: object, message: string) => void said.push(message) }
  const { spec } = test
  const time = new ManualTime()
  const peers = { all: () => [], events: { on: () => {}, off: () => {} } }
  const parts = await PartStore.open(fresh())
  const download = new StateDownload({ spec, verifier, clock: time, timers: time, log, peers, parts })
  const taken = download.run(() => Promise.reject(new Error('there is nothing to check')))
  taken.catch(() => {})
  await time.advance(4_000)
  expect(said).toEqual([])
  await time.advance(130_000)
  expect(said).toEqual(Array(3).fill(expect.stringMatching(/^no peer has said yet whether it has a state/)))
  download.close()
  await expect(taken).rejects.toThrow(TimeoutsClosed)
  await test.close()
})

it('a later state of a branch with less work does not come first on a chain of work', async () => {
  const overrides = { ...withoutValidators, coinInterval: 330 }
  const [heavy, long] = [await TestChain.open(overrides), await TestChain.open(overrides)]
  await heavy.mineEmpty(331)
  long.clock.time += 1000
  await long.mine()
  await long.mineEmpty(660)
  const keepers = [await keeperOf(heavy), await keeperOf(long)] as const
  // Its blocks would have less work: that all of them have the same is the rule of this chain.
  const later = listing(new TestPeer(long, {}, keepers[1]), (list) => ({ ...list, chainWork: 1n }))
  const state = await take({ test: long, peers: [later, new TestPeer(heavy, {}, keepers[0])] })
  expect(state?.committing.id).toBe(heavy.activeHeader(330).header.id)
  expect(slicesOf(later)).toEqual([0])
  for (const keeper of keepers) await keeper.close()
  await heavy.close()
  await long.close()
})

it('a state that only the clock of this node refuses costs no peer anything', async () => {
  const test = await TestChain.open({ ...withoutValidators, coinInterval: 330 })
  await test.mineEmpty(331)
  const keeper = await keeperOf(test)
  const peers = [new TestPeer(test, {}, keeper)]
  let checks = 0
  const check = async (parts: AsyncIterable<Part>): Promise<CheckedState> => {
    checks++
    const clock = { now: () => test.spec.time * 1000 - 7_200_000 }
    return checkState(parts, { spec: test.spec, verifier, clock })
  }
  expect(await take({ test, peers, check })).toBeUndefined()
  expect([checks, ...penaltiesOf(...peers)]).toEqual([1, ''])
  await keeper.close()
  await test.close()
})

describe('a node that keeps the state for peers', () => {
  it('has the latest one, gives up the one before, and writes one that is damaged again', async () => {
    const test = await TestChain.open({ ...oneValidator(), producer: 'sponsor', coinInterval: 288 })
    const directory = fresh()
    const keeper = new StateKeeper({ chain: test.chain, directory, log: test.log })
    keeper.start()
    await test.mineEmpty(287)
    expect(keeper.latest).toBeUndefined()
    await test.mineEmpty(1)
    await expect.poll(() => keeper.latest?.state.height, { interval: 5 }).toBe(0)
    await test.mineEmpty(288)
    await expect.poll(() => keeper.latest?.state.height, { interval: 5 }).toBe(288)
    expect(readdirSync(directory)).toHaveLength(1)
    await keeper.drop(new Error('a disk'))
    await expect.poll(() => keeper.latest?.state.height, { interval: 5 }).toBe(288)
    await keeper.close()
    await test.close()
  })

  it('keeps none with a part that no peer would take, and says so once', async () => {
    const test = await TestChain.open({ ...oneValidator(), producer: 'sponsor', coinInterval: 330 })
    for (const person of Array.from({ length: 10 }, holder)) {
      await test.publish(person.create(), person.did)
    }
    await test.mineEmpty(329 - test.reader.height)
    const said: string[] = []
    const log = {
      ...quietLog(),
      warn: (fields: object, text: string) => void said.push(JSON.stringify([fields, text])),
    }
    const directory = fresh()
    const keeper = new StateKeeper({ chain: test.chain, directory, log, writing: { bytes: 3_000, most: 12_000 } })
    keeper.start()
    await test.mineEmpty(1)
    await expect.poll(() => said.length, { interval: 5 }).toBe(1)
    await test.mineEmpty(250)
    await keeper.close()
    expect(said).toEqual([expect.stringMatching(/one subtree would have.*there is no new state for peers that join/)])
    expect([keeper.latest, readdirSync(directory)]).toEqual([undefined, []])
    await test.close()
  })
})
