import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prefix, programHash, singleKeyCode, trailer } from '../../../../src/base/primitives/address.js'
import { compareBytes, concat, littleEndianInteger, toHex } from '../../../../src/base/primitives/bytes.js'
import { hash160 } from '../../../../src/base/primitives/hash.js'
import {
  multisigCode,
  parameterOf,
  parseCode,
  parseParameter,
  programHashOf,
  type ProgramScript,
  sortPrograms,
  standardProgram,
} from '../../../../src/base/primitives/program.js'
import { bytes, mutated, mutation, runs } from '../../../support/builders/arbitraries.js'

const key = fc.tuple(fc.constantFrom(2, 3), bytes(32)).map(([first, x]): Uint8Array => concat(Uint8Array.of(first), x))
const multisig = fc
  .array(key, { minLength: 1, maxLength: 16 })
  .chain((keys) => fc.record({ keys: fc.constant(keys), required: fc.integer({ min: 1, max: keys.length }) }))
const x = (publicKey: Uint8Array) => publicKey.subarray(1)
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => concat(Uint8Array.of(2), new Uint8Array(32).fill(i + 1)))

describe('one-key codes', () => {
  it('are standard or DID scripts', () => {
    fc.assert(
      fc.property(key, (publicKey) => {
        const standard = parseCode(singleKeyCode(publicKey)) as ProgramScript
        expect(standard).toMatchObject({ kind: 'standard', required: 1 })
        expect(standard.keys.map(toHex)).toEqual([toHex(publicKey)])
        const did = parseCode(singleKeyCode(publicKey, trailer.did)) as ProgramScript
        expect(did).toMatchObject({ kind: 'did', required: 1 })
        expect(toHex(programHashOf(singleKeyCode(publicKey), standard))).toBe(
          toHex(programHash(prefix.standard, singleKeyCode(publicKey))),
        )
        expect(programHashOf(singleKeyCode(publicKey, trailer.did), did)[0]).toBe(prefix.did)
      }),
      runs,
    )
  })

  it('are nothing with another trailer, length byte or key form', () => {
    const publicKey = numbered(1)[0] as Uint8Array
    for (const last of [0x00, 0xab, trailer.multisig, trailer.crossChain]) {
      expect(parseCode(singleKeyCode(publicKey, last))).toBeUndefined()
    }
    expect(parseCode(concat(Uint8Array.of(32), publicKey, Uint8Array.of(trailer.standard)))).toBeUndefined()
    expect(parseCode(singleKeyCode(concat(Uint8Array.of(4), x(publicKey))))).toBeUndefined()
    expect(parseCode(concat(singleKeyCode(publicKey), Uint8Array.of(0)))).toBeUndefined()
    expect(parseCode(new Uint8Array(0))).toBeUndefined()
  })
})

describe('multisig codes', () => {
  it('have their keys in ascending order of X, whatever order they were given in', () => {
    fc.assert(
      fc.property(multisig, ({ keys, required }) => {
        const code = multisigCode(required, keys)
        const script = parseCode(code) as ProgramScript
        expect(script).toMatchObject({ kind: 'multisig', required })
        const sorted = script.keys.every(
          (k, i) => i === 0 || compareBytes(x(script.keys[i - 1] as Uint8Array), x(k)) <= 0,
        )
        expect(sorted).toBe(true)
        expect(script.keys.map(toHex).sort()).toEqual(keys.map(toHex).sort())
        expect(toHex(multisigCode(required, [...script.keys]))).toBe(toHex(code))
        expect(programHashOf(code, script)[0]).toBe(prefix.multisig)
      }),
      runs,
    )
  })

  it('are nothing in any other order', () => {
    const [a, b] = numbered(2) as [Uint8Array, Uint8Array]
    const wrap = (first: Uint8Array, second: Uint8Array) =>
      concat(Uint8Array.of(0x51, 33), first, Uint8Array.of(33), second, Uint8Array.of(0x52, trailer.multisig))
    expect(parseCode(wrap(a, b))).toBeDefined()
    expect(parseCode(wrap(b, a))).toBeUndefined()
  })

  it('may hold a key twice, and both keys of one X in either order', () => {
    const [a, b] = numbered(2) as [Uint8Array, Uint8Array]
    const odd = concat(Uint8Array.of(3), x(a))
    for (const keys of [
      [a, a, b],
      [a, odd, b],
      [odd, a, b],
    ]) {
      const script = parseCode(multisigCode(2, keys)) as ProgramScript
      expect(script.keys.map(toHex)).toEqual(keys.map(toHex))
    }
  })

  it('take 1 to 16 keys and 1 to n signatures', () => {
    for (let n = 1; n <= 16; n++) expect(parseCode(multisigCode(n, numbered(n)))?.required).toBe(n)
    expect(() => multisigCode(1, numbered(17))).toThrow(RangeError)
    expect(() => multisigCode(0, numbered(2))).toThrow(RangeError)
    expect(() => multisigCode(3, numbered(2))).toThrow(RangeError)
    expect(() => multisigCode(1, [])).toThrow(RangeError)
    const seventeen = concat(
      Uint8Array.of(0x51),
      ...numbered(17).map((k) => concat(Uint8Array.of(33), k)),
      Uint8Array.of(0x61, trailer.multisig),
    )
    expect(parseCode(seventeen)).toBeUndefined()
    expect(parseCode(Uint8Array.of(0x50, 0x50, trailer.multisig))).toBeUndefined()
  })

  it('are parsed, if at all, from exactly their bytes', () => {
    fc.assert(
      fc.property(multisig, mutation, ({ keys, required }, changes) => {
        const code = mutated(multisigCode(required, keys), changes)
        const script = parseCode(code)
        if (script?.kind !== 'multisig') return
        expect(toHex(multisigCode(script.required, script.keys))).toBe(toHex(code))
      }),
      runs,
    )
  })
})

describe('parameters', () => {
  const scripts = numbered(4).map((_, i) => parseCode(multisigCode(i + 1, numbered(4))) as ProgramScript)

  it('hold as many signatures as the script can take', () => {
    fc.assert(
      fc.property(fc.array(bytes(64), { maxLength: 6 }), fc.constantFrom(...scripts), (signatures, script) => {
        const found = parseParameter(parameterOf(signatures), script)
        const fits = signatures.length >= script.required && signatures.length <= 4
        expect(found?.map(toHex)).toEqual(fits ? signatures.map(toHex) : undefined)
      }),
      runs,
    )
  })

  it('have exactly 65 bytes for one key', () => {
    const publicKey = numbered(1)[0] as Uint8Array
    const program = standardProgram(publicKey, new Uint8Array(64).fill(7))
    const script = parseCode(program.code) as ProgramScript
    expect(parseParameter(program.parameter, script)).toHaveLength(1)
    expect(parseParameter(program.parameter.subarray(0, 64), script)).toBeUndefined()
    expect(parseParameter(concat(program.parameter, Uint8Array.of(0)), script)).toBeUndefined()
    expect(parseParameter(concat(program.parameter, program.parameter), script)).toBeUndefined()
    expect(parseParameter(concat(Uint8Array.of(65), program.parameter.subarray(1)), script)).toBeUndefined()
    expect(parseParameter(new Uint8Array(0), script)).toBeUndefined()
  })
})

describe('the order of programs', () => {
  it('is that of their code hashes as little-endian integers', () => {
    fc.assert(
      fc.property(fc.array(bytes(1, 40), { maxLength: 6 }), (codes) => {
        const programs = codes.map((code) => ({ code, parameter: new Uint8Array(0) }))
        const sorted = sortPrograms(programs).map(({ code }) => littleEndianInteger(hash160(code)))
        expect(sorted).toEqual([...sorted].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
        expect(sorted).toHaveLength(codes.length)
      }),
      runs,
    )
  })
})
