import * as form from '../../base/primitives/forms.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type Header, headerSize } from '../../base/primitives/header.js'
import { maxAuxPowSize } from '../../base/primitives/auxpow.js'
import { chainProtocol, codec, type Exchange, type GossipTopic, hashes, header } from './exchange.js'

/** @limit count: hashes of a locator */
export const locatorHashes = 64
/** @limit count: headers of an answer */
export const headersAtOnce = 1000
/** @limit bytes: request for headers */
const headersRequest = 4 * 1024
/** @limit bytes: answer with headers; the list ends where the next one would not fit */
export const headersAnswer = 2 * 1024 * 1024
/** @limit ms: wait for an answer with headers */
const headersTimeout = 10_000
/**
 * The largest set of validators needs fewer.
 * @limit bytes: confirm of a header
 */
export const confirmBytesAtMost = 16 * 1024
/** @limit bytes: new tip: a header with its proofs */
const headerUnitBytes = 36 * 1024

/** A header with its proofs. */
export interface HeaderUnit {
  readonly header: Header
  /** Bytes of the AuxPow. */
  readonly auxPow: Uint8Array
  /** Bytes of a confirm; none on a chain without validators. */
  readonly confirm: Uint8Array
  /** Bytes of the whole block: a hint for fetching it. */
  readonly size: number
}

const headerUnit = form.record<HeaderUnit>({
  header,
  auxPow: form.varbytes(maxAuxPowSize),
  confirm: form.varbytes(confirmBytesAtMost),
  size: form.u32,
})

export interface HeadersQuestion {
  /** Hashes of the own chain, newest first; the answer begins after the highest on the peer's chain, or after genesis. */
  readonly locator: readonly Hash[]
  readonly count: number
}

export const headersExchange: Exchange<HeadersQuestion, readonly HeaderUnit[]> = {
  protocol: chainProtocol('headers', headersRequest, headersAnswer, headersTimeout),
  question: codec(form.record<HeadersQuestion>({ locator: hashes(locatorHashes), count: form.varuint(headersAtOnce) })),
  answer: codec(form.list(headersAtOnce, headerSize + 6, headerUnit)),
}

export const headerUnitCodec = codec(headerUnit)

/** A new tip, announced when it is connected. */
export const blockTopic: GossipTopic<HeaderUnit> = {
  topic: { name: 'blocks', version: 1, size: headerUnitBytes },
  message: headerUnitCodec,
}

/** The bytes that a unit takes in an answer. */
export function headerUnitSize({ auxPow, confirm }: Pick<HeaderUnit, 'auxPow' | 'confirm'>): number {
  return headerSize + 3 + auxPow.length + 3 + confirm.length + 4
}
