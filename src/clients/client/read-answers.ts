import type {
  AnswerAge,
  CredentialList,
  CredentialResult,
  OperationMoment,
  QueryResult,
  ResolveContext,
  ResolvedTransaction,
  ResolveOptions,
  ResolveResult,
} from '../../identity/did/resolution.js'
import type { StateProof } from '../../identity/did/state-proof.js'
import { UserError } from '../../base/errors/rule-error.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import type { DidOperationJson } from '../../base/primitives/did-operation.js'

/** The parts of a transaction object that the commands read. */
export interface NodeTransaction {
  readonly txid: string
  readonly vin: readonly { readonly txid: string; readonly vout: number }[]
  readonly vout: readonly {
    readonly value: string
    readonly n: number
    readonly address: string
    readonly assetid: string
    readonly outputlock: number
  }[]
  readonly blockhash: string
  readonly confirmations: number
  readonly type: number
  readonly payload: unknown
}

/** The parts of a block that the commands read. */
export interface NodeBlock {
  readonly hash: string
  readonly height: number
  /** Unix seconds. */
  readonly time: number
}

/** The error for a part of an answer whose form differs from the interface. */
export function unexpected(where: string): UserError {
  return new UserError(`the node answered something unexpected: ${where}`)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

export function asList(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value
  throw unexpected(`${where} is not an array`)
}

export function asTransaction(value: unknown, where: string): NodeTransaction {
  if (!isObject(value)) throw unexpected(`${where} is not an object`)
  const { vin, vout } = value
  return {
    txid: asText(value['txid'], `${where}.txid`),
    vin: asList(vin, `${where}.vin`).map((input, i) => {
      const at = `${where}.vin[${i}]`
      if (!isObject(input)) throw unexpected(at)
      return { txid: asText(input['txid'], at), vout: asInteger(input['vout'], at) }
    }),
    vout: asList(vout, `${where}.vout`).map((output, i) => {
      const at = `${where}.vout[${i}]`
      if (!isObject(output)) throw unexpected(at)
      return {
        value: asText(output['value'], at),
        n: asInteger(output['n'], at),
        address: asText(output['address'], at),
        assetid: asText(output['assetid'], at),
        outputlock: asInteger(output['outputlock'], at),
      }
    }),
    blockhash: asText(value['blockhash'], `${where}.blockhash`),
    confirmations: asInteger(value['confirmations'], `${where}.confirmations`),
    type: asInteger(value['type'], `${where}.type`),
    payload: value['payload'],
  }
}

export function asBlock(value: unknown, where: string): NodeBlock {
  if (!isObject(value)) throw unexpected(`${where} is not an object`)
  return {
    hash: asText(value['hash'], `${where}.hash`),
    height: asInteger(value['height'], `${where}.height`),
    time: asInteger(value['time'], `${where}.time`),
  }
}

/** The answer to a request with these options; without them it is the last operation. */
export function asResolveResult(value: unknown, options: ResolveOptions = {}): ResolveResult {
  if (!isObject(value)) throw unexpected('the resolve result is not an object')
  const did = asText(value['did'], 'did')
  const status = value['status']
  if (status !== 0 && status !== 1 && status !== 2 && status !== 3) throw unexpected('status is not 0, 1, 2 or 3')
  const proof = proofIn(value)
  const old = value['outOfStep'] === undefined ? {} : { outOfStep: asAge(value['outOfStep']) }
  if (status === 3) {
    const hint = value['hint'] === undefined ? undefined : asText(value['hint'], 'hint')
    return { did, status, ...defined({ hint }), ...old, ...proof }
  }
  const transaction = asTransactions(value['transaction'])
  const { skip, limit, versionId, versionTime, versionHeight } = options
  const mayBeEmpty = [skip, limit, versionId, versionTime, versionHeight].some((option) => option !== undefined)
  if (!mayBeEmpty) requireSome(transaction)
  const counts = ['total', 'start', 'count'] as const
  const given = counts.filter((name) => value[name] !== undefined)
  return {
    did,
    status,
    transaction,
    ...Object.fromEntries(given.map((name) => [name, asInteger(value[name], name)])),
    ...(value['context'] === undefined ? {} : { context: asContext(value['context'], transaction.length) }),
    ...old,
    ...proof,
  }
}

function asAge(value: unknown): AnswerAge {
  if (!isObject(value)) throw unexpected('outOfStep is not an object')
  const [height, age] = [asInteger(value['height'], 'outOfStep.height'), asInteger(value['age'], 'outOfStep.age')]
  return { height, age, ...(value['always'] === true && { always: true }) }
}

/** A proof as it was sent; it is not checked. */
function proofIn({ proof }: Record<string, unknown>): { readonly proof?: StateProof } {
  if (proof === undefined) return {}
  if (!isObject(proof)) throw unexpected('proof is not an object')
  return { proof: proof as unknown as StateProof }
}

/** Reads the status of a credential from an answer. */
export function asCredentialResult(value: unknown): CredentialResult {
  if (!isObject(value)) throw unexpected('what is said of the credential is not an object')
  const id = asText(value['id'], 'id')
  const status = value['status']
  if (status !== 0 && status !== 1 && status !== 2 && status !== 3) throw unexpected('status is not 0, 1, 2 or 3')
  const rest = { ...(value['outOfStep'] !== undefined && { outOfStep: asAge(value['outOfStep']) }), ...proofIn(value) }
  if (status === 3) return { id, status, ...rest }
  return { id, status, transaction: requireSome(asTransactions(value['transaction'])), ...rest }
}

export function asCredentialList(value: unknown): CredentialList {
  if (!isObject(value)) throw unexpected('the list of credentials is not an object')
  const credentials = asList(value['credentials'], 'credentials').map((id, i) => asText(id, `credentials[${i}]`))
  return { did: asText(value['did'], 'did'), credentials }
}

function asTransactions(value: unknown): ResolvedTransaction[] {
  return asList(value, 'transaction').map((entry, i) => {
    const at = `transaction[${i}]`
    if (!isObject(entry)) throw unexpected(at)
    return { ...asMoment(entry, at), operation: asOperation(entry['operation'], `${at}.operation`) }
  })
}

function requireSome(transactions: ResolvedTransaction[]): ResolvedTransaction[] {
  if (transactions.length === 0) throw unexpected('transaction is empty')
  return transactions
}

function asMoment(value: unknown, where: string): OperationMoment {
  if (!isObject(value)) throw unexpected(where)
  const timestamp = asDate(value['timestamp'], `${where}.timestamp`)
  return { txid: asText(value['txid'], `${where}.txid`), timestamp }
}

function asDate(value: unknown, where: string): string {
  const text = asText(value, where)
  if (Number.isNaN(Date.parse(text))) throw unexpected(`${where} is no date`)
  return text
}

/** The context of an answer with so many transactions. */
function asContext(value: unknown, transactions: number): ResolveContext {
  if (!isObject(value)) throw unexpected('context')
  const at = asList(value['at'], 'context.at').map((entry, i) => {
    const where = `context.at[${i}]`
    if (!isObject(entry)) throw unexpected(where)
    return {
      height: asInteger(entry['height'], `${where}.height`),
      blockHash: asText(entry['blockHash'], `${where}.blockHash`),
      confirmations: asInteger(entry['confirmations'], `${where}.confirmations`),
    }
  })
  if (at.length !== transactions) throw unexpected('context.at is not as long as transaction')
  const moments = (['updated', 'next'] as const).filter((name) => value[name] !== undefined)
  return {
    height: asInteger(value['height'], 'context.height'),
    blockHash: asText(value['blockHash'], 'context.blockHash'),
    time: asInteger(value['time'], 'context.time'),
    count: asInteger(value['count'], 'context.count'),
    created: asMoment(value['created'], 'context.created'),
    ...Object.fromEntries(moments.map((name) => [name, asMoment(value[name], `context.${name}`)])),
    expires: asDate(value['expires'], 'context.expires'),
    at,
  }
}

export function asQueryResult(value: unknown): QueryResult {
  if (!isObject(value)) throw unexpected('the search result is not an object')
  return {
    total: asInteger(value['total'], 'total'),
    start: asInteger(value['start'], 'start'),
    count: asInteger(value['count'], 'count'),
    document: asList(value['document'], 'document').map((entry, i) => {
      if (isObject(entry)) return entry
      throw unexpected(`document[${i}] is not an object`)
    }),
    ...(value['height'] === undefined ? {} : { height: asInteger(value['height'], 'height') }),
    ...(value['blockHash'] === undefined ? {} : { blockHash: asText(value['blockHash'], 'blockHash') }),
    ...(value['outOfStep'] === undefined ? {} : { outOfStep: asAge(value['outOfStep']) }),
  }
}

function asOperation(value: unknown, where: string): DidOperationJson {
  if (!isObject(value) || !isObject(value['header']) || !isObject(value['proof'])) throw unexpected(where)
  asText(value['payload'], `${where}.payload`)
  asText(value['header']['operation'], `${where}.header.operation`)
  return value as unknown as DidOperationJson
}
