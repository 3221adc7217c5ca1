import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicKey, publicKeyOf } from '../../../../src/base/crypto/keys.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { parseAddress, prefix } from '../../../../src/base/primitives/address.js'
import { concat, hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { parseCode, programHashOf, type ProgramScript } from '../../../../src/base/primitives/program.js'
import { multisigAccount, multisigAddress, repeatedKeys } from '../../../../src/clients/wallet/multisig.js'
import { openVectors } from '../../../support/builders/vectors.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const random = seededRandom('multisig keys')
const keys = Array.from({ length: 17 }, () => publicKeyOf(random.bytes(32)))
/** The key with the same X and the other Y. */
const twin = (key: Uint8Array) => concat(Uint8Array.of(5 - (key[0] as number)), key.subarray(1))

describe('a multisig account', () => {
  it('is the same whatever order its keys are given in', () => {
    const parts = fc.shuffledSubarray(keys.slice(0, 6), { minLength: 1 }).chain((chosen) =>
      fc.record({
        chosen: fc.constant(chosen),
        required: fc.integer({ min: 1, max: chosen.length }),
        twins: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(parts, ({ chosen, required, twins }) => {
        const given = twins ? chosen.flatMap((key) => [key, twin(key)]) : chosen
        const account = multisigAccount(given, required)
        const sorted = [...given].sort((a, b) => toHex(a).localeCompare(toHex(b)))
        expect(multisigAddress(sorted, required)).toBe(account.address)
        expect(multisigAccount([...given].reverse(), required)).toEqual(account)
        const script = parseCode(account.code) as ProgramScript
        expect([script.kind, script.required]).toEqual(['multisig', required])
        expect(script.keys.map(toHex)).toEqual(account.keys.map(toHex))
        const hash = parseAddress(account.address) as Uint8Array
        expect([hash[0], toHex(hash)]).toEqual([prefix.multisig, toHex(programHashOf(account.code, script))])
      }),
      { numRuns: 1000 },
    )
  })

  it('has another address for another number of signatures or another key', () => {
    const [a, b, c] = keys as [Uint8Array, Uint8Array, Uint8Array]
    const all = [
      multisigAddress([a, b], 1),
      multisigAddress([a, b], 2),
      multisigAddress([a, c], 2),
      multisigAddress([a, twin(b)], 2),
      multisigAddress([a, b, b], 2),
    ]
    expect(new Set(all).size).toBe(all.length)
    for (const address of all) expect(address).toMatch(/^8/)
  })

  it('lists 02 before 03 where two keys have one X', () => {
    const [a, b] = keys as [Uint8Array, Uint8Array]
    const pair = [a, twin(a)].sort((one, two) => (one[0] as number) - (two[0] as number))
    for (const given of [
      [a, twin(a), b],
      [twin(a), b, a],
    ]) {
      const account = multisigAccount(given, 2)
      expect(account.keys.filter((key) => toHex(key).slice(2) === toHex(a).slice(2)).map(toHex)).toEqual(
        pair.map(toHex),
      )
      expect(repeatedKeys(account.keys).map(toHex)).toEqual([toHex(pair[1] as Uint8Array)])
    }
  })

  it('tells the keys whose owner counts more than once', () => {
    const [a, b] = keys as [Uint8Array, Uint8Array]
    expect(repeatedKeys(multisigAccount([a, b], 2).keys)).toEqual([])
    expect(repeatedKeys(multisigAccount([a, b, a], 2).keys).map(toHex)).toEqual([toHex(a)])
  })

  it('has at most 16 keys', () => {
    expect(multisigAccount(keys.slice(0, 16), 16)).toMatchObject({ required: 16, keys: { length: 16 } })
    expect(() => multisigAccount(keys, 1)).toThrow('17 keys: a multisig address has 1 to 16')
    expect(() => multisigAccount([], 1)).toThrow('0 keys')
  })

  it.each([0, 3, -1, 1.5, NaN])('does not take %s signatures of two keys', (required) => {
    expect(multisigAccount(keys.slice(0, 2), 2).required).toBe(2)
    expect(() => multisigAccount(keys.slice(0, 2), required)).toThrow(UserError)
  })

  it('refuses bytes that are no public key', () => {
    const [good] = keys as [Uint8Array]
    const offCurve = Array.from({ length: 20 }, (_, x) => hex(`02${x.toString(16).padStart(64, '0')}`)).find(
      (bytes) => !isPublicKey(bytes),
    ) as Uint8Array
    for (const wrong of [
      new Uint8Array(0),
      new Uint8Array(33),
      good.subarray(1),
      concat(Uint8Array.of(4), good.subarray(1)),
      concat(good, Uint8Array.of(0)),
      offCurve,
    ]) {
      expect(isPublicKey(wrong)).toBe(false)
      expect(() => multisigAccount([good, wrong], 1)).toThrow(/is not a compressed public key of P-256/)
    }
    expect([isPublicKey(good), isPublicKey(twin(good))]).toEqual([true, true])
  })

  it('is the published one for the published keys', () => {
    const { data } = openVectors<{ multisig: { m: number; code: string; address: string } }>('addresses.json', {
      descriptive: [],
    })
    const { m, code, address } = data.multisig
    const script = parseCode(hex(code)) as ProgramScript
    const account = multisigAccount([...script.keys].reverse(), m)
    expect([account.address, toHex(account.code)]).toEqual([address, code])
    // One of its four keys is listed twice.
    expect(repeatedKeys(account.keys)).toHaveLength(1)
  })
})
