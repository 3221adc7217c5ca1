import type { Hash } from '../../base/primitives/hash.js'
import { bytesListCodec, chainProtocol, codec, type Exchange, hashes } from './exchange.js'

/** @limit count: blocks of a request */
export const blocksAtOnce = 128
/** @limit bytes: request for blocks */
const blocksRequest = 8 * 1024
/** @tuning bytes: blocks after which an answer ends; the first one always fits */
export const blocksFill = 4 * 1024 * 1024
/** @limit bytes: answer with blocks: {@link blocksFill} and the largest block */
const blocksAnswer = 14 * 1024 * 1024
/** @limit ms: wait for an answer with blocks */
const blocksTimeout = 30_000

/** Block bytes by hash, in the order of the request; empty bytes: the peer does not have the block. */
export const blocksExchange: Exchange<readonly Hash[], readonly Uint8Array[]> = {
  protocol: chainProtocol('blocks', blocksRequest, blocksAnswer, blocksTimeout),
  question: codec(hashes(blocksAtOnce)),
  answer: bytesListCodec(blocksAtOnce, blocksAnswer),
}
