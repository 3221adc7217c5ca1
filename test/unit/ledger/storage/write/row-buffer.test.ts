import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapKey, ofMapKey, toHex } from '../../../../../src/base/primitives/bytes.js'
import { outpointKey } from '../../../../../src/base/primitives/input.js'
import { seal } from '../../../../../src/ledger/storage/rows/sealed-row.js'
import { tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { reusedRows } from '../../../../../src/ledger/storage/write/row-buffer.js'
import { amount, coin, hash, runs, u16 } from '../../../../support/builders/arbitraries.js'

const { location, addressCoin, balance, history } = tables
const made = {
  coin: reusedRows(tables.coin),
  addressCoin: reusedRows(addressCoin),
  balance: reusedRows(balance),
  history: reusedRows(history),
  location: reusedRows(location),
}

describe('Rows made in the same memory', () => {
  it('are the bytes that tables make', () => {
    fc.assert(
      fc.property(hash, u16, coin, amount, u16, (txid, index, one, sum, number) => {
        const { owner, height, value } = one
        const outpoint = { txid, index }
        const [name, at, of] = [outpointKey(outpoint), { height, index: number }, { sum, count: number }]
        const [address, empty] = [ofMapKey(owner), new Uint8Array(0)]
        for (const [row, key, bytes] of [
          [() => made.coin.row(one, name), tables.coin.key(outpoint), tables.coin.encode(one)],
          [
            () => made.addressCoin.row(value, owner, height, name),
            addressCoin.key(address, height, outpoint),
            addressCoin.encode(value),
          ],
          [() => made.balance.row(of, owner), balance.key(address), balance.encode(of)],
          [() => made.history.row(empty, owner, height, number), history.key(address, height, number), empty],
          [() => made.location.row(at, mapKey(txid)), location.key(txid), location.encode(at)],
        ] as const) {
          const stored = row()
          expect([stored.key, stored.value].map(toHex)).toEqual([key, bytes].map(toHex))
          expect(toHex(stored.seal())).toBe(toHex(seal(key, bytes)))
        }
        expect(toHex(made.coin.key(name))).toBe(toHex(tables.coin.key(outpoint)))
      }),
      runs,
    )
  })

  it('are refused of a table whose rows differ in size, and of a key that has another size', () => {
    expect(() => reusedRows(tables.pool)).toThrow('differ in size')
    expect(() => made.balance.key(mapKey(new Uint8Array(20)))).toThrow('program hash of 20 bytes')
  })
})
