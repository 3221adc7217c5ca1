import { describe, expect, it } from 'vitest'
import { RuleError, UserError } from '../../../src/base/errors/rule-error.js'
import { payloadBytes } from '../../../src/identity/proofs/did-answer.js'
import { chainIds } from '../../../src/identity/did/chain-ids.js'
import { parseDocumentBytes } from '../../../src/identity/did/document.js'
import {
  accountSource,
  buildDidTransaction,
  buildMerge,
  buildReplacement,
  buildTransfer,
  createIdentity,
  issueCredential,
  issueCredentialJwt,
  multisigAccount,
  namedDraft,
  parseAddress,
  parseAmount,
  parseDid,
  type Payment,
  type ProgramHash,
  type Recipient,
  signTransaction,
  singleKeyCode,
  updateIdentity,
} from '../../../src/node/library/wallet-entry.js'
import { seededRandom } from '../../support/builders/seeded-bytes.js'

/** Values that callers without a type checker hand to the functions of the wallet. */

const mnemonic = 'test test test test test test test test test test test junk'
const accounts = accountSource({ kind: 'mnemonic', mnemonic })
const ada = accounts(0)
const coin = { txid: new Uint8Array(32).fill(1), index: 0, value: 1_000_000_000n }
const payment: Payment = {
  code: singleKeyCode(ada.publicKey),
  coins: [coin],
  fee: { minimum: 100n, perByte: 1n },
  assetId: new Uint8Array(32).fill(2),
  maxMoney: 10n ** 15n,
  random: seededRandom('values'),
}
const recipient: Recipient = { programHash: parseAddress(ada.address) as ProgramHash, value: 100n }
const built = buildTransfer(payment, [recipient])
const waiting = { transaction: signTransaction(built.transaction, [ada.privateKey]).transaction, spent: built.spent }
const operation = createIdentity(
  { account: ada, specification: 'ledger/did/1.0', created: '2026-01-01T00:00:00Z' },
  { services: [], expires: '2030-01-01T00:00:00Z' },
)

/** The refusal of a call: a {@link UserError}. */
function refusal(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    expect(error).toBeInstanceOf(UserError)
    return (error as UserError).message
  }
  return 'nothing is refused'
}

const wrongNumbers = [NaN, 5, 1.5, '5', '1e3', null]
const wrongHeights = [NaN, -1, 1.5, '7', 2 ** 32]

describe('a payment that is built', () => {
  it.each([...wrongNumbers, undefined])('needs an amount: %s', (value) => {
    expect(refusal(() => buildTransfer(payment, [{ ...recipient, value } as never]))).toBe(
      "value of recipients[0]: a bigint or 'all' is needed",
    )
  })

  it.each([undefined, null, ada.address, [1], new Uint8Array(20)])('needs the bytes of an address: %s', (given) => {
    const words = 'the result of parseAddress is needed'
    const wrong = [recipient, { ...recipient, programHash: given as never }]
    expect(refusal(() => buildTransfer(payment, wrong))).toBe(`programHash of recipients[1]: ${words}`)
    if (given === undefined) return
    expect(refusal(() => buildDidTransaction(payment, operation, given as never))).toBe(
      `did of the transaction: ${words}`,
    )
  })

  it.each([
    ...wrongNumbers,
    undefined,
    -1n,
    {},
    { minimum: 100, perByte: 1n },
    { minimum: 100n, perByte: -1n },
    { minimum: 100n, perByte: 1n, floor: NaN },
  ])('needs a fee or prices, whatever it does: %s', (fee) => {
    const wrong = { ...payment, fee } as never
    const words = 'fee of the payment: a bigint from 0 on, or prices, is needed'
    expect(refusal(() => buildTransfer(wrong, [recipient]))).toBe(words)
    expect(refusal(() => buildMerge(wrong))).toBe(words)
    expect(refusal(() => buildDidTransaction(wrong, operation, undefined))).toBe(words)
    expect(refusal(() => buildReplacement(wrong, waiting))).toBe(words)
  })

  it.each(wrongHeights)('takes heights of locks: %s', (height) => {
    const words = 'a height is needed'
    const locked = { ...recipient, outputLock: height as number }
    expect(refusal(() => buildTransfer(payment, [locked]))).toBe(`outputLock of recipients[0]: ${words}`)
    const later = { ...payment, lockTime: height as number }
    expect(refusal(() => buildTransfer(later, [recipient]))).toBe(`lockTime of the payment: ${words}`)
  })

  it.each<[object, string]>([
    [{ coins: undefined }, 'coins of the payment: a list'],
    [{ coins: [coin, {}] }, 'txid of coins[1]: a hash of 32 bytes'],
    [{ coins: [null] }, 'coins[0] needs an object'],
    [{ coins: [{ ...coin, value: 1e9 }] }, 'value of coins[0]: a bigint from 0 on'],
    [{ coins: [{ ...coin, index: -1 }] }, 'index of coins[0]: a whole number'],
    [{ code: 'ab' }, 'code of the payment: bytes'],
    [{ assetId: 'ab' }, 'assetId of the payment: a hash of 32 bytes'],
    [{ maxMoney: 5 }, 'maxMoney of the payment: a bigint from 0 on'],
    [{ random: undefined }, 'random of the payment: an object'],
    [{ feeFromAmount: 'yes' }, 'feeFromAmount of the payment: true or false'],
  ])('names what is wrong of the payment: %s', (members, words) => {
    expect(refusal(() => buildTransfer({ ...payment, ...members }, [recipient]))).toContain(words)
  })

  it('names a member that recipients do not have, and what is no list or object', () => {
    const misspelt = { ...recipient, outputlock: 5 }
    expect(refusal(() => buildTransfer(payment, [misspelt]))).toContain('outputlock is no option of recipients[0]')
    expect(refusal(() => buildTransfer(payment, undefined as never))).toContain('recipients of the transfer: a list')
    expect(refusal(() => buildTransfer(undefined as never, [recipient]))).toContain('the payment needs an object')
    expect(refusal(() => buildTransfer(payment, [null as never]))).toContain('recipients[0] needs an object')
  })

  it('takes outputs of a transaction for recipients', () => {
    expect(buildTransfer(payment, built.transaction.outputs).transaction.outputs.length).toBeGreaterThan(1)
  })

  it('is replaced by one whose fee has prices', () => {
    const words = 'fee of the payment: prices is needed'
    expect(refusal(() => buildReplacement({ ...payment, fee: 5000n } as never, waiting))).toBe(words)
  })

  it('takes what has more members than are read', () => {
    expect(buildTransfer({ ...payment, note: 1 } as Payment, [recipient]).spent).toEqual([coin])
  })

  it.each<[object, string]>([
    [{ fee: 5000 }, 'fee of buildReplacement: a bigint from 0 on'],
    [{ fee: -1n }, 'fee of buildReplacement: a bigint from 0 on'],
    [{ feeRate: NaN }, 'feeRate of buildReplacement: a whole number'],
    [{ feeRate: 1.5 }, 'feeRate of buildReplacement: a whole number'],
    [{ cancel: 'yes' }, 'cancel of buildReplacement: true or false'],
    [{ feerate: 5 }, 'feerate is no option of buildReplacement'],
  ])('is replaced by options of their types alone: %s', (options, words) => {
    expect(refusal(() => buildReplacement(payment as never, waiting, options))).toContain(words)
  })
})

describe('a text', () => {
  it.each([undefined, null, NaN, 5, ['1'], {}])('is no address, DID or amount where it is none: %j', (value) => {
    for (const read of [parseAddress, parseDid, parseAmount]) expect(read(value as never)).toBeUndefined()
  })
})

describe('an account', () => {
  it.each([NaN, -1, 1.5, 2 ** 31, '0'])('has a whole number: %s', (index) => {
    expect(refusal(() => accounts(index as number))).toContain(`there is no key at m/44'/0'/0'/0/${index}`)
  })

  it('has a mnemonic, and of several owners public keys', () => {
    expect(refusal(() => accountSource({ kind: 'mnemonic' } as never))).toContain('the mnemonic is not valid')
    expect(refusal(() => multisigAccount(['ab', 5] as never, 1))).toBe('ab is not a compressed public key of P-256')
  })
})

describe('values that are signed', () => {
  const created = '2026-01-02T00:00:00Z'
  const context = { account: ada, specification: 'ledger/did/1.0', created }
  const document = parseDocumentBytes(payloadBytes(operation.payload), chainIds)
  const current = { document, txid: 'ab'.repeat(32) }
  const expires = '2030-01-01T00:00:00Z'
  const serviceOf = (n: unknown) => [{ id: '#a', type: 'T', serviceEndpoint: 'https://x.example', n }]
  const named = { did: 'did:ledger:shop', controllers: [ada.did], expires }
  const credentialOf = (n: unknown) => ({ id: 'x', types: ['T'], claims: { n } })
  const doors: Readonly<Record<string, readonly [path: string, sign: (n: unknown) => unknown]>> = {
    createIdentity: ['services[0].n', (n) => createIdentity(context, { services: serviceOf(n), expires })],
    updateIdentity: ['addServices[0].n', (n) => updateIdentity(context, current, { addServices: serviceOf(n) })],
    namedDraft: ['services[0].n', (n) => namedDraft({ ...named, services: serviceOf(n) }, created)],
    issueCredential: ['claims.n', (n) => issueCredential({ account: ada, document, created }, credentialOf(n))],
    issueCredentialJwt: ['claims.n', (n) => issueCredentialJwt({ account: ada, document, created }, credentialOf(n))],
  }

  it.each(Object.entries(doors))('are those that JSON can say: %s', (_, [path, sign]) => {
    for (const right of [null, true, 'a', 1.5, [1, null], { a: {} }]) expect(sign(right)).toBeDefined()
    const wrongs = [NaN, 2 ** 53, 10n, undefined, () => 1, new Date(0), new Map(), Uint8Array.of(1), Array(1), [NaN]]
    for (const wrong of wrongs) {
      let thrown: unknown
      try {
        sign(wrong)
      } catch (error) {
        thrown = error
      }
      expect(thrown, String(wrong)).toBeInstanceOf(RuleError)
      const { message } = thrown as RuleError
      expect(message.startsWith(path), message).toBe(true)
      expect(message).toMatch(/there is no JSON form of this|is no number that every reader/)
    }
  })
})
