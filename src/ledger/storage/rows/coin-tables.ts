import type { Coin } from '../../consensus/ledger.js'
import { mapKey } from '../../../base/primitives/bytes.js'
import { codec, outpoint, programHash, raw, table, u16, u32 } from './layout.js'
import { byKey, byProgramHash } from './shipped.js'

/** Rows of coins, and of the addresses that own them. */

/** The balance row of an address. */
export interface Balance {
  readonly sum: bigint
  readonly count: number
}

/** Bytes of a coin. */
export const coinSize = 4 + 1 + 8 + 4 + 21

export const coin = codec<Coin>(
  coinSize,
  (writer, { height, coinbase, value, outputLock, owner }) =>
    writer
      .u32(height)
      .u8(coinbase ? 1 : 0)
      .i64(value)
      .u32(outputLock)
      .mapKey(owner),
  (reader) => ({
    height: reader.u32(),
    coinbase: reader.u8() === 1,
    value: reader.i64(),
    outputLock: reader.u32(),
    owner: mapKey(reader.take(21)),
  }),
)

const amount = codec<bigint>(
  8,
  (writer, value) => writer.i64(value),
  (reader) => reader.i64(),
)

const balance = codec<Balance>(
  12,
  (writer, { sum, count }) => writer.u64(sum).u32(count),
  (reader) => ({ sum: reader.u64(), count: reader.u32() }),
)

const owner = programHash('program hash')

export const coinTables = {
  coin: table(0x08, [outpoint], coin, byKey),
  addressCoin: table(0x09, [owner, u32('height'), outpoint], amount, byProgramHash),
  balance: table(0x0a, [owner], balance, byProgramHash),
  /** Empty: the transaction touched the address. */
  history: table(0x0b, [owner, u32('height'), u16('index')], raw(0), byProgramHash),
}
