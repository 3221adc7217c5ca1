import { familyOf } from '../../../base/runtime/ip-family.js'
import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import { addressHint, isPeerAddress } from '../../../network/address/address-text.js'
import { keyOfPeerName, peerName } from '../../../network/address/peer-identity.js'
import { LinkError } from '../../../network/link.js'
import { hex, toHex } from '../../../base/primitives/bytes.js'
import type { ApiContext } from '../api-context.js'
import { needed } from '../http/needs-node.js'
import type { NetworkView, NodeHealth } from '../node-handles.js'
import { closed } from '../schemas/common-schemas.js'
import { syncStatus } from '../schemas/node-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { method, type RpcMethod } from './method.js'

/** Seconds in a day. */
const day = 86_400
/** @limit s: a ban by `addban`: ten years */
const longestBan = 3650 * day

const peer = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'the name of a node, which its multiaddr ends in, an IP address, or to ban both the ID of a connected node',
})

/** Sync, peers and bans. */
export const peerMethods: readonly RpcMethod[] = [
  method({
    name: 'getsyncstatus',
    summary: 'How far the node is with learning the chain, and from which peers.',
    result: syncStatus,
    run: ({ network, nodeInfo, health }) => {
      const { neighbors } = nodeInfo()
      const { stage, rate, secondsLeft, reason, ...sync } = network?.progress() ?? alone(needed(health().sync))
      return {
        stage,
        catchingup: sync.catchingUp,
        height: sync.height,
        target: sync.target,
        rate: Math.round(rate * 10) / 10,
        secondsleft: secondsLeft === undefined ? null : Math.ceil(secondsLeft),
        reason: reason ?? null,
        clockoffset: health().clockOffset ?? null,
        peers: neighbors.map(({ id, name, address, height, external }) => ({ id, name, address, height, external })),
      }
    },
  }),
  method({
    name: 'addpeer',
    summary:
      'Connects to a node and comes back to it until this one stops; of an attempt that fails nothing is kept, so ask again.',
    access: 'admin',
    params: Type.Object({
      address: Type.String({ minLength: 1, maxLength: 512, description: 'host:port, or a multiaddr over TCP' }),
    }),
    result: Type.Literal(true, { description: 'the nodes are connected' }),
    run: async (context, { address }) => {
      if (!isPeerAddress(address)) {
        throw wrong('address', `host:port, or a multiaddr such as /ip4/192.0.2.7/tcp/20338${addressHint(address)}`)
      }
      try {
        await networkOf(context).connect(address)
      } catch (error) {
        throw error instanceof LinkError ? new RuleError('peer-unreachable', error.message) : error
      }
      return true
    },
  }),
  method({
    name: 'disconnectpeer',
    summary: 'Closes the connection to a node, which may come back.',
    access: 'admin',
    params: Type.Object({ id: count('ID of the node, as getnodestate shows it') }),
    result: Type.Boolean({ description: 'whether there was a connection' }),
    run: (context, { id }) => networkOf(context).disconnect(id),
  }),
  method({
    name: 'listbans',
    summary: 'Who is not let in for now.',
    access: 'admin',
    result: Type.Array(
      closed({
        peer: Type.String({ description: 'the name of a node, an IP address, or a /64 of IPv6' }),
        until: count('in Unix seconds'),
        reason: Type.String(),
      }),
    ),
    run: (context) =>
      networkOf(context)
        .listBans()
        .map(({ kind, subject, until, reason }) => ({
          peer: kind === 'key' ? peerName(hex(subject)) : subject,
          until: Math.ceil(until / 1000),
          reason,
        })),
  }),
  method({
    name: 'addban',
    summary: 'Lets a node in no more for some time, and closes the connections to it.',
    access: 'admin',
    params: Type.Object({
      peer,
      seconds: Type.Optional(count('for how long', { minimum: 1, maximum: longestBan, default: day })),
      reason: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, default: 'by hand', description: 'what to remember of it' }),
      ),
    }),
    result: Type.Literal(true),
    run: async (context, { peer: text, seconds = day, reason = 'by hand' }) => {
      await networkOf(context).ban(subjectOf(text), seconds * 1000, reason)
      return true
    },
  }),
  method({
    name: 'removeban',
    summary: 'Ends a ban.',
    access: 'admin',
    params: Type.Object({ peer }),
    result: Type.Boolean({ description: 'whether there was one' }),
    run: (context, { peer: text }) => networkOf(context).unban(subjectOf(text)),
  }),
]

/** Subject of a ban, or the ID of a connected node. */
function subjectOf(text: string): string {
  const prefix = text.endsWith('/64') ? text.slice(0, -3) : ''
  if (familyOf(prefix) === 6) return prefix
  if (familyOf(text) !== 0 || /^[0-9]{1,16}$/.test(text)) return text
  const key = keyOfPeerName(text)
  if (key === undefined) throw wrong('peer', peer.description as string)
  return toHex(key)
}

function networkOf({ network }: ApiContext): NetworkView {
  if (network !== undefined) return network
  throw new RuleError('request-action', 'this node has no peers: its chain is a devnet, or it was told so')
}

function alone(sync: NonNullable<NodeHealth['sync']>): ReturnType<NetworkView['progress']> {
  return { ...sync, stage: 'idle', rate: 0, reason: 'this node has no peers' }
}

function wrong(name: string, form: string): RuleError {
  return new RuleError('request-parameter', `${name}: it has to be ${form}`)
}
