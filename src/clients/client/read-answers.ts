import type {
  CredentialList,
  CredentialResult,
  QueryResult,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import type { StateProof } from '../../identity/did/state-proof.js'
import type { DidOperationJson } from '../../base/primitives/did-operation.js'
import {
  answerOf,
  asInteger,
  asText,
  listOf,
  objectOf,
  optional,
  unexpected,
} from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'

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
  givenUp: optional(
    listOf(objectOf({ txid: asText, timestamp: asDate, height: asInteger, operation: asText, payloadHash: asText })),
  ),
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
