import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { confirmBytes, parseConfirm } from '../../../src/base/primitives/confirm.js'
import { checkConfirm } from '../../../src/ledger/consensus/check-confirm.js'
import { holds } from '../../../src/base/crypto/verify.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { testAddress } from '../../support/builders/spec.js'
import { testDevnet, type TestDevnet } from '../../support/fakes/test-devnet.js'
import { devnetValidatorKey } from '../../../src/clients/wallet/devnet-accounts.js'
import { craftBlock, soloConfirm } from '../../support/builders/blocks.js'

const coin = 100_000_000n

async function open(options: Parameters<typeof testDevnet>[0] = {}): Promise<TestDevnet> {
  const net = await testDevnet(options)
  onTestFinished(() => net.close())
  return net
}

const times = ({ chain }: TestDevnet) =>
  Array.from({ length: chain.reader.height }, (_, i) => chain.reader.headerAt(i + 1)?.header.time)

/** Journal rows, of which each batch has one. */
const batches = ({ chain }: TestDevnet) => chain.database.sequence

async function mineAndCount(net: TestDevnet, blocks: number): Promise<number> {
  const before = batches(net)
  await net.devnet.mine(blocks)
  return batches(net) - before
}

describe('many blocks by one dev_mine', () => {
  it('go in one batch, each with its work, its confirm, its time and its event', async () => {
    const net = await open()
    const { chain, mempool, clock } = net.chain
    const events = await EventLog.open({ chain, mempool, clock })
    const first = events.last
    const now = net.clock.seconds
    const before = batches(net)
    const hashes = await net.devnet.mine(50)
    expect(batches(net) - before).toBe(1)
    expect(hashes).toEqual(Array.from({ length: 50 }, (_, i) => net.chain.reader.headerAt(i + 1)?.header.id))
    expect(times(net)).toEqual(Array.from({ length: 50 }, (_, i) => now + i))
    expect(net.clock.seconds).toBe(now + 49)
    const told = Array.from({ length: events.last - first }, (_, i) => events.at(first + 1 + i).data)
    expect(told.map(({ topic, action }) => `${topic} ${action}`)).toEqual(Array(50).fill('block apply'))
    for (const { header } of [1, 25, 50].map((height) => chain.headers.activeAt(height))) {
      const confirm = parseConfirm(chain.database.get(tables.confirm.key(header.hash)) as Uint8Array)
      expect(checkConfirm(chain.spec, header, confirm).every(holds)).toBe(true)
    }
  })

  it('come a thousand to a batch', async () => {
    const net = await open()
    expect(await mineAndCount(net, 1200)).toBe(2)
    expect(net.chain.reader.height).toBe(1200)
  })

  it('begin with one for what waits, and go on with empty ones', async () => {
    const net = await open()
    await net.devnet.faucet(testAddress(3), coin)
    expect(await mineAndCount(net, 20)).toBe(2)
    expect(net.chain.reader.headerAt(1)?.transactionCount).toBe(2)
    expect(net.chain.reader.headerAt(2)?.transactionCount).toBe(1)
    expect(net.chain.mempool.size).toBe(0)
  })

  it('give the first one the time that was asked for', async () => {
    const net = await open()
    const asked = net.clock.seconds + 1000
    await net.devnet.setNextBlockTime(asked)
    await net.devnet.mine(3)
    expect(times(net)).toEqual([asked, asked + 1, asked + 2])
  })

  it('leave no transaction behind that comes while they are made', async () => {
    const net = await open({ mining: { kind: 'automine' } })
    const mined = net.devnet.mine(300)
    await nextTurn()
    await net.devnet.faucet(testAddress(3), coin)
    await mined
    await expect.poll(() => net.chain.mempool.size).toBe(0)
    expect(net.chain.reader.height).toBeGreaterThanOrEqual(300)
  })

  it('can be taken back and made again', async () => {
    const net = await open()
    const id = await net.devnet.snapshot()
    await net.devnet.mine(400)
    await net.devnet.revert(id)
    expect(net.chain.reader.height).toBe(0)
    await net.devnet.mine(400)
    expect(net.chain.reader.height).toBe(400)
  })

  it('are all made where others come first', async () => {
    const net = await open()
    const { chain } = net.chain
    const making = net.devnet.mine(200)
    const { privateKey } = devnetValidatorKey()
    for (let i = 0; i < 5; i++) {
      const block = craftBlock(chain)
      const confirm = confirmBytes(soloConfirm(block.header.hash, 0, privateKey))
      await chain.acceptBlock(block.bytes, confirm).catch(() => {})
      await nextTurn()
    }
    const hashes = await making
    expect(new Set(hashes).size).toBe(200)
    for (const hash of hashes) expect(activeHashes(net)).toContain(hash)
  })

  it('end when the devnet does', async () => {
    const net = await testDevnet()
    const making = net.devnet.mine(10_000).catch((error: { code: string }) => error.code)
    await nextTurn()
    await net.close()
    expect(await making).toBe('busy')
  })
})

function activeHashes({ chain }: TestDevnet): Set<string | undefined> {
  return new Set(Array.from({ length: chain.reader.height + 1 }, (_, i) => chain.reader.headerAt(i)?.header.id))
}
