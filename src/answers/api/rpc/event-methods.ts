import { Type } from '@sinclair/typebox'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { StartPoint } from '../../../ledger/events/event-cursor.js'
import { eventTopics } from '../../../base/primitives/chain-event.js'
import { readParameter } from '../parameters.js'
import * as blocks from '../schemas/block-schemas.js'
import { closed, hashParam, heightParam, oneOf, uint32 } from '../schemas/common-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { method, type RpcCaller, type RpcMethod, type Subscriber } from './method.js'

const subscription = count('what the subscription is called on its connection', { minimum: 1 })

/** Events, for connections that stay open. */
export const eventMethods: readonly RpcMethod[] = [
  method({
    name: 'subscribe',
    summary:
      'Over WebSocket alone: tells events of these topics from now on, or from where one of the other parameters says.',
    params: Type.Object({
      topics: Type.Array(oneOf(eventTopics, 'block, transaction, did or credential'), {
        minItems: 1,
        maxItems: eventTopics.length,
        uniqueItems: true,
        description: 'what to tell: block, transaction, did, credential',
      }),
      after: Type.Optional(count('go on after the event of this number')),
      afterBlock: Type.Optional(hashParam('go on after this block, taking it back first if it has left the chain')),
      fromHeight: Type.Optional({ ...heightParam, description: 'tell the blocks from this height on, then go on' }),
    }),
    result: closed({
      subscription,
      number: count('of the last event so far'),
      height: uint32('of the block to which the events so far led'),
      hash: blocks.blockHashSchema,
    }),
    run: (_, { topics: wanted, ...from }, caller) =>
      subscriberOf('subscribe', caller).subscribe(wanted, startPoint(from)),
  }),
  method({
    name: 'unsubscribe',
    summary: 'Over WebSocket alone: ends a subscription of this connection.',
    params: Type.Object({ subscription }),
    result: Type.Boolean({ description: 'whether there was one of this number' }),
    run: (_, params, caller) => subscriberOf('unsubscribe', caller).unsubscribe(params.subscription),
  }),
]

function subscriberOf(name: string, { subscriber }: RpcCaller): Subscriber {
  if (subscriber !== undefined) return subscriber
  throw new RuleError('request-action', `${name}: only over WebSocket, which has a port of its own`)
}

interface From {
  readonly after?: number
  readonly afterBlock?: string
  readonly fromHeight?: number
}

function startPoint(from: From): StartPoint {
  const { after, afterBlock, fromHeight } = from
  if ([after, afterBlock, fromHeight].filter((value) => value !== undefined).length > 1) {
    throw new RuleError('request-parameter', 'params: only one of after, afterBlock and fromHeight can be followed')
  }
  if (after !== undefined) return { kind: 'event', number: after }
  if (afterBlock !== undefined) return { kind: 'block', hash: readParameter('hash', 'afterBlock', afterBlock) }
  if (fromHeight !== undefined) return { kind: 'height', height: fromHeight }
  return { kind: 'now' }
}
