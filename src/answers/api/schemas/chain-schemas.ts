import { Type } from '@sinclair/typebox'
import { amount, closed, hash, oneOf, orNull, publicKey, uint32 } from './common-schemas.js'
import { count } from './number-schemas.js'

/** The chain of a node as a whole. */
export const chainInfoSchema = closed({
  name: Type.String({ description: 'what its spec is called' }),
  devnet: Type.Boolean({ description: 'whether it is a devnet, which has dev_ methods and is never for value' }),
  genesis: hash('of the genesis block: two nodes with the same one have the same chain'),
  digest: hash('of the spec without its upgrades'),
  height: uint32('of the tip'),
  hash: hash('of the tip'),
  time: uint32('of the tip, Unix seconds'),
  pruned: Type.Optional(uint32('of a node that prunes: blocks from 1 to this height have given up their transactions')),
  superseded: Type.Optional(
    uint32('of a node that prunes documents: those superseded up to this height have been given up'),
  ),
  joined: Type.Optional(
    uint32('of a node that took the state after this block from others, checked against the blocks that commit to it'),
  ),
  verified: Type.Optional(uint32('of such a node: blocks up to this height were verified since, behind it')),
  producer: oneOf(['sponsor', 'miners'], 'who makes the blocks'),
  validators: count('validators of the next block'),
  validatornames: Type.Record(publicKey('of a validator'), Type.String(), {
    description: 'what the spec of this node calls validators',
  }),
  quorum: orNull(count('votes that confirm it'), 'null: work alone counts'),
  assetid: hash('of the coins'),
  coin: Type.String({ description: 'name of the coins' }),
  maturity: count('blocks before a coinbase output may be spent'),
  maxmoney: amount('more than that no transaction can move'),
  fees: closed(
    {
      minimum: amount('of a transaction'),
      perbyte: amount('of a byte of its unsigned part'),
      freebytes: count('bytes of the unsigned part that cost nothing'),
      leaf: amount('of a leaf that a declare or revoke adds to the state of all DIDs'),
      names: Type.Optional(
        Type.Array(amount(), { description: 'of names of DIDs, by their length; absent: DIDs have no names' }),
      ),
    },
    'least fees in the next block',
  ),
  specifications: closed(
    {
      did: Type.Array(Type.String({ description: 'first the one that new operations have' })),
      credential: Type.Array(Type.String()),
    },
    'texts that the header of an operation may have in the next block',
  ),
  auxpowchainid: uint32('of this chain in merge mining'),
  evmchainid: count('of this chain for Ethereum clients'),
})
