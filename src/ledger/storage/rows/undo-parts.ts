import type { Coin } from '../../consensus/ledger.js'
import { concat } from '../../../base/primitives/bytes.js'
import { Reader, Writer } from '../../../base/primitives/codec.js'
import type { Steps } from '../../../base/primitives/steps.js'
import { coinSize, values } from './row-values.js'

/** Parts of undo records, read without building the rest: a full block spends a hundred thousand coins. */

/** @tuning count: transactions of a block, inputs of a transaction, or operations of a block, in an undo record */
const listCap = 0xffff
/** Coins, or transactions that are passed over, read in one step. */
const atOnce = 64
/** Bytes of a DID in an undo record. */
const didSize = 21

/** Calls `take` with every coin that the transactions at the `wanted` positions of a block spent, in steps. */
export function* spentSteps(
  undo: Uint8Array,
  wanted: ReadonlySet<number>,
  take: (index: number, coin: Coin) => void,
): Steps {
  const reader = new Reader(undo)
  const spenders = reader.varuint(listCap)
  for (let index = 1; index <= spenders; index++) {
    const coins = reader.varuint(listCap)
    if (index % atOnce === 0) yield
    if (!wanted.has(index)) {
      reader.take(coins * coinSize)
      continue
    }
    for (let i = 1; i <= coins; i++) {
      take(index, values.coin.decode(reader.take(coinSize)))
      if (i % atOnce === 0) yield
    }
  }
}

/** The record of a block without the coins that its transactions spent, in steps. */
export function* withoutCoinsSteps(undo: Uint8Array): Steps<Uint8Array> {
  const reader = new Reader(undo)
  yield* passCoinsSteps(reader)
  return concat(new Writer(1).varuint(0).finish(), reader.take(reader.remaining))
}

/** The number of operations of a block, on DIDs and on credentials, in steps. */
export function* operationCountSteps(undo: Uint8Array): Steps<number> {
  const reader = new Reader(undo)
  yield* passCoinsSteps(reader)
  const onDids = reader.varuint(listCap)
  reader.take(onDids * didSize)
  return reader.remaining === 0 ? onDids : onDids + reader.varuint(listCap)
}

function* passCoinsSteps(reader: Reader): Steps {
  const spenders = reader.varuint(listCap)
  for (let index = 1; index <= spenders; index++) {
    reader.take(reader.varuint(listCap) * coinSize)
    if (index % atOnce === 0) yield
  }
}
