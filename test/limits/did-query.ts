import {
  type DocumentCondition,
  DocumentConditions,
  didsCondition,
  queryCondition,
} from '../../src/ledger/events/document-conditions.js'
import { tokenSteps } from '../../src/identity/did-index/document-tokens.js'
import { MonthBudget } from '../../src/identity/did-index/expiry-months.js'
import { overflowToken, claimValueToken } from '../../src/identity/did-index/token.js'
import { compileCondition } from '../../src/identity/did-query/compile.js'
import { fromUtf8 } from '../../src/base/primitives/bytes.js'
import { finish } from '../../src/base/primitives/steps.js'
import { readParameters } from '../../src/answers/identifiers/parameters.js'
import { everyDoor, limit, onlyFor } from './limit.js'

const read = (condition: string | object) => void compileCondition(condition)

/** A condition nested so deep. */
const nested = (levels: number): object => (levels === 1 ? { expires: 'x' } : { service: nested(levels - 1) })

/** Whether the index has all that is asked of a document with these credentials. */
function indexed(credentials: readonly { type?: readonly string[]; subject: object }[]): string | undefined {
  const verifiableCredential = credentials.map(({ type = ['T'], subject }) => ({
    type,
    issuer: 'did:ledger:a',
    credentialSubject: { id: 'did:ledger:a', ...subject },
  }))
  const document = { id: 'did:ledger:a', verifiableCredential, expires: '2030-01-01T00:00:00Z' }
  const found = finish(tokenSteps(fromUtf8(JSON.stringify(document))))
  return found.has(overflowToken) ? 'the document overflows the index' : undefined
}

const names = (count: number, value: unknown) => {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, value]))
}

/** Reads options of DID Resolution in the body of a request. */
const readOptions = (text: string) =>
  void readParameters(
    { did: 'did:ledger:a', path: '', query: undefined, fragment: undefined },
    { query: undefined, body: fromUtf8(text) },
  )

const month = (number: number) => {
  return `${1970 + Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, '0')}`
}

/** Follows so many conditions, each of one address of so many. */
function follow(
  count: number,
  { addresses = 1, of }: { addresses?: number; of: (i: number) => DocumentCondition },
): void {
  const conditions = new DocumentConditions()
  for (let i = 0; i < count; i++) conditions.add(of(i), `address ${i % addresses}`)
}

const query = (condition: object) => queryCondition(compileCondition(condition))

export const didQueryLimits = [
  limit({
    name: 'ledger/events/document-conditions.conditionBounds.subscriptions',
    unit: 'count',
    value: 16_384,
    feed: (n) => follow(n, { of: (i) => query({ service: { type: `T${i % 5}` } }) }),
    refusal: 'overloaded: the node follows 16384 subscriptions to documents already',
  }),
  limit({
    name: 'ledger/events/document-conditions.conditionBounds.bytes',
    unit: 'bytes',
    value: 8 * 1024 * 1024,
    feed: everyDoor((n) => {
      const size = 16 * 1024
      const frame = '{"service":{"type":""}}'.length
      const long = (bytes: number, i: number) => query({ service: { type: String(i).padEnd(bytes - frame, 'x') } })
      const whole = Math.floor(n / size) - 1
      const conditions = new DocumentConditions()
      for (let i = 0; i < whole; i++) conditions.add(long(size, i), 'one')
      const rest = n - whole * size
      for (const [i, bytes] of [Math.floor(rest / 2), Math.ceil(rest / 2)].entries())
        conditions.add(long(bytes, i), 'one')
      // The same text is counted once.
      conditions.add(long(size, 0), 'two')
    }),
    refusal: 'overloaded: the node follows conditions of 8388608 bytes already',
  }),
  limit({
    name: 'ledger/events/document-conditions.conditionBounds.open',
    unit: 'count',
    value: 64,
    feed: (n) => follow(n, { addresses: 32, of: (i) => query({ service: { $size: i } }) }),
    refusal: 'overloaded: the node follows 64 conditions that no index narrows',
  }),
  limit({
    name: 'ledger/events/document-conditions.conditionBounds.openOfShare',
    unit: 'count',
    value: 8,
    feed: (n) => follow(n, { of: (i) => query({ service: { $size: i } }) }),
    refusal: 'overloaded: the node follows 8 conditions of this address that no index narrows',
  }),
  limit({
    name: 'ledger/events/document-conditions.conditionBounds.dids',
    unit: 'count',
    value: 1000,
    feed: (n) => void didsCondition(Array.from({ length: n }, (_, i) => `did:ledger:${i}`)),
    refusal: 'overloaded: 1001 DIDs in one subscription',
  }),
  limit({
    name: 'answers/identifiers/parameters.jsonLimits.depth',
    unit: 'levels',
    value: 4,
    feed: onlyFor(/nesting deeper/, (n) => readOptions(`{"versionId":${'['.repeat(n - 1)}${']'.repeat(n - 1)}}`)),
    refusal: 'nesting deeper than 4',
  }),
  limit({
    name: 'answers/identifiers/parameters.jsonLimits.tokens',
    unit: 'count',
    value: 256,
    feed: onlyFor(/more than \d+ tokens/, (n) => readOptions(`{"versionId":[${new Array(n - 3).fill(1).join(',')}]}`)),
    refusal: 'more than 256 tokens',
  }),
  limit({
    name: 'identity/did-query/condition.conditionLimits.bytes',
    unit: 'bytes',
    value: 16 * 1024,
    feed: everyDoor(
      (n) => read('{}'.padEnd(n)),
      (n) => read({ expires: 'x'.repeat(n - '{"expires":""}'.length) }),
      // Two bytes a character.
      (n) => read(`{"expires":"${'é'.repeat(1000)}"}`.padEnd(n - 1000)),
    ),
    refusal: 'longer than 16384 bytes',
  }),
  limit({
    name: 'identity/did-query/condition.conditionLimits.depth',
    unit: 'levels',
    value: 16,
    feed: (n) => read(nested(n)),
    refusal: 'nested deeper than 16 levels',
  }),
  limit({
    name: 'identity/did-query/condition.conditionLimits.nodes',
    unit: 'count',
    value: 256,
    feed: (n) => read({ expires: { $in: Array.from({ length: n - 3 }, (_, i) => `${i}`) } }),
    refusal: 'more than 256 values',
  }),
  limit({
    name: 'identity/did-query/member-path.pathSegments',
    unit: 'count',
    value: 32,
    feed: (n) => read({ [new Array(n).fill('a').join('.')]: 1 }),
    refusal: 'a path has at most 32 names',
  }),
  limit({
    name: 'identity/did-query/work-budget.effortLimit',
    unit: 'count',
    value: 250_000,
    feed: (n) => {
      const matcher = compileCondition({ 'service.type': 'T' })
      matcher.matches({ service: new Array(n).fill(0) })
    },
    refusal: 'busy: the condition is too much work',
  }),
  limit({
    name: 'identity/did-index/document-tokens.claimNamesAtMost',
    unit: 'count',
    value: 1024,
    feed: (n) => indexed([{ subject: names(n, { no: 'scalar' }) }]),
    refusal: 'overflows the index',
  }),
  limit({
    name: 'identity/did-index/document-tokens.credentialTypesAtMost',
    unit: 'count',
    value: 1024,
    feed: (n) => indexed([{ type: Array.from({ length: n }, (_, i) => `T${i}`), subject: {} }]),
    refusal: 'overflows the index',
  }),
  limit({
    name: 'identity/did-index/document-tokens.claimValuesAtMost',
    unit: 'count',
    value: 256,
    feed: (n) => indexed([{ subject: { name: Array.from({ length: n }, (_, i) => i) } }]),
    refusal: 'overflows the index',
  }),
  limit({
    name: 'identity/did-index/expiry-months.monthsAtMost',
    unit: 'count',
    value: 2400,
    feed: (n) => {
      // From the middle of the range, so that neither side is the shorter one.
      const bounds = {
        from: (date: string) => date >= `${month(40_000)}-00`,
        to: (date: string) => date < `${month(40_000 + n)}-00`,
      }
      return new MonthBudget().months(bounds) === undefined ? 'too many months' : undefined
    },
    refusal: 'too many months',
  }),
  limit({
    name: 'identity/did-index/token.claimTextBytes',
    unit: 'bytes',
    value: 256,
    feed: everyDoor(
      (n) => (claimValueToken('name', 'x'.repeat(n)) === undefined ? 'too long for the index' : undefined),
      (n) => (claimValueToken('name', 'é' + 'x'.repeat(n - 2)) === undefined ? 'too long for the index' : undefined),
    ),
    refusal: 'too long for the index',
  }),
]
