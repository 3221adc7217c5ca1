import { describe, expect, it } from 'vitest'
import { singleKeyCode } from '../../../../src/base/primitives/address.js'
import { displayHash, mapKey, parseDisplayHash } from '../../../../src/base/primitives/bytes.js'
import { type Hash, sha256 } from '../../../../src/base/primitives/hash.js'
import type { Payment, UnsignedTransaction } from '../../../../src/clients/wallet/build-transaction.js'
import { choosingAgain, sendMerges } from '../../../../src/clients/wallet/choose-again.js'
import type { SpendableCoin } from '../../../../src/clients/wallet/coins.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const spent = new Error('spent')
const isSpent = (error: unknown) => error === spent

describe('choosingAgain', () => {
  const failing = async (failure: Error, times: number) => {
    let attempts = 0
    const attempt = async () => {
      if (++attempts <= times) throw failure
      return 'sent'
    }
    return [await choosingAgain(attempt, isSpent).catch((error: unknown) => error), attempts]
  }

  it('attempts it again where coins were spent, 16 times at most, and once where another thing fails', async () => {
    const other = new Error('other')
    expect(await failing(spent, 2)).toEqual(['sent', 3])
    expect(await failing(spent, 15)).toEqual(['sent', 16])
    expect(await failing(spent, 16)).toEqual([spent, 16])
    expect(await failing(other, 1)).toEqual([other, 1])
  })
})

describe('sendMerges', () => {
  const coin = (n: number): SpendableCoin => ({ txid: sha256(`coin ${n}`), index: n, value: 1000n + BigInt(n) })
  const indexes = ({ spent: coins }: UnsignedTransaction) => coins.map(({ index }) => index).sort()

  /** Joins seven coins, three at once, mined at once; of those in `taken` it is seen in the second transaction only that they are spent. */
  async function merge(taken: readonly number[], failure: Error = spent) {
    let coins = [0, 1, 2, 3, 4, 5, 6].map(coin)
    let sends = 0
    const paymentNow = async (): Promise<Payment> => ({
      code: singleKeyCode(devnetAccount(0).publicKey),
      coins,
      fee: 10n,
      assetId: sha256('asset'),
      maxMoney: 10n ** 15n,
      random: seededRandom('merge'),
      bounds: { inputs: 3, size: 100_000 },
    })
    const send = async (built: UnsignedTransaction) => {
      if (++sends === 2) {
        coins = coins.filter(({ index }) => !taken.includes(index))
        if (taken.length > 0) throw failure
      }
      const gone = new Set(built.spent.map(({ txid }) => mapKey(txid)))
      const joined = { txid: parseDisplayHash(built.transaction.txid) as Hash, index: 0, value: 5000n }
      coins = [...coins.filter(({ txid }) => !gone.has(mapKey(txid))), joined]
      return displayHash(joined.txid)
    }
    const merges = await sendMerges(paymentNow, send, isSpent)
    return { spent: merges.map(({ built }) => indexes(built)), sends }
  }

  it('joins all in groups', async () => {
    expect(await merge([])).toEqual({
      spent: [
        [0, 1, 2],
        [3, 4, 5],
      ],
      sends: 2,
    })
  })

  it('joins what is left where others were spent meanwhile, and not what it has joined', async () => {
    expect(await merge([4])).toEqual({
      spent: [
        [0, 1, 2],
        [3, 5, 6],
      ],
      sends: 3,
    })
    expect(await merge([3, 4, 5])).toEqual({ spent: [[0, 1, 2]], sends: 2 })
  })

  it('names those that were sent where a later one fails', async () => {
    await expect(merge([4], new Error('the pool is full'))).rejects.toThrow(
      /^the pool is full; sent before that, and not lost: [0-9a-f]{64}$/,
    )
  })
})
