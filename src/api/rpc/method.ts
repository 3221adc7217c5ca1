import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { RuleError } from '../../errors/rule-error.js'
import type { StartPoint } from '../../events/event-cursor.js'
import type { EventTopic } from '../../events/ledger-event.js'
import type { ApiContext } from '../api-context.js'
import type { AnswerClient } from '../flight.js'
import type { PartsAnswer } from '../parts.js'

/**
 * Who may call a method. `control`: it changes the node, so a request has to be application/json and not from another
 * site's page; `admin`: the token is needed besides.
 */
export type Access = 'public' | 'control' | 'admin'

/** What the carrier says about a request that methods may depend on. */
export interface RpcCaller {
  /** Why this caller may not use methods with `control`; undefined: it may. */
  readonly controlRefusal: string | undefined
  /** Why this caller may not use methods with `admin`; undefined: it may. */
  readonly adminRefusal: string | undefined
  /** Why this caller may not do what is for this machine and for whoever has the token; undefined: it may. */
  readonly strangerRefusal: string | undefined
  /** Who waits for the answer. */
  readonly client: AnswerClient
  /** Called for each request that is refused as `busy`, in time for what a carrier says beside the answer. */
  refusedBusy?(): void
  /** Where events can be sent; only a connection that stays has it. */
  readonly subscriber?: Subscriber
}

/** A caller who can be told of events. */
export interface Subscriber {
  /** Begins to tell events once the request is answered; refusals are RuleErrors. */
  subscribe(topics: readonly EventTopic[], beginning: StartPoint): SubscriptionStart
  /** Whether there was such a subscription. */
  unsubscribe(subscription: number): boolean
}

/** What a new subscription is called, and how far events had been told when it was made. */
export interface SubscriptionStart {
  readonly subscription: number
  /** Of the last event. */
  readonly number: number
  /** The block to which the events had led; the hash in display hex. */
  readonly height: number
  readonly hash: string
}

/** A result that is JSON text already. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A result that is JSON text already, or is written in parts. */
export function jsonText(result: string | PartsAnswer): JsonText | PartsAnswer {
  return typeof result === 'string' ? new JsonText(result) : result
}

/** A method as it is written: everything a new one needs is one of these. */
export interface MethodRow<P extends TObject> {
  readonly name: string
  /** One sentence for the reference and for `rpc.discover`. */
  readonly summary: string
  /** Members in the order in which an array lists them. What it does not know is ignored. */
  readonly params: P
  readonly result: TSchema
  /** The default is `public`. */
  readonly access?: Access
  /** Whether parameters may also come as an array; the default is true. */
  readonly listed?: boolean
  /** Returns the result, its {@link JsonText}, or the {@link PartsAnswer} that writes it; refusals are RuleErrors. */
  run(context: ApiContext, params: Static<P>, caller: RpcCaller): unknown
}

/** A method as the core calls it. */
export interface RpcMethod extends Required<Omit<MethodRow<TObject>, 'run'>> {
  /** `params` as they came, never text, number or boolean: undefined, null, an array or an object. */
  run(context: ApiContext, params: unknown, caller: RpcCaller): unknown
}

export function method<P extends TObject>(row: MethodRow<P>): RpcMethod {
  const { access = 'public', listed = true, params: schema } = row
  // Compiled when it is first called: most nodes are asked few of the methods.
  let check: ReturnType<typeof TypeCompiler.Compile<P>> | undefined
  return {
    ...row,
    access,
    listed,
    run: (context, params, caller) => {
      check ??= TypeCompiler.Compile(schema)
      const named = listed ? byName(params, schema) : params
      if (!check.Check(named)) {
        const [error] = check.Errors(named)
        throw new RuleError('request-parameter', error === undefined ? 'params' : explain(error, params))
      }
      return row.run(context, named, caller)
    },
  }
}

/** Parameters as an object, or as an array in the order of the members; none at all are no parameters. */
function byName(params: unknown, { properties }: TObject): unknown {
  if (params === undefined || params === null) return {}
  if (!Array.isArray(params)) return params
  const names = Object.keys(properties)
  if (params.length > names.length) {
    throw new RuleError('request-parameter', `params: ${params.length} given, at most ${names.length} are taken`)
  }
  return Object.fromEntries(params.map((value: unknown, i) => [names[i] as string, value]))
}

/** The parameter by its path, what is wrong with it, and what it is. */
function explain({ type, path, message, schema }: ValueError, params: unknown): string {
  if (path === '') return params === null || params === undefined ? 'params: missing' : 'params: an object is needed'
  const name = path.slice(1).replaceAll('/', '.')
  const what = type === ValueErrorType.ObjectRequiredProperty ? 'missing' : lowerFirst(message)
  const { description } = schema
  return `${name}: ${what}${description === undefined ? '' : `; ${description}`}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
