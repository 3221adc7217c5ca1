import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { SeededRandom, Payer } from '../support/builders/test-payer.js'
import { type ChainInfo, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const genesis = ['--genesis', 'pow'] as const
const miner = devnetAccount(20).address
const receiver = devnetAccount(30).address
const [left, right] = [devnetAccount(31), devnetAccount(32)]

const info = (dataDir: string) => runJson<ChainInfo>('chain', 'info', ...genesis, '--data-dir', dataDir)
const verify = (dataDir: string) => runJson<ChainInfo>('chain', 'verify', ...genesis, '--data-dir', dataDir)

async function start(dataDir: string, options: { mine: boolean }): Promise<NodeProcess> {
  const mining = options.mine ? ['--mine', miner] : []
  return NodeProcess.start('start', ...genesis, '--data-dir', dataDir, ...mining)
}

async function reach(node: NodeProcess, height: number): Promise<void> {
  while ((await node.client.height()) < height) await sleep(50)
}

describe('two branches of a chain without validators', () => {
  it('become the longer one, and what the other held waits again', async () => {
    const payer = new Payer(new SeededRandom(11), 'pow')
    const [a, b] = [directories.fresh('a'), directories.fresh('b')]
    const file = (name: string) => `${directories.root}/${name}.blocks`
    const register = async (node: NodeProcess, from: number, owner: number) => {
      const coins = await node.client.coins(devnetAccount(from).address, payer.assetId)
      return node.client.sendRawTransaction(payer.identity(from, owner, coins, undefined).toHex())
    }

    // Both begin with the same blocks.
    let node = await start(a, { mine: true })
    await reach(node, 2)
    expect((await node.stop()).code).toBe(0)
    await runJson('chain', 'export', file('common'), ...genesis, '--data-dir', a)
    await runJson('chain', 'import', file('common'), ...genesis, '--data-dir', b)
    expect(await info(b)).toEqual(await info(a))
    const common = await info(a)

    // One branch has a payment and a DID.
    node = await start(a, { mine: true })
    const payment = await payer.transfer(node.client, 1, receiver, 700_000_000n)
    const gone = [await node.client.sendRawTransaction(payment.toHex()), await register(node, 2, 31)]
    for (const txid of gone) await node.client.waitForBlock(txid)
    expect(await node.client.balance(receiver)).toBe(700_000_000n)
    expect((await node.client.resolve(left.did)).status).toBe(0)
    await node.stop()
    const shorter = await info(a)

    // The other is longer and has another DID.
    node = await start(b, { mine: true })
    await node.client.waitForBlock(await register(node, 3, 32))
    await reach(node, shorter.height + 2)
    await node.stop()
    const longer = await info(b)
    expect(longer.height).toBeGreaterThan(shorter.height)

    // The shorter branch changes nothing where the longer one is.
    await runJson('chain', 'export', file('a'), ...genesis, '--data-dir', a)
    const aside = await runJson<{ added: number }>('chain', 'import', file('a'), ...genesis, '--data-dir', b)
    expect(aside.added).toBe(shorter.height - common.height)
    expect(await info(b)).toEqual(longer)

    await runJson('chain', 'export', file('b'), ...genesis, '--data-dir', b)
    const imported = await runJson('chain', 'import', file('b'), ...genesis, '--data-dir', a)
    expect(imported).toMatchObject({ added: longer.height - common.height, height: longer.height, tip: longer.tip })
    expect(await info(a)).toEqual(longer)
    expect(await verify(a)).toMatchObject({ tip: longer.tip, state: longer.state })

    node = await start(a, { mine: false })
    expect((await node.client.pool()).map(({ txid }) => txid).sort()).toEqual([...gone].sort())
    expect(await node.client.balance(receiver)).toBe(0n)
    expect((await node.client.resolve(left.did)).status).toBe(3)
    expect((await node.client.resolve(right.did)).status).toBe(0)
    for (let height = 0; height <= longer.height; height += 1) {
      expect((await node.client.blockAt(height)).hash).toBe(await node.hashAt(height))
    }
    await node.stop('SIGKILL')

    // Mined again, on the branch that won.
    node = await start(a, { mine: true })
    for (const txid of gone) expect((await node.client.waitForBlock(txid)).height).toBeGreaterThan(longer.height)
    expect(await node.client.balance(receiver)).toBe(700_000_000n)
    expect((await node.client.resolve(left.did)).status).toBe(0)
    await node.stop()
    await verify(a)
  })
})
