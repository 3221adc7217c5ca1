import { displayHash } from '../../base/primitives/bytes.js'
import {
  answerOf,
  asAmount,
  asAny,
  asInteger,
  asText,
  listOf,
  objectOf,
  optional,
  unexpected,
} from '../../base/primitives/answer-form.js'
import { hashBytes } from '../wallet/chain-answer.js'

/** Forms of what a node answers of its chain, its pool and itself: the parts that are read of it. */

/** A place of a transaction on the chain. */
export type ChainPlace = ReturnType<typeof asPlace>

/** A page of the history of an address. */
export type History = ReturnType<typeof asHistory>

/** The parts of a transaction object that the commands read. */
export type NodeTransaction = ReturnType<typeof asTransaction>

/** The parts of a block that the commands read; its time in Unix seconds. */
export type NodeBlock = ReturnType<typeof asBlock>

export const asBlock = objectOf({ hash: asText, height: asInteger, time: asInteger })
export const asTransaction = objectOf({
  txid: asText,
  vin: listOf(objectOf({ txid: asText, vout: asInteger })),
  vout: listOf(objectOf({ value: asText, n: asInteger, address: asText, assetid: asText, outputlock: asInteger })),
  blockhash: asText,
  confirmations: asInteger,
  type: asInteger,
  payload: asAny,
})
export const asTransactions = listOf(asTransaction)

export function asTxid(value: unknown, where: string): string {
  return displayHash(hashBytes(asText(value, where)))
}

/** A name that needs no quotes in a list of values. */
function asWord(value: unknown, where: string): string {
  const text = asText(value, where)
  if (/^[A-Za-z][\w-]{0,63}$/.test(text)) return text
  throw unexpected(`${where} is no name`)
}

const asPlace = objectOf({ height: asInteger, index: asInteger })
export const asHistory = answerOf('the history', {
  transactions: listOf(
    objectOf({
      txid: asTxid,
      height: asInteger,
      index: asInteger,
      time: asInteger,
      kind: asWord,
      received: asAmount,
      spent: asAmount,
      fee: optional(asAmount),
    }),
  ),
  next: optional(asPlace),
  pruned: optional(asInteger),
  superseded: optional(asInteger),
})
export const asRate = objectOf({ perkilobyte: asInteger })
export const asInfo = objectOf({
  policy: optional(
    objectOf({ size: asInteger, inputs: asInteger, signaturecost: asInteger, ancestors: optional(asInteger) }),
  ),
})
