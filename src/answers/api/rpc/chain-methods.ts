import { Type } from '@sinclair/typebox'
import { apiLimits } from '../api-limits.js'
import { readParameter } from '../parameters.js'
import { blockList } from '../results/block-list.js'
import {
  blockByHash,
  blockByHeight,
  blockHash,
  blockHex,
  confirmByHash,
  confirmByHeight,
  confirmHexByHash,
  confirmHexByHeight,
  wholeBlockByHash,
} from '../results/block-results.js'
import { chainInfo } from '../results/chain-info.js'
import { dayList } from '../results/day-list.js'
import * as blocks from '../schemas/block-schemas.js'
import { chainInfoSchema } from '../schemas/chain-schemas.js'
import {
  bytes,
  hashParam,
  heightParam,
  limitParam,
  rowsUnasked,
  uint32,
  verbosityParam,
} from '../schemas/common-schemas.js'
import { JsonText, method, type RpcMethod } from './method.js'

const dayParam = (description: string) => Type.String({ description: `YYYY-MM-DD: ${description}` })
const none = Type.Object({})
const blockhash = hashParam('hash of a block, on the active chain or off it')
const blockVerbosity = verbosityParam(2, '0 the bytes in hex, 1 the ids of its transactions, 2 whole transactions')
const confirmVerbosity = verbosityParam(1, '0 the bytes in hex, 1 an object')
const confirmResult = Type.Union([blocks.confirmObject, bytes('with verbosity 0')])

/** Blocks and their confirms. */
export const chainMethods: readonly RpcMethod[] = [
  method({
    name: 'getchaininfo',
    lasts: 'chain',
    summary: 'Which chain this is, its tip, and the rules of its next block.',
    params: none,
    result: chainInfoSchema,
    run: ({ reader }) => chainInfo(reader),
  }),
  method({
    name: 'getblockcount',
    lasts: 'chain',
    summary: 'Number of blocks of the active chain: the height of the tip and one for the genesis block.',
    params: none,
    result: Type.Integer({ minimum: 1 }),
    run: ({ reader }) => reader.height + 1,
  }),
  method({
    name: 'getcurrentheight',
    lasts: 'chain',
    summary: 'Height of the tip.',
    params: none,
    result: uint32('0 is the genesis block'),
    run: ({ reader }) => reader.height,
  }),
  method({
    name: 'getbestblockhash',
    lasts: 'chain',
    summary: 'Hash of the tip.',
    params: none,
    result: blocks.blockHashSchema,
    run: ({ reader }) => reader.chain.tip.header.id,
  }),
  method({
    name: 'getblockhash',
    lasts: 'chain',
    summary: 'Hash of the active block at a height.',
    params: Type.Object({ height: heightParam }),
    result: blocks.blockHashSchema,
    run: ({ reader }, { height }) => new JsonText(blockHash(reader, height)),
  }),
  method({
    name: 'getblock',
    lasts: 'chain',
    summary: 'A block by its hash.',
    params: Type.Object({ blockhash, verbosity: blockVerbosity }),
    result: Type.Union([blocks.blockWithIds, blocks.blockWithTransactions, bytes('with verbosity 0')]),
    run: ({ reader }, { blockhash: text, verbosity }) => {
      const answer = [blockHex, blockByHash, wholeBlockByHash][verbosity ?? 1] as typeof blockByHash
      return answer(reader, readParameter('hash', 'blockhash', text))
    },
  }),
  method({
    name: 'getblockbyheight',
    lasts: 'chain',
    summary: 'The active block at a height, with whole transactions.',
    params: Type.Object({ height: heightParam }),
    result: blocks.blockWithTransactions,
    run: ({ reader }, { height }) => blockByHeight(reader, height),
  }),
  method({
    name: 'listblocks',
    lasts: 'chain',
    summary:
      `Blocks of the active chain, newest first, with the height of the tip. A page that has read ` +
      `${apiLimits.pageBytes / 1024 / 1024} MiB ends early: the next one begins below its last height.`,
    params: Type.Object({
      before: Type.Optional(uint32('only blocks below this height; the tip is the first one by default')),
      limit: limitParam('blocks of the page'),
    }),
    result: blocks.listedBlocks,
    run: (context, { before, limit = rowsUnasked }) => blockList(context, before, limit),
  }),
  method({
    name: 'listdays',
    lasts: 'chain',
    summary:
      `Sums over the blocks of each day of a range of at most ${apiLimits.listedDays} days in UTC, the last ones by default: ` +
      `transactions, operations, fees, and how long the blocks took.`,
    params: Type.Object({
      from: Type.Optional(dayParam('first day')),
      to: Type.Optional(dayParam('last day; beyond that of the tip it is that one')),
    }),
    result: blocks.listedDays,
    run: (context, { from, to }) => dayList(context, { from, to }),
  }),
  method({
    name: 'getconfirmbyheight',
    lasts: 'chain',
    summary: 'Who proposed the active block at a height and who voted for it.',
    params: Type.Object({ height: heightParam, verbosity: confirmVerbosity }),
    result: confirmResult,
    run: async ({ reader }, { height, verbosity }) =>
      new JsonText(await (verbosity === 0 ? confirmHexByHeight : confirmByHeight)(reader, height)),
  }),
  method({
    name: 'getconfirmbyhash',
    lasts: 'chain',
    summary: 'Who proposed a block, known by its hash, and who voted for it.',
    params: Type.Object({ blockhash, verbosity: confirmVerbosity }),
    result: confirmResult,
    run: async ({ reader }, { blockhash: text, verbosity }) => {
      const answer = verbosity === 0 ? confirmHexByHash : confirmByHash
      return new JsonText(await answer(reader, readParameter('hash', 'blockhash', text)))
    },
  }),
]
