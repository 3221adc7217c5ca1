import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holds } from '../../../../src/base/crypto/verify.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { parseAddress, singleKeyCode, trailer } from '../../../../src/base/primitives/address.js'
import { equalBytes, toHex } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { multisigCode, parseCode, parseParameter } from '../../../../src/base/primitives/program.js'
import { finalSequence, lockSequence } from '../../../../src/base/primitives/input.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import {
  buildDidTransaction,
  buildTransfer,
  type Payment,
  payerOf,
} from '../../../../src/clients/wallet/build-transaction.js'
import type { SpendableCoin } from '../../../../src/clients/wallet/coins.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { isSigned, signTransaction } from '../../../../src/clients/wallet/sign-transaction.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const alice = devnetAccount(0)
const bob = devnetAccount(1)
const bobHash = parseAddress(bob.address) as Uint8Array
const assetId = sha256('asset')
const rates = { minimum: 100n, perByte: 3n }
const coins = (...values: bigint[]): SpendableCoin[] =>
  values.map((value, n) => ({ txid: sha256(`coin ${n}`), index: n, value }))
const payment = (more: Partial<Payment> = {}): Payment => ({
  code: singleKeyCode(alice.publicKey),
  coins: coins(1_000_000n),
  fee: rates,
  assetId,
  maxMoney: 10n ** 15n,
  random: seededRandom('payment'),
  ...more,
})
const leastFee = (transaction: Transaction) => rates.minimum + rates.perByte * BigInt(transaction.unsigned.length)
const outputSum = ({ outputs }: Transaction) => outputs.reduce((sum, { value }) => sum + value, 0n)

const operation = {
  specification: 'ledger/did/1.0',
  operation: 'deactivate',
  payload: alice.did,
  proofType: '',
  verificationMethod: '#primary',
  signature: 'x',
}

describe('building a transfer', () => {
  it('makes bytes that decode to what was asked, with the exact fee and change', () => {
    const recipients = fc.array(fc.bigInt({ min: 1n, max: 100_000n }), { minLength: 1, maxLength: 300 })
    const held = fc.array(fc.bigInt({ min: 200n, max: 10_000_000n }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(
        recipients,
        held,
        fc.option(fc.bigInt({ min: 0n, max: 5000n })),
        fc.integer(),
        (amounts, values, fixed, seed) => {
          const asked = payment({ coins: coins(...values), fee: fixed ?? rates, random: seededRandom(seed) })
          let built
          try {
            built = buildTransfer(
              asked,
              amounts.map((value) => ({ programHash: bobHash, value })),
            )
          } catch (error) {
            expect(error).toBeInstanceOf(UserError)
            return
          }
          const { transaction, spent, fee, change } = built
          const decoded = Transaction.fromHex(transaction.toHex())
          expect(decoded.toJSON()).toEqual(transaction.toJSON())
          expect(decoded).toMatchObject({ version: 9, type: 2, lockTime: 0, payloadVersion: 0 })
          const inputs = spent.reduce((sum, { value }) => sum + value, 0n)
          expect(inputs - outputSum(decoded)).toBe(fee)
          if (fixed !== null) expect(fee).toBe(fixed)
          else {
            // Exact with change; without, at most one change output of 66 bytes (and a longer count) above.
            expect(fee).toBeGreaterThanOrEqual(leastFee(decoded))
            expect(fee - leastFee(decoded)).toBeLessThanOrEqual(change > 0n ? 0n : rates.perByte * 68n)
          }
          expect(decoded.outputs.slice(0, amounts.length).map(({ value }) => value)).toEqual(amounts)
          expect(decoded.outputs.length).toBe(amounts.length + (change > 0n ? 1 : 0))
          const last = decoded.outputs.at(-1)
          if (change > 0n)
            expect(last && { value: last.value, to: toHex(last.programHash) }).toEqual({
              value: change,
              to: toHex(payerOf(asked.code)),
            })
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('has one program with the code and no parameter, and a decimal nonce below 2^63', () => {
    const { transaction } = buildTransfer(payment(), [{ programHash: bobHash, value: 5n }])
    expect(transaction.programs.map(({ code, parameter }) => [toHex(code), parameter.length])).toEqual([
      [toHex(singleKeyCode(alice.publicKey)), 0],
    ])
    expect(transaction.attributes).toHaveLength(1)
    const [nonce] = transaction.attributes
    expect(nonce?.usage).toBe(0)
    const text = Buffer.from(nonce?.data ?? []).toString()
    expect(text).toMatch(/^(0|[1-9][0-9]*)$/)
    expect(BigInt(text)).toBeLessThan(2n ** 63n)
    expect(transaction.inputs.map(({ sequence }) => sequence)).toEqual([finalSequence])
    expect(transaction.outputs.map(({ extra }) => extra?.type)).toEqual([0, 0])
  })

  it('takes another nonce, and so another txid, each time', () => {
    const random = seededRandom('two')
    const build = () => buildTransfer(payment({ random }), [{ programHash: bobHash, value: 5n }]).transaction.txid
    expect(build()).not.toBe(build())
  })

  it('spends locked coins with their sequence and a lockTime at the highest lock', () => {
    const [plain, low, high] = coins(500_000n, 400_000n, 300_000n) as [SpendableCoin, SpendableCoin, SpendableCoin]
    const locked = [plain, { ...low, outputLock: 7 }, { ...high, outputLock: 9 }]
    const { transaction } = buildTransfer(payment({ coins: locked, height: 9 }), [
      { programHash: bobHash, value: 1_100_000n, outputLock: 77 },
    ])
    expect(transaction.inputs.map(({ sequence }) => sequence)).toEqual([finalSequence, lockSequence, lockSequence])
    expect(transaction.lockTime).toBe(9)
    expect(transaction.outputs.map(({ outputLock }) => outputLock)).toEqual([77, 0])
    expect(() =>
      buildTransfer(payment({ coins: locked, height: 8 }), [{ programHash: bobHash, value: 1_100_000n }]),
    ).toThrow(/locked/)
  })

  it('makes a lockTime bind by leaving no sequence final', () => {
    const { transaction } = buildTransfer(payment({ lockTime: 50 }), [{ programHash: bobHash, value: 5n }])
    expect(transaction.lockTime).toBe(50)
    expect(transaction.inputs.map(({ sequence }) => sequence)).toEqual([lockSequence])
  })

  it('pays from a multisig or DID script address as well', () => {
    const did = singleKeyCode(alice.publicKey, trailer.did)
    const shared = multisigCode(2, [alice.publicKey, bob.publicKey])
    for (const code of [did, shared]) {
      const { transaction } = buildTransfer(payment({ code }), [{ programHash: bobHash, value: 5n }])
      expect(equalBytes(transaction.outputs[1]?.programHash ?? did, payerOf(code))).toBe(true)
    }
    expect(() => payerOf(new Uint8Array(35))).toThrow(UserError)
  })

  it.each<[string, Partial<Payment>, bigint[], RegExp]>([
    ['no recipient', {}, [], /at least one recipient/],
    ['an amount of zero', {}, [0n], /must be above zero/],
    ['a negative amount', {}, [-1n], /must be above zero/],
    ['more than the supply', { maxMoney: 10n }, [11n], /more than the supply of 0\.00000010/],
    ['an amount and fee beyond the supply', { maxMoney: 10n, fee: 6n }, [5n], /more than the supply/],
    ['more than there is', {}, [1_000_000n], /not enough coins/],
    ['no coins', { coins: [] }, [1n], /not enough coins/],
  ])('refuses %s', (_, more, amounts, message) => {
    const act = () =>
      buildTransfer(
        payment(more),
        amounts.map((value) => ({ programHash: bobHash, value })),
      )
    expect(act).toThrow(UserError)
    expect(act).toThrow(message)
  })
})

describe('building a DID transaction', () => {
  const didHash = parseAddress(alice.did.slice('did:ledger:'.length)) as Uint8Array

  it('carries the operation in version 0 form, marks the DID and returns the change', () => {
    const { transaction, fee } = buildDidTransaction(payment(), operation, didHash)
    const decoded = Transaction.fromHex(transaction.toHex())
    expect(decoded).toMatchObject({ version: 0, type: 10, payload: { operation } })
    expect(decoded.outputs.map(({ value }) => value)).toEqual([0n, 1_000_000n - fee])
    expect(decoded.toJSON().vout.map(({ address }) => address)).toEqual([alice.did.slice(11), alice.address])
    expect(fee).toBe(leastFee(decoded))
  })

  it('keeps at least one output where the coins are used up and no DID is known', () => {
    const size = buildDidTransaction(payment({ fee: 0n }), operation, didHash).transaction.unsigned.length - 65
    const exact = rates.minimum + rates.perByte * BigInt(size)
    const { transaction, change } = buildDidTransaction(payment({ coins: coins(exact) }), operation, undefined)
    expect(change).toBe(0n)
    expect(transaction.toJSON().vout).toMatchObject([{ value: '0.00000000', address: alice.address }])
  })
})

describe('signing', () => {
  const unsigned = buildTransfer(payment(), [{ programHash: bobHash, value: 5n }]).transaction

  it('fills in a parameter that verifies and leaves the txid alone', () => {
    const { transaction, signed, missing } = signTransaction(unsigned, [bob.privateKey, alice.privateKey])
    expect([transaction.txid, signed, missing]).toEqual([unsigned.txid, [alice.address], []])
    const [program] = transaction.programs
    const script = parseCode(program?.code ?? new Uint8Array(0))
    const signatures = script && parseParameter(program?.parameter ?? new Uint8Array(0), script)
    expect(script && signatures && holds({ message: transaction.unsigned, keys: script.keys, signatures })).toBe(true)
    expect([isSigned(unsigned), isSigned(transaction)]).toEqual([false, true])
    expect(Transaction.fromHex(transaction.toHex()).programs).toHaveLength(1)
  })

  it('signs for several payers one after another and sorts the programs', () => {
    const empty = new Uint8Array(0)
    const codes = [bob, alice, devnetAccount(2)].map(({ publicKey }) => ({
      code: singleKeyCode(publicKey),
      parameter: empty,
    }))
    const shared = new Transaction({ ...unsigned, payload: unsigned.payload, programs: codes })
    const first = signTransaction(shared, [alice.privateKey])
    expect(new Set(first.missing)).toEqual(new Set([bob.address, devnetAccount(2).address]))
    const second = signTransaction(first.transaction, [devnetAccount(2).privateKey])
    const third = signTransaction(second.transaction, [bob.privateKey])
    expect(third.missing).toEqual([])
    const hashes = third.transaction.programs.map(({ code }) => toHex(payerOf(code).slice(1).reverse()))
    expect(hashes).toEqual([...hashes].sort())
  })

  it('refuses keys that have nothing to sign', () => {
    expect(() => signTransaction(unsigned, [bob.privateKey])).toThrow(`it has to be signed by ${alice.address}`)
    expect(() => signTransaction(unsigned, [bob.privateKey])).toThrow(UserError)
  })
})
