import { existsSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { SeededRandom, Payer } from '../support/builders/test-payer.js'
import { testPatience } from '../support/process/patience.js'
import { type ChainInfo, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const address = (index: number) => devnetAccount(index).address
const { did } = devnetAccount(2)

/** Everything that a restart must bring back. */
async function stateOf(node: NodeProcess) {
  const { client } = node
  const height = await client.height()
  // In order of arrival, which is kept in milliseconds.
  const pool = (await node.get('transactionpool')).body.Result as { txid: string }[]
  return {
    height,
    tip: await node.hashAt(height),
    balances: await Promise.all([0, 1, 2, 3].map((index) => client.balance(address(index)))),
    utxos: (await node.get(`asset/utxos/${address(1)}`)).body.Result,
    pool: [...pool].sort((one, other) => (one.txid < other.txid ? -1 : 1)),
    did: await client.resolve(did, { all: true }),
  }
}

describe('a data directory', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('brings everything back after %s', async (signal) => {
    const dataDir = directories.fresh()
    const start = () => NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    const payer = new Payer(new SeededRandom(1))
    let node = await start()
    const send = async (to: number, value: bigint) =>
      node.client.sendRawTransaction((await payer.transfer(node.client, 0, address(to), value)).toHex())

    await send(1, 1_250_000_000n)
    await runJson('did', 'create', '--devnet-account', '2', '--no-wait', '--rest', node.line.rest)
    await node.client.rpc('dev_mine', { blocks: 2 })
    const pending = [await send(1, 100_000_000n), await send(3, 200_000_000n)]
    const renewal = await runJson<{ txid: string }>(
      ...['did', 'update', '--devnet-account', '2', '--years', '3', '--no-wait', '--rest', node.line.rest],
    )
    pending.push(renewal.txid)
    const before = await stateOf(node)
    expect(before.height).toBe(2)
    expect(before.pool.map(({ txid }) => txid)).toEqual(pending.sort())
    expect(before.did).toMatchObject({ status: 0, transaction: { length: 1 } })

    const end = await node.stop(signal)
    expect(end).toMatchObject(signal === 'SIGTERM' ? { code: 0, err: '' } : { signal })
    node = await start()
    expect(await stateOf(node)).toEqual(before)

    await node.client.rpc('dev_mine', { blocks: 1 })
    const after = await stateOf(node)
    expect(after).toMatchObject({ height: 3, pool: [], did: { transaction: { length: 2 } } })
    expect(after.balances[3]).toBe((before.balances[3] as bigint) + 200_000_000n)
    expect((await node.stop()).code).toBe(0)
    const { state } = await runJson<ChainInfo>('chain', 'info', '--data-dir', dataDir)
    const { height, tip } = after
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toEqual({ height, tip, state, ok: true })
  })

  it('mines what was pending when automatic mining comes back', async () => {
    const dataDir = directories.fresh()
    let node = await NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    const transfer = await new Payer(new SeededRandom(2)).transfer(node.client, 0, address(1), 1n)
    const txid = await node.client.sendRawTransaction(transfer.toHex())
    await node.stop('SIGKILL')
    node = await NodeProcess.start('devnet', '--data-dir', dataDir)
    expect((await node.client.waitForBlock(txid, { timeout: testPatience })).height).toBe(1)
    await node.stop()
  })

  it('is a temporary one that goes when none is named', async () => {
    const node = await NodeProcess.start('devnet')
    expect(existsSync(node.line.dataDir)).toBe(true)
    expect(await node.stop('SIGINT')).toMatchObject({ code: 0, err: '' })
    expect(existsSync(node.line.dataDir)).toBe(false)
  })
})
