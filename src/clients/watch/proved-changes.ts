import { UserError } from '../../base/errors/rule-error.js'
import type { DocumentChangeKind } from '../../base/primitives/chain-event.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { isOperationName, operationForms } from '../../base/primitives/did-operation.js'
import { documentText } from '../../identity/did/canonical.js'
import { documentOfPayload } from '../../identity/did/known-document.js'
import { LightError, type LightFailure } from '../light/light-error.js'
import type { LightResolver } from '../light/light-resolver.js'
import type { LightResult, ProvedEntry } from '../light/proved-answer.js'
import { changedParts } from './changed-parts.js'
import { type DidMessage, messageId, watchFormat } from './watch-message.js'

/** Resolver whose answers are proved. */
export interface ProvingResolver extends Pick<LightResolver, 'resolve'> {
  /** How often it forgot what it had seen, as of a devnet that begins anew: what it proves then may be lower and other than before. */
  readonly timesForgotten?: number
}

/** A condition on normalised documents. */
export type Meets = (document: Readonly<Record<string, unknown>>) => boolean

/**
 * Their documents are 128 KiB each at most.
 * @tuning count: operations of a DID that are asked for in one answer
 */
const shortHistory = 16

/** A DID as it is proved now. */
export interface ProvedState {
  readonly did: string
  readonly result: LightResult
  /** All operations, oldest first. */
  readonly entries: readonly ProvedEntry[]
}

/** Proves all operations of a DID by their ids and places. Rejects with a LightError. */
export async function provedState(resolver: ProvingResolver, did: string): Promise<ProvedState> {
  const result = await resolver.resolve(did, { history: true })
  return { did, result, entries: result.proved.history?.entries ?? [] }
}

/** An operation with the documents before and after it. */
interface ProvedVersion {
  readonly operation: string
  /** Undefined: the DID has ended, or is not there yet. */
  readonly document: Readonly<Record<string, unknown>> | undefined
  /** The key that signed it, where it was verified. */
  readonly signedBy?: string
}

export interface MessageOptions {
  readonly meets: Meets
  /** How often an operation was told to be gone. */
  readonly reverts: number
  /** Whether the message depends on the document before: whether a document begins to meet a condition or ceases to is not guessed. */
  readonly needsBefore?: boolean
}

/**
 * The message of an operation that is proved; undefined where neither the document before nor the one after it meets the condition. Rejects
 * with a LightError where the documents cannot be proved now.
 */
export async function messageOf(
  resolver: ProvingResolver,
  state: ProvedState,
  at: number,
  { meets, reverts, needsBefore = false }: MessageOptions,
): Promise<DidMessage | undefined> {
  const { did, result, entries } = state
  const entry = entries[at] as ProvedEntry
  const earlier = entries[at - 1]
  const after = await versionOf(resolver, state, entry)
  const before = earlier === undefined ? undefined : await earlierOf(resolver, state, earlier, needsBefore)
  const change = changeOf(before === 'gone' ? {} : before?.document, after.document, meets)
  if (change === undefined) return undefined
  const blockHash = await blockHashOf(resolver, did, entry, result)
  const { height, hash, time, age } = result.proved
  return {
    format: watchFormat,
    id: messageId(['apply', did, entry.txid, entry.height, reverts]),
    kind: 'did',
    action: 'apply',
    did,
    operation: after.operation,
    txid: entry.txid,
    height: entry.height,
    ...(blockHash !== undefined && { blockHash }),
    time: entry.time,
    ...(after.signedBy !== undefined && { signedBy: after.signedBy }),
    change,
    ...(before !== 'gone' && { changed: changedParts(before?.document, after.document) }),
    proved: { height, hash, time, age },
  }
}

/** The message that an operation told before has left the chain, as it is proved that it is not there. */
export function revertOf(
  told: Omit<DidMessage, 'format' | 'id' | 'kind' | 'action' | 'proved'>,
  { result }: ProvedState,
  reverts: number,
): DidMessage {
  const { height, hash, time, age } = result.proved
  const id = messageId(['revert', told.did, told.txid, told.height, reverts])
  return { ...told, format: watchFormat, kind: 'did', id, action: 'revert', proved: { height, hash, time, age } }
}

/** The version before an operation; `gone` where the nodes do not have its document any more, which no wait mends. */
async function earlierOf(
  resolver: ProvingResolver,
  state: ProvedState,
  earlier: ProvedEntry,
  needsBefore: boolean,
): Promise<ProvedVersion | 'gone'> {
  try {
    return await versionOf(resolver, state, earlier)
  } catch (error) {
    if (needsBefore) throw error
    ifLasting(error)
    return 'gone'
  }
}

/** Failures that another attempt may mend. */
const passing: readonly LightFailure[] = ['unreachable', 'timeout', 'stale', 'future', 'rollback', 'quorum', 'fork']

function changeOf(
  before: ProvedVersion['document'],
  after: ProvedVersion['document'],
  meets: Meets,
): DocumentChangeKind | undefined {
  const [had, has] = [before, after].map((document) => document !== undefined && meets(document))
  if (had === true) return has === true ? 'changes' : 'ceases'
  return has === true ? 'begins' : undefined
}

/** For `catch`: undefined for a failure that no other attempt mends. */
function ifLasting(error: unknown): undefined {
  if (!isLasting(error)) throw error
}

/** Whether a failure is one that no other attempt is likely to mend: the answers came, and do not hold or lack what was asked for. */
export function isLasting(error: unknown): error is LightError {
  if (!(error instanceof LightError)) return false
  const { failure, failures = [] } = error
  const ofEach = failures.length > 0 ? failures.map((one) => one.failure) : [failure]
  return !ofEach.some((one) => passing.includes(one))
}

/**
 * All versions of a short history come in one answer, which shows who signed them as well; a server that has given up documents has none.
 */
async function versionOf(resolver: ProvingResolver, state: ProvedState, entry: ProvedEntry): Promise<ProvedVersion> {
  const { did, entries } = state
  const isShort = entries.length <= shortHistory
  const whole = isShort ? await resolver.resolve(did, { all: true, history: true }).catch(ifLasting) : undefined
  return (
    versionIn(whole, entry) ??
    needed(versionIn(await resolver.resolve(did, { versionId: entry.txid }), entry), state, entry)
  )
}

function needed(version: ProvedVersion | undefined, { did }: ProvedState, { txid }: ProvedEntry): ProvedVersion {
  if (version !== undefined) return version
  throw new UserError(`the answer lacks the operation ${txid} of ${did}`)
}

function versionIn(result: LightResult | undefined, { txid }: ProvedEntry): ProvedVersion | undefined {
  if (result === undefined) return undefined
  const { transaction = [], proved } = result
  const shown = transaction.find((one) => one.txid === txid)
  if (shown === undefined) return undefined
  const { operation } = shown.operation.header
  const signedBy = proved.history?.entries.find((one) => one.txid === txid)?.signedBy
  const isEnd = isOperationName(operation) && operationForms[operation].effect === 'end'
  const document = isEnd ? undefined : documentIn(shown.operation.payload)
  return { operation, document, ...(signedBy !== undefined && { signedBy }) }
}

function documentIn(payload: string): Readonly<Record<string, unknown>> {
  return JSON.parse(documentText(documentOfPayload(payload, didMethod))) as Readonly<Record<string, unknown>>
}

/** The hash of the block of an operation, where a node proves the DID as of that block. */
async function blockHashOf(
  resolver: ProvingResolver,
  did: string,
  { height }: ProvedEntry,
  { proved }: LightResult,
): Promise<string | undefined> {
  if (proved.height === height) return proved.hash
  try {
    return (await resolver.resolve(did, { height })).proved.hash
  } catch {
    return undefined
  }
}
