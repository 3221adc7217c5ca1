import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MiningMode } from '../../../../src/node/devnet/mining-mode.js'
import { startNode } from '../../../../src/node/start-node.js'
import { parseAddress, type ProgramHash } from '../../../../src/base/primitives/address.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../../src/base/runtime/process-env.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { quietLog } from '../../../support/builders/chain.js'

const spec = parseSpec(readFileSync(new URL('../../../../genesis/devnet.json', import.meta.url), 'utf8'))
/** Unix seconds of 2100-01-01. */
const latest = 4_102_444_800
const coin = 100_000_000n

async function devnet(mining: MiningMode = { kind: 'manual' }) {
  const env = { ...systemEnv(quietLog()), random: { bytes: (length: number) => randomBytes(length) } }
  const node = await startNode({ spec, env, tuning: { devnet: { mining } } })
  onTestFinished(() => node.close())
  if (node.devnet === undefined) throw new Error('a devnet spec makes a devnet')
  return { node, control: node.devnet }
}

describe('a devnet', () => {
  it('goes on making blocks at the latest time it can be moved to, and says that there is none later', async () => {
    const { node, control } = await devnet()
    await control.setNextBlockTime(latest)
    await control.mine(1)
    expect(node.chain.tip.header.time).toBe(latest)
    await control.mine(3)
    expect(node.reader.height).toBe(4)
    await expect(control.setNextBlockTime(latest + 100)).rejects.toMatchObject({ code: 'request-parameter' })
    await expect(control.increaseTime(1)).rejects.toMatchObject({ code: 'request-parameter' })
    await expect(control.increaseTime(0)).resolves.toBeGreaterThanOrEqual(latest)
  })

  it('puts what comes at once into few blocks, none of them empty', async () => {
    const { node, control } = await devnet({ kind: 'automine' })
    const { address } = devnetAccount(1)
    const payments = Array.from({ length: 30 }, () => control.faucet(address, coin))
    await Promise.all(payments)
    while (node.mempool.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    const programHash = parseAddress(address) as ProgramHash
    expect(node.reader.balance(programHash).sum).toBe(10_030n * coin)
    for (let height = 1; height <= node.reader.height; height++) {
      const known = node.reader.headerAt(height)
      expect(known?.transactionCount).toBeGreaterThan(1)
    }
  })

  it('leaves nothing waiting where blocks of another producer overtake its own', async () => {
    const { node, control } = await devnet({ kind: 'automine' })
    for (let round = 0; round < 24; round++) {
      const others = node.mining.mine(1)
      for (let turns = round % 4; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
      await control.faucet(devnetAccount(1).address, coin)
      await others
      await expect.poll(() => node.mempool.size).toBe(0)
    }
  })

  it('makes blocks only when told to in manual mode', async () => {
    const { node, control } = await devnet()
    await control.faucet(devnetAccount(1).address, coin)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([node.reader.height, node.mempool.size]).toEqual([0, 1])
    expect(await control.mine(2)).toEqual([node.reader.headerAt(1)?.header.id, node.reader.headerAt(2)?.header.id])
    expect(node.mempool.size).toBe(0)
  })

  it.each([0, -1, 1.5, 10_001, NaN])('refuses to mine %s blocks', async (blocks) => {
    const { control } = await devnet()
    await expect(control.mine(blocks)).rejects.toMatchObject({ code: 'request-parameter' })
  })

  it('refuses a faucet address that is none, and more than the faucet holds', async () => {
    const { control } = await devnet()
    await expect(control.faucet('E123', coin)).rejects.toMatchObject({ code: 'request-parameter' })
    const more = 2_000_000n * coin
    await expect(control.faucet(devnetAccount(1).address, more)).rejects.toMatchObject({ code: 'request-parameter' })
    await expect(control.faucet(devnetAccount(1).address, 0n)).rejects.toMatchObject({ code: 'request-parameter' })
  })
})
