import { publicKeyOf } from '../../../src/base/crypto/keys.js'
import { addressFromPublicKey } from '../../../src/base/primitives/address.js'
import { toHex } from '../../../src/base/primitives/bytes.js'

/** The private key of test person `index`: the number index + 1. */
export function testKey(index: number): Uint8Array {
  const key = new Uint8Array(32)
  key[31] = index + 1
  return key
}

/** Derived once for each person: tests ask for them by the ten thousand. */
const people = new Map<number, { readonly publicKey: Uint8Array; readonly address: string }>()

function person(index: number): { readonly publicKey: Uint8Array; readonly address: string } {
  const known = people.get(index)
  if (known !== undefined) return known
  const publicKey = publicKeyOf(testKey(index))
  const made = { publicKey, address: addressFromPublicKey(publicKey) }
  people.set(index, made)
  return made
}

/** 33 bytes, the caller's own. */
export function testPublicKey(index: number): Uint8Array {
  return person(index).publicKey.slice()
}

export function testAddress(index: number): string {
  return person(index).address
}

/** Keys 0 to 3, in this order. */
const validators = [0, 1, 2, 3].map((index) => toHex(testPublicKey(index)))

const base = {
  name: 'test',
  devnet: false,
  time: 1_700_000_000,
  asset: {
    name: 'ELA',
    description: '',
    precision: 8,
    assetType: 0,
    recordType: 0,
    amount: '0',
    controller: '00'.repeat(21),
  },
  allocations: [
    { address: testAddress(10), amount: '100000000000' },
    { address: testAddress(11), amount: '200000000000' },
  ],
  powLimitBits: 0x207fffff,
  retarget: { interval: 720, spacing: 120 },
  auxpowChainId: 7000,
  evmChainId: 7001,
  producer: 'sponsor',
  maturity: 10,
  maxMoney: '3300000000000000',
  subsidy: { initial: '500000000', halving: 1000 },
  fees: { minimum: '100', perByte: '1' },
  limits: { blockSize: 8_000_000, blockTransactions: 10_000, transactionCost: 2_000, blockCost: 40_000 },
  specifications: { did: ['ledger/did/1.0'], credential: ['ledger/credential/1.0'] },
  validators,
  didRoot: true,
  didCore: true,
  didNames: ['300', '200', '100'],
  timing: { minInterval: 1_000, emptyInterval: 10_000, maxDrift: 5_000, propose: 3_000, delta: 500 },
  maxViewTimeout: 60_000,
  upgrades: [],
}

/** Members of the chain spec file, to replace; undefined leaves one out. */
export type SpecOverrides = Partial<Record<keyof typeof base, unknown>> & Readonly<Record<string, unknown>>

/**
 * The JSON text of a small chain spec: four validators, persons 10 and 11 rich. `{ validators: [], producer: 'miners' }`
 * makes it a chain without validators.
 */
export function testSpec(overrides: SpecOverrides = {}): string {
  return JSON.stringify({ ...base, ...overrides })
}
