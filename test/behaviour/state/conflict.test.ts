import { afterAll, beforeAll, expect, it } from 'vitest'
import { createInlineVerifier } from '../../../src/base/crypto/inline.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import type { Header } from '../../../src/base/primitives/header.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { fetchConfirms } from '../../../src/network/fetch/fetch-confirms.js'
import { LinkError } from '../../../src/network/link.js'
import { headersExchange } from '../../../src/network/wire/headers-message.js'
import { services } from '../../../src/network/wire/status-message.js'
import { ConflictAlarm } from '../../../src/voting/conflict-alarm.js'
import { Evidence } from '../../../src/voting/evidence.js'
import { craftBlock, craftConfirm } from '../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { joinedNode } from '../../support/builders/joined-chain.js'
import { TestPeer } from '../../support/network/sync.js'

/** Two confirmed blocks of one height below the state of a node that joined by it. */

const overrides = { ...oneValidator(), producer: 'sponsor' as const, coinInterval: 330 }
const height = 5
let source: TestChain
let node: TestChain
let rival: { readonly header: Header; readonly confirm: Uint8Array }

beforeAll(async () => {
  source = await TestChain.open(overrides)
  await source.mineEmpty(height - 1)
  source.clock.time += 1000
  const block = craftBlock(source.chain)
  rival = { header: block.header, confirm: confirmBytes(craftConfirm(source.spec, block)) }
  source.clock.time += 1000
  await source.mineEmpty(330 - source.reader.height)
  node = await joinedNode(source, overrides)
})
afterAll(async () => {
  await source.close()
  await node.close()
})

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
