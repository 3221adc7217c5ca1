import { Type } from '@sinclair/typebox'
import { defined } from '../../../base/primitives/defined.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { documentCondition } from '../../resolver/document-condition.js'
import type { StartPoint } from '../../../ledger/events/event-cursor.js'
import { subscribedTopics } from '../../../base/primitives/chain-event.js'
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
      'Over WebSocket alone: tells events of these topics from now on, or from a start point; documents by one condition.',
    params: Type.Object({
      topics: Type.Array(oneOf(subscribedTopics, 'block, transaction, did, credential or documents'), {
        minItems: 1,
        maxItems: subscribedTopics.length,
        uniqueItems: true,
        description: 'what to tell: block, transaction, did, credential, documents',
      }),
      after: Type.Optional(count('go on after the event of this number')),
      afterBlock: Type.Optional(hashParam('go on after this block, taking it back first if it has left the chain')),
      fromHeight: Type.Optional({ ...heightParam, description: 'tell the blocks from this height on, then go on' }),
      query: Type.Optional(
        Type.String({ description: 'with documents: those that meet this condition, JSON or JSON5' }),
      ),
      service: Type.Optional(
        Type.String({ minLength: 1, description: 'with documents: those with a service of this type' }),
      ),
      credential: Type.Optional(
        Type.String({ minLength: 1, description: 'with documents: those with a credential of this type' }),
      ),
      dids: Type.Optional(
        Type.Array(Type.String(), { minItems: 1, description: 'with documents: those of these DIDs, in full' }),
      ),
    }),
    result: closed({
      subscription,
      number: count('of the last event so far'),
      height: uint32('of the block to which the events so far led'),
      hash: blocks.blockHashSchema,
    }),
    run: (_, { topics: wanted, query, service, credential, dids, ...from }, caller) => {
      const start = startPoint(from)
      const selection = defined({ query, service, credential, dids })
      const condition = documentCondition(wanted.includes('documents'), selection)
      return subscriberOf('subscribe', caller).subscribe(wanted, start, condition)
    },
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
