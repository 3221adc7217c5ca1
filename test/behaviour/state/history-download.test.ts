import { describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { Chain } from '../../../src/ledger/chain/chain.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { TimeoutsClosed } from '../../../src/network/fetch/timeouts.js'
import { HistoryDownload, HistoryError } from '../../../src/network/join/history-download.js'
import { blocksExchange } from '../../../src/network/wire/blocks-message.js'
import { headersExchange } from '../../../src/network/wire/headers-message.js'
import { services } from '../../../src/network/wire/status-message.js'
import { memoryStore, oneValidator, quietLog, type Store, withoutValidators } from '../../support/builders/chain.js'
import { type SpecOverrides, testSpec } from '../../support/builders/spec.js'
import { ManualTime } from '../../support/fakes/manual-time.js'
import { longChain, TestPeer } from '../../support/network/sync.js'

const last = 300
const noBytes = new Uint8Array(0)

interface Filling {
  readonly peers: readonly TestPeer[]
  readonly overrides: SpecOverrides
  readonly store?: Store
  /** Heights at which it is closed. */
  readonly until?: number
  readonly busy?: () => boolean
  /** By how much (ms) the clock was set. */
  readonly set?: { by: number }
  /** Milliseconds of waiting after which it is closed. */
  readonly patience?: number
}

/** Has a new chain verify the history that peers have; in a time that goes on while it waits. Returns how far it came. */
async function fill(filling: Filling): Promise<number> {
  const { peers, overrides, store = memoryStore(), until, busy = () => false, set, patience = Infinity } = filling
  const [{ source }] = peers as [TestPeer]
  const time = new ManualTime(source.clock.time + 60_000)
  const end = time.now() + patience
  const clock = { now: () => time.now() + (set?.by ?? 0) }
  const database = await Database.over(store)
  const [spec, log] = [parseSpec(testSpec({ maturity: 2, ...overrides })), quietLog()]
  const verifier = createInlineVerifier()
  const chain = await Chain.open({ spec, database, verifier, signatures: new SignatureCache(), clock: time, log })
  const all = () => peers.filter(({ closed }) => !closed)
  const hashAt = (height: number) => source.activeHeader(height).header.hash
  const download = new HistoryDownload({
    ...{ chain, last, hashAt, busy, clock, timers: time, log },
    peers: { all, events: { on: () => {}, off: () => {} } },
  })
  chain.events.on('change', () => chain.tip.header.height >= (until ?? Infinity) && download.close())
  let isOver = false
  const filled = download.run().finally(() => (isOver = true))
  filled.catch(() => {})
  try {
    while (!isOver) {
      await time.advance(500)
      if (time.now() >= end) download.close()
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
    await filled
  } catch (error) {
    if (!(error instanceof TimeoutsClosed)) throw error
  } finally {
    await chain.close()
    await database.close()
  }
  return chain.tip.header.height
}

const penaltiesOf = (...peers: TestPeer[]) => peers.map(({ penalties }) => penalties.join())

describe.each([
  ['with a validator', { ...oneValidator(), producer: 'sponsor' as const }],
  ['of work', withoutValidators],
])('the history of a chain %s', (_, overrides) => {
  it('comes from peers that keep all of it, past those that hand out anything else', async () => {
    const source = await longChain(overrides, last + 5)
    const honest = new TestPeer(source)
    expect(await fill({ peers: [honest], overrides })).toBe(last)
    const others = {
      pruning: new TestPeer(source, { services: services.recentBlocks }),
      short: new TestPeer(source, { tipHeight: last - 1 }),
      silent: new TestPeer(source).answering(headersExchange, () => new Promise<never>(() => {})),
      withholding: new TestPeer(source).answering(blocksExchange, async (hashes) => hashes.map(() => noBytes)),
      elsewhere: new TestPeer(source).answering(headersExchange, async (_, answer) => (await answer()).slice(1)),
      lying: new TestPeer(source).answering(blocksExchange, async (_, answer) => (await answer()).toReversed()),
    }
    const { silent, ...answering } = others
    const peers = [...Object.values(answering), new TestPeer(source)]
    expect(await fill({ peers, overrides })).toBe(last)
    expect(penaltiesOf(others.pruning, others.short, others.withholding, others.elsewhere)).toEqual(['', '', '', ''])
    expect(penaltiesOf(others.lying)).not.toEqual([''])
    expect(others.pruning.asked.size + others.short.asked.size).toBe(0)
    silent.close('it left')
    await source.close()
  })

  it('is taken up where it was left', async () => {
    const source = await longChain(overrides, last + 5)
    const store = memoryStore()
    const first = await fill({ peers: [new TestPeer(source)], overrides, store, until: 100 })
    expect(first).toBeGreaterThanOrEqual(100)
    expect(first).toBeLessThan(last)
    const peer = new TestPeer(source)
    let lowest = Infinity
    peer.answering(blocksExchange, async (hashes, answer) => {
      const heights = hashes.map((hash) => source.knownHeader(hash).header.height)
      lowest = Math.min(lowest, ...heights)
      return answer()
    })
    expect(await fill({ peers: [peer], overrides, store })).toBe(last)
    expect(lowest).toBe(first + 1)
    await source.close()
  })

  it('waits while the node has other things to do', async () => {
    const source = await longChain(overrides, last + 5)
    const peer = new TestPeer(source)
    let looks = 0
    const busy = () => looks++ < 20 && (expect(peer.asked.size).toBe(0), true)
    expect(await fill({ peers: [peer], overrides, busy })).toBe(last)
    await source.close()
  })

  it('waits for no peer, and rests, no longer because the clock was set or the machine slept', async () => {
    const source = await longChain(overrides, last + 5)
    const day = 86_400_000
    const patience = 600_000
    const set = { by: 0 }
    const sleeping = new TestPeer(source).answering(blocksExchange, (_, answer) => ((set.by = day), answer()))
    expect(await fill({ peers: [sleeping], overrides, patience, set })).toBe(last)
    const looks = { count: 0 }
    const late = new TestPeer(source).answering(headersExchange, async (_, answer) =>
      looks.count++ === 0 ? [] : answer(),
    )
    const busy = () => looks.count === 1 && ((set.by = 0), false)
    expect(await fill({ peers: [late], overrides, patience, set, busy })).toBe(last)
    await source.close()
  })

  it('that breaks a rule is found, whoever stands behind it, and no peer pays for it', async () => {
    const source = await longChain(overrides, last + 5)
    const peer = new TestPeer(source)
    // By the rules of this chain the transfers, one in ten blocks, pay too little.
    const dear = {
      ...overrides,
      upgrades: [{ name: 'dear', height: 50, parameters: { fees: { minimum: '10000000000', perByte: '1' } } }],
    }
    const filled = fill({ peers: [peer], overrides: dear })
    await expect(filled).rejects.toThrow(HistoryError)
    await expect(filled).rejects.toThrow(/^block 52 breaks a rule \(tx-fee/)
    expect(penaltiesOf(peer)).toEqual([''])
    await source.close()
  })
})

it('a confirm that a peer made up costs that peer alone', async () => {
  const overrides = { ...oneValidator(), producer: 'sponsor' as const }
  const source = await longChain(overrides, last + 5)
  const liar = new TestPeer(source).answering(headersExchange, async (_, answer) =>
    (await answer()).map((unit) => {
      const confirm = Uint8Array.from(unit.confirm)
      confirm[confirm.length - 1]! ^= 1
      return { ...unit, confirm }
    }),
  )
  const honest = new TestPeer(source)
  expect(await fill({ peers: [liar, honest], overrides })).toBe(last)
  // It may be asked once more later.
  expect(penaltiesOf(liar, honest)).toEqual([expect.stringMatching(/^(confirm-signature,?)+$/), ''])
  await source.close()
})
