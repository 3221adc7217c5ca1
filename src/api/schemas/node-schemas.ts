import { Type } from '@sinclair/typebox'
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
  target: uint32('of the best tip that is proved'),
  rate: Type.Number({ minimum: 0, description: 'blocks a second, lately' }),
  secondsleft: orNull(count('until the target is reached at that rate'), 'null: unknown'),
  reason: orNull(Type.String(), 'what it waits for, or null'),
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
})
