import type { Hash } from '../../primitives/hash.js'
import { bytesListCodec, type Exchange, listCodec } from './exchange.js'

/** Maximum blocks of a request. */
export const blocksAtOnce = 128
const blocksRequest = 8 * 1024
/** The answer ends after the block with which it reaches so many bytes; the first one always fits. */
export const blocksFill = 4 * 1024 * 1024
/** Maximum bytes of an answer: {@link blocksFill} plus the largest block. */
const blocksAnswer = 14 * 1024 * 1024
const blocksTimeout = 30_000

/** Block bytes by hash, in the order of the request; empty bytes: the peer does not have the block. */
export const blocksExchange: Exchange<readonly Hash[], readonly Uint8Array[]> = {
  protocol: {
    name: 'blocks',
    version: 1,
    ofChain: true,
    request: blocksRequest,
    answer: blocksAnswer,
    timeout: blocksTimeout,
  },
  question: listCodec<Hash>(
    blocksAtOnce,
    32,
    (writer, hash) => writer.bytes(hash),
    (reader) => reader.hash(),
  ),
  answer: bytesListCodec(blocksAtOnce, blocksAnswer),
}
