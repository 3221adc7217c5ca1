import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { RuleError } from '../../../base/errors/rule-error.js'
import type { DocumentCondition } from '../../../ledger/events/document-conditions.js'
import type { StartPoint } from '../../../ledger/events/event-cursor.js'
import type { EventTopic } from '../../../base/primitives/chain-event.js'
import type { ApiContext } from '../api-context.js'
import type { AnswerClient, CallEffect } from '../node-handles.js'
import type { StreamedAnswer } from '../streams/streamed-answer.js'
import { hashForm } from '../schemas/common-schemas.js'
import { type SchemaCheck, schemaCheck } from '../schemas/schema-check.js'
import { withIntegers } from './decimal-text.js'
import { hexFault } from '../../../base/primitives/hex-fault.js'

/**
 * Access to a method. `control`: it changes the node, so a request has to be application/json and not from a page of another
 * site; `admin`: it needs the token as well.
 */
export type Access = 'public' | 'control' | 'admin'

/** Properties of a request, given by its carrier, on which methods may depend. */
export interface RpcCaller {
  /** Reason to refuse methods with `control`; undefined: allowed. */
  readonly controlRefusal: string | undefined
  /** Reason to refuse methods with `admin`; undefined: allowed. */
  readonly adminRefusal: string | undefined
  /** Reason to refuse what needs this machine or the token; undefined: allowed. */
  readonly strangerRefusal: string | undefined
  /** Reason to refuse what only programs of this machine may ask; undefined: allowed. */
  readonly elsewhereRefusal: string | undefined
  /** Address and port of this node that the request reached, `address port`. */
  readonly place: string
  /** The client that waits for the answer. */
  readonly client: AnswerClient
  /** Whether the carrier sends the age of an answer that does not contain it. */
  readonly showsAge?: boolean
  /** Called for each request refused for now, in time for what the carrier sends beside the answer. */
  refused?(failure: RuleError): void
  /**
   * Resolves once the chain has a height, for a body of so many bytes; rejects with `behind-height`. Absent: the carrier knows no height.
   */
  awaitHeight?(height: number, held: number): Promise<void>
  /** Receiver of events; only on a connection that stays open. */
  readonly subscriber?: Subscriber
}

/** A caller to which events can be sent. */
export interface Subscriber {
  /** Begins to send events once the request is answered; refusals are RuleErrors. */
  subscribe(topics: readonly EventTopic[], start: StartPoint, condition?: DocumentCondition): SubscriptionStart
  /** Whether the subscription existed. */
  unsubscribe(subscription: number): boolean
}

/** Id of a new subscription, and position of the event log when it was made. */
export interface SubscriptionStart {
  readonly subscription: number
  /** Number of the last event. */
  readonly number: number
  /** The block to which the events so far led; the hash in display hex. */
  readonly height: number
  readonly hash: string
}

/** A result that is already JSON text. */
export class JsonText {
  readonly text: string
  /** Unix milliseconds until which it holds while the tip does not move, 0 if not at all; undefined: as its method says. */
  readonly until: number | undefined

  constructor(text: string, until?: number) {
    this.text = text
    this.until = until
  }
}

/** Result of JSON text, or of an answer that is written in parts. */
export function jsonText(result: string | StreamedAnswer): JsonText | StreamedAnswer {
  return typeof result === 'string' ? new JsonText(result) : result
}

/** A method as it is declared; `Context` is what it answers from. */
export interface MethodRow<P extends TObject, Context = ApiContext> {
  readonly name: string
  /** One sentence for the reference and for `rpc.discover`. */
  readonly summary: string
  /** Members in the order in which an array lists them; none when absent. Unknown members are ignored. */
  readonly params?: P
  readonly result: TSchema
  /** The default is `public`. */
  readonly access?: Access
  /** The default is `none` of a public method, and `once` of all others. */
  readonly effect?: CallEffect
  /** Whether parameters may also come as an array; the default is true. */
  readonly listed?: boolean
  /** Whether integers may also come as decimal text, as clients of the parent chain send them; the default is true. */
  readonly decimalText?: boolean
  /**
   * Whether an answer to the same parameters is the same until the tip moves: `chain`: each is; `said`: those whose {@link JsonText} says
   * so. Absent: none is kept.
   */
  readonly lasts?: 'chain' | 'said'
  /** Returns the result, its {@link JsonText}, or the {@link StreamedAnswer} that writes it; refusals are RuleErrors. */
  run(context: Context, params: Static<P>, caller: RpcCaller): unknown
}

/** A method as the core calls it. */
export interface RpcMethod<Context = ApiContext> extends Required<Omit<MethodRow<TObject>, 'run' | 'lasts'>> {
  readonly lasts?: MethodRow<TObject>['lasts']
  /** `params` as received, never text, number or boolean: undefined, null, an array or an object. */
  run(context: Context, params: unknown, caller: RpcCaller): unknown
}

/** No parameters. */
const none: TObject = Type.Object({})

export function method<P extends TObject, Context = ApiContext>(row: MethodRow<P, Context>): RpcMethod<Context> {
  const { access = 'public', listed = true, decimalText = true, params: schema = none as P } = row
  const { effect = access === 'public' ? 'none' : 'once' } = row
  // Compiled on the first call: most nodes receive calls of few methods.
  let check: SchemaCheck<P> | undefined
  return {
    ...row,
    ...{ access, effect, listed, decimalText },
    params: schema,
    run: (context, params, caller) => {
      check ??= schemaCheck(schema)
      const given = listed ? byName(params, schema) : params
      const named = decimalText ? withIntegers(given, schema) : given
      if (!check.holds(named)) {
        const [error] = check.faults(named)
        throw new RuleError('request-parameter', error === undefined ? 'params' : explain(error, params))
      }
      return row.run(context, named, caller)
    },
  }
}

/** Answers parameters in an object by one method, and an array of that object, as the SDKs of clients send it, by another. */
export function objectOrList(byObject: RpcMethod, byArray: RpcMethod): RpcMethod {
  return {
    ...byObject,
    run: (context, params, caller) => {
      if (!Array.isArray(params)) return byObject.run(context, params, caller)
      refuseProof(params[0])
      if (params.length === 1) return byArray.run(context, params[0], caller)
      throw new RuleError('request-parameter', 'params: an array of one object is needed')
    },
  }
}

/** Refuses a proof in the shape of existing clients, which has no place for one. */
function refuseProof(params: unknown): void {
  if (typeof params !== 'object' || params === null || !('proof' in params)) return
  throw new RuleError('request-parameter', 'proof: only with an object of parameters, not with an array of one')
}

/**
 * Parameters as an object, or as an array in the order of the members; undefined and null are no parameters. In an array null stands for a
 * member that is left out before another one, if it may be.
 */
function byName(params: unknown, { properties, required = [] }: TObject): unknown {
  if (params === undefined || params === null) return {}
  if (!Array.isArray(params)) return params
  const names = Object.keys(properties)
  if (params.length > names.length) {
    throw new RuleError('request-parameter', `params: ${params.length} given, at most ${names.length} are taken`)
  }
  const given = params.map((value: unknown, i) => [names[i] as string, value] as const)
  return Object.fromEntries(given.filter(([name, value]) => value !== null || required.includes(name)))
}

/** Names the parameter by its path, the fault, and the parameter's description. */
function explain({ type, path, message, schema, value }: ValueError, params: unknown): string {
  if (path === '') return params === null || params === undefined ? 'params: missing' : 'params: an object is needed'
  const name = path.slice(1).replaceAll('/', '.')
  const hex = schema['pattern'] === hashForm && typeof value === 'string' ? hexFault(value, 32) : undefined
  const what = type === ValueErrorType.ObjectRequiredProperty ? 'missing' : (hex ?? lowerFirst(message))
  const { description } = schema
  return `${name}: ${what}${description === undefined ? '' : `; ${description}`}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
