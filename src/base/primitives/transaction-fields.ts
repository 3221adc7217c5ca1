import type { Hash } from './hash.js'
import type { Output } from './output.js'
import type { Payload } from './payload.js'
import type { Program } from './program.js'

/** Attribute usages that exist (format 2.7). */
export const attributeUsage = {
  nonce: 0x00,
  script: 0x20,
  memo: 0x81,
  description: 0x90,
  descriptionUrl: 0x91,
  confirmations: 0x92,
} as const

/** An output of an earlier transaction: its txid in internal order and its index. */
export interface Outpoint {
  readonly txid: Hash
  readonly index: number
}

export interface Input extends Outpoint {
  readonly sequence: number
}

export interface Attribute {
  readonly usage: number
  readonly data: Uint8Array
}

export interface TransactionFields {
  /** 0, or 9, which is written as a byte before the type. */
  readonly version: number
  readonly payloadVersion: number
  readonly payload: Payload
  readonly attributes: readonly Attribute[]
  readonly inputs: readonly Input[]
  readonly outputs: readonly Output[]
  readonly lockTime: number
  readonly programs: readonly Program[]
}
