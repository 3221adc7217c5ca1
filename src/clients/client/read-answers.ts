import type {
  CredentialList,
  CredentialResult,
  QueryResult,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import type { StateProof } from '../../identity/did/state-proof.js'
import { UserError } from '../../base/errors/rule-error.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import type { DidOperationJson } from '../../base/primitives/did-operation.js'

/** Reads a part of an answer, which `where` names; a {@link UserError} if its form differs from the interface. */
export type Reader<T> = (value: unknown, where: string) => T

/** How each member of an object is read. */
type Members<T> = { readonly [K in keyof T]: Reader<T[K]> }

/** The error for a part of an answer whose form differs from the interface. */
export function unexpected(where: string): UserError {
  return new UserError(`the node answered something unexpected: ${where}`)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A part of any form. */
export function asAny(value: unknown): unknown {
  return value
}

export function asInteger(value: unknown, where: string): number {
  if (Number.isSafeInteger(value)) return value as number
  throw unexpected(`${where} is not an integer`)
}

export function asText(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw unexpected(`${where} is not a string`)
}

/** An amount of coins in units of 10^-8. */
export function asAmount(value: unknown, where: string): bigint {
  const amount = parseAmount(asText(value, where))
  if (amount === undefined) throw unexpected(`${where} is no amount`)
  return amount
}

export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw unexpected(`${where} is not an array`)
    return value.map((entry, i) => read(entry, `${where}[${i}]`))
  }
}

/** A member that may be absent. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, where) => (value === undefined ? undefined : read(value, where))
}

/** An object with these members, in their order, and without others. */
export function objectOf<T extends object>(members: Members<T>): Reader<Readonly<T>> {
  return (value, where) => readMembers(value, members, where, `${where}.`)
}

/** A whole answer of this form; messages have the `name` of the answer where it is no object. */
export function answerOf<T extends object>(name: string, members: Members<T>): (value: unknown) => Readonly<T> {
  return (value) => readMembers(value, members, name, '')
}

function readMembers<T extends object>(value: unknown, members: Members<T>, name: string, prefix: string): T {
  if (!isObject(value)) throw unexpected(`${name} is not an object`)
  const read = Object.entries<Reader<unknown>>(members).map(([key, as]) => [key, as(value[key], prefix + key)])
  return defined(Object.fromEntries(read) as T) as T
}

/** Age and proof of an answer; the proof as it was sent, not checked. */
const standing = {
  outOfStep: optional(
    objectOf({ height: asInteger, age: asInteger, always: (value) => (value === true ? value : undefined) }),
  ),
  proof: optional((value, where) => asAnyObject(value, where) as unknown as StateProof),
}

const moment = objectOf({ txid: asText, timestamp: asDate })
const transaction = listOf(objectOf({ txid: asText, timestamp: asDate, operation: asOperation }))

const asAbsentDid = answerOf('the resolve result', {
  did: asText,
  status: asStatus,
  hint: optional(asText),
  ...standing,
})
const asKnownDid = answerOf('the resolve result', {
  did: asText,
  status: asStatus,
  transaction,
  total: optional(asInteger),
  start: optional(asInteger),
  count: optional(asInteger),
  context: optional(
    objectOf({
      height: asInteger,
      blockHash: asText,
      time: asInteger,
      count: asInteger,
      created: moment,
      updated: optional(moment),
      next: optional(moment),
      expires: asDate,
      at: listOf(objectOf({ height: asInteger, blockHash: asText, confirmations: asInteger })),
    }),
  ),
  ...standing,
})

/** The answer to a request with these options; without them it is the last operation. */
export function asResolveResult(value: unknown, options: ResolveOptions = {}): ResolveResult {
  if (isObject(value) && value['status'] === 3) return asAbsentDid(value)
  const result = asKnownDid(value)
  const { skip, limit, versionId, versionTime, versionHeight } = options
  const mayBeEmpty = [skip, limit, versionId, versionTime, versionHeight].some((option) => option !== undefined)
  if (!mayBeEmpty) requireSome(result)
  if (result.context !== undefined && result.context.at.length !== result.transaction.length) {
    throw unexpected('context.at is not as long as transaction')
  }
  return result
}

const credential = { id: asText, status: asStatus }
const asAbsentCredential = answerOf('what is said of the credential', { ...credential, ...standing })
const asKnownCredential = answerOf('what is said of the credential', { ...credential, transaction, ...standing })

/** Reads the status of a credential from an answer. */
export function asCredentialResult(value: unknown): CredentialResult {
  if (isObject(value) && value['status'] === 3) return asAbsentCredential(value)
  const result = asKnownCredential(value)
  requireSome(result)
  return result
}

export const asCredentialList: (value: unknown) => CredentialList = answerOf('the list of credentials', {
  did: asText,
  credentials: listOf(asText),
})

export const asQueryResult: (value: unknown) => QueryResult = answerOf('the search result', {
  total: asInteger,
  start: asInteger,
  count: asInteger,
  document: listOf(asAnyObject),
  height: optional(asInteger),
  blockHash: optional(asText),
  outOfStep: standing.outOfStep,
})

function requireSome({ transaction: found }: { readonly transaction: readonly unknown[] }): void {
  if (found.length === 0) throw unexpected('transaction is empty')
}

function asStatus(value: unknown): 0 | 1 | 2 | 3 {
  if (value === 0 || value === 1 || value === 2 || value === 3) return value
  throw unexpected('status is not 0, 1, 2 or 3')
}

/** An object, all of it as it was sent. */
function asAnyObject(value: unknown, where: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw unexpected(`${where} is not an object`)
}

function asDate(value: unknown, where: string): string {
  const text = asText(value, where)
  if (Number.isNaN(Date.parse(text))) throw unexpected(`${where} is no date`)
  return text
}

function asOperation(value: unknown, where: string): DidOperationJson {
  if (!isObject(value) || !isObject(value['header']) || !isObject(value['proof'])) throw unexpected(where)
  asText(value['payload'], `${where}.payload`)
  asText(value['header']['operation'], `${where}.header.operation`)
  return value as unknown as DidOperationJson
}
