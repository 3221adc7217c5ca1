import { afterEach, describe, expect, it, vi } from 'vitest'
import { createNode, type LedgerNode } from '../../../src/index.js'
import {
  addressFromPublicKey,
  parseAddress,
  type ProgramHash,
  singleKeyCode,
} from '../../../src/base/primitives/address.js'
import { parseDisplayHash } from '../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import type { SigningAccount } from '../../../src/clients/wallet/accounts.js'
import { buildTransfer } from '../../../src/clients/wallet/build-transaction.js'
import { signTransaction } from '../../../src/clients/wallet/sign-transaction.js'
import { chainTerms } from '../../../src/clients/wallet/terms.js'
import { Mempool } from '../../../src/ledger/mempool/mempool.js'
import { loadSpec } from '../../../src/program/cli/load-spec.js'
import { faucetKey } from '../../../src/clients/wallet/devnet-accounts.js'
import { seededRandom } from '../../support/builders/seeded-bytes.js'

/** Payments of a node's wallet whose coins another program spends after they were chosen. */

const random = seededRandom(7)
let node: LedgerNode

afterEach(async () => {
  vi.restoreAllMocks()
  await node.close()
})

/** A devnet on which ada has four coins, of which she chooses one of 2 first. */
async function start() {
  node = await createNode({ network: 'devnet', mining: 'manual' })
  const [ada, bob] = [node.wallet.account(0), node.wallet.account(1)]
  const [had] = await node.chain.coins(ada.address)
  if (had === undefined) throw new Error('the account has no coin')
  const payees = [2n, 3n, 4n].map((coins) => ({ to: ada.address, value: coins * 100_000_000n }))
  await node.mempool.send(await paid(ada, [had], payees))
  await node.devnet?.mine()
  return { ada, bob }
}

type Coins = Awaited<ReturnType<LedgerNode['chain']['coins']>>

/** A transfer of the least fee, signed. */
async function paid(
  { publicKey, privateKey }: Pick<SigningAccount, 'publicKey' | 'privateKey'>,
  coins: Coins,
  payees: readonly { readonly to: string; readonly value: bigint | 'all' }[],
): Promise<Transaction> {
  const spendable = coins.map(({ txid, index, value }) => ({ txid: parseDisplayHash(txid) as Hash, index, value }))
  const built = buildTransfer(
    { ...chainTerms(loadSpec('devnet'), node.chain.height), code: singleKeyCode(publicKey), coins: spendable, random },
    payees.map(({ to, value }) => ({ programHash: parseAddress(to) as ProgramHash, value })),
  )
  return signTransaction(built.transaction, [privateKey]).transaction
}

/** Sends transactions of another program, each just before the pool takes the next one of the wallet. */
function overtakenBy(...rivals: readonly Transaction[]): void {
  const waiting = [...rivals]
  const original = Mempool.prototype.accept
  vi.spyOn(Mempool.prototype, 'accept').mockImplementation(async function (this: Mempool, bytes, options) {
    const rival = waiting.shift()
    if (rival !== undefined) await original.call(this, rival.bytes, { local: true })
    return original.call(this, bytes, options)
  })
}

const waiting = () => node.mempool.entries().map(({ transaction }) => transaction.txid)
const coinOf = async ({ address }: SigningAccount, value: bigint) =>
  (await node.chain.coins(address)).filter((coin) => coin.value === value)

describe('a payment of a node whose coins are spent meanwhile', () => {
  it.each(['transfer', 'createDid'] as const)('is built again, of others, and replaces nothing: %s', async (what) => {
    const { ada, bob } = await start()
    const rival = await paid(ada, await coinOf(ada, 200_000_000n), [{ to: bob.address, value: 'all' }])
    overtakenBy(rival)
    const fee = '0.1'
    const txid =
      what === 'transfer'
        ? await node.wallet.transfer({ from: ada, to: bob.address, amount: '1', fee })
        : (await node.wallet.createDid({ account: ada, fee })).txid
    expect(waiting()).toEqual([rival.txid, txid])
  })

  it('is refused where no others are left', async () => {
    const { ada, bob } = await start()
    const all = await paid(ada, await node.chain.coins(ada.address), [{ to: bob.address, value: 'all' }])
    overtakenBy(all)
    await expect(node.wallet.transfer({ from: ada, to: bob.address, amount: '1', fee: '0.1' })).rejects.toThrow(
      'not enough coins',
    )
    expect(waiting()).toEqual([all.txid])
  })

  it('of the faucet is built again', async () => {
    const { bob } = await start()
    const faucet = faucetKey()
    const coins = await node.chain.coins(addressFromPublicKey(faucet.publicKey))
    const rival = await paid(faucet, coins, [{ to: bob.address, value: 100_000_000n }])
    overtakenBy(rival)
    await node.devnet?.faucet(bob.address, 100_000_000n)
    expect(waiting()).toHaveLength(2)
    expect(waiting()).toContain(rival.txid)
  })

  it('that joins coins joins those that are left', async () => {
    const { ada, bob } = await start()
    const rival = await paid(ada, await coinOf(ada, 200_000_000n), [{ to: bob.address, value: 'all' }])
    overtakenBy(rival)
    const [joined, ...more] = await node.wallet.merge({ from: ada, fee: '0.1' })
    expect(more).toEqual([])
    expect(waiting()).toEqual([rival.txid, joined])
    expect(node.mempool.get(joined as string)?.inputs).toHaveLength(3)
  })

  it('that a program built itself is refused, if it may replace nothing', async () => {
    const { ada, bob } = await start()
    const coins = await coinOf(ada, 200_000_000n)
    const first = await node.mempool.send(await paid(ada, coins, [{ to: bob.address, value: 'all' }]))
    const second = await paid(ada, coins, [{ to: bob.address, value: 100_000_000n }])
    await expect(node.mempool.send(second, { replace: false })).rejects.toMatchObject({ code: 'tx-double-spend' })
    expect(waiting()).toEqual([first])
    await expect(node.mempool.send(second, { replace: 'no' } as never)).rejects.toThrow('replace of send')
  })
})
