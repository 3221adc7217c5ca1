import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import type { Header } from '../../../src/base/primitives/header.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { fetchConfirms } from '../../../src/network/fetch/fetch-confirms.js'
import { LinkError } from '../../../src/network/link.js'
import { headersExchange } from '../../../src/network/wire/headers-message.js'
import { services } from '../../../src/network/wire/status-message.js'
import { type Core, openCore } from '../../../src/node/core.js'
import { ConflictAlarm } from '../../../src/voting/conflict-alarm.js'
import { Evidence } from '../../../src/voting/evidence.js'
import { craftBlock, craftConfirm } from '../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { joinedNode, passBlocks } from '../../support/builders/joined-chain.js'
import { ManualTime, rest } from '../../support/fakes/manual-time.js'
import { addressOf, identityOf, MemoryNetwork } from '../../support/network/memory-network.js'
import { TestPeer } from '../../support/network/sync.js'
import { eventually } from '../../support/process/patience.js'

/** Two confirmed blocks of one height below the state of a node that joined by it. */

const overrides = { ...oneValidator(), producer: 'sponsor' as const, coinInterval: 330 }
const height = 5
let source: TestChain
let node: TestChain
let rival: Rival
/** Another one, of the next height. */
let later: Rival

interface Rival {
  readonly block: Block
  readonly header: Header
  readonly confirm: Uint8Array
}

/** A confirmed block that the chain could have next, and has not. */
function rivalOf({ chain, spec }: TestChain): Rival {
  const block = craftBlock(chain)
  return { block, header: block.header, confirm: confirmBytes(craftConfirm(spec, block)) }
}

beforeAll(async () => {
  source = await TestChain.open(overrides)
  await source.mineEmpty(height - 1)
  source.clock.time += 1000
  rival = rivalOf(source)
  source.clock.time += 1000
  await source.mineEmpty(1)
  source.clock.time += 1000
  later = rivalOf(source)
  source.clock.time += 1000
  await source.mineEmpty(330 - source.reader.height)
})
beforeEach(async () => {
  node = await joinedNode(source, overrides)
})
afterEach(() => node.close())
afterAll(() => source.close())

async function alarmOf({ chain, database, log }: TestChain): Promise<{ alarm: ConflictAlarm; evidence: Evidence }> {
  const { header } = chain.tip
  const evidence = await Evidence.open(database, () => header)
  return { alarm: new ConflictAlarm({ chain, verifier: createInlineVerifier(), log }, evidence), evidence }
}

it('the alarm is raised by the confirm of the own block that another peer has, past those that lie or have none', async () => {
  const own = source.activeHeader(height).header
  expect(own.id).not.toBe(rival.header.id)
  expect(node.database.get(tables.confirm.key(own.hash))).toBeUndefined()
  const forged = new TestPeer(source).answering(headersExchange, async (_, answer) =>
    (await answer()).map((unit) => ({ ...unit, confirm: rival.confirm })),
  )
  const elsewhere = new TestPeer(source).answering(headersExchange, async () => [])
  const silent = new TestPeer(source).answering(headersExchange, () => Promise.reject(new LinkError('timeout', 'late')))
  const pruning = new TestPeer(source, { services: services.recentBlocks })
  const gone = new TestPeer(source)
  gone.close('it left')
  const others = [pruning, gone, silent, elsewhere, forged]
  const { alarm, evidence } = await alarmOf(node)
  const asking = (peers: readonly TestPeer[]) => (header: Header) => fetchConfirms(peers, header)

  await alarm.examine(rival.header, rival.confirm, asking(others))
  expect([alarm.text, evidence.list()]).toEqual([undefined, []])
  expect([pruning, gone].map(({ asked }) => asked.size)).toEqual([0, 0])

  const honest = new TestPeer(source)
  await alarm.examine(rival.header, rival.confirm, asking([...others, honest]))
  expect(alarm.text).toMatch(/two confirmed blocks exist at height 5/)
  expect(honest.asked.get('headers')).toBe(1)
  const confirm = source.database.get(tables.confirm.key(own.hash)) as Uint8Array
  const [kept] = evidence.list()
  expect([kept?.first, kept?.second].map((bytes) => toHex(bytes as Uint8Array))).toEqual([
    toHex(own.bytes) + toHex(confirm),
    toHex(rival.header.bytes) + toHex(rival.confirm),
  ])
  // There is no need of another one.
  await alarm.examine(rival.header, rival.confirm, asking([honest]))
  expect(honest.asked.get('headers')).toBe(1)
  // Also after a restart.
  expect((await alarmOf(node)).alarm.text).toBe(alarm.text)
})

it('a confirm of the other block that does not hold has no peer asked', async () => {
  const { alarm } = await alarmOf(source)
  const peer = new TestPeer(source)
  const wrong = Uint8Array.from(rival.confirm)
  wrong[wrong.length - 1]! ^= 1
  const examined = alarm.examine(rival.header, wrong, (header) => fetchConfirms([peer], header))
  await expect(examined).rejects.toMatchObject({ code: expect.stringMatching(/^confirm-/) as string })
  expect(peer.asked.size).toBe(0)
})

describe('while others are asked for a confirm', () => {
  /** A peer that answers when it is told to. */
  function heldBack(peer: TestPeer): () => void {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    peer.answering(headersExchange, (_, answer) => held.then(answer))
    return release
  }

  it('what is shown again, or of another height, has none asked more', async () => {
    const { alarm, evidence } = await alarmOf(node)
    const peer = new TestPeer(source)
    const release = heldBack(peer)
    const asking = (header: Header) => fetchConfirms([peer], header)
    const shown = [...Array.from({ length: 100 }, () => rival), later]
    const examined = Promise.all(shown.map(({ header, confirm }) => alarm.examine(header, confirm, asking)))
    await eventually('a question', () => peer.asked.size > 0)
    await rest()
    expect([peer.asked.get('headers'), alarm.text]).toEqual([1, undefined])
    release()
    await examined
    expect(alarm.text).toMatch(/at height 5/)
    expect([peer.asked.get('headers'), evidence.list().length]).toEqual([1, 1])
  })

  it('and none has it, or asking fails, the next one has them asked anew', async () => {
    const { alarm } = await alarmOf(node)
    const failing = (): AsyncIterable<Uint8Array> => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('a fault')) }),
    })
    const none = new TestPeer(source).answering(headersExchange, async () => [])
    await expect(alarm.examine(rival.header, rival.confirm, failing)).rejects.toThrow('a fault')
    await alarm.examine(rival.header, rival.confirm, (header) => fetchConfirms([none], header))
    expect([none.asked.get('headers'), alarm.text]).toEqual([1, undefined])
    await alarm.examine(later.header, later.confirm, (header) => fetchConfirms([new TestPeer(source)], header))
    expect(alarm.text).toMatch(/at height 6/)
  })
})

/** Chain and vote of a node among others in one process. */
async function coreOf(
  test: TestChain,
  network: MemoryNetwork,
  number: number,
  peers: readonly number[],
): Promise<Core> {
  const { time } = network
  const { publicKey } = identityOf(number)
  return openCore({
    chain: test.chain,
    verifier: createInlineVerifier(),
    signatures: new SignatureCache(),
    env: { clock: time, timers: time, log: test.log, random: test.random },
    peering: {
      transport: network.plug(number),
      publicKey,
      settings: { peers: peers.map(addressOf), outbound: 8, inbound: 8 },
    },
  })
}

it('a node raises the alarm of what one peer shows by what another one has, and says so of its vote', async () => {
  const liar = await TestChain.open(overrides)
  await passBlocks(source, liar.chain, [1, height - 1])
  liar.clock.time = source.clock.time
  await liar.accept(rival.block)
  await liar.mineEmpty(335 - height)
  const time = new ManualTime(liar.clock.time)
  const network = new MemoryNetwork({ time })
  const cores = [
    await coreOf(source, network, 1, []),
    await coreOf(liar, network, 2, []),
    await coreOf(node, network, 3, [1, 2]),
  ]
  for (const core of cores) await core.start()
  const alarm = () => cores[2]?.voting?.status().alarm
  for (let second = 0; second < 120 && alarm() === undefined; second++) await time.advance(1000)
  expect(alarm()).toMatch(/two confirmed blocks exist at height 5/)
  for (const core of cores) await core.close()
  await liar.close()
})
