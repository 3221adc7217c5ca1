import { afterEach, describe, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../../src/index.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import {
  buildReplacement,
  signTransaction,
  singleKeyCode,
  systemRandom,
} from '../../../src/node/library/wallet-entry.js'

let node: LedgerNode

afterEach(() => node.close())

async function start() {
  node = await createNode({ network: 'devnet', mining: 'manual' })
  const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
  return { ada, bob }
}

const waiting = () => node.mempool.entries().map(({ transaction }) => transaction.txid)
const feeOf = (txid: string) => node.mempool.entries().find(({ transaction }) => transaction.txid === txid)?.fee

describe('a payment of a node that waits', () => {
  it('is bumped for the least fee that the pool takes, again and again', async () => {
    const { ada, bob } = await start()
    const had = [node.chain.balance(ada.address), node.chain.balance(bob.address)] as const
    const first = await node.wallet.transfer({ from: ada, to: bob.address, amount: '2' })
    const second = await node.wallet.bump({ txid: first })
    expect(waiting()).toEqual([second])
    expect([feeOf(first), feeOf(second)]).toEqual([undefined, 200n])
    const third = await node.wallet.bump({ from: ada, txid: second, feeRate: 5 })
    expect(feeOf(third)).toBe(5n * BigInt(node.mempool.get(third)?.bytes.length ?? 0))
    const last = await node.wallet.bump({ txid: third, fee: '0.0001' })
    expect(waiting()).toEqual([last])
    await node.devnet?.mine(1)
    await node.chain.waitFor(last)
    expect(node.chain.balance(bob.address) - had[1]).toBe(200_000_000n)
    expect(had[0] - node.chain.balance(ada.address)).toBe(200_010_000n)
  })

  it('is cancelled, and what it paid is with the payer', async () => {
    const { ada, bob } = await start()
    const had = [node.chain.balance(ada.address), node.chain.balance(bob.address)] as const
    const first = await node.wallet.transfer({ from: ada, to: bob.address, amount: 'all' })
    const ended = node.chain.waitFor(first).catch((error: unknown) => String(error))
    const instead = await node.wallet.cancel({ txid: first })
    expect(await ended).toContain(`replaced by ${instead}`)
    expect(waiting()).toEqual([instead])
    await node.devnet?.mine(1)
    await node.chain.waitFor(instead)
    expect(node.chain.balance(bob.address)).toBe(had[1])
    expect(had[0] - node.chain.balance(ada.address)).toBe(feeless(instead))
    await expect(node.chain.waitFor(first)).rejects.toThrow(`replaced by ${instead}`)
  })

  it('with an operation is bumped as well', async () => {
    const { ada } = await start()
    const { txid } = await node.wallet.createDid({ account: ada })
    const bumped = await node.wallet.bump({ txid })
    await node.devnet?.mine(1)
    await node.chain.waitFor(bumped)
    expect(await node.wallet.updateDid({ account: ada, expires: '2030-01-01T00:00:00Z' })).toMatchObject({
      did: ada.did,
    })
  })

  it('stays while others build on it, and where the fee is too low, the id unknown, or it is mined', async () => {
    const { ada, bob } = await start()
    const first = await node.wallet.transfer({ from: ada, to: bob.address, amount: '2' })
    await expect(node.wallet.bump({ txid: first, fee: 199n })).rejects.toThrow('0.00000200 replaces it')
    await expect(node.wallet.bump({ from: bob, txid: first })).rejects.toThrow(`is not paid by ${bob.address} alone`)
    await expect(node.wallet.bump({ txid: 'ab' })).rejects.toMatchObject({ code: 'request-parameter' })
    await expect(node.wallet.bump({ txid: first, feeRate: -1 })).rejects.toMatchObject({ code: 'request-parameter' })
    await expect(node.wallet.cancel({ txid: '00'.repeat(32) })).rejects.toMatchObject({ code: 'unknown-transaction' })
    await expect(node.wallet.cancel({ txid: first, fee: 1n } as never)).rejects.toThrow('fee')
    const child = await node.wallet.transfer({ from: ada, to: bob.address, amount: '3' })
    for (const replace of [node.wallet.bump, node.wallet.cancel]) {
      await expect(replace({ txid: first })).rejects.toMatchObject({ code: 'pool-replacement-built-upon' })
    }
    expect(waiting()).toEqual([first, child])
    await node.devnet?.mine(1)
    await node.chain.waitFor(first)
    await expect(node.wallet.bump({ txid: first })).rejects.toThrow('waits no more: it is mined, at height 1')
  })

  it('is replaced by a transaction made elsewhere, but not for a sela less', async () => {
    const { ada, bob } = await start()
    const first = await node.wallet.transfer({ from: ada, to: bob.address, amount: '2' })
    const transaction = node.mempool.get(first) as Transaction
    const replaced = (minimum: bigint) => {
      const payment = {
        code: singleKeyCode(ada.publicKey),
        coins: [],
        fee: { minimum, perByte: 1n, freeBytes: 1024 },
        assetId: transaction.outputs[0]?.assetId as Hash,
        maxMoney: 10n ** 18n,
        random: systemRandom,
      }
      const spent = transaction.inputs.map((input) => ({ ...input, value: had }))
      return signTransaction(buildReplacement(payment, { transaction, spent }).transaction, [ada.privateKey])
        .transaction
    }
    const had = transaction.outputs.reduce((sum, { value }) => sum + value, 100n)
    await expect(node.mempool.send(replaced(99n))).rejects.toMatchObject({ code: 'pool-replacement-fee' })
    expect(waiting()).toEqual([first])
    const second = await node.mempool.send(replaced(100n))
    expect(waiting()).toEqual([second])
  })
})

/** Fee of a mined transaction with one input, which had all of an account. */
function feeless(txid: string): bigint {
  const mined = node.chain.transaction(txid)
  expect(mined?.transaction.outputs).toHaveLength(1)
  return 1_000_000_000_000n - (mined?.transaction.outputs[0]?.value ?? 0n)
}
