import { type TSchema, Type } from '@sinclair/typebox'
import { amount, bytes, closed, hash, publicKey, uint32 } from './common-schemas.js'
import { count } from './number-schemas.js'
import { transactionObject, txid } from './transaction-schemas.js'

/** Blocks and their confirms. */

export const blockHashSchema = hash('hash of a block')

function block<T extends TSchema>(tx: T) {
  return closed({
    hash: hash('of the header'),
    confirmations: count('1 at the tip, 0 off the active chain'),
    strippedsize: count('bytes'),
    size: count('the same'),
    weight: count('four times the size'),
    height: uint32('distance from the genesis block'),
    version: uint32('of the header'),
    versionhex: Type.String({ pattern: '^[0-9a-f]{8}$', description: 'the same in hex' }),
    merkleroot: hash('over the transaction ids'),
    tx,
    time: uint32('Unix seconds'),
    mediantime: uint32('median of its time and those of up to ten blocks before it'),
    nonce: uint32('of the header'),
    bits: uint32('target of the work, compact'),
    difficulty: Type.String({ pattern: '^[0-9]+$', description: 'how much harder than the easiest target' }),
    chainwork: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'work of the chain up to here, big-endian' }),
    previousblockhash: hash('zeros at the genesis block'),
    nextblockhash: hash('zeros at the tip and off the active chain'),
    auxpow: bytes('the work, as merge-mined'),
  })
}

/** With whole transactions. */
export const blockWithTransactions = block(Type.Array(transactionObject))
/** With the ids of its transactions. */
export const blockWithIds = block(Type.Array(txid))

export const blockTransactionIds = closed({
  Hash: blockHashSchema,
  Height: uint32('of the block'),
  Transactions: Type.Array(txid),
})

export const confirmObject = closed({
  blockhash: blockHashSchema,
  sponsor: publicKey('validator that proposed the block'),
  viewoffset: uint32('turns that were passed before'),
  votes: Type.Array(closed({ signer: publicKey('validator'), accept: Type.Boolean() })),
})

const view = uint32('turns that were passed before')

export const listedBlocks = closed({
  height: uint32('of the tip as of which the list holds'),
  blocks: Type.Array(
    closed({
      height: uint32('of the block'),
      hash: blockHashSchema,
      time: uint32('Unix seconds'),
      size: count('bytes'),
      transactions: count('in it, the coinbase included'),
      dids: count('operations on DIDs and credentials in it'),
      proposer: Type.Optional(
        publicKey('validator that proposed it; this and the next one only where it has a confirm'),
      ),
      view: Type.Optional(view),
    }),
    { description: 'newest first; fewer than asked for above genesis where they are large' },
  ),
  pruned: Type.Optional(uint32('of a node that took a state from others: blocks up to this height are not listed')),
})

export const listedDays = closed({
  height: uint32('of the tip as of which the list holds'),
  days: Type.Array(
    closed({
      day: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description: 'in UTC, by the times of the blocks' }),
      blocks: count('of that day'),
      transactions: count('in them, without the coinbases'),
      creations: count('DIDs created'),
      updates: count('of DIDs'),
      deactivations: count('of DIDs'),
      credentials: count('declared or revoked'),
      fees: Type.Optional(amount('that the transactions paid; absent where the node no longer has all of them')),
      intervals: count('blocks with another one before them than the genesis block'),
      seconds: count('from the block before each of these, together'),
    }),
    { description: 'ascending; without days that have no block but the genesis block' },
  ),
})

export const listedVoters = closed({
  validators: Type.Array(Type.Array(publicKey('validator'), { description: 'in the order of duty' }), {
    description: 'each set that was in force',
  }),
  heights: Type.Array(
    closed({
      height: uint32('of a block'),
      set: count('which set was in force, from 0'),
      view,
      proposer: publicKey('validator that proposed the block'),
      voters: Type.Array(count('position in the set, from 0'), { description: 'who voted for it, ascending' }),
    }),
    { description: 'ascending; without blocks that have no confirm' },
  ),
  pruned: Type.Optional(uint32('of a node that took a state from others: it has no confirms up to this height')),
})
