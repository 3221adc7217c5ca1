import * as form from '../../base/primitives/forms.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { listedPart, type ListedPart, listedSize } from '../../ledger/state/listed-part.js'
import { chainProtocol, codec, type Exchange, header, opaqueCodec } from './exchange.js'
import { work } from './status-message.js'

/** @limit count: parts in an answer with the list of a state */
export const partsListed = 4096
/** @limit count: parts of a state that a node takes from peers */
export const statePartsAtMost = 200_000
/** @limit bytes: head of a state: it has a confirm */
const headBytes = 20 * 1024
/** @limit bytes: answer with the list of a state */
const listAnswer = 256 * 1024
/** @limit ms: wait for the list of a state */
const listTimeout = 10_000
/** @limit bytes: a slice of a part of a state */
export const sliceBytes = 1024 * 1024
/** @limit ms: wait for a slice of a part */
const sliceTimeout = 30_000

/** The latest state that a peer has in parts (format 16), and some of these. */
export interface StateList {
  /** Bytes of the head; none: the peer has no state. */
  readonly head: Uint8Array
  /** Header of the block that commits to its coins; that of genesis where there is no state. */
  readonly header: Header
  /** Work of the chain up to that block. */
  readonly chainWork: bigint
  /** Number of parts behind the head. */
  readonly total: number
  readonly parts: readonly ListedPart[]
}

const list = form.record<StateList>({
  head: form.varbytes(headBytes),
  header,
  chainWork: work,
  total: form.u32,
  parts: form.list(partsListed, listedSize, listedPart),
})

/** The latest state of a peer, with its parts from a place in their list on. */
export const stateListExchange: Exchange<number, StateList> = {
  protocol: chainProtocol('state-list', 4, listAnswer, listTimeout),
  question: codec(form.u32),
  answer: codec(list),
}

/** A place in a part of the state that a block commits to. */
export interface SliceQuestion {
  /** Hash of the block that commits to its coins. */
  readonly block: Hash
  /** Place of the part in the list. */
  readonly index: number
  readonly from: number
}

/** Bytes of a part from a place on, as many as there are up to {@link sliceBytes}; none: the peer does not have them. */
export const stateSliceExchange: Exchange<SliceQuestion, Uint8Array> = {
  protocol: chainProtocol('state', 40, sliceBytes, sliceTimeout),
  question: codec(form.record<SliceQuestion>({ block: form.hash, index: form.u32, from: form.u32 })),
  answer: opaqueCodec(sliceBytes),
}
