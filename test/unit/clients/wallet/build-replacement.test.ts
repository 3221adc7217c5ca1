import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { parseAddress, singleKeyCode } from '../../../../src/base/primitives/address.js'
import { equalBytes } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import {
  buildReplacement,
  type ReplacementPayment,
  type WaitingTransaction,
} from '../../../../src/clients/wallet/build-replacement.js'
import {
  buildDidTransaction,
  buildMerge,
  buildTransfer,
  payerOf,
  type Recipient,
} from '../../../../src/clients/wallet/build-transaction.js'
import type { SpendableCoin } from '../../../../src/clients/wallet/coins.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { signTransaction } from '../../../../src/clients/wallet/sign-transaction.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const [alice, bob] = [devnetAccount(0), devnetAccount(1)]
const bobHash = parseAddress(bob.address) as Uint8Array
const code = singleKeyCode(alice.publicKey)
const prices = { minimum: 100n, perByte: 1n, freeBytes: 1024 }
const coinsOf = (name: string, values: readonly bigint[], more: Partial<SpendableCoin> = {}): SpendableCoin[] =>
  values.map((value, n) => ({ txid: sha256(`${name} ${n}`), index: n, value, confirmations: 1, ...more }))
const payment = (more: Partial<ReplacementPayment> = {}): ReplacementPayment => ({
  code,
  coins: [],
  fee: prices,
  assetId: sha256('asset'),
  maxMoney: 10n ** 15n,
  random: seededRandom('replacement'),
  ...more,
})

/** A signed transfer that waits. */
function waiting(values: readonly bigint[], recipients: readonly Recipient[], more: object = {}): WaitingTransaction {
  const built = buildTransfer({ ...payment(), coins: coinsOf('coin', values), ...more }, recipients)
  return { ...built, transaction: signTransaction(built.transaction, [alice.privateKey]).transaction }
}

const sumOf = (all: readonly { readonly value: bigint }[]) => all.reduce((sum, { value }) => sum + value, 0n)
const toBob = (value: bigint | 'all') => ({ programHash: bobHash, value })
const paidTo = ({ outputs }: Transaction, to: Uint8Array) =>
  outputs.flatMap(({ programHash, value }) => (equalBytes(programHash, to) ? [value] : []))

describe('the replacement of a transaction that waits', () => {
  it('pays the same out of a smaller change, for the least fee that replaces it', () => {
    const before = waiting([1_000_000n], [toBob(400_000n)])
    const { transaction, fee, change, spent } = buildReplacement(payment(), before)
    // The fee before, and the price of as many bytes.
    expect([fee, change]).toEqual([200n, 599_800n])
    expect(spent).toEqual(before.spent)
    expect(transaction.inputs).toEqual(before.transaction.inputs)
    expect(paidTo(transaction, bobHash)).toEqual([400_000n])
    expect(paidTo(transaction, payerOf(code))).toEqual([599_800n])
    expect(transaction.txid).not.toBe(before.transaction.txid)
  })

  it('pays the fee that was chosen, from the least on', () => {
    const before = waiting([1_000_000n], [toBob(400_000n)])
    expect(buildReplacement(payment(), before, { fee: 200n }).fee).toBe(200n)
    expect(buildReplacement(payment(), before, { fee: 5000n }).fee).toBe(5000n)
    expect(() => buildReplacement(payment(), before, { fee: 199n })).toThrow(
      `a fee of 0.00000199 is too low: ${before.transaction.txid} pays 0.00000100, and 0.00000200 replaces it`,
    )
    const signed = before.transaction.bytes.length
    expect(buildReplacement(payment(), before, { feeRate: 3000 }).fee).toBe(BigInt(3 * signed))
    expect(() => buildReplacement(payment(), before, { feeRate: 100 })).toThrow('is too low')
  })

  it('pays what a full pool asks for its size beside the fee before', () => {
    const before = waiting([1_000_000n], [toBob(400_000n)])
    const asked = payment({ fee: { ...prices, floor: 2000 } })
    expect(buildReplacement(asked, before).fee).toBe(100n + BigInt(2 * before.transaction.bytes.length))
  })

  it('adds confirmed coins where the change does not suffice, and says so where there are none', () => {
    const before = waiting([400_100n], [toBob(400_000n)])
    expect(before.transaction.outputs).toHaveLength(1)
    const coins = [...coinsOf('pending', [900_000n], { confirmations: 0 }), ...coinsOf('other', [5000n])]
    const { transaction, fee, change, spent } = buildReplacement(payment({ coins }), before)
    expect(spent.map(({ value }) => value)).toEqual([400_100n, 5000n])
    expect(transaction.inputs).toHaveLength(2)
    expect(paidTo(transaction, bobHash)).toEqual([400_000n])
    expect(sumOf(spent)).toBe(sumOf(transaction.outputs) + fee)
    expect(change).toBe(5100n - fee)
    expect(() => buildReplacement(payment({ coins: coins.slice(0, 1) }), before)).toThrow(
      `the change of ${before.transaction.txid} does not pay a fee of 0.00000200, nor do other confirmed coins`,
    )
  })

  it('gives a change below the cost of an output away', () => {
    const before = waiting([400_250n], [toBob(400_000n)], { fee: 100n })
    expect(before.transaction.outputs).toHaveLength(2)
    const { transaction, fee, change } = buildReplacement(payment(), before)
    expect([fee, change, transaction.outputs.length]).toEqual([200n, 50n, 2])
    const last = { ...payment(), fee: { ...prices, minimum: 150n } }
    expect(buildReplacement(last, before)).toMatchObject({ fee: 250n, change: 0n })
  })

  it('keeps the operation of a DID, its outputs and its locks', () => {
    const operation = { specification: 'ledger/did/1.0', operation: 'deactivate', payload: alice.did } as never
    const built = buildDidTransaction(
      { ...payment(), coins: coinsOf('coin', [1_000_000n], { outputLock: 7 }), height: 9 },
      { proofType: '', verificationMethod: '#primary', signature: 'x', ...(operation as object) } as never,
      bobHash,
    )
    const { transaction } = buildReplacement(payment(), built)
    expect(transaction.payload).toEqual(built.transaction.payload)
    expect(transaction.version).toBe(0)
    expect(transaction.lockTime).toBe(7)
    expect(transaction.inputs).toEqual(built.transaction.inputs)
    expect(transaction.outputs[0]).toEqual(built.transaction.outputs[0])
    expect(transaction.outputs).toHaveLength(2)
  })

  it('takes the fee of a payment to oneself out of its last output', () => {
    const [built] = buildMerge({ ...payment(), coins: coinsOf('coin', [5000n, 6000n]) })
    const { transaction } = buildReplacement(payment(), built as WaitingTransaction)
    expect(paidTo(transaction, payerOf(code))).toEqual([10_800n])
  })

  it('to cancel pays all that was spent to the payer, and nothing else', () => {
    const before = waiting([400_000n, 600_000n], [toBob(900_000n)])
    const { transaction, fee } = buildReplacement(payment(), before, { cancel: true })
    expect(paidTo(transaction, payerOf(code))).toEqual([1_000_000n - fee])
    expect(transaction.outputs).toHaveLength(1)
    expect(transaction.inputs).toEqual(before.transaction.inputs)
    expect(fee).toBe(200n)
    const tiny = waiting([200n], [toBob(100n)])
    expect(() => buildReplacement(payment(), tiny, { cancel: true })).toThrow('does not pay a fee')
    const just = waiting([301n], [toBob(101n)], { fee: 200n })
    expect(paidTo(buildReplacement(payment(), just, { cancel: true }).transaction, payerOf(code))).toEqual([1n])
    expect(() => buildReplacement(payment(), just, { cancel: true, fee: 301n })).toThrow('does not pay a fee')
  })

  it('leaves a transaction alone that is not of the payer', () => {
    const before = waiting([1_000_000n], [toBob(400_000n)])
    const other = payment({ code: singleKeyCode(bob.publicKey) })
    expect(() => buildReplacement(other, before)).toThrow(`is not paid by ${bob.address} alone`)
    expect(() => buildReplacement(payment(), { ...before, spent: [] })).toThrow('1 inputs, of which 0 are known')
  })

  it('keeps amounts and pays a fee that pools take, whatever is asked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1000n, max: 1_000_000n }), { minLength: 1, maxLength: 40 }),
        fc.array(fc.bigInt({ min: 1n, max: 100_000n }), { minLength: 1, maxLength: 40 }),
        fc.array(fc.bigInt({ min: 1n, max: 100_000n }), { maxLength: 5 }),
        fc.boolean(),
        (values, amounts, others, cancel) => {
          let before
          let replaced
          try {
            before = waiting(values, amounts.map(toBob))
            replaced = buildReplacement(payment({ coins: coinsOf('other', others) }), before, { cancel })
          } catch (error) {
            expect(error).toBeInstanceOf(UserError)
            return
          }
          const { spent, fee, change } = replaced
          const { transaction } = signTransaction(replaced.transaction, [alice.privateKey])
          expect(sumOf(spent)).toBe(sumOf(transaction.outputs) + fee)
          expect(paidTo(transaction, bobHash)).toEqual(cancel ? [] : amounts)
          const paidBefore = sumOf(before.spent) - sumOf(before.transaction.outputs)
          const price = prices.minimum + BigInt(Math.max(0, transaction.unsignedSize - prices.freeBytes))
          expect(fee).toBeGreaterThanOrEqual(paidBefore + price)
          expect(fee * BigInt(before.transaction.bytes.length)).toBeGreaterThan(
            paidBefore * BigInt(transaction.bytes.length),
          )
          const above = (paidBefore * BigInt(transaction.bytes.length)) / BigInt(before.transaction.bytes.length) + 1n
          const least = paidBefore + price > above ? paidBefore + price : above
          if (change > 0n) expect(fee).toBe(least)
        },
      ),
    )
  })
})
