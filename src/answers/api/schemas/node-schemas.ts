import { Type } from '@sinclair/typebox'
import { stallReasons } from '../node-handles.js'
import { closed, oneOf, orNull, publicKey, uint32 } from './common-schemas.js'
import { count } from './number-schemas.js'

/** State of a node and of its peers. */

const port = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 0xffff, description: `${description}; 0 where nothing listens` })
const hexId = Type.String({ pattern: '^0x[0-9a-f]+$', description: 'the same in hex' })

const neighbor = closed({
  ID: count('from its peer key'),
  HexID: hexId,
  Height: uint32('of its tip'),
  Services: count('bits of what it offers'),
  Relay: Type.Boolean({ description: 'whether it wants transactions' }),
  External: Type.Boolean({ description: 'whether it opened the connection' }),
  State: Type.Literal('ESTABLISH'),
  NetAddress: Type.String({ description: 'host:port' }),
})

export const nodeStateSchema = closed({
  Compile: Type.String({ description: 'version of the program' }),
  ID: count('from the peer key: the first 53 bits of sha256 of the public key'),
  HexID: hexId,
  Height: uint32('of the tip'),
  Version: count('of the network protocol'),
  Services: count('bits of what it offers'),
  Relay: Type.Boolean({ description: 'whether it passes transactions on' }),
  TxnCnt: count('transactions mined or accepted since the start'),
  RxTxnCnt: count('transactions received from peers since the start'),
  Port: port('peers'),
  PRCPort: port('JSON-RPC'),
  RestPort: port('REST'),
  WSPort: port('WebSocket'),
  OpenPort: port('foreign services'),
  OpenService: Type.Boolean({ description: 'whether there are such services' }),
  Neighbors: Type.Array(neighbor),
})

export const syncStatus = closed({
  stage: oneOf(
    ['idle', 'headers', 'blocks', 'waiting'],
    'what it is doing: nothing, reading headers, reading blocks, waiting',
  ),
  catchingup: Type.Boolean({
    description: 'whether a peer has proved a tip that the node does not have, or none was reached yet',
  }),
  height: uint32('of the tip'),
  target: uint32('of the best tip that is proved, or that a peer says it has, while it is asked for it'),
  rate: Type.Number({ minimum: 0, description: 'blocks a second, lately' }),
  secondsleft: orNull(count('until the target is reached at that rate'), 'null: unknown'),
  reason: orNull(Type.String(), 'what it waits for, or null'),
  clockoffset: orNull(
    Type.Integer({
      description: 'seconds by which the clocks of other nodes are ahead of that of this one; negative: behind',
    }),
    'null: they agree within what the chain bears',
  ),
  peers: Type.Array(
    closed({
      id: neighbor.properties.ID,
      name: Type.String({ description: 'of its key, as its multiaddr ends' }),
      address: neighbor.properties.NetAddress,
      height: neighbor.properties.Height,
      external: neighbor.properties.External,
    }),
  ),
})

const stallText = Object.entries(stallReasons)
  .map(([reason, meaning]) => `${reason}: ${meaning}`)
  .join('; ')

export const arbitersInfo = closed({
  height: uint32('of the next block'),
  arbiters: Type.Array(publicKey('validator of the next block'), { description: 'in the order of duty' }),
  candidates: Type.Array(publicKey('there are none')),
  nextarbiters: Type.Array(publicKey('validator after the next change'), { description: 'the same without a change' }),
  nextcandidates: Type.Array(publicKey('there are none')),
  ondutyarbiter: Type.String({ description: 'whose turn it is to propose the next block; empty without validators' }),
  currentturnstartheight: uint32('first height of the validators in force'),
  nextturnstartheight: orNull(uint32('first height of the next ones'), 'null: no change is planned'),
  view: uint32('turns that were passed at this height'),
  step: orNull(Type.String(), 'what is waited for in this view; null without voting'),
  signing: Type.String({ description: 'yes, no-key, not-validator, or why this node does not vote for now' }),
  alarm: orNull(Type.String(), 'what only a person can resolve, or null'),
  validators: count('of the next block; 0 on a chain without validators'),
  quorum: count('of them that confirm a block; 0 on a chain without validators'),
  heard: count('of them of which any vote for the next block has arrived, the own one included'),
  votes: Type.Array(
    closed({
      publickey: publicKey('of the validator'),
      heard: Type.Boolean({ description: 'whether any vote of it for the next block has arrived' }),
      prevote: Type.Boolean({ description: 'whether its prevote of the present view has, also one for no block' }),
      precommit: Type.Boolean({ description: 'whether its precommit of the present view has, also one for no block' }),
    }),
    { description: 'in the order of `arbiters`; without a vote, as on a devnet, nothing arrives' },
  ),
  emptyblockin: Type.Optional(
    count(
      'milliseconds until this node begins an empty block unless a transaction comes before; absent once the vote has begun, and where there is none',
    ),
  ),
  stalled: Type.Optional(
    closed(
      {
        reason: oneOf(Object.keys(stallReasons), stallText),
        since: uint32('Unix seconds at which the node noticed it'),
        detail: Type.String({ description: 'a sentence for people; it names missing validators' }),
      },
      'that the chain does not go on at this node, until the next block; absent while it does',
    ),
  ),
})
