import { describe, expect, it } from 'vitest'
import { checkAuxPow } from '../../src/identity/proofs/auxpow-proof.js'
import { addressOf, parseAddress, prefix, programHash, trailer } from '../../src/base/primitives/address.js'
import { formatAmount } from '../../src/base/primitives/amount.js'
import { auxPowBytes, parentHash, soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { Block, fullHeaderBytes, transactionRoot } from '../../src/base/primitives/block.js'
import {
  concat,
  displayHash,
  hex,
  littleEndianInteger,
  parseDisplayHash,
  toHex,
} from '../../src/base/primitives/bytes.js'
import { Reader } from '../../src/base/primitives/codec.js'
import { difficultyText, targetOf, validTarget } from '../../src/base/primitives/compact.js'
import { registerAssetTransaction } from '../../src/base/primitives/genesis.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import { plainForm } from '../support/assert/plain-form.js'
import { openVectors } from '../support/builders/vectors.js'

interface HeaderJson {
  version: number
  prev: string
  merkle: string
  time: number
  bits: number
  nonce: number
  height: number
}
interface Named {
  header: HeaderJson
  headerHex: string
}
interface FullBlock extends Named {
  hash: string
  expectHash: string
  raw: string
  size: number
  weight: number
  versionhex: string
  difficulty: string
  auxpow: string
  parentPowHash: string
  checks: { hash: boolean; auxpow: boolean; size498: boolean; powLeTarget: boolean }
  coinbase: { foundation: string; miner: string; total: number }
}
interface HeaderOnly extends Named {
  hashInternal: string
  expectHashInternal: string
}
interface Genesis extends Named {
  foundation: string
  coinbaseUnsigned: string
  coinbaseTxid: string
  registerAssetUnsigned: string
  hash: string
}
interface SideGenesis extends Named {
  hash: string
  hashInternal: string
  crossChainAddress: string
}

const file = openVectors<{ vectors: [FullBlock, HeaderOnly, Genesis, Genesis, SideGenesis] }>('blocks.json', {
  descriptive: ['about', 'name', 'source', 'note', 'verifiedBy'],
})
const [full, headerOnly, mainGenesis, testGenesis, sideGenesis] = file.data.vectors

/** The family's limit bits of that block's time. */
const powLimitBits = 0x1f0008ff

const registration = registerAssetTransaction({
  asset: {
    name: 'ELA',
    description: '',
    precision: 8,
    assetType: 0,
    recordType: 0,
    amount: 0n,
    controller: new Uint8Array(21),
  },
})

function headerOf({ header, headerHex }: Named): Header {
  const built = new Header({
    version: header.version,
    previous: parseDisplayHash(header.prev) as Uint8Array,
    merkleRoot: parseDisplayHash(header.merkle) as Uint8Array,
    time: header.time,
    bits: header.bits,
    nonce: header.nonce,
    height: header.height,
  })
  expect(toHex(built.bytes)).toBe(headerHex)
  expect(plainForm(Header.read(new Reader(hex(headerHex))))).toEqual(plainForm(built))
  return built
}

it('there are five published blocks', () => {
  expect(file.data.vectors).toHaveLength(5)
})

describe('a whole published block', () => {
  const block = Block.fromHex(full.raw)
  const header = headerOf(full)

  it('keeps its bytes, its hash and its sizes', () => {
    expect(block.toHex()).toBe(full.raw)
    expect(full.size === 498).toBe(full.checks.size498)
    expect(block.bytes).toHaveLength(full.size)
    expect(4 * block.bytes.length).toBe(full.weight)
    expect(plainForm(block.header)).toEqual(plainForm(header))
    expect([block.hash, header.id, full.expectHash]).toEqual([full.hash, full.hash, full.hash])
    expect(full.checks.hash).toBe(true)
    expect(header.version.toString(16).padStart(8, '0')).toBe(full.versionhex)
    expect(block.limitedSize).toBe(84 + 4 + 192)
  })

  it('has an AuxPow that proves it, with work below the target', () => {
    const auxPow = toHex(auxPowBytes(block.auxPow))
    expect(auxPow).toBe(full.auxpow)
    expect(toHex(fullHeaderBytes(block.header, block.auxPow))).toBe(`${full.headerHex}${full.auxpow}01`)
    const { time, nonce } = block.auxPow.parent
    expect(toHex(auxPowBytes(soloAuxPow(header.hash, time, nonce)))).toBe(full.auxpow)
    expect(() => checkAuxPow(block.auxPow, header.hash, 1224)).not.toThrow()
    expect(full.checks.auxpow).toBe(true)
    expect(displayHash(parentHash(block.auxPow))).toBe(full.parentPowHash)
    expect(littleEndianInteger(parentHash(block.auxPow)) <= targetOf(header.bits)).toBe(full.checks.powLeTarget)
    expect(full.checks.powLeTarget).toBe(true)
    expect(validTarget(targetOf(header.bits))).toBe(true)
    expect(difficultyText(header.bits, powLimitBits)).toBe(full.difficulty)
  })

  it('pays what it should', () => {
    const [coinbase] = block.transactions as [Transaction]
    expect(block.transactions).toHaveLength(1)
    expect(toHex(transactionRoot(block.transactions))).toBe(toHex(header.merkleRoot))
    expect(coinbase.isCoinbase).toBe(true)
    const values = coinbase.outputs.map(({ value }) => value)
    expect(values.map(formatAmount)).toEqual([full.coinbase.foundation, full.coinbase.miner])
    expect(values.reduce((a, b) => a + b, 0n)).toBe(BigInt(full.coinbase.total))
  })
})

describe('a published header', () => {
  it('has its hash, and the genesis block as its parent', () => {
    const header = headerOf(headerOnly)
    expect(toHex(header.hash)).toBe(headerOnly.hashInternal)
    expect(headerOnly.expectHashInternal).toBe(headerOnly.hashInternal)
    expect(displayHash(header.previous)).toBe(mainGenesis.hash)
  })
})

describe.each([
  ['main', mainGenesis],
  ['test', testGenesis],
] as const)('the family %s genesis block', (_, genesis) => {
  const coinbase = new Transaction({
    version: 0,
    payloadVersion: 4,
    payload: { type: 0, data: new Uint8Array(0) },
    attributes: [{ usage: 0, data: hex('4d65822107fcfd52') }],
    inputs: [{ txid: zeroHash, index: 0, sequence: 0 }],
    outputs: [
      {
        assetId: registration.hash,
        value: 33_000_000n * 100_000_000n,
        outputLock: 0,
        programHash: parseAddress(genesis.foundation) as Uint8Array,
      },
    ],
    lockTime: 0,
    programs: [],
  })

  it('is built from its coinbase and the registration of the asset', () => {
    expect(toHex(coinbase.unsigned)).toBe(genesis.coinbaseUnsigned)
    expect(Transaction.fromHex(`${genesis.coinbaseUnsigned}00`).txid).toBe(genesis.coinbaseTxid)
    expect(coinbase.txid).toBe(genesis.coinbaseTxid)
    expect(toHex(registration.unsigned)).toBe(genesis.registerAssetUnsigned)
    expect(Transaction.fromHex(`${genesis.registerAssetUnsigned}00`).txid).toBe(registration.txid)
    const header = headerOf(genesis)
    expect(toHex(header.merkleRoot)).toBe(toHex(transactionRoot([coinbase, registration])))
    expect(header.id).toBe(genesis.hash)
  })
})

describe('the family side-chain genesis block', () => {
  const header = headerOf(sideGenesis)

  it('holds the registration alone', () => {
    expect(header.id).toBe(sideGenesis.hash)
    expect(toHex(header.hash)).toBe(sideGenesis.hashInternal)
    expect(toHex(header.merkleRoot)).toBe(toHex(transactionRoot([registration])))
  })

  it('has a cross-chain address', () => {
    const code = concat(Uint8Array.of(32), header.hash, Uint8Array.of(trailer.crossChain))
    expect(addressOf(programHash(prefix.crossChain, code))).toBe(sideGenesis.crossChainAddress)
  })
})

it('leaves no member unread', () => file.finish())
