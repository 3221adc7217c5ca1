import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../../src/index.js'
import type { SigningAccount } from '../../../src/clients/wallet/accounts.js'
import { Workbench } from '../../support/process/workbench.js'

/** Wallets whose coins are the change of so many waiting payments, one upon another, that a pool takes no further one upon them. */

/** Payments one upon another: a pool takes one after 25 others. */
const most = 26

let node: LedgerNode
let bench: Workbench
let send: readonly string[]

beforeAll(async () => {
  node = await createNode({ network: 'devnet', mining: 'manual', api: { portBase: 0 } })
  bench = new Workbench()
  send = ['--rest', (node.api as { rest: string }).rest, '--no-wait']
})
afterAll(async () => {
  bench.close()
  await node.close()
})

/** Spends the one coin of an account, and its change, as often as the pool takes that. */
async function spendChange(from: SigningAccount): Promise<void> {
  const { address: to } = node.wallet.account(9)
  for (let count = 0; count < most; count++) await node.wallet.transfer({ from, to, amount: '1' })
}

describe('coins behind as many waiting payments as a pool takes', () => {
  const later = /not enough coins: .*, 0\.00000000 can be spent; 99\d\d\.\d+ more can be spent after the next block: /

  it('are not spent by the wallet of a node, which says when they can be', async () => {
    const from = node.wallet.account(0)
    await spendChange(from)
    const before = node.mempool.size
    const { address: to } = node.wallet.account(9)
    await expect(node.wallet.transfer({ from, to, amount: '1' })).rejects.toThrow(later)
    await expect(node.wallet.createDid({ account: from })).rejects.toThrow(later)
    expect(node.mempool.size).toBe(before)
  })

  it('are not spent by commands, which say so before they sign', async () => {
    const { address: to } = node.wallet.account(9)
    const payer = ['--devnet-account', '0', ...send]
    for (const command of [
      ['wallet', 'send', '--to', to, '--amount', '1'],
      ['did', 'create'],
    ]) {
      const { code, err } = await bench.run(...command, ...payer)
      expect(code).toBe(1)
      expect(err).toMatch(later)
      expect(err).toContain('at most 25 transactions that wait for one may come before another')
    }
  })

  it('are left for others that fewer come before', async () => {
    const [from, other] = [node.wallet.account(1), node.wallet.account(2)]
    await spendChange(from)
    await node.wallet.transfer({ from: other, to: from.address, amount: '5' })
    const txid = await node.wallet.transfer({ from, to: other.address, amount: '1' })
    expect(node.mempool.entries().map(({ transaction }) => transaction.txid)).toContain(txid)
    const told = await bench.json<{ txid: string }>(
      ...['wallet', 'send', '--to', other.address, '--amount', '1', '--devnet-account', '1', ...send],
    )
    expect(told.txid).toMatch(/^[0-9a-f]{64}$/)
  })

  it('are spent once a block has them', async () => {
    await node.devnet?.mine()
    const [from, other] = [node.wallet.account(0), node.wallet.account(2)]
    await expect(node.wallet.transfer({ from, to: other.address, amount: '9000' })).resolves.toMatch(/^[0-9a-f]{64}$/)
  })
})
