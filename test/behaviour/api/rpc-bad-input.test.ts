import { OptionalKind, type TSchema } from '@sinclair/typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentedMethods } from '../../../scripts/docs/json-rpc-page.js'
import type { DevnetControl } from '../../../src/answers/api/node-handles.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import { stateTables } from '../../../src/ledger/storage/rows/tables.js'
import { contextOf } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { RpcClient } from '../../support/client/rpc.js'
import { testAddress } from '../../support/builders/spec.js'

const zeros = '0'.repeat(64)
const address = testAddress(10)

/** A value of every parameter, by its name, that its schema takes. */
const good: Readonly<Record<string, unknown>> = {
  ...{
    did: 'x',
    dids: ['did:ledger:x'],
    issuer: 'x',
    all: false,
    height: 0,
    blockhash: zeros,
    verbosity: 1,
    txid: zeros,
    verbose: true,
    data: '00',
    replace: false,
  },
  ...{ state: 'all', address, addresses: [address], utxotype: 'mixed', amount: '1', confirmations: 1 },
  ...{
    paytoaddress: address,
    auxpow: '00',
    count: 1,
    mining: false,
    topics: ['block'],
    subscription: 1,
    level: 'info',
    nonce: zeros,
    categories: 'all',
    path: '/x',
    transactions: 'return',
  },
  ...{ blocks: 1, seconds: 1, time: 0, id: 1, after: 0, afterBlock: zeros, fromHeight: 0 },
  ...{ peer: '192.0.2.7', reason: 'x' },
  ...{ inputs: [{ txid: zeros, vout: 0 }], outputs: [{ address, amount: '1' }], locktime: 0 },
  ...{ service: 'x', credential: 'x', query: '{}', skip: 0, limit: 0 },
  ...{ before: { height: 1, index: 0 }, from: 0, to: 0 },
  ...{ proof: true, history: true, depth: 0 },
  ...{ context: true, versionId: zeros, versionTime: '2026-01-01T00:00:00Z', versionHeight: 0 },
}
/** By method: of parameters that exclude each other, the one that stands for the others; of a name with another meaning, its value. */
const alternatives: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  query: { service: 'x' },
  getamountbyinputs: { inputs: '00' },
  did_resolveCredential: { id: 'did:ledger:x#y' },
  did_proveCredential: { id: 'did:ledger:x#y' },
  getaddresshistory: { limit: 1 },
  listblocks: { before: 1, limit: 1 },
  listdidoperations: { limit: 1 },
  listdays: { from: '2026-01-01', to: '2026-01-01' },
}

const texts = [
  '',
  'x',
  ' ',
  '\u0000',
  '-1',
  '0x00',
  '1'.repeat(34),
  'f'.repeat(63),
  `${'f'.repeat(63)}g`,
  'x'.repeat(100_000),
]
const numbers = [-1, 1.5, 2 ** 53, -(2 ** 53), 1e300]
const others = [null, true, [], {}, [null], { value: 1 }, [[[]]], [1e300]]

/** Values that are none of a schema: of other types, and of its own type but outside of its bounds. */
function bad(schema: TSchema): unknown[] {
  const {
    type,
    anyOf,
    enum: values,
    pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
  } = schema as Record<string, unknown>
  const types = Array.isArray(anyOf) ? (anyOf as TSchema[]).map((member) => member['type'] as string) : [type as string]
  const rows: unknown[] = others.filter((value) => !types.includes(typeOf(value)))
  if (!types.includes('string')) rows.push(...texts)
  if (!types.includes('integer') && !types.includes('number')) rows.push(0, 1, ...numbers)
  if (types.includes('integer')) {
    rows.push(...numbers.filter((n) => !Number.isSafeInteger(n) || n < (minimum as number)))
    rows.push((minimum as number) - 1, (maximum as number) + 1)
  }
  if (types.includes('string')) {
    const bounded = values !== undefined || pattern !== undefined || minLength !== undefined || maxLength !== undefined
    if (bounded) rows.push('')
    if (values !== undefined || pattern !== undefined) rows.push(...texts)
  }
  if (types.includes('array'))
    rows.push(
      [null],
      [{}],
      [['x']],
      [1],
      Array.from({ length: 200 }, () => 1),
    )
  return rows
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

let node: TestChain
let rpc: RpcClient
let before: string

beforeAll(async () => {
  node = await TestChain.open()
  await node.mine(2)
  // Nothing here gets as far as to use it.
  rpc = new RpcClient(contextOf(node, { devnet: {} as DevnetControl }))
  before = displayHash(await digestOf(node.database, stateTables))
})
afterAll(async () => {
  expect(displayHash(await digestOf(node.database, stateTables))).toBe(before)
  expect(node.mempool.size).toBe(0)
  expect(node.log.errors).toEqual([])
  await node.close()
})

const rows = documentedMethods().flatMap((method) =>
  Object.entries(method.params.properties).map(([name, schema]) => ({
    method,
    name,
    schema,
    title: `${method.name} ${name}`,
  })),
)

test('every parameter has a good value', () => {
  expect([...new Set(rows.map(({ name }) => name))].sort()).toEqual(Object.keys(good).sort())
})

/** Good values of what a method needs. */
function needed({ name, params }: (typeof rows)[number]['method']): Record<string, unknown> {
  const required = Object.keys(params.properties).filter(
    (member) => !(OptionalKind in (params.properties[member] as TSchema)),
  )
  return { ...Object.fromEntries(required.map((member) => [member, good[member]])), ...alternatives[name] }
}

describe.each(rows)('$title', ({ method, name, schema }) => {
  const rest = needed(method)
  if (method.name === 'query' && ['service', 'credential', 'query'].includes(name)) delete rest['service']

  async function expectRefusal(params: unknown, value: unknown): Promise<void> {
    const { code, data } = await rpc.refusal(method.name, params)
    expect([value, code]).toEqual([value, -32602])
    expect([value, data]).toEqual([value, expect.stringMatching(new RegExp(`^${name}\\b`))])
    expect(data.length).toBeLessThan(1000)
  }

  test('refuses what is no value of it, and says that it was this one', async () => {
    expect(bad(schema).length).toBeGreaterThan(5)
    for (const value of bad(schema)) await expectRefusal({ ...rest, [name]: value }, value)
  })

  test('is missed where it is needed', async () => {
    const { [name]: _, ...without } = rest
    if (name in rest && !(OptionalKind in schema)) await expectRefusal(without, undefined)
  })

  test('is refused in an array too', async () => {
    if (!method.listed) return
    const members = Object.keys(method.params.properties)
    for (const value of bad(schema)) {
      // It leaves the parameter out.
      if (value === null && OptionalKind in schema) continue
      await expectRefusal(
        members.map((member) => (member === name ? value : (rest[member] ?? good[member]))),
        value,
      )
    }
  })
})

describe.each(documentedMethods().map((method) => ({ method, name: method.name })))('$name', ({ method, name }) => {
  test('takes no more values than it has parameters', async () => {
    const values = Object.keys(method.params.properties).map((member) => good[member])
    expect(await rpc.refusal(name, [...values, 1])).toMatchObject({
      code: -32602,
      data: expect.stringMatching(/^params: /),
    })
  })
})

describe('params that are nested too deep for a text', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const body = (name: string, params: string) => `{"jsonrpc":"2.0","id":1,"method":"${name}","params":${params}}`

  test.each(['resolvedid', 'did_resolveDID', 'query'])('%s refuses them as params', async (name) => {
    for (const params of [deep, `{"did":${deep},"query":${deep}}`]) {
      const { error } = await rpc.askText(body(name, params))
      expect(error?.code).toBe(-32602)
    }
  })

  const did = '"did":"x"'
  test.each([
    ['resolvedid', `{${did},"all":true,"more":${deep}}`],
    ['did_resolveDID', `{${did},"all":true,"more":${deep}}`],
    ['did_resolveDID', `[{${did},"more":${deep}}]`],
    ['query', `{"query":"{}","more":${deep}}`],
  ])('%s ignores them in a member that it does not know', async (name, params) => {
    const { error } = await rpc.askText(body(name, params))
    expect([undefined, -32602]).toContain(error?.code)
  })
})
