import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { MiningMode } from '../../../src/node/devnet/mining-mode.js'
import type { Node } from '../../../src/node/node.js'
import { startNode } from '../../../src/node/start-node.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { defined } from '../../../src/base/primitives/defined.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import {
  devnetAccount,
  devnetAccountFunds,
  devnetAccountsOf,
  devnetMnemonic,
  maxDevnetAccounts,
} from '../../../src/clients/wallet/devnet-accounts.js'
import { quietLog } from '../../support/builders/chain.js'

const spec = parseSpec(readFileSync(new URL('../../../genesis/devnet.json', import.meta.url), 'utf8'))

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'didledger-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const start = (accounts: number, mining: MiningMode, dataDir?: string) =>
  startNode({
    spec,
    env: systemEnv(quietLog()),
    tuning: { storage: defined({ dataDir }), devnet: { mining, accounts } },
  })

function balances({ reader }: Node, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => {
    return reader.balance(parseAddress(devnetAccount(index).address) as ProgramHash).sum
  })
}

const full = (count: number) => new Array<bigint>(count).fill(devnetAccountFunds)
const manual: MiningMode = { kind: 'manual' }

describe('the accounts of a devnet', () => {
  it.each<MiningMode>([manual, { kind: 'automine' }, { kind: 'interval', seconds: 3600 }])(
    'have coins from the start, those beyond ten by one block (%o)',
    async (mining) => {
      const node = await start(13, mining)
      onTestFinished(() => node.close())
      expect(balances(node, 14)).toEqual([...full(13), 0n])
      expect([node.reader.height, node.mempool.size]).toEqual([1, 0])
    },
  )

  it('cost no block where the genesis block pays all of them', async () => {
    const node = await start(4, manual)
    onTestFinished(() => node.close())
    expect(balances(node, 10)).toEqual(full(10))
    expect(node.reader.height).toBe(0)
  })

  it('are as many as the faucet can pay', async () => {
    const node = await start(maxDevnetAccounts, manual)
    onTestFinished(() => node.close())
    expect(balances(node, maxDevnetAccounts)).toEqual(full(maxDevnetAccounts))
    await node.devnet?.faucet(devnetAccount(0).address, devnetAccountFunds)
  })

  it('are paid once, whatever a later start asks for', async () => {
    const dataDir = directory()
    const heights: number[] = []
    for (const accounts of [12, 12, 11, 15, 15]) {
      const node = await start(accounts, manual, dataDir)
      heights.push(node.reader.height)
      expect(balances(node, accounts)).toEqual(full(accounts))
      await node.close()
    }
    expect(heights).toEqual([1, 1, 1, 2, 2])
  })

  it('are not paid where somebody did', async () => {
    const dataDir = directory()
    const first = await start(10, manual, dataDir)
    await first.devnet?.faucet(devnetAccount(10).address, 5n)
    await first.devnet?.mine(1)
    await first.close()
    const node = await start(12, manual, dataDir)
    onTestFinished(() => node.close())
    expect(balances(node, 12).slice(10)).toEqual([5n, devnetAccountFunds])
  })

  it('are named where the faucet cannot pay them any more', async () => {
    const dataDir = directory()
    const first = await start(10, manual, dataDir)
    await first.devnet?.faucet(devnetAccount(0).address, 99n * devnetAccountFunds)
    await first.devnet?.mine(1)
    await first.close()
    await expect(start(30, manual, dataDir)).rejects.toThrow(/the faucet cannot pay 20 more accounts; .*coins/)
    const node = await start(10, manual, dataDir)
    await node.close()
  })
})

describe('accounts of a mnemonic, and balances', () => {
  const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  const coin = 100_000_000n
  const startWith = (devnet: object, dataDir?: string) =>
    startNode({
      spec,
      env: systemEnv(quietLog()),
      tuning: { storage: defined({ dataDir }), devnet: { mining: manual, ...devnet } },
    })
  const balanceOf = ({ reader }: Node, address: string) => reader.balance(parseAddress(address) as ProgramHash).sum

  it('are paid by the faucet, once, and those of every devnet exist besides', async () => {
    const dataDir = directory()
    const account = devnetAccountsOf(mnemonic)
    const heights: number[] = []
    for (const accounts of [3, 3, 4]) {
      const node = await startWith({ mnemonic, accounts }, dataDir)
      heights.push(node.reader.height)
      const own = Array.from({ length: 5 }, (_, index) => balanceOf(node, account(index).address))
      expect(own).toEqual([...full(accounts), ...new Array<bigint>(5 - accounts).fill(0n)])
      expect(balances(node, 10)).toEqual(full(10))
      await node.close()
    }
    expect(heights).toEqual([1, 1, 2])
  })

  it('of every devnet are the same under any spelling of its words', async () => {
    const spelled = ` ${devnetMnemonic.toUpperCase().replaceAll(' ', '  ')} `
    expect(devnetAccountsOf(spelled)(3)).toEqual(devnetAccount(3))
    const node = await startWith({ mnemonic: spelled })
    onTestFinished(() => node.close())
    expect(node.reader.height).toBe(0)
  })

  it('refuse what is no mnemonic', () => {
    expect(() => devnetAccountsOf('test test test')).toThrow('the mnemonic is not valid')
  })

  it('are filled up to a balance, and not beyond', async () => {
    const dataDir = directory()
    const node = await startWith({ accounts: 2, balance: 10_007n * coin }, dataDir)
    expect(balances(node, 3)).toEqual([10_007n * coin, 10_007n * coin, devnetAccountFunds])
    await node.devnet?.faucet(devnetAccount(0).address, 5n * coin)
    await node.devnet?.mine(1)
    await node.close()
    const again = await startWith({ accounts: 2, balance: 10_008n * coin }, dataDir)
    onTestFinished(() => again.close())
    expect(balances(again, 2)).toEqual([10_012n * coin, 10_008n * coin])
    const { height } = again.reader
    await again.devnet?.fund({ accounts: 2, balance: 0n })
    expect(again.reader.height).toBe(height)
  })

  it('cannot have more than the faucet has', async () => {
    const refused = startWith({ balance: 110_001n * coin })
    await expect(refused).rejects.toThrow('the faucet cannot pay 1000010.00000000 to 10 accounts')
  })
})
