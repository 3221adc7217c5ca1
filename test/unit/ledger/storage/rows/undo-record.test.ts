import { describe, expect, it } from 'vitest'
import type { Coin } from '../../../../../src/ledger/consensus/ledger.js'
import { mapKey } from '../../../../../src/base/primitives/bytes.js'
import { finish } from '../../../../../src/base/primitives/steps.js'
import { sha256 } from '../../../../../src/base/primitives/hash.js'
import { operationForms } from '../../../../../src/base/primitives/did-operation.js'
import { tables, type UndoRecord } from '../../../../../src/ledger/storage/rows/tables.js'
import {
  operationCountSteps,
  spentSteps,
  withoutCoinsSteps,
} from '../../../../../src/ledger/storage/rows/undo-record.js'
import { random } from '../../../../support/builders/random-chain.js'

const programHash = (name: string) => sha256(name).subarray(0, 21)

function coin(value: number): Coin {
  const coinbase = value % 2 === 0
  return {
    height: value,
    coinbase,
    value: BigInt(value),
    outputLock: value % 3,
    owner: mapKey(programHash(`${value}`)),
  }
}

/** A record of so many transactions, DIDs, credentials and side chains. */
function record(spent: readonly number[], dids: number, credentials: number, sideChains = 0): UndoRecord {
  let value = 0
  return {
    spent: spent.map((count) => Array.from({ length: count }, () => coin(++value))),
    dids: Array.from({ length: dids }, (_, i) => programHash(`did ${i}`)),
    credentials: Array.from({ length: credentials }, (_, i) => {
      return { operation: operationForms.declare.number, key: sha256(`key ${i}`), holder: programHash(`holder ${i}`) }
    }),
    sideChains: Array.from({ length: sideChains }, (_, i) => {
      return { genesis: sha256(`side chain ${i}`), before: i % 2 === 0 ? undefined : 2 ** 29 - i }
    }),
  }
}

function spentIn(undo: Uint8Array, wanted: readonly number[]): [number, Coin][] {
  const found: [number, Coin][] = []
  finish(spentSteps(undo, new Set(wanted), (index, spent) => found.push([index, spent])))
  return found
}

describe('parts of an undo record', () => {
  const samples = [
    record([], 0, 0),
    record([0], 0, 0),
    record([1, 0, 3, 300, 2], 2, 0),
    record([2, 1], 0, 1),
    record([1], 1, 0, 3),
    record([], 0, 2, 1),
    record(
      Array.from({ length: 300 }, () => 1),
      300,
      260,
    ),
  ]

  it('are the coins that chosen transactions spent, as the whole record has them', () => {
    const roll = random(1)
    for (const { spent, ...rest } of samples) {
      const undo = tables.undo.encode({ spent, ...rest })
      const wanted = spent.map((_, i) => i + 1).filter(() => roll(2) === 0)
      const expected = wanted.flatMap((index) => (spent[index - 1] ?? []).map((one): [number, Coin] => [index, one]))
      expect(spentIn(undo, wanted)).toEqual(expected)
    }
  })

  it('make the whole record again', () => {
    for (const sample of samples) {
      const undo = tables.undo.encode(sample)
      expect(tables.undo.decode(undo)).toEqual(sample)
      expect(tables.undo.decode(finish(withoutCoinsSteps(undo)))).toEqual({ ...sample, spent: [] })
    }
  })

  it('are none of a coinbase, and of transactions that the block does not have', () => {
    expect(spentIn(tables.undo.encode(record([1, 2], 1, 1)), [0, 3, 9])).toEqual([])
  })

  it('are the number of operations, on DIDs and on credentials', () => {
    const counts = samples.map((sample) => finish(operationCountSteps(tables.undo.encode(sample))))
    expect(counts).toEqual([0, 0, 2, 1, 1, 2, 560])
  })

  it('come in steps', () => {
    const undo = tables.undo.encode(record([1, 300], 0, 0))
    expect([...spentSteps(undo, new Set([2]), () => {})].length).toBeGreaterThan(3)
    const many = tables.undo.encode(
      record(
        Array.from({ length: 300 }, () => 1),
        0,
        0,
      ),
    )
    expect([...operationCountSteps(many)].length).toBeGreaterThan(3)
  })

  it('cannot be read where the record is cut', () => {
    const undo = tables.undo.encode(record([1, 3], 2, 0))
    expect(() => spentIn(undo.subarray(0, 60), [2])).toThrow(/the bytes end/)
    expect(() => finish(operationCountSteps(undo.subarray(0, -1)))).toThrow(/the bytes end/)
  })
})
