import type { Hash } from '../../primitives/hash.js'
import { bytesListCodec, type Exchange, listCodec } from './exchange.js'

/** Blocks of a question. */
export const blocksAtOnce = 128
const blocksRequest = 8 * 1024
/** Who answers ends the list after the block with which it reaches so many bytes; the first one always fits. */
export const blocksFill = 4 * 1024 * 1024
/** Bytes of an answer: what may be in it before the last block, and the largest block. */
const blocksAnswer = 14 * 1024 * 1024
const blocksTimeout = 30_000

/** Block bytes by hash, in the order asked; empty bytes stand for a block that is not here. */
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
