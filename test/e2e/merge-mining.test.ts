import { afterAll, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { SeededRandom, Payer } from '../support/builders/test-payer.js'
import { mine } from '../support/builders/miner.js'
import { type ChainInfo, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const genesis = ['--genesis', 'pow'] as const
const miner = devnetAccount(20).address
const receiver = devnetAccount(30).address

interface Reply {
  readonly result?: { readonly hash: string; readonly height: number }
  readonly error?: { readonly code: number; readonly data: string }
}

async function call(rpc: string, method: string, params: unknown): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return (await response.json()) as Reply
}

describe('an outside miner', () => {
  it('extends a chain without validators, also after a restart of the node', async () => {
    const payer = new Payer(new SeededRandom(12), 'pow')
    const dataDir = directories.fresh()
    const start = () => NodeProcess.start('start', ...genesis, '--data-dir', dataDir)

    let node = await start()
    const payment = await payer.transfer(node.client, 1, receiver, 700_000_000n)
    const txid = await node.client.sendRawTransaction(payment.toHex())
    const early = (await call(node.line.rpc, 'createauxblock', [miner])).result
    expect(early?.height).toBe(1)

    const found = await mine(node.line.rpc, miner, 3, '--interval', '0')
    const active = async (height: number) => `height ${height} ${await node.hashAt(height)}`
    expect(found).toEqual([await active(1), await active(2), await active(3)])
    expect(await node.client.height()).toBe(3)
    expect((await node.client.waitForBlock(txid)).height).toBe(1)
    expect(await node.client.balance(receiver)).toBe(700_000_000n)
    expect(await node.client.balance(miner)).toBeGreaterThan(1_500_000_000n)

    const stale = await call(node.line.rpc, 'submitauxblock', [early?.hash, '00'])
    expect(stale.error).toMatchObject({ code: -32007, data: expect.stringContaining('createauxblock') as string })
    const unauthorised = await call(node.line.rpc, 'togglemining', [true, miner])
    expect(unauthorised.error?.code).toBe(-32010)
    await node.stop('SIGKILL')

    // The next one works for three chains at once.
    node = await start()
    expect(await node.client.height()).toBe(3)
    const more = await mine(node.line.rpc, miner, 2, '--interval', '0', '--chains', '3')
    expect(more).toEqual([await active(4), await active(5)])
    expect((await node.stop()).code).toBe(0)
    const info = await runJson<ChainInfo>('chain', 'verify', ...genesis, '--data-dir', dataDir)
    expect(info.height).toBe(5)
  })

  it('extends a devnet that makes no blocks itself', async () => {
    const node = await NodeProcess.start('devnet', '--no-automine')
    const found = await mine(node.line.rpc, miner, 2, '--interval', '0')
    expect(found).toHaveLength(2)
    expect(await node.client.height()).toBe(2)
    const { body } = await node.get(`confirm/details/height/2`)
    expect(body).toMatchObject({ error: null, result: { blockhash: found[1]?.slice(-64) } })
    await node.stop()
  })
})
