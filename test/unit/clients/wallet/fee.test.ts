import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAddress, singleKeyCode } from '../../../../src/base/primitives/address.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { multisigCode } from '../../../../src/base/primitives/program.js'
import { buildDidTransaction, buildTransfer, type Payment } from '../../../../src/clients/wallet/build-transaction.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { neededFee, type Prices } from '../../../../src/clients/wallet/fee.js'
import { signTransaction } from '../../../../src/clients/wallet/sign-transaction.js'
import { holder } from '../../../support/builders/did.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const accounts = Array.from({ length: 16 }, (_, index) => devnetAccount(index))
const [alice] = accounts as [(typeof accounts)[number]]
const to = parseAddress(devnetAccount(1).address) as Uint8Array
const shipped = { minimum: 100n, perByte: 1n, freeBytes: 1024, leaf: 1200n }

const payment = (fee: Prices, coins: number, code = singleKeyCode(alice.publicKey)): Payment => ({
  code,
  coins: Array.from({ length: coins }, (_, n) => ({ txid: sha256(`coin ${n}`), index: n, value: 1_000_000n })),
  fee,
  assetId: sha256('asset'),
  maxMoney: 10n ** 15n,
  random: seededRandom('fee'),
})

/** A transfer that spends so many coins and has so many recipients, unsigned. */
const transfer = (fee: Prices, { coins = 1, recipients = 1, code = singleKeyCode(alice.publicKey) }) => {
  const most = BigInt(coins) * 1_000_000n - 900_000n
  const each = Array.from({ length: recipients }, () => ({ programHash: to, value: most / BigInt(recipients) }))
  return buildTransfer(payment(fee, coins, code), each)
}

describe('the fee of a wallet', () => {
  it('is the minimum up to the free bytes, and one unit more for each byte beyond', () => {
    const byInputs = Array.from({ length: 40 }, (_, i) => transfer(shipped, { coins: i + 1 }))
    for (const { transaction, fee } of byInputs) {
      expect(fee).toBe(100n + BigInt(Math.max(0, transaction.unsignedSize - 1024)))
    }
    const least = byInputs.filter(({ fee }) => fee === 100n)
    expect(least.map(({ transaction }) => transaction.inputs.length)).toEqual(
      Array.from({ length: 22 }, (_, i) => i + 1),
    )
    const recipients = (count: number) => transfer(shipped, { recipients: count }).fee
    expect([recipients(13), recipients(14)]).toEqual([100n, 135n])
  })

  it('is the same where the rules of the chain have no price, and theirs where they have one', () => {
    const coins = 30
    const { transaction, fee } = transfer({ minimum: 100n, perByte: 0n }, { coins })
    expect(fee).toBe(transfer(shipped, { coins }).fee)
    expect(transfer({ minimum: 7n, perByte: 3n }, { coins }).fee).toBe(7n + 3n * BigInt(transaction.unsignedSize))
  })

  it('pays for the leaf of a credential unless there is one', () => {
    const ada = holder()
    const build = (newLeaf?: boolean) =>
      buildDidTransaction(payment(shipped, 1), ada.revoke(`${ada.did}#profile`), undefined, newLeaf).fee
    expect([build(), build(true), build(false)]).toEqual([1300n, 1300n, 100n])
    expect(buildDidTransaction(payment(shipped, 1), ada.deactivate(), undefined).fee).toBe(100n)
  })

  it('is what a full pool asks for the bytes of the signed transaction, to the unit', () => {
    const spenders = fc
      .integer({ min: 1, max: 16 })
      .chain((keys) => fc.tuple(fc.constant(keys), fc.integer({ min: 1, max: keys })))
    fc.assert(
      fc.property(
        spenders,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 9_000_000 }),
        (of, coins, floor) => {
          const [keys, required] = of
          const owners = accounts.slice(0, keys)
          const code =
            keys === 1
              ? singleKeyCode(alice.publicKey)
              : multisigCode(
                  required,
                  owners.map(({ publicKey }) => publicKey),
                )
          const prices = { ...shipped, floor }
          let built
          try {
            built = transfer(prices, { coins, code })
          } catch (error) {
            expect(String(error)).toMatch(/not enough coins/)
            return
          }
          const signed = signTransaction(
            built.transaction,
            owners.slice(0, required).map(({ privateKey }) => privateKey),
          )
          expect(signed.missing).toEqual([])
          const { bytes, unsignedSize } = signed.transaction
          const byFloor = (BigInt(floor) * BigInt(bytes.length) + 999n) / 1000n
          const byChain = 100n + BigInt(Math.max(0, unsignedSize - 1024))
          const needed = byFloor > byChain ? byFloor : byChain
          expect(neededFee(built.transaction, prices)).toBe(needed)
          expect(neededFee(signed.transaction, prices)).toBe(needed)
          // What is not worth a change output goes to the fee.
          if (built.change > 0n) expect(built.fee).toBe(needed)
          else expect(built.fee).toBeGreaterThanOrEqual(needed)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('takes the first coins that pay for themselves, though a further one costs more than it is worth', () => {
    const dust = { ...payment({ ...shipped, floor: 2000 }, 1) }
    const coins = [
      ...dust.coins,
      ...Array.from({ length: 200 }, (_, n) => ({ txid: sha256(`dust ${n}`), index: n, value: 80n })),
    ]
    const built = buildTransfer({ ...dust, coins }, [{ programHash: to, value: 900_000n }])
    expect(built.spent).toHaveLength(1)
  })
})
