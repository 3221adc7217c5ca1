import { afterAll, describe, expect, it } from 'vitest'
import { blockSanitySteps } from '../../src/ledger/consensus/sanity.js'
import { soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { Block } from '../../src/base/primitives/block.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { registerAssetTransaction } from '../../src/base/primitives/genesis.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { paramsAt, validatorChanges, validatorsHash } from '../../src/base/primitives/spec.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { finish } from '../../src/base/primitives/steps.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import { codeOf } from '../support/assert/code-of.js'
import { withoutValidators } from '../support/builders/chain.js'
import { testSpec } from '../support/builders/spec.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface Vectors {
  /** The validator of the chains. */
  readonly key: string
  readonly coinbases: readonly {
    readonly about: string
    readonly validators: boolean
    readonly didRootFrom: number | null
    readonly height: number
    readonly unsigned: readonly (string | { readonly repeat: string; readonly times: number })[]
    readonly size: number
    readonly txid: string
    readonly expected: string
  }[]
  readonly specs: readonly {
    readonly about: string
    readonly upgrades: readonly object[]
    readonly changes: readonly number[]
    readonly heights: readonly {
      readonly keysHash: string
      readonly perByte: string
      readonly didRoot: boolean
      readonly upgradesDigest: string
    }[]
  }[]
}

const file = openVectors<Vectors>('proof-rules.json', { descriptive: ['about'] })
const { key, coinbases, specs } = file.data
afterAll(() => file.finish())

describe('a coinbase', () => {
  it.each(coinbases)('$about: $expected', ({ validators, didRootFrom, height, unsigned, size, txid, expected }) => {
    const upgrades = didRootFrom === null ? [] : [{ height: didRootFrom, name: 'map', parameters: { didRoot: true } }]
    const spec = parseSpec(
      testSpec({ ...(validators ? { validators: [key] } : withoutValidators), didRoot: undefined, upgrades }),
    )
    const text = unsigned.map((part) => (typeof part === 'string' ? part : part.repeat.repeat(part.times))).join('')
    const coinbase = Transaction.fromHex(`${text}00`)
    expect([coinbase.unsignedSize, coinbase.txid]).toEqual([size, txid])
    const fields = { version: 0, previous: zeroHash, merkleRoot: coinbase.hash, time: 0, bits: 0, nonce: 0, height }
    const header = new Header(fields)
    const block = new Block(header, soloAuxPow(header.hash, 0), [coinbase])
    const context = { spec, assetId: registerAssetTransaction(spec).hash }
    expect(codeOf(() => finish(blockSanitySteps(block, context))) ?? 'ok').toBe(expected)
  })
})

describe('a spec whose upgrades meet', () => {
  it.each(specs)('$about', ({ upgrades, changes, heights }) => {
    const spec = parseSpec(testSpec({ validators: [key], didRoot: undefined, upgrades: copied(upgrades) }))
    expect(validatorChanges(spec)).toEqual(copied(changes))
    for (const [height, { keysHash, perByte, didRoot, upgradesDigest }] of heights.entries()) {
      const { fees, didRoot: committed } = paramsAt(spec, height)
      expect(toHex(validatorsHash(spec, height))).toBe(keysHash)
      expect([`${fees.perByte}`, committed]).toEqual([perByte, didRoot])
      expect(toHex(spec.upgradesDigest(height))).toBe(upgradesDigest)
    }
  })
})
