import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { addressOf, parseAddress, prefix, programHash } from '../../../../src/base/primitives/address.js'
import { auxPowBytes, soloAuxPow } from '../../../../src/base/primitives/auxpow.js'
import { Block, transactionRoot } from '../../../../src/base/primitives/block.js'
import { concat, fromUtf8, toHex, utf8 } from '../../../../src/base/primitives/bytes.js'
import { genesisBlock, registerAssetTransaction } from '../../../../src/base/primitives/genesis.js'
import { sha256, zeroHash } from '../../../../src/base/primitives/hash.js'
import type { Payload } from '../../../../src/base/primitives/payload.js'
import {
  coinStateOf,
  nextCoinRoot,
  paramsAt,
  quorum,
  validatorChanges,
  validatorsHash,
} from '../../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { coinbaseInput } from '../../../../src/base/primitives/input.js'
import type { Transaction } from '../../../../src/base/primitives/transaction.js'
import { runs } from '../../../support/builders/arbitraries.js'
import { plainForm } from '../../../support/assert/plain-form.js'
import { type SpecOverrides, testAddress, testPublicKey, testSpec } from '../../../support/builders/spec.js'

const plain = JSON.parse(testSpec()) as Record<string, unknown>
const key = (index: number) => toHex(testPublicKey(index))
const part = (name: string) => plain[name] as Record<string, unknown>
const upgrade = (height: number, parameters: unknown, name = 'u') => ({ height, name, parameters })

/** Text of `value` with its members in another order, white space between them and letters escaped. */
function otherText(value: unknown): string {
  if (Array.isArray(value)) return `[ ${value.map(otherText).join(' , ')} ]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).reverse()
    return `{\n${members.map(([name, member]) => `${otherText(name)} : ${otherText(member)}`).join(',\n')}\n}`
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  return `"${[...value].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
}

describe('the chain spec', () => {
  it('is read into values', () => {
    const spec = parseSpec(testSpec())
    expect(spec).toMatchObject({ name: 'test', devnet: false, maxMoney: 3_300_000_000_000_000n, hasValidators: true })
    expect(spec.subsidy).toEqual({ initial: 500_000_000n, halving: 1000 })
    expect(spec.asset.controller).toHaveLength(21)
    expect(spec.allocations.map(({ programHash: p, amount }) => [addressOf(p), amount])).toEqual([
      [testAddress(10), 100_000_000_000n],
      [testAddress(11), 200_000_000_000n],
    ])
    expect(spec.sections).toHaveLength(1)
    expect(spec.sections[0]?.params.validators.map(toHex)).toEqual([0, 1, 2, 3].map(key))
  })

  it('may be without validators', () => {
    const spec = parseSpec(testSpec({ validators: [], producer: 'miners', powLimitBits: 0x1f0008ff }))
    expect(spec.hasValidators).toBe(false)
    expect(toHex(validatorsHash(spec, 5))).toBe(toHex(sha256('')))
  })

  it('may have an order of the proofs of side-chain work, by the member true alone', () => {
    expect(parseSpec(testSpec({ sideChainOrder: true })).sideChainOrder).toBe(true)
    expect(parseSpec(testSpec()).sideChainOrder).toBe(false)
    for (const value of [false, 1, 'true', null]) {
      expect(() => parseSpec(testSpec({ sideChainOrder: value }))).toThrow(
        /^the chain spec is not valid: \/sideChainOrder/,
      )
    }
  })

  it('may allot to standard, multisig and DID addresses', () => {
    const allocations = [prefix.standard, prefix.multisig, prefix.did].map((p) => ({
      address: addressOf(programHash(p, zeroHash)),
      amount: '1',
    }))
    expect(parseSpec(testSpec({ allocations })).allocations).toHaveLength(3)
  })
})

describe('a chain spec is refused', () => {
  it.each(Object.keys(plain).filter((name) => !['didRoot', 'didCore', 'didNames'].includes(name)))(
    'without its member %s',
    (name) => {
      expect(() => parseSpec(testSpec({ [name]: undefined }))).toThrow(
        new RegExp(`^the chain spec is not valid: /${name}:`),
      )
    },
  )

  it.each(Object.keys(plain))('with its member %s null', (name) => {
    expect(() => parseSpec(testSpec({ [name]: null }))).toThrow(UserError)
  })

  const objects = ['asset', 'retarget', 'subsidy', 'fees', 'limits', 'specifications', 'timing']
  it.each(objects)('with an unknown or a missing member in %s', (name) => {
    expect(() => parseSpec(testSpec({ [name]: { ...part(name), extra: 1 } }))).toThrow(`/${name}/extra: Unexpected`)
    const [first] = Object.keys(part(name)) as [string]
    expect(() => parseSpec(testSpec({ [name]: { ...part(name), [first]: undefined } }))).toThrow(`/${name}/${first}`)
  })

  const twice = testSpec().replace('{', '{"name":"test",')
  it.each<[string, string]>([
    ['an unknown member', testSpec({ extra: 1 })],
    ['a duplicate member', twice],
    ['no JSON', 'name: test'],
    ['an array', '[]'],
    ['nothing', ''],
    ['text after it', `${testSpec()} x`],
    ['a number with a point', testSpec().replace('"maturity":10', '"maturity":10.0')],
    ['an integer beyond 2^53', testSpec().replace('"evmChainId":7001', '"evmChainId":9007199254740993')],
    ['an unknown member in an allocation', testSpec({ allocations: [{ address: testAddress(1), amount: '1', x: 1 }] })],
    ['an unknown member in an upgrade', testSpec({ upgrades: [{ ...upgrade(5, {}), x: 1 }] })],
    ['an unknown parameter in an upgrade', testSpec({ upgrades: [upgrade(5, { maturity: 1 })] })],
    ['an order of proofs from a height on', testSpec({ upgrades: [upgrade(5, { sideChainOrder: true })] })],
  ])('that is %s', (_, text) => {
    expect(() => parseSpec(text)).toThrow(UserError)
    expect(() => parseSpec(text)).toThrow(/^the chain spec is not valid: /)
  })

  it.each<[string, SpecOverrides]>([
    ['name', { name: 'Test' }],
    ['devnet', { devnet: 1 }],
    ['time', { time: 2 ** 32 }],
    ['asset/precision', { asset: { ...part('asset'), precision: 9 } }],
    ['asset/controller', { asset: { ...part('asset'), controller: '00' } }],
    ['asset/amount', { asset: { ...part('asset'), amount: '9223372036854775808' } }],
    ['allocations', { allocations: [] }],
    ['allocations/0/amount', { allocations: [{ address: testAddress(1), amount: '01' }] }],
    ['allocations/0/amount', { allocations: [{ address: testAddress(1), amount: '-1' }] }],
    ['allocations/0/amount', { allocations: [{ address: testAddress(1), amount: '1.5' }] }],
    ['allocations/0/amount', { allocations: [{ address: testAddress(1), amount: 1 }] }],
    ['allocations/0/address', { allocations: [{ address: testAddress(1).slice(1), amount: '1' }] }],
    [
      'allocations/0/address',
      { allocations: [{ address: addressOf(programHash(prefix.stake, zeroHash)), amount: '1' }] },
    ],
    ['allocations: more', { allocations: [{ address: testAddress(1), amount: '3300000000000001' }] }],
    ['powLimitBits', { powLimitBits: 0 }],
    ['powLimitBits', { powLimitBits: 0x20800001, producer: 'miners' }],
    ['powLimitBits', { powLimitBits: 0x21010000, producer: 'miners' }],
    ['powLimitBits', { powLimitBits: 0x1f0008ff }],
    ['retarget/interval', { retarget: { interval: 1, spacing: 1 } }],
    ['producer', { producer: 'anybody' }],
    ['producer', { validators: [] }],
    ['maxMoney', { maxMoney: '9223372036854775808' }],
    ['subsidy/initial', { subsidy: { initial: '3300000000000001', halving: 0 } }],
    ['fees/freeBytes', { fees: { ...part('fees'), freeBytes: -1 } }],
    ['fees/freeBytes', { fees: { ...part('fees'), freeBytes: 2 ** 32 } }],
    ['fees/freeBytes', { fees: { ...part('fees'), freeBytes: '1024' } }],
    ['fees/leaf', { fees: { ...part('fees'), leaf: 1200 } }],
    ['fees/leaf', { fees: { ...part('fees'), leaf: '-1' } }],
    ['limits/blockSize', { limits: { ...part('limits'), blockSize: 8_000_001 } }],
    ['limits/blockTransactions', { limits: { ...part('limits'), blockTransactions: 10_001 } }],
    ['specifications/did', { specifications: { did: [], credential: [] } }],
    ['validators', { validators: [key(0), key(0)] }],
    ['validators/0', { validators: [key(0).toUpperCase()] }],
    ['validators/0', { validators: [`04${key(0).slice(2)}`] }],
    ['validators', { validators: Array.from({ length: 101 }, (_, i) => key(i)) }],
    ['validators/1: 02f{64} is no public key', { validators: [key(0), `02${'f'.repeat(64)}`] }],
    [
      'upgrades/1/parameters/validators/0: 020{63}7 is no public key',
      { upgrades: [upgrade(5, {}), upgrade(5, { validators: [`02${'7'.padStart(64, '0')}`] })] },
    ],
    ['validators: a devnet', { devnet: true }],
    ['timing/propose', { timing: { ...part('timing'), propose: 0 } }],
    ['maxViewTimeout', { maxViewTimeout: 0 }],
    ['upgrades/0/height', { upgrades: [upgrade(0, {})] }],
    ['upgrades/0/name', { upgrades: [upgrade(1, {}, '')] }],
    ['upgrade b: heights', { upgrades: [upgrade(6, {}, 'a'), upgrade(5, {}, 'b')] }],
    ['upgrade u: cannot switch', { upgrades: [upgrade(5, { validators: [] })] }],
    ['coinInterval', { coinInterval: 287 }],
    ['upgrade u: coinInterval stays 300', { coinInterval: 300, upgrades: [upgrade(5, { coinInterval: 301 })] }],
    ['upgrades/0/parameters/coinInterval', { upgrades: [upgrade(5, { coinInterval: 287 })] }],
    [
      'upgrade u: cannot switch',
      { validators: [], producer: 'miners', upgrades: [upgrade(5, { validators: [key(0)] })] },
    ],
    [
      'upgrade u: a devnet',
      { devnet: true, validators: [key(0)], upgrades: [upgrade(5, { validators: [key(0), key(1)] })] },
    ],
  ])('with a wrong %s (%#)', (place, overrides) => {
    const text = testSpec(overrides)
    expect(() => parseSpec(text)).toThrow(UserError)
    expect(() => parseSpec(text)).toThrow(new RegExp(`^the chain spec is not valid: /?${place}`))
  })
})

describe('upgrades', () => {
  const later = { did: ['a', 'b'], credential: [] }
  const upgrades = [
    upgrade(10, { validators: [key(5)] }, 'one'),
    upgrade(20, { fees: { minimum: '7', perByte: '8' } }, 'two'),
    upgrade(20, { specifications: later }, 'three'),
  ]
  const spec = parseSpec(testSpec({ upgrades }))

  const names = [300n, 200n, 100n]
  it('change the rules from their height on', () => {
    expect(paramsAt(spec, 0).validators).toHaveLength(4)
    expect(paramsAt(spec, 9).validators).toHaveLength(4)
    expect(paramsAt(spec, 10).validators.map(toHex)).toEqual([key(5)])
    expect(paramsAt(spec, 19).fees).toEqual({ minimum: 100n, perByte: 1n, names })
    expect(paramsAt(spec, 20)).toMatchObject({ fees: { minimum: 7n, perByte: 8n }, specifications: later })
    expect(paramsAt(spec, 4_000_000_000).validators.map(toHex)).toEqual([key(5)])
    expect(toHex(validatorsHash(spec, 9))).toBe(toHex(sha256(concat(...[0, 1, 2, 3].map(testPublicKey)))))
    expect(toHex(validatorsHash(spec, 10))).toBe(toHex(sha256(testPublicKey(5))))
  })

  it('change all prices at once: what an entry leaves out is nothing from there on', () => {
    const fees = { minimum: '100', perByte: '1', freeBytes: 2 ** 32 - 1, leaf: '1200' }
    const priced = parseSpec(testSpec({ fees, upgrades: [upgrade(5, { fees: { minimum: '100', perByte: '1' } })] }))
    expect(paramsAt(priced, 4).fees).toEqual({ minimum: 100n, perByte: 1n, freeBytes: 2 ** 32 - 1, leaf: 1200n, names })
    // Names have prices of their own.
    expect(paramsAt(priced, 5).fees).toEqual({ minimum: 100n, perByte: 1n, names })
    const dearer = parseSpec(testSpec({ upgrades: [upgrade(5, { didNames: ['9'] })] }))
    expect([4, 5].map((height) => paramsAt(dearer, height).fees.names)).toEqual([names, [9n]])
  })

  it('of one height are one change, in which the later entry wins', () => {
    const fees = { minimum: '7', perByte: '8' }
    const both = parseSpec(
      testSpec({
        upgrades: [
          upgrade(10, { validators: [key(5)], fees }, 'one'),
          upgrade(10, { validators: [key(6), key(7)] }, 'two'),
          upgrade(10, {}, 'three'),
        ],
      }),
    )
    expect(both.sections.map(({ height }) => height)).toEqual([0, 10])
    expect(paramsAt(both, 10)).toMatchObject({ fees: { minimum: 7n, perByte: 8n } })
    expect(paramsAt(both, 10).validators.map(toHex)).toEqual([key(6), key(7)])
    expect(validatorChanges(both)).toEqual([10])
    expect(validatorChanges(spec)).toEqual([10])
  })

  it('of one height are judged by what they say together', () => {
    const none = upgrade(10, { validators: [] }, 'none')
    const one = upgrade(10, { validators: [key(5)] }, 'one')
    expect(validatorChanges(parseSpec(testSpec({ upgrades: [none, one] })))).toEqual([10])
    expect(() => parseSpec(testSpec({ upgrades: [one, none] }))).toThrow('upgrade one, none: cannot switch')
  })

  it('are digested up to a height', () => {
    const digest = (height: number, of = spec) => toHex(of.upgradesDigest(height))
    expect(digest(9)).toBe(toHex(sha256('[]')))
    expect(digest(9)).toBe(digest(1_000, parseSpec(testSpec())))
    const first = `[{"height":10,"name":"one","parameters":{"validators":["${key(5)}"]}}]`
    expect(digest(10)).toBe(toHex(sha256(first)))
    expect(digest(19)).toBe(digest(10))
    expect(digest(20)).not.toBe(digest(19))
    expect(digest(19, parseSpec(testSpec({ upgrades: upgrades.slice(0, 1) })))).toBe(digest(19))
  })
})

describe('the digest', () => {
  const digest = (text: string) => toHex(parseSpec(text).digest)

  it('is that of the canonical text without upgrades', () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, member]) => [name, sorted(member)]),
      )
    }
    const { upgrades: _, ...bound } = plain
    expect(digest(testSpec())).toBe(toHex(sha256(fromUtf8(JSON.stringify(sorted(bound))))))
  })

  it('does not depend on how the file is written', () => {
    expect(digest(otherText(plain))).toBe(digest(testSpec()))
  })

  it('ignores upgrades and nothing else', () => {
    expect(digest(testSpec({ upgrades: [upgrade(5, {})] }))).toBe(digest(testSpec()))
    const changes: SpecOverrides[] = [
      { name: 'tset' },
      { devnet: true, validators: [key(0)] },
      { time: 1 },
      { asset: { ...part('asset'), description: 'x' } },
      { allocations: (plain.allocations as unknown[]).slice(1) },
      { producer: 'miners' },
      { producer: 'miners', powLimitBits: 0x1f0008ff },
      { retarget: { interval: 10, spacing: 120 } },
      { auxpowChainId: 1 },
      { evmChainId: 1 },
      { maturity: 11 },
      { maxMoney: '3300000000000001' },
      { subsidy: { initial: '0', halving: 1000 } },
      { fees: { minimum: '101', perByte: '1' } },
      { fees: { minimum: '100', perByte: '1', freeBytes: 0 } },
      { fees: { minimum: '100', perByte: '1', leaf: '0' } },
      { limits: { ...part('limits'), blockCost: 39_999 } },
      { specifications: { did: ['x'], credential: [] } },
      { validators: [key(1), key(0), key(2), key(3)] },
      { timing: { ...part('timing'), delta: 501 } },
      { maxViewTimeout: 60_001 },
      { didRoot: undefined },
      { didCore: undefined },
      { didNames: undefined },
      { sideChainOrder: true },
    ]
    expect(new Set(changes.flatMap((change) => Object.keys(change)))).toEqual(
      new Set([...Object.keys(plain).filter((name) => name !== 'upgrades'), 'sideChainOrder']),
    )
    expect(digest(testSpec({ validatorNames: { [key(0)]: 'Ada' } }))).toBe(digest(testSpec({})))
    const digests = [{}, ...changes].map((change) => digest(testSpec(change)))
    expect(new Set(digests).size).toBe(digests.length)
  })
})

describe('names of validators', () => {
  const named = (names: object) => () => parseSpec(testSpec({ validatorNames: names }))
  const key = toHex(testPublicKey(0))

  it('are read by key, also of validators that an upgrade brings', () => {
    expect(parseSpec(testSpec()).validatorNames).toEqual({})
    const names = { [key]: 'x'.repeat(32), [toHex(testPublicKey(9))]: 'Ada Corp.' }
    expect(named(names)().validatorNames).toEqual(names)
  })

  it.each([[{ [key]: '' }], [{ [key]: 'x'.repeat(33) }], [{ [key]: 5 }], [{ Ada: key }], [[]]])(
    'are refused: %j',
    (names) => {
      expect(named(names)).toThrow('validatorNames')
    },
  )
})

describe('the genesis block', () => {
  const spec = parseSpec(testSpec())
  const block = genesisBlock(spec)
  const [coinbase, registration] = block.transactions as [Transaction, Transaction]

  it('binds the spec', () => {
    const payload = coinbase.payload as Extract<Payload, { type: 0 }>
    expect(utf8(payload.data)).toBe(`didledger:${toHex(spec.digest)}`)
    expect(genesisBlock(parseSpec(testSpec({ upgrades: [upgrade(5, {})] }))).hash).toBe(block.hash)
    expect(genesisBlock(parseSpec(testSpec({ maturity: 11 }))).hash).not.toBe(block.hash)
  })

  it('has a coinbase that pays the allocations, then the registration of the asset', () => {
    expect(block.transactions).toHaveLength(2)
    expect(coinbase).toMatchObject({ version: 0, payloadVersion: 4, attributes: [], lockTime: 0, programs: [] })
    expect(plainForm(coinbase.inputs)).toEqual(plainForm([coinbaseInput]))
    expect(coinbase.outputs.map(({ value, outputLock }) => [value, outputLock])).toEqual([
      [100_000_000_000n, 0],
      [200_000_000_000n, 0],
    ])
    expect(coinbase.outputs.map(({ programHash: p }) => addressOf(p))).toEqual([testAddress(10), testAddress(11)])
    expect(coinbase.outputs.map(({ assetId }) => toHex(assetId))).toEqual([
      toHex(registration.hash),
      toHex(registration.hash),
    ])
    expect(registration.txid).toBe('a3d0eaa466df74983b5d7c543de6904f4c9418ead5ffd6d25814234a96db37b0')
    expect(registration.toHex()).toBe(registerAssetTransaction(spec).toHex())
    expect(registration).toMatchObject({ payloadVersion: 0, attributes: [], inputs: [], outputs: [], programs: [] })
  })

  it('has a header of zeros but for root, time and bits, and an AuxPow of its own without work', () => {
    expect(block.header).toMatchObject({ version: 0, time: 1_700_000_000, bits: 0x207fffff, nonce: 0, height: 0 })
    expect(toHex(block.header.previous)).toBe(toHex(zeroHash))
    expect(toHex(block.header.merkleRoot)).toBe(toHex(transactionRoot([coinbase, registration])))
    expect(toHex(auxPowBytes(block.auxPow))).toBe(toHex(auxPowBytes(soloAuxPow(block.header.hash, spec.time, 0))))
    expect(Block.fromBytes(block.bytes).hash).toBe(block.hash)
  })
})

describe('quorums', () => {
  it('are more than two thirds, and two of them share an honest member', () => {
    expect([1, 2, 3, 4, 5, 12, 36, 100].map(quorum)).toEqual([1, 2, 3, 3, 4, 9, 25, 67])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (count) => {
        const faulty = Math.floor((count - 1) / 3)
        return quorum(count) * 3 > 2 * count && 2 * quorum(count) - count > faulty && quorum(count) <= count - faulty
      }),
      runs,
    )
  })
})

describe('allocations', () => {
  it('come back from their addresses', () => {
    expect(toHex(parseAddress(testAddress(10)) as Uint8Array)).toBe(
      toHex(parseSpec(testSpec()).allocations[0]?.programHash as Uint8Array),
    )
  })
})

describe('the blocks that commit to all coins', () => {
  const statesOf = (overrides: SpecOverrides, heights: readonly number[]) =>
    heights.map((height) => coinStateOf(parseSpec(testSpec(overrides)), height))

  it('are the multiples of the interval, none without one', () => {
    expect(statesOf({ coinInterval: 288 }, [0, 1, 287, 288, 289, 576])).toEqual([
      undefined,
      undefined,
      undefined,
      0,
      undefined,
      288,
    ])
    expect(statesOf({}, [0, 288])).toEqual([undefined, undefined])
    expect(nextCoinRoot(parseSpec(testSpec({ coinInterval: 300 })), 0)).toEqual({ height: 300, state: 12 })
    expect(nextCoinRoot(parseSpec(testSpec({ coinInterval: 300 })), 301)).toEqual({ height: 600, state: 312 })
    expect(nextCoinRoot(parseSpec(testSpec()), 0)).toBe(undefined)
  })

  it('begin at the height of an upgrade, which later ones may repeat', () => {
    const upgrades = [upgrade(577, { coinInterval: 288 }), upgrade(900, { coinInterval: 288 })]
    expect(statesOf({ upgrades }, [288, 576, 864, 1152])).toEqual([undefined, undefined, 576, 864])
    expect(nextCoinRoot(parseSpec(testSpec({ upgrades })), 1)).toEqual({ height: 864, state: 576 })
  })
})
