import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapKey, ofMapKey, toHex } from '../../../../../src/base/primitives/bytes.js'
import { outpointKey } from '../../../../../src/base/primitives/input.js'
import { tables } from '../../../../../src/ledger/storage/rows/tables.js'
import { seal } from '../../../../../src/ledger/storage/rows/sealed-row.js'
import { TransferRows } from '../../../../../src/ledger/storage/write/transfer-rows.js'
import { amount, coin, hash, runs, u16 } from '../../../../support/builders/arbitraries.js'

describe('Rows made in the same memory', () => {
  it('are the bytes that keys and values make', () => {
    const made = new TransferRows()
    fc.assert(
      fc.property(hash, u16, coin, amount, u16, (txid, index, one, sum, number) => {
        const outpoint = { txid, index }
        const [name, at] = [outpointKey(outpoint), { height: one.height, index: number }]
        const { owner, height } = one
        const address = ofMapKey(owner)
        const balance = { sum, count: number }
        for (const [row, key, value] of [
          [made.coin(name, one), tables.coin.key(outpoint), tables.coin.encode(one)],
          [
            made.addressCoin(name, one),
            tables.addressCoin.key(address, height, outpoint),
            tables.addressCoin.encode(one.value),
          ],
          [made.balance(owner, balance), tables.balance.key(address), tables.balance.encode(balance)],
          [made.history(owner, height, number), tables.history.key(address, height, number), new Uint8Array(0)],
          [made.location(mapKey(txid), at), tables.location.key(txid), tables.location.encode(at)],
        ] as const) {
          expect([row.key, row.value].map(toHex)).toEqual([key, value].map(toHex))
          expect(toHex(row.seal())).toBe(toHex(seal(key, value)))
        }
      }),
      runs,
    )
  })
})
