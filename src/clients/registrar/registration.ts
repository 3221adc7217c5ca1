import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { Code } from '../../base/errors/error-codes.js'
import { type OperationName, operationForms } from '../../base/primitives/did-operation.js'
import { NoAnswer, NodeRefusal } from '../client/http.js'
import { requireKnown } from '../../base/primitives/known-members.js'
import { isObject } from '../../base/primitives/is-object.js'

/** Requests and answers of DID Registration (DIF), as HTTP carries them. */

type Forms = typeof operationForms
/** Operations on a DID: what can be registered. */
export type Registration = {
  [Name in OperationName]: Forms[Name]['subject'] extends 'did' ? Name : never
}[OperationName]
export const registrations = (Object.keys(operationForms) as OperationName[]).filter(
  (name): name is Registration => operationForms[name].subject === 'did',
)

/** The state of a registration, as its client sees it. */
export interface RegistrationAnswer {
  /** 200, or 201 for a DID that was created; of a failure its own. */
  readonly status: number
  readonly body: {
    /** Null once there is nothing more to do. */
    readonly jobId: string | null
    readonly didState: Readonly<Record<string, unknown>> & {
      readonly state: 'finished' | 'failed' | 'action' | 'wait'
    }
    readonly didRegistrationMetadata: Readonly<Record<string, unknown>>
    readonly didDocumentMetadata: Readonly<Record<string, unknown>>
  }
}

/** A registration that ended without a change, or a request that cannot be taken. */
export class Refused extends Error {
  readonly status: number
  /** Name of the failure, for programs. */
  readonly error: string

  constructor(error: string, reason: string, status = 400) {
    super(reason)
    this.error = error
    this.status = status
  }
}

/** A signed transaction that pays for an operation and carries it. */
export interface SignedPayment {
  readonly txid: string
  /** Sends the same bytes again; false where the node does not take them any more, for which nothing is paid then. */
  again(): Promise<boolean>
}

/** A transaction was sent, and the node may have taken it. */
export class UnknownOutcome extends Refused {
  readonly payment: SignedPayment

  constructor(payment: SignedPayment) {
    super('unpaid', `it is not known whether the node took transaction ${payment.txid}, which is sent again`, 503)
    this.payment = payment
  }
}

/** Refusals that pass, by their rule or by its code in REST: what pays has been spent meanwhile, or the pool has no room for it. */
const passing: ReadonlySet<Code | number> = new Set<Code | number>([
  'tx-double-spend',
  'tx-input-unknown',
  'pool-full',
  'fee-too-low',
  'pool-ancestors',
  'pool-did-pending',
  45010,
  45016,
  45024,
])

/** The failure for an error; undefined: an unforeseen one. */
export function refusedFor(error: unknown): Refused | undefined {
  if (error instanceof Refused) return error
  if (error instanceof RuleError || error instanceof NodeRefusal) {
    const status = passing.has(error.code) ? 503 : 400
    if (error instanceof RuleError) return new Refused(error.code, error.message, status)
    return new Refused('refused', error.reason || error.description, status)
  }
  // The address of the node is none of the client's business.
  if (error instanceof NoAnswer) return new Refused('nodeUnreachable', 'the node of the registrar does not answer', 503)
  return error instanceof UserError ? new Refused('invalidRequest', error.message) : undefined
}

export function failure({ error, message, status }: Refused, did?: string): RegistrationAnswer {
  const didState = { state: 'failed', ...(did === undefined ? {} : { did }), error, reason: message } as const
  return { status, body: { jobId: null, didState, didRegistrationMetadata: {}, didDocumentMetadata: {} } }
}

/** A request whose members have their forms. */
export interface RegistrationRequest {
  readonly jobId?: string
  readonly did?: string
  readonly options?: unknown
  readonly secret: Readonly<Record<string, unknown>>
  readonly didDocumentOperation?: readonly unknown[]
  readonly didDocument?: unknown
}

const members = ['jobId', 'did', 'options', 'secret', 'didDocumentOperation', 'didDocument']

/** Reads the JSON of a body. A {@link Refused} for anything but a request; null members are absent. */
export function readRequest(value: unknown): RegistrationRequest {
  if (!isObject(value)) throw new Refused('invalidRequest', 'the body is no object')
  requireKnown('a registration', value, members)
  const given = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
  for (const name of ['jobId', 'did']) {
    if (given[name] !== undefined && typeof given[name] !== 'string') {
      throw new Refused('invalidRequest', `${name} is no text`)
    }
  }
  const { secret = {}, didDocumentOperation } = given
  if (!isObject(secret)) throw new Refused('invalidRequest', 'secret is no object')
  if (didDocumentOperation !== undefined && !Array.isArray(didDocumentOperation)) {
    throw new Refused('invalidRequest', 'didDocumentOperation is no list')
  }
  const other = Object.keys(secret).find((name) => !secrets.includes(name))
  if (other !== undefined) {
    const why = 'this registrar takes signatures, and never a key: public ones stand in didDocument'
    throw new Refused('invalidRequest', `secret.${other.slice(0, 64)} is not taken: ${why}`)
  }
  return { ...given, secret } as RegistrationRequest
}

/** Members of `secret`. Keys are none of them: what the server were given, it could lose. */
const secrets = ['signingResponse', 'operation']
