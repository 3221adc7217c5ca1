import { afterAll, describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/clients/client/http.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { type ChainInfo, Directories, NodeProcess, runJson } from '../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())

const { address, did } = devnetAccount(3)

/** What a revert has to bring back, as clients see it. */
async function stateOf(node: NodeProcess) {
  const { client } = node
  const height = await client.height()
  return {
    height,
    tip: await node.hashAt(height),
    balance: await client.balance(address),
    utxos: (await node.get(`asset/utxos/${address}`)).body.Result,
    pool: (await node.get('transactionpool')).body.Result,
    did: await client.resolve(did, { all: true }),
  }
}

const time = async ({ client }: NodeProcess) => (await client.rpc('dev_increaseTime', { seconds: 0 })) as number
const faucet = ({ client }: NodeProcess, amount: string) => client.rpc('dev_faucet', { address, amount })
const mine = ({ client }: NodeProcess, blocks = 1) => client.rpc('dev_mine', { blocks })
const revert = ({ client }: NodeProcess, id: unknown) => client.rpc('dev_revert', { id })

async function refusalOf(call: Promise<unknown>): Promise<NodeRefusal> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(NodeRefusal)
  return error as NodeRefusal
}

describe('a devnet with snapshots', () => {
  it('goes back as often as one likes, and is there after a kill', async () => {
    const dataDir = directories.fresh()
    const start = () => NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    let node = await start()
    await faucet(node, '5')
    await mine(node)
    await faucet(node, '7')
    const fee = ['--fee', '0.00001']
    await runJson('did', 'create', '--devnet-account', '3', '--no-wait', '--rest', node.line.rest, ...fee)
    const before = await stateOf(node)
    expect(before.pool).toHaveLength(2)
    const began = await time(node)
    const id = await node.client.rpc('dev_snapshot', {})
    expect(id).toBe(1)

    for (let round = 0; round < 3; round++) {
      await mine(node, 3)
      await faucet(node, '1')
      await node.client.rpc('dev_increaseTime', { seconds: 20 * 365 * 86_400 })
      expect((await node.client.resolve(did, { all: false })).status).toBe(1)
      expect(await node.client.rpc('dev_snapshot', {})).toBe(round + 2)
      expect(await revert(node, id)).toBe(true)
      expect(await stateOf(node)).toEqual(before)
      expect((await time(node)) - began).toBeLessThan(60)
      expect((await refusalOf(revert(node, round + 2))).reason).toMatch(/^id: snapshot \d is gone/)
    }

    await node.stop('SIGKILL')
    node = await start()
    const after = await stateOf(node)
    const byId = (pool: unknown) => [...(pool as { txid: string }[])].sort((a, b) => (a.txid < b.txid ? -1 : 1))
    expect({ ...after, pool: byId(after.pool) }).toEqual({ ...before, pool: byId(before.pool) })
    expect((await time(node)) - began).toBeLessThan(120)
    expect((await refusalOf(revert(node, id))).reason).toMatch(/^id: there is no snapshot 1; .*restart/)
    await mine(node, 2)
    expect(await node.client.balance(address)).toBe(before.balance + 7n * 100_000_000n - 1000n)
    await node.stop()
    const { height, tip, state } = await runJson<ChainInfo>('chain', 'info', '--data-dir', dataDir)
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toEqual({ height, tip, state, ok: true })
  })

  it('is before or after a revert that a kill cuts short, never in between', async () => {
    const dataDir = directories.fresh()
    const start = () => NodeProcess.start('devnet', '--no-automine', '--data-dir', dataDir)
    for (const delay of [0, 10]) {
      const node = await start()
      const low = await stateOf(node)
      const id = await node.client.rpc('dev_snapshot', {})
      await faucet(node, '1')
      await mine(node, 100)
      const high = await stateOf(node)
      const reverting = revert(node, id).catch((error: unknown) => error)
      await new Promise((resolve) => setTimeout(resolve, delay))
      await node.stop('SIGKILL')
      await reverting
      const again = await start()
      const found = await stateOf(again)
      expect(found).toEqual(found.height === low.height ? low : high)
      await again.stop()
    }
    expect(await runJson('chain', 'verify', '--data-dir', dataDir)).toMatchObject({ ok: true })
  })

  it('refuses what is no snapshot', async () => {
    const node = await NodeProcess.start('devnet')
    for (const id of [0, 1, -1, 1.5, '1', '0x1', null, undefined, 2 ** 60]) {
      const { code, reason } = await refusalOf(revert(node, id))
      expect([code, reason]).toEqual([-32602, expect.stringMatching(/^id: /)])
    }
    // By position, as others write it.
    const snapshot = await fetch(node.line.rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"id":1,"method":"dev_snapshot","params":[]}',
    })
    expect(await snapshot.json()).toMatchObject({ result: 1 })
    const web = await fetch(node.line.rpc, { method: 'POST', body: '{"id":1,"method":"dev_revert","params":[1]}' })
    expect(await web.json()).toMatchObject({ error: { code: -32010 } })
    await node.stop()
  })
})
