/**
 * Registers DIDs for clients that sign themselves: DID Registration of the DIF, in its client-managed secret mode, and for operations that
 * were signed elsewhere. The registrar has no key but that of the account which pays.
 *
 *   request -> readRequest -> begin: document-input.ts, current state of the DID -> SigningSteps
 *           -> action signPayload, a job      the client signs, and asks again with the jobId
 *           -> signature verified -> next step, or the whole operation -> RegistrarNode.publish
 *           -> wait, until it is in a block -> finished
 *
 * Imports client, crypto, did, errors, primitives, runtime, wallet; used by api, devnet, cli.
 * - Cheap refusals come first; the account pays only for an operation whose signatures hold.
 * - A job belongs to the client that began it, and keeps its id to the end: a request that comes again pays nothing twice.
 */
import { UserError } from '../../base/errors/rule-error.js'
import { base64Bytes } from '../../base/crypto/key-forms.js'
import { toBase64 } from '../../base/primitives/bytes.js'
import { verify } from '../../base/crypto/verify.js'
import { didFromPublicKey } from '../../base/primitives/address.js'
import { fromBase64url, fromUtf8, utf8 } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { hasName } from '../../base/primitives/did-name.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { type DidOperation, operationForms } from '../../base/primitives/did-operation.js'
import type { Clock, Random } from '../../base/runtime/env.js'
import type { DocumentPlan } from '../../identity/did/build.js'
import { addYears, formatDate } from '../../identity/did/date.js'
import { relativeId } from '../../identity/did/identifier.js'
import { defaultDidLimits } from '../../identity/did/did-rules.js'
import type { DidDocument } from '../../identity/did/model.js'
import { parseOperation, readOperationJson } from '../../identity/did/operation.js'
import { w3cDocument } from '../../identity/did/w3c.js'
import { plannedAgreement, requireServices } from '../wallet/core-members.js'
import {
  changedPlan,
  type CurrentIdentity,
  didOfOperation,
  type DocumentChanges,
  parseDid,
} from '../wallet/did-identity.js'
import {
  adding,
  defaultKeyOf,
  mostYears,
  readMembers,
  readOptions,
  type RegistrationOptions,
  removing,
  replacing,
  requireOwn,
} from './document-input.js'
import { type Job, Jobs, type Stage } from './jobs.js'
import type { RegistrarClient } from './registrar-clients.js'
import { isObject } from '../../base/primitives/is-object.js'
import {
  failure,
  readRequest,
  Refused,
  refusedFor,
  type Registration,
  type RegistrationAnswer,
  type RegistrationRequest,
  type SignedPayment,
  UnknownOutcome,
} from './registration.js'
import {
  type AskedKey,
  createSteps,
  deactivateSteps,
  type SigningAsk,
  type SigningSteps,
  updateSteps,
} from './signing-steps.js'

/** The chain, and the account that pays. */
export interface RegistrarNode {
  /** Unix seconds of the chain's clock. */
  now(): Promise<number>
  /** The specification string of the chain for DIDs. */
  specification(): Promise<string>
  /** The state that the next operation of a DID follows; rejects with a UserError where there is none. */
  current(did: string): Promise<CurrentIdentity>
  /**
   * Pays for an operation, and sends it. Rejects with a UserError or RuleError where it is refused, with {@link UnknownOutcome} where it
   * may have been taken.
   */
  publish(operation: DidOperation, client: string): Promise<SignedPayment>
  /** State of a transaction: it is in a block, it waits for one, or the node has none of this id. Takes a moment where it waits. */
  stateOf(txid: string): Promise<'mined' | 'waiting' | 'unknown'>
}

export class Registrar {
  readonly #node: RegistrarNode
  readonly #jobs: Jobs

  constructor(node: RegistrarNode, env: { readonly clock: Clock; readonly random: Random }) {
    this.#node = node
    this.#jobs = new Jobs(env)
  }

  /** Registrations that wait to be signed or paid for. */
  get waiting(): number {
    return this.#jobs.waiting
  }

  /** Answers a request of so many bytes of a client. Throws unforeseen errors; all else is an answer. */
  async handle(
    kind: Registration,
    value: unknown,
    client: RegistrarClient,
    bytes: number,
  ): Promise<RegistrationAnswer> {
    let did: string | undefined
    try {
      const request = readRequest(value)
      did = request.did
      if (request.jobId === undefined) return await this.#begin(kind, request, client, bytes)
      const job = this.#jobs.of(request.jobId, kind, client.name)
      did = job.did
      // Who asks again while a step is made gets its answer.
      job.running ??= this.#goOn(job, request).finally(() => (job.running = undefined))
      return await job.running
    } catch (error) {
      const refused = refusedFor(error)
      if (refused === undefined) throw error
      return failure(refused, did)
    }
  }

  async #begin(
    kind: Registration,
    request: RegistrationRequest,
    { name: client, begin }: RegistrarClient,
    bytes: number,
  ): Promise<RegistrationAnswer> {
    this.#jobs.requireRoom(client, bytes)
    begin()
    if (request.secret['operation'] !== undefined) {
      const { did, operation } = await this.#signedElsewhere(kind, request)
      this.#jobs.requireRoom(client, bytes)
      const stage = { waits: 'payment', operation } as const
      return this.#pay(this.#jobs.begin({ kind, client, did, bytes, stage }), stage)
    }
    const { did, steps } = await this.#stepsOf(kind, request)
    // Others may have begun while the node was asked.
    this.#jobs.requireRoom(client, bytes)
    const first = steps.next()
    if (first.done === true) throw new TypeError('an operation is signed')
    const stage = { waits: 'signature', steps, ask: first.value } as const
    return asking(this.#jobs.begin({ kind, client, did, bytes, stage }), first.value)
  }

  /** The signatures that a registration needs. */
  async #stepsOf(kind: Registration, request: RegistrationRequest): Promise<{ did: string; steps: SigningSteps }> {
    const now = await this.#node.now()
    const options = readOptions(kind, request.options, now)
    const { signedIn, effect } = operationForms[kind]
    if (signedIn === 'payload') return this.#creating(request, options, now)
    if (request.did === undefined) throw new UserError('did: missing; it is the DID to change')
    const did = didOf(request.did)
    const [current, specification] = await Promise.all([this.#node.current(did), this.#node.specification()])
    if (effect === 'end') {
      return { did, steps: deactivateSteps(did, deactivatingKey(current, options.key), specification) }
    }
    const { document, txid: previousTxid } = current
    const { defaultKey } = document
    if (defaultKey === undefined) throw new UserError(`the document of ${did} has no default key`)
    const changes = { ...changesOf(current, request), ...options }
    if (Object.keys(changes).length === 0) throw new UserError('nothing changes: didDocument has what the document has')
    const plan = changedPlan(document, changes, formatDate(now))
    return { did, steps: updateSteps(plan, defaultKey, { specification, previousTxid }) }
  }

  async #creating(
    { did: wanted, didDocument }: RegistrationRequest,
    options: RegistrationOptions,
    now: number,
  ): Promise<{ did: string; steps: SigningSteps }> {
    const given = readMembers(didDocument)
    requireServices(given.services)
    const didOfKey = (publicKey: Uint8Array) => didFromPublicKey(publicKey, { method: didMethod })
    const named = wanted ?? [...given.dids][0]
    const key = defaultKeyOf(given, named === undefined ? undefined : (publicKey) => didOfKey(publicKey) === named)
    const did = didOfKey(key.publicKey)
    requireOwn(given, did)
    const specification = await this.#node.specification()
    const plan: DocumentPlan = {
      method: didMethod,
      did,
      keys: given.keys.map(({ name, publicKey }) => ({ fragment: name, publicKey, use: 'authentication' })),
      keyAgreement: plannedAgreement(given.keyAgreement, did),
      services: given.services,
      alsoKnownAs: given.alsoKnownAs,
      expires: options.expires ?? formatDate(addYears(now, mostYears)),
      created: formatDate(now),
    }
    return { did, steps: createSteps(plan, { id: `${did}#${key.name}`, publicKey: key.publicKey }, specification) }
  }

  /** An operation that the client has signed already, or had signed: its own signatures hold, so that nothing is paid for one without. */
  async #signedElsewhere(
    kind: Registration,
    { did: wanted, secret }: RegistrationRequest,
  ): Promise<{ did: string; operation: DidOperation }> {
    const operation = readOperationJson(JSON.stringify(secret['operation']))
    if (operation.operation !== kind) throw new UserError(`secret.operation is ${operation.operation}, not ${kind}`)
    const named = didOfOperation(operation)
    if (named === undefined) throw new UserError('secret.operation is about no DID of this chain')
    const did = didOf(named)
    if (wanted !== undefined && wanted !== did)
      throw new UserError(`secret.operation is one of ${did}, not of ${wanted}`)
    // Which specifications there are the node says.
    const specifications = { did: [operation.specification], credential: [] }
    const rules = { method: didMethod, limits: defaultDidLimits, didCore: true, names: false, specifications }
    const parsed = parseOperation(operation, rules)
    const own = 'document' in parsed ? parsed.document : undefined
    const { signedIn, authorised } = operationForms[kind]
    const before = signedIn === 'payload' ? own : (await this.#node.current(did)).document
    const keys = new Map([...(before?.authentication ?? []), ...((authorised && before?.authorization) || [])])
    const key = keys.get(parsed.signer)?.publicKey
    const isSigned = key !== undefined && verify(key, parsed.message, parsed.signature)
    if (isSigned && (own === undefined || isProved(own))) return { did, operation }
    throw new Refused('invalidSignature', `secret.operation is not signed by a key of ${did} that may`)
  }

  async #goOn(job: Job, request: RegistrationRequest): Promise<RegistrationAnswer> {
    const { stage } = job
    if (stage.waits === 'nothing') return stage.answer
    if (stage.waits === 'payment') return this.#pay(job, stage)
    if (stage.waits === 'block') return this.#settled(job, stage)
    const { ask, steps } = stage
    const signature = signatureIn(request.secret, ask.name)
    if (signature === undefined) return asking(job, ask)
    if (signature === 'none' || !verify(ask.key.publicKey, fromUtf8(ask.text), signature)) {
      this.#jobs.end(job)
      const what = signature === 'none' ? 'no base64 of the 64 bytes r and s' : `not one by ${ask.key.id}`
      throw new Refused('invalidSignature', `the signature of ${ask.name} is ${what}: begin again; nothing was paid`)
    }
    const next = steps.next(signature)
    if (next.done === true) return this.#pay(job, { operation: next.value })
    job.stage = { waits: 'signature', steps, ask: next.value }
    return asking(job, next.value)
  }

  /**
   * Has the node take a signed operation. What passes leaves it waiting, so that nothing has to be signed again. A transaction that the
   * node may have taken is sent again before another one is made: of two only one is taken, and the client must be told of that one.
   */
  async #pay(
    job: Job,
    { operation, sent }: { readonly operation: DidOperation; readonly sent?: SignedPayment },
  ): Promise<RegistrationAnswer> {
    let last = sent
    try {
      if (sent !== undefined && !(await sent.again())) last = undefined
      last ??= await this.#node.publish(operation, job.client)
    } catch (error) {
      const refused = refusedFor(error)
      if (refused?.status !== 503) {
        this.#jobs.end(job)
        throw error
      }
      if (refused instanceof UnknownOutcome) last = refused.payment
      job.stage = { waits: 'payment', operation, ...defined({ sent: last }) }
      return waiting(job, { wait: 'payment', reason: refused.message })
    }
    const stage = (job.stage = { waits: 'block', operation, payment: last })
    return this.#settled(job, stage)
  }

  /** The end of a registration, once its transaction is in a block; one that the node has dropped is sent again. */
  async #settled(job: Job, { operation, payment }: Extract<Stage, { waits: 'block' }>): Promise<RegistrationAnswer> {
    const { txid } = payment
    const state = await this.#node.stateOf(txid).catch((error: unknown) => {
      if (refusedFor(error)?.status === 503) return 'waiting'
      throw error
    })
    if (state === 'waiting') return waiting(job, { wait: 'block' }, txid)
    if (state === 'unknown') {
      // By the next request: a node that takes it each time and never has it must not keep this one.
      job.stage = { waits: 'payment', operation, sent: payment }
      return waiting(
        job,
        { wait: 'payment', reason: 'the node has dropped the transaction, which is sent again' },
        txid,
      )
    }
    const { kind, did } = job
    const { effect, signedIn } = operationForms[kind]
    const isOver = effect === 'end'
    const shown = isOver ? {} : { didDocument: w3cDocument(utf8(fromBase64url(operation.payload)) ?? '').document }
    const answer: RegistrationAnswer = {
      status: signedIn === 'payload' ? 201 : 200,
      body: {
        jobId: null,
        didState: { state: 'finished', did, ...shown },
        didRegistrationMetadata: { txid },
        didDocumentMetadata: isOver ? { deactivated: true } : { versionId: txid },
      },
    }
    job.stage = { waits: 'nothing', answer }
    return answer
  }
}

/** Whether the proof of a document holds. */
function isProved({ defaultKey, proofs: [proof], signingText }: DidDocument): boolean {
  return (
    defaultKey !== undefined &&
    proof !== undefined &&
    verify(defaultKey.publicKey, fromUtf8(signingText), proof.signature)
  )
}

/** Milliseconds after which a client that waits asks again. */
const waitTime = 2000

function waiting({ id, did }: Job, more: object, txid?: string): RegistrationAnswer {
  const didState = { state: 'wait', did, ...more, waitTime } as const
  const didRegistrationMetadata = txid === undefined ? {} : { txid }
  return { status: 200, body: { jobId: id, didState, didRegistrationMetadata, didDocumentMetadata: {} } }
}

function asking({ id: jobId, did }: Job, { name, text, key }: SigningAsk): RegistrationAnswer {
  const request = { kid: key.id, alg: 'ES256', serializedPayload: toBase64(fromUtf8(text)) }
  const didState = { state: 'action', action: 'signPayload', did, signingRequest: { [name]: request } } as const
  return { status: 200, body: { jobId, didState, didRegistrationMetadata: {}, didDocumentMetadata: {} } }
}

function didOf(text: string): string {
  const did = parseDid(text)?.did
  if (did !== undefined && hasName(did)) {
    throw new UserError(
      `did: ${did} has a name: its controllers publish what they sign, and this registrar has DIDs of keys`,
    )
  }
  if (did !== undefined) return did
  throw new UserError(`did: ${text.slice(0, 200)} is no DID of this chain`)
}

function changesOf({ document }: CurrentIdentity, request: RegistrationRequest): DocumentChanges {
  // The expiry may be all that changes.
  if (request.didDocument === undefined && request.didDocumentOperation === undefined) return {}
  const { didDocument, didDocumentOperation = ['setDidDocument'] } = request
  const parts: readonly unknown[] = Array.isArray(didDocument) ? didDocument : [didDocument]
  const [operation, second] = didDocumentOperation
  const isMove =
    didDocumentOperation.length === 2 && operation === 'removeFromDidDocument' && second === 'addToDidDocument'
  if (parts.length !== didDocumentOperation.length || (didDocumentOperation.length !== 1 && !isMove)) {
    throw new UserError(
      'didDocumentOperation: one, or removeFromDidDocument and addToDidDocument, each with its part in didDocument',
    )
  }
  const [part, added] = parts
  switch (operation) {
    case 'setDidDocument':
      return replacing(document, readMembers(part))
    case 'addToDidDocument':
      return adding(document, readMembers(part))
    case 'removeFromDidDocument':
      return { ...removing(document, part), ...(isMove ? adding(document, readMembers(added)) : {}) }
    default:
      throw new UserError(`didDocumentOperation: ${String(operation).slice(0, 80)} is none that this registrar has`)
  }
}

/** The key that ends a DID: the default key, or another one that its document lists. */
function deactivatingKey({ document }: CurrentIdentity, name: string | undefined): AskedKey {
  const listed = [...document.authentication.values(), ...document.authorization.values()]
  const wanted = name === undefined ? document.defaultKey?.id : `${document.id}#${name.replace(/^.*#/, '')}`
  const key = listed.find(({ id }) => id === wanted)
  if (key !== undefined) return key
  const names = listed.map(({ id }) => relativeId(id, document.id)).join(', ')
  throw new UserError(`options.key: ${String(name)} may not end ${document.id}; those that may are ${names}`)
}

/** The signature of 64 bytes that answers a request, in base64 or base64url; `none`: another thing; undefined: there is no answer to it. */
function signatureIn(secret: Readonly<Record<string, unknown>>, name: string): Uint8Array | 'none' | undefined {
  const { signingResponse } = secret
  const response = isObject(signingResponse) ? signingResponse[name] : undefined
  // An answer to the request before comes again where its own answer was lost.
  if (response === undefined) return undefined
  const text = isObject(response) ? response['signature'] : undefined
  const bytes = typeof text === 'string' ? base64Bytes(text) : undefined
  return bytes?.length === 64 ? bytes : 'none'
}
