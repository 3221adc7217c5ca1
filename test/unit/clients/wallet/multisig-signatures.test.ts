import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publicKeyOf, sign } from '../../../../src/base/crypto/keys.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { parseAddress, singleKeyCode } from '../../../../src/base/primitives/address.js'
import { concat, equalBytes, hex, parseDisplayHash, toHex } from '../../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { parameterOf, type Program } from '../../../../src/base/primitives/program.js'
import { Transaction } from '../../../../src/base/primitives/transaction.js'
import type { Input } from '../../../../src/base/primitives/transaction-fields.js'
import { buildTransfer, type Payment, payerOf } from '../../../../src/clients/wallet/build-transaction.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { multisigAccount } from '../../../../src/clients/wallet/multisig.js'
import {
  addSignature,
  combineSignatures,
  isComplete,
  type ProgramSignatures,
  transactionSignatures,
} from '../../../../src/clients/wallet/multisig-signatures.js'
import { isSigned, signTransaction, unsignedAddresses } from '../../../../src/clients/wallet/sign-transaction.js'
import { openVectors } from '../../../support/builders/vectors.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'
import { rounds } from '../../../support/process/thorough.js'

const recipient = parseAddress(devnetAccount(9).address) as Uint8Array
const payment = (code: Uint8Array, more: Partial<Payment> = {}): Payment => ({
  code,
  coins: [{ txid: sha256('coin'), index: 0, value: 1_000_000n }],
  fee: 1000n,
  assetId: sha256('asset'),
  maxMoney: 10n ** 15n,
  random: seededRandom('payment'),
  ...more,
})
const transfer = (code: Uint8Array) => buildTransfer(payment(code), [{ programHash: recipient, value: 5n }]).transaction
const withParameter = (transaction: Transaction, parameter: Uint8Array) =>
  new Transaction({
    ...transaction,
    payload: transaction.payload,
    programs: transaction.programs.map(({ code }) => ({ code, parameter })),
  })
const parameter = ({ programs }: Transaction) => (programs[0] as Program).parameter
const state = (transaction: Transaction) => transactionSignatures(transaction)[0] as ProgramSignatures

const random = seededRandom('owners')
const owners = Array.from({ length: 5 }, () => {
  const privateKey = random.bytes(32)
  return { privateKey, publicKey: publicKeyOf(privateKey) }
})
type Owner = (typeof owners)[number]
const [alice, bob, carol, dave, stranger] = owners as [Owner, Owner, Owner, Owner, Owner]
const shared = multisigAccount(
  [alice, bob, carol, dave].map(({ publicKey }) => publicKey),
  3,
)
const unsigned = transfer(shared.code)
const signedBy = (...signers: Owner[]) =>
  signers.reduce((so, { privateKey }) => signTransaction(so, [privateKey]).transaction, unsigned)
const signatureOf = ({ privateKey }: Owner) => sign(unsigned.unsigned, privateKey)

/** An m of n account, some of its owners in the order in which they sign, and how they are split over files. */
const scene = fc.subarray(owners, { minLength: 1 }).chain((members) =>
  fc.record({
    members: fc.constant(members),
    required: fc.integer({ min: 1, max: members.length }),
    signers: fc.shuffledSubarray(members),
    split: fc.array(fc.nat(2), { minLength: 5, maxLength: 5 }),
  }),
)

describe('signing for a multisig address', () => {
  it('is done by any owners in any order, one after the other or in parallel, with the same bytes', () => {
    fc.assert(
      fc.property(scene, ({ members, required, signers, split }) => {
        const { code, address, keys } = multisigAccount(
          members.map(({ publicKey }) => publicKey),
          required,
        )
        const start = transfer(code)
        const serial = signers.reduce((so, { privateKey }) => signTransaction(so, [privateKey]).transaction, start)
        const files = [0, 1, 2].map((file) =>
          signers
            .filter((_, i) => split[i] === file)
            .reduce((so, { privateKey }) => signTransaction(so, [privateKey]).transaction, start),
        )
        const made = signers.map(({ publicKey, privateKey }) => ({
          publicKey,
          signature: sign(start.unsigned, privateKey),
        }))
        const added = made.reduce((so, { publicKey, signature }) => addSignature(so, publicKey, signature), start)
        const ordered = keys.flatMap((key) => made.filter(({ publicKey }) => equalBytes(publicKey, key)))
        const expected = parameterOf(ordered.map(({ signature }) => signature))
        expect(toHex(parameter(serial))).toBe(toHex(expected))
        expect(added.toHex()).toBe(serial.toHex())
        expect(combineSignatures(files).toHex()).toBe(serial.toHex())
        expect(combineSignatures([...files].reverse()).toHex()).toBe(serial.toHex())
        expect(combineSignatures([serial, ...files]).toHex()).toBe(serial.toHex())

        const complete = signers.length >= required
        expect([isSigned(serial), unsignedAddresses(serial)]).toEqual([complete, complete ? [] : [address]])
        expect(state(serial)).toMatchObject({ address, required, present: signers.length, defect: undefined })
        expect(isComplete(state(serial))).toBe(complete)
        expect([serial.txid, toHex(serial.unsigned)]).toEqual([start.txid, toHex(start.unsigned)])
      }),
      { numRuns: rounds(60, 1000) },
    )
  })

  it('takes every key that a wallet holds', () => {
    const { transaction, signed, missing } = signTransaction(
      unsigned,
      [stranger, dave, alice].map(({ privateKey }) => privateKey),
    )
    expect([signed, missing]).toEqual([[shared.address], [shared.address]])
    expect(transaction.toHex()).toBe(signedBy(alice, dave).toHex())
  })

  it('refuses a key that is not in the script, and a second signature of the same key', () => {
    const once = signedBy(alice)
    expect(() => signTransaction(once, [stranger.privateKey])).toThrow(
      `this wallet holds no key of the transaction; it has to be signed by ${shared.address} (1 of 3 signatures, 2 missing)`,
    )
    expect(() => signTransaction(once, [alice.privateKey])).toThrow(
      `this wallet has signed already for ${shared.address} (1 of 3 signatures, 2 missing)`,
    )
    expect(signTransaction(once, [alice.privateKey, bob.privateKey]).transaction.toHex()).toBe(
      signedBy(bob, alice).toHex(),
    )
    expect(() => addSignature(once, alice.publicKey, signatureOf(alice))).toThrow(/has signed .* already/)
    expect(() => addSignature(once, stranger.publicKey, signatureOf(stranger))).toThrow(/is no key of transaction/)
    expect(() => addSignature(once, bob.publicKey, signatureOf(carol))).toThrow(/this is no signature of/)
    expect(addSignature(once, bob.publicKey, signatureOf(bob)).toHex()).toBe(signedBy(alice, bob).toHex())
  })

  it('puts signatures that others wrote in another order into that of the keys', () => {
    const backwards = withParameter(unsigned, parameterOf([...shared.keys].reverse().map(ownerOf).map(signatureOf)))
    expect(isSigned(backwards)).toBe(true)
    const two = withParameter(unsigned, parameterOf([bob, alice].map(signatureOf)))
    const three = signTransaction(two, [dave.privateKey]).transaction
    expect(three.toHex()).toBe(signedBy(dave, alice, bob).toHex())
  })

  it('lets a key that is listed twice sign twice, and no third time', () => {
    const double = multisigAccount([alice.publicKey, bob.publicKey, alice.publicKey], 3)
    const start = transfer(double.code)
    const sequence = [alice, bob, alice].reduce<Transaction[]>(
      (list, { privateKey }) => [...list, signTransaction(list.at(-1) ?? start, [privateKey]).transaction],
      [],
    )
    expect(sequence.map((transaction) => state(transaction).present)).toEqual([1, 2, 3])
    expect(sequence.map(isSigned)).toEqual([false, false, true])
    expect(() => signTransaction(sequence[2] as Transaction, [alice.privateKey])).toThrow(/has signed already/)
  })

  it('leaves the programs of others alone, and signs for all addresses of a wallet', () => {
    const single = { code: singleKeyCode(alice.publicKey), parameter: new Uint8Array(0) }
    const both = new Transaction({ ...unsigned, payload: unsigned.payload, programs: [...unsigned.programs, single] })
    const one = signTransaction(both, [bob.privateKey])
    expect([one.signed, one.missing.length]).toEqual([[shared.address], 2])
    const two = signTransaction(one.transaction, [alice.privateKey])
    expect([two.signed.length, two.missing]).toEqual([2, [shared.address]])
    const other = signTransaction(both, [dave.privateKey]).transaction
    expect(unsignedAddresses(combineSignatures([two.transaction, other]))).toEqual([])
  })

  const ownerOf = (key: Uint8Array) => owners.find(({ publicKey }) => equalBytes(publicKey, key)) as Owner
})

describe('signatures that are wrong', () => {
  const junk = new Uint8Array(64).fill(7)
  const cases: [string, Uint8Array, RegExp][] = [
    ['one that verifies under no key', parameterOf([signatureOf(alice), junk]), /signature 2 is by none of its keys/],
    ['one of a stranger', parameterOf([signatureOf(stranger)]), /signature 1 is by none of its keys/],
    ['the same one twice', parameterOf([alice, alice, bob].map(signatureOf)), /signature 2 is .* signed before/],
    ['one too many', parameterOf([alice, bob, carol, dave, alice].map(signatureOf)), /5 signatures for 4 keys/],
    ['one of another transaction', parameterOf([sign(sha256('other'), bob.privateKey)]), /signature 1 is by none/],
    ['bytes that are none', Uint8Array.of(1, 2, 3), /its parameter is no list of signatures/],
    ['a wrong length byte', concat(Uint8Array.of(65), junk), /its parameter is no list of signatures/],
  ]
  it.each(cases)('%s: are neither signed over, nor combined, nor complete', (_, bytes, message) => {
    const wrong = withParameter(unsigned, bytes)
    expect(state(wrong).defect).toMatch(message)
    expect([isComplete(state(wrong)), isSigned(wrong)]).toEqual([false, false])
    expect(unsignedAddresses(wrong)).toEqual([shared.address])
    for (const act of [
      () => signTransaction(wrong, [dave.privateKey]),
      () => addSignature(wrong, dave.publicKey, signatureOf(dave)),
      () => combineSignatures([signedBy(carol), wrong]),
    ]) {
      expect(act).toThrow(UserError)
      expect(act).toThrow(message)
    }
    expect(() => combineSignatures([signedBy(carol), wrong], ['carol.json', 'wrong.json'])).toThrow(/^wrong\.json: /)
  })

  it('of one key are replaced by that key', () => {
    const start = transfer(singleKeyCode(alice.publicKey))
    const wrong = withParameter(start, parameterOf([junk, junk]))
    expect(isSigned(wrong)).toBe(false)
    expect(isSigned(signTransaction(wrong, [alice.privateKey]).transaction)).toBe(true)
  })
})

describe('combining', () => {
  it('takes either of two signatures of one key, whichever file comes first', () => {
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const one = signatureOf(alice)
    const mirrored = order - BigInt(`0x${toHex(one.subarray(32))}`)
    const two = concat(one.subarray(0, 32), hex(mirrored.toString(16).padStart(64, '0')))
    const files = [one, two].map((signature) => withParameter(unsigned, parameterOf([signature])))
    const there = combineSignatures(files)
    expect(state(there).present).toBe(1)
    expect(combineSignatures([...files].reverse()).toHex()).toBe(there.toHex())
  })

  it('refuses another transaction, other programs, an unknown program, and nothing', () => {
    const first = signedBy(alice)
    const other = signTransaction(
      buildTransfer(payment(shared.code), [{ programHash: recipient, value: 6n }]).transaction,
      [bob.privateKey],
    ).transaction
    expect(() => combineSignatures([first, other])).toThrow(`transaction 2 is another transaction, ${other.txid}`)
    const bare = new Transaction({ ...unsigned, payload: unsigned.payload, programs: [] })
    expect(() => combineSignatures([first, bare])).toThrow('transaction 2 has other programs than transaction 1')
    const unknown = new Transaction({
      ...unsigned,
      payload: unsigned.payload,
      programs: [{ code: Uint8Array.of(1), parameter: new Uint8Array(0) }],
    })
    expect(() => combineSignatures([unknown, first])).toThrow('transaction 1 has a program of no accepted form')
    expect(unsignedAddresses(unknown)).toEqual(['an unknown program'])
    expect(() => combineSignatures([])).toThrow(UserError)
    expect(combineSignatures([first]).toHex()).toBe(first.toHex())
  })
})

describe('the published 3 of 4', () => {
  const { data } = openVectors<{ vectors: { name: string; raw: string }[] }>('transactions.json', { descriptive: [] })
  const raw = (name: string) => data.vectors.find((vector) => vector.name === name)?.raw as string
  const [none, one, three] = ['cli-v9-1-type2', 'cli-v9-6-type2', 'cli-v9-8-type2'].map((name) =>
    Transaction.fromHex(raw(name)),
  ) as [Transaction, Transaction, Transaction]
  const { keys, signatures: made } = state(three)

  it('is built byte for byte: the code, an empty parameter', () => {
    const { code, address } = multisigAccount([...keys].reverse(), 3)
    expect(address).toBe('8PT1XBZboe17rq71Xq1CvMEs8HdKmMztcP')
    // The family's nonce is a number in digits; the random bytes from which this wallet would make it.
    const nonce = Buffer.alloc(8)
    nonce.writeBigUInt64LE(3492412429333833517n << 1n)
    const [spent] = none.inputs as [Input]
    const { transaction } = buildTransfer(
      payment(code, {
        coins: [{ txid: spent.txid, index: spent.index, value: 1_000_000_000n }],
        fee: 100_000n,
        assetId: parseDisplayHash('a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0') as Uint8Array,
        random: { bytes: () => nonce },
      }),
      [{ programHash: parseAddress('EQJP3XT7rshteqE1D3u9nBqXL7xQrfzVh1') as Uint8Array, value: 51_000_000n }],
    )
    expect(transaction.toHex()).toBe(raw('cli-v9-1-type2'))
    expect(toHex(payerOf(code))).toBe(toHex(parseAddress(address) as Uint8Array))
  })

  it('is recognised at each stage', () => {
    const stages = [none, one, three].map((transaction) => {
      const { present, required, defect } = state(transaction)
      return [present, required, defect, isSigned(transaction), transaction.txid]
    })
    const txid = '5b9673a813b90dd73f6d21f478736c7e08bba114c3772618fca232341af683b5'
    expect(stages).toEqual([
      [0, 3, undefined, false, txid],
      [1, 3, undefined, false, txid],
      [3, 3, undefined, true, txid],
    ])
  })

  it('goes from each stage to the next byte for byte, with the published signatures in any order', () => {
    const list = keys.flatMap((key, i) => (made[i] === undefined ? [] : [{ key, signature: made[i] }]))
    expect(list).toHaveLength(3)
    const [first, second, third] = list as [(typeof list)[0], (typeof list)[0], (typeof list)[0]]
    const add = (so: Transaction, ...more: typeof list) =>
      more.reduce((result, { key, signature }) => addSignature(result, key, signature), so)
    expect(add(none, first).toHex()).toBe(raw('cli-v9-6-type2'))
    expect(add(one, second, third).toHex()).toBe(raw('cli-v9-8-type2'))
    expect(add(one, third, second).toHex()).toBe(raw('cli-v9-8-type2'))
    expect(add(none, third, second, first).toHex()).toBe(raw('cli-v9-8-type2'))
    expect(combineSignatures([add(none, third), one, add(none, second)]).toHex()).toBe(raw('cli-v9-8-type2'))
    expect(combineSignatures([none, one, three]).toHex()).toBe(raw('cli-v9-8-type2'))
    expect(() => add(one, first)).toThrow(/has signed/)
  })
})
