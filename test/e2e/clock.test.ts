import { afterAll, describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/clients/client/http.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { busyness, testPatience } from '../support/process/patience.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const now = () => Math.floor(Date.now() / 1000)
const { address } = devnetAccount(4)

async function mine({ client }: NodeProcess, blocks = 1): Promise<string[]> {
  return (await client.rpc('dev_mine', { blocks })) as string[]
}

async function times({ client }: NodeProcess): Promise<number[]> {
  const height = await client.height()
  const blocks = await Promise.all(Array.from({ length: height + 1 }, (_, at) => client.blockAt(at)))
  return blocks.map(({ time }) => time)
}

async function expectRising(node: NodeProcess): Promise<void> {
  const all = await times(node)
  all.slice(1).forEach((time, i) => expect(time).toBeGreaterThan(all[i] as number))
}

async function expectBadParameter(call: Promise<unknown>, reason: RegExp): Promise<void> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(NodeRefusal)
  expect(error).toMatchObject({ code: -32602, reason: expect.stringMatching(reason) })
}

describe('a devnet with --no-automine', () => {
  it('makes blocks on dev_mine alone, as many as asked', async () => {
    const node = await NodeProcess.start('devnet', '--no-automine')
    const txid = (await node.client.rpc('dev_faucet', { address, amount: '1.5' })) as string
    expect(await node.client.transaction(txid)).toMatchObject({ blockhash: '' })
    expect(await node.client.height()).toBe(0)
    const hashes = await mine(node, 3)
    expect(hashes).toHaveLength(3)
    for (const [i, hash] of hashes.entries()) expect(await node.hashAt(i + 1)).toBe(hash)
    expect(await node.client.transaction(txid)).toMatchObject({ blockhash: hashes[0] })
    for (const blocks of [0, -1, 1.5, 10_001, '3', null]) {
      await expectBadParameter(node.client.rpc('dev_mine', { blocks }), /^blocks: /)
    }
    expect(await node.client.height()).toBe(3)
    await expectRising(node)
    await node.stop()
  })

  it('travels in time and keeps where it is over a restart', async () => {
    const dataDir = directories.fresh()
    const start = () => NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    let node = await start()
    const tipTime = async () => (await times(node)).at(-1) as number
    await mine(node)
    expect(Math.abs((await tipTime()) - now())).toBeLessThan(10 * busyness())

    const year = 365 * 86_400
    const moved = (await node.client.rpc('dev_increaseTime', { seconds: year })) as number
    expect(Math.abs(moved - now() - year)).toBeLessThan(10)
    await mine(node)
    expect(await tipTime()).toBeGreaterThanOrEqual(moved)
    for (const seconds of [-1, 0.5, 1e12, '60']) {
      await expectBadParameter(node.client.rpc('dev_increaseTime', { seconds }), /^seconds: /)
    }

    const exact = (await tipTime()) + 12_345
    expect(await node.client.rpc('dev_setNextBlockTime', { time: exact })).toBe(exact)
    await mine(node, 2)
    expect((await times(node)).at(-2)).toBe(exact)
    expect(await tipTime()).toBeGreaterThan(exact)
    for (const time of [exact, await tipTime(), 0, -5, 2 ** 32, 1.5, 'soon']) {
      await expectBadParameter(node.client.rpc('dev_setNextBlockTime', { time }), /^time: /)
    }
    await mine(node, 20)
    await expectRising(node)

    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      // Not in a block yet: the clock itself must be kept.
      const ahead = (await node.client.rpc('dev_increaseTime', { seconds: year })) as number
      await node.stop(signal)
      node = await start()
      await mine(node)
      expect(await tipTime()).toBeGreaterThanOrEqual(ahead)
      expect((await tipTime()) - ahead).toBeLessThan(30)
    }
    await expectRising(node)
    await node.stop()
  })

  it('pays from its faucet what can be paid', async () => {
    const node = await NodeProcess.start('devnet', '--no-automine')
    const { client } = node
    const before = await client.balance(address)
    await client.rpc('dev_faucet', { address, amount: '0.00000001' })
    await client.rpc('dev_faucet', { address, amount: 2 })
    await mine(node)
    expect((await client.balance(address)) - before).toBe(200_000_001n)
    for (const amount of ['0', 0, '-1', -1, '1.123456789', '33000000.00000001', '1e3', 'many', '', null, {}]) {
      await expectBadParameter(client.rpc('dev_faucet', { address, amount }), /^amount: /)
    }
    for (const bad of ['', 'E', address.slice(0, -1), `${address.slice(0, -1)}z`, 7, null]) {
      await expectBadParameter(client.rpc('dev_faucet', { address: bad, amount: '1' }), /^address: /)
    }
    expect(await client.pool()).toEqual([])
    await node.stop()
  })
})

describe('a devnet that makes blocks by itself', () => {
  it('makes one when a transaction comes, and none without', async () => {
    const node = await NodeProcess.start('devnet')
    for (let height = 1; height <= 3; height++) {
      const txid = (await node.client.rpc('dev_faucet', { address, amount: '1' })) as string
      expect((await node.client.waitForBlock(txid, { timeout: testPatience })).height).toBe(height)
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await node.client.height()).toBe(3)
    await expectRising(node)
    await node.stop()
  })

  it('makes one every so often with --block-time', async () => {
    const node = await NodeProcess.start('devnet', '--block-time', '1')
    const txid = (await node.client.rpc('dev_faucet', { address, amount: '1' })) as string
    expect(await node.client.transaction(txid)).toMatchObject({ blockhash: '' })
    const first = await node.client.waitForBlock(txid, { timeout: testPatience })
    while ((await node.client.height()) < first.height + 3) await new Promise((resolve) => setTimeout(resolve, 100))
    await expectRising(node)
    expect(Math.abs(((await times(node)).at(-1) as number) - now())).toBeLessThan(10 * busyness())
    await node.stop()
  })
})
