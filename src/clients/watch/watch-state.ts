import { asInteger, asText, listOf, objectOf, optional } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'
import { UserError } from '../../base/errors/rule-error.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import type { DidMessage } from './watch-message.js'

/** Format of the state, named in it. */
const stateFormat = 'didledger/watch-state/1'

/**
 * Operations of a DID told last, so that it can be told when they leave the chain. A reorganisation takes back fewer.
 * @tuning count: operations of a watched DID that are remembered
 */
const rememberedOperations = 8
/** @tuning count: messages about documents of a condition that are remembered, to tell when their operations leave the chain */
const rememberedMessages = 1024

/** An operation that was told. */
export interface ToldOperation {
  readonly txid: string
  readonly height: number
  /** Its name, and what it did to the document; absent for one that was there before the watch began. */
  readonly operation?: string
  readonly change?: string
}

/** How far a watcher has told. Everything in it was told before it is saved. */
export interface WatchState {
  /** By DID, its last operations, oldest first; none: it had none when the watch began. */
  readonly dids: Map<string, readonly ToldOperation[]>
  /** Hash of the block after which the events of a condition go on. */
  after?: string
  /** Messages of the condition, oldest first. */
  told: readonly DidMessage[]
  /** Hash of the genesis block; absent where the watch does not know it. */
  readonly chain?: string
  /** How often an operation was told to be gone: an operation that comes back is told under another id. */
  reverts: number
}

export function emptyState(): WatchState {
  return { dids: new Map(), told: [], reverts: 0 }
}

/** The last operations of a list that are worth remembering. */
export function lastOperations(entries: readonly ToldOperation[]): readonly ToldOperation[] {
  return entries.slice(-rememberedOperations)
}

/** The last messages that are worth remembering. */
export function lastMessages(told: readonly DidMessage[]): readonly DidMessage[] {
  return told.slice(-rememberedMessages)
}

export function stateText({ dids, after, told, chain, reverts }: WatchState): string {
  return JSON.stringify({ format: stateFormat, chain, dids: Object.fromEntries(dids), after, told, reverts })
}

const operations = listOf(
  objectOf<ToldOperation>({ txid: asText, height: asInteger, operation: optional(asText), change: optional(asText) }),
)

/** Members of a message that the watch itself uses. */
const usedMembers = { did: asText, operation: asText, txid: asText, change: asText, height: asInteger }

/** Reads the text of {@link stateText}; a UserError for any other, and for the state of another chain. */
export function readState(text: string, chain?: string): WatchState {
  const value = parsed(text)
  if (!isObject(value) || value['format'] !== stateFormat || !isObject(value['dids'])) throw unreadable()
  if (chain !== undefined && value['chain'] !== undefined && value['chain'] !== chain) {
    throw new UserError(`the state of the watch is of another chain, ${oneLine(String(value['chain'])).slice(0, 80)}`)
  }
  try {
    return { ...stateIn(value), ...(chain !== undefined && { chain }) }
  } catch {
    throw unreadable()
  }
}

function stateIn({ dids, after, told, reverts }: Record<string, unknown>): WatchState {
  const known = Object.entries(dids as Record<string, unknown>).map(([did, list]) => {
    return [did, operations(list, did)] as const
  })
  const place = optional(asText)(after, 'after')
  // Read for their form alone: a message has more members, with which it is told.
  listOf(objectOf(usedMembers))(told, 'told')
  return {
    dids: new Map(known),
    ...(place !== undefined && { after: place }),
    told: told as DidMessage[],
    reverts: asInteger(reverts, 'reverts'),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable()
  }
}

const unreadable = () =>
  new UserError(
    'the state of the watch is damaged, or of another program: name another file, and what happened until now is not told',
  )
