import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { failureSchemas } from '../../../src/answers/api/paths/openapi.js'
import {
  type RestParameterKind,
  restPrefix,
  type RestRoute,
  restRoutes,
} from '../../../src/answers/api/paths/rest-routes.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import { stateTables } from '../../../src/ledger/storage/rows/tables.js'
import { type Answer, ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { expectSchema } from '../../support/assert/schema.js'
import { testAddress } from '../../support/builders/spec.js'

const zeros = '0'.repeat(64)
const address = testAddress(10)

/** Segments that are no value of any kind: they go out as they stand. */
const nonsense: readonly string[] = [
  ...[
    'x',
    '-',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    '007',
    ' 1',
    '1%20',
    '%20',
    '%00',
    '1%00',
    'null',
    'undefined',
    'NaN',
  ],
  ...['4294967296', '99999999999', '18446744073709551616', `1${'0'.repeat(200)}`, '%2e%2e%2f%2e%2e%2fetc%2fpasswd'],
  ...['..%2F..%2F..%2Fetc%2Fpasswd', '..%5C..', '%E4%BD%A0%E5%A5%BD', '%F0%9F%92%A9', '%D9%A1', '%EF%BC%91', 'é', '🙂'],
  ...['<script>', "'%20OR%201=1", '${7*7}', '{{7*7}}', '%0d%0aX:1', '*', '$', '__proto__', 'constructor', 'toString'],
  ...['f'.repeat(63), 'f'.repeat(65), `${'f'.repeat(63)}g`, `0x${'f'.repeat(62)}`, `%00${'f'.repeat(63)}`],
  ...['f'.repeat(128), 'E'.repeat(34), `${address}1`, address.slice(0, -1), address.toLowerCase(), 'A'.repeat(8000)],
]
/** What cannot be the segment of a path at all. */
const unreadable = ['%', '%zz', '%e4', '%c0%ae', '%ff', '%u0041']

const good: Readonly<Record<RestParameterKind, string>> = {
  height: '0',
  hash: zeros,
  address,
  assetId: zeros,
  any: 'x',
}
/** Nonsense for one kind that another takes. */
const sound: Readonly<Record<RestParameterKind, readonly string[]>> = {
  height: [],
  hash: [],
  address: [],
  assetId: [],
  any: nonsense,
}
const wrongKinds: Readonly<Record<RestParameterKind, readonly string[]>> = {
  height: [zeros, address],
  hash: ['0', address],
  address: ['0', zeros, `i${address.slice(1)}`],
  assetId: ['0', address],
  any: [],
}

function pathOf({ path, parameters }: RestRoute, name: string, value: string): string {
  return (
    restPrefix +
    path.replace(/:(\w+)/g, (_, other: string) =>
      other === name ? value : good[parameters[other] as RestParameterKind],
    )
  )
}

let node: TestChain
let server: ApiServer
let before: string

const digest = async () => displayHash(await digestOf(node.database, stateTables))

beforeAll(async () => {
  node = await TestChain.open()
  await node.mine(2)
  server = await serve(contextOf(node))
  before = await digest()
})
afterAll(async () => {
  await server.close()
  await node.close()
})

/** Nothing was stored, nothing was thrown, and the node keeps serving. */
async function expectUnharmed(): Promise<void> {
  expect(await digest()).toBe(before)
  expect(node.mempool.size).toBe(0)
  expect(node.log.errors).toEqual([])
  expect((await ask(server.port, '/api/v1/block/height')).body).toEqual({ Desc: 'Success', Error: 0, Result: 2 })
}

function expectFailure(
  answer: Answer,
  status: number,
  code: number,
  envelope: RestRoute['envelope'] = 'standard',
): void {
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  expectSchema(failureSchemas[envelope], answer.body)
  expect(answer.text).not.toMatch(/\bat .*\.(ts|js):\d+/)
  if (envelope === 'confirm') {
    expect(answer.body).toMatchObject({ error: { code }, id: null, jsonrpc: '2.0', result: null })
  } else {
    expect(Object.keys(answer.body as object)).toEqual(['Desc', 'Error', 'Result'])
    expect(answer.body).toMatchObject({ Error: code, Desc: expect.any(String), Result: expect.stringMatching(/./) })
  }
  expect(answer.status).toBe(status)
}

const rows = restRoutes.flatMap((route) =>
  Object.entries(route.parameters).map(([name, kind]) => ({ route, name, kind, title: `${route.path} ${name}` })),
)

test('every parameter of every path has its row', () => {
  const inPaths = restRoutes.flatMap(({ path }) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => `${path} ${name}`))
  expect(rows.map(({ title }) => title)).toEqual(inPaths)
})

describe.each(rows)('$title', ({ route, name, kind }) => {
  test('refuses what is no value of its kind', async () => {
    for (const value of [...nonsense, ...wrongKinds[kind]]) {
      const answer = await ask(server.port, pathOf(route, name, encodeUnsafe(value)))
      if (sound[kind].includes(value)) expect([value, answer.status]).toEqual([value, 200])
      else expectFailure(answer, 400, 42002, route.envelope)
    }
    await expectUnharmed()
  })

  test('refuses what no path can hold', async () => {
    for (const value of unreadable) {
      expectFailure(await ask(server.port, pathOf(route, name, value)), 400, 42002, route.envelope)
    }
    await expectUnharmed()
  })

  test('is missing', async () => {
    const answer = await ask(server.port, pathOf(route, name, ''))
    // An empty segment is an empty parameter.
    expect([
      [404, 42001],
      [400, 42002],
    ]).toContainEqual([answer.status, codeOf(answer)])
    const shorter = pathOf(route, name, '').replace(/\/$/, '')
    expect((await ask(server.port, shorter)).status).not.toBe(500)
    await expectUnharmed()
  })

  test('is followed by more', async () => {
    for (const more of ['/', '/x', '//', '/../..']) {
      const last = route.path.endsWith(`:${name}`)
      const answer = await ask(server.port, pathOf(route, name, good[kind]) + more)
      if (last) expect([more, [400, 404].includes(answer.status)]).toEqual([more, true])
    }
    await expectUnharmed()
  })
})

function codeOf({ body }: Answer): number {
  const { Error: code, error } = body as { Error?: number; error?: { code: number } }
  return code ?? error?.code ?? -1
}

/** Node refuses to send these itself, so they go out as the bytes they are in UTF-8, percent-encoded. */
function encodeUnsafe(value: string): string {
  return value.replace(/[^\x21-\x7e]/gu, encodeURIComponent).replace(/[<>"`{}|\\^]/g, encodeURIComponent)
}

describe.each(restRoutes.map((route) => ({ route, path: route.path })))('$path', ({ route }) => {
  const path =
    restPrefix + route.path.replace(/:(\w+)/g, (_, name: string) => good[route.parameters[name] as RestParameterKind])

  test('takes no other method', async () => {
    const named = restRoutes.filter((other) => other.path === route.path).flatMap(({ methods }) => methods as string[])
    const taken = [...named, ...(named.includes('GET') ? ['HEAD'] : [])].sort()
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'TRACE']) {
      if (taken.includes(method)) continue
      const answer = await ask(server.port, path, { method })
      expectFailure(answer, 405, 42001, route.envelope)
      expect(answer.headers['allow']?.toString().split(', ')).toEqual(taken)
    }
    await expectUnharmed()
  })

  test('is matched exactly', async () => {
    const others = [
      `${path}/`,
      path.replace('/api/v1', '/API/v1'),
      path.replace('/v1/', '/v1//'),
      path.replace('v1', 'v2'),
    ]
    for (const other of others) {
      // A slash at the end of one path can be another one whose parameter is empty.
      const another = other === `${path}/` && restRoutes.some((route2) => route2.path.startsWith(`${route.path}/:`))
      expectFailure(await ask(server.port, other), another ? 400 : 404, another ? 42002 : 42001)
    }
    expectFailure(await ask(server.port, `/x${path}`), 404, 42001)
    await expectUnharmed()
  })
})

describe('POST transaction', () => {
  const post = (body: unknown) => askJson(server.port, '/api/v1/transaction', body)
  const send = (data: unknown) => post({ Action: 'sendrawtransaction', data })
  const raw = (body: string | Uint8Array, type: string | undefined = 'application/json') =>
    ask(server.port, '/api/v1/transaction', {
      method: 'POST',
      body,
      headers: type === '' ? {} : { 'content-type': type },
    })

  test.each<[string, unknown, number, number]>([
    ['nothing', {}, 400, 42002],
    ['null', null, 400, 42002],
    ['a list', [{ Action: 'sendrawtransaction', data: '00' }], 400, 42002],
    ['a text', 'sendrawtransaction', 400, 42002],
    ['no Action', { data: '00' }, 400, 42002],
    ['an Action that is no text', { Action: 1, data: '00' }, 400, 42002],
    ['an Action in another case', { action: 'sendrawtransaction', data: '00' }, 400, 42002],
    ['another Action', { Action: 'sendtransaction', data: '00' }, 400, 42001],
    ['an empty Action', { Action: '', data: '00' }, 400, 42001],
    ['no data', { Action: 'sendrawtransaction' }, 400, 42002],
    ['data that is null', { Action: 'sendrawtransaction', data: null, Data: '00' }, 400, 42002],
    ['data that is a list', { Action: 'sendrawtransaction', data: ['00'] }, 400, 42002],
    ['data that is empty', { Action: 'sendrawtransaction', data: '' }, 400, 42002],
    ['an odd number of digits', { Action: 'sendrawtransaction', data: '000' }, 400, 42002],
    ['no digits', { Action: 'sendrawtransaction', data: 'zz' }, 400, 42002],
    ['a prefix', { Action: 'sendrawtransaction', data: '0x00' }, 400, 42002],
    ['a blank', { Action: 'sendrawtransaction', data: '00 ' }, 400, 42002],
    ['full-width digits', { Action: 'sendrawtransaction', data: '００' }, 400, 42002],
    ['data behind __proto__', JSON.parse('{"Action":"sendrawtransaction","__proto__":{"data":"00"}}'), 400, 42002],
    ['a replace that is no boolean', { Action: 'sendrawtransaction', data: '00', replace: 'false' }, 400, 42002],
    ['no transaction', { Action: 'sendrawtransaction', data: '00' }, 400, 43001],
    ['many bytes that are none', { Action: 'sendrawtransaction', data: 'ff'.repeat(100_000) }, 400, 43001],
  ])('refuses %s', async (_, body, status, code) => {
    expectFailure(await post(body), status, code)
    await expectUnharmed()
  })

  test.each([
    ['0x00', 'it begins with 0x, which has to be left out here'],
    ['000', 'its length of 3 hex digits is odd, and two make a byte'],
    ['00 ', 'U+0020 at character 3 is no hex digit'],
    ['0g', '"g" at character 2 is no hex digit'],
  ])('says what keeps %j from being hex', async (data, why) => {
    const answer = await send(data)
    expect(answer.body).toMatchObject({ Result: `data: it has to be a transaction in hex: ${why}` })
    const path = await ask(server.port, `/api/v1/transaction/0x${'00'.repeat(32)}`)
    expect(path.text).toContain('it begins with 0x, which has to be left out here')
  })

  test('refuses a transaction that is cut short, followed by more, or altered', async () => {
    const { bytes } = await node.transfer(testAddress(12), 5n)
    const hex = Buffer.from(bytes).toString('hex')
    for (let length = 2; length < hex.length; length += 2) expectFailure(await send(hex.slice(0, length)), 400, 43001)
    expectFailure(await send(`${hex}00`), 400, 43001)
    expectFailure(await send(hex.slice(0, -2) + (hex.endsWith('00') ? '01' : '00')), 400, 45007)
    await expectUnharmed()
  })

  test('names the rule that a transaction breaks', async () => {
    const { bytes } = await node.transfer(testAddress(12), 5n)
    const broken = Buffer.from(bytes)
    // A byte of the signature, which stands before the code of 35 bytes.
    broken[broken.length - 40] = (broken[broken.length - 40] as number) ^ 1
    expectFailure(await send(broken.toString('hex')), 400, 45008)
    await expectUnharmed()
    const other = await TestChain.open()
    const own = await serve(contextOf(other))
    const tx = await other.transfer(testAddress(12), 5n)
    const rival = await other.transfer(testAddress(13), 5n)
    const ask45 = async (hex: string) =>
      codeOf(await askJson(own.port, '/api/v1/transaction', { Action: 'sendrawtransaction', data: hex }))
    expect(await ask45(tx.toHex())).toBe(0)
    expect(await ask45(tx.toHex())).toBe(45011)
    expect(await ask45(rival.toHex())).toBe(45010)
    await other.mine()
    expect(await ask45(tx.toHex())).toBe(45011)
    await own.close()
    await other.close()
  })

  test.each(['', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'application/json-patch+json'])(
    'refuses the content type %j',
    async (type) => {
      expectFailure(await raw('{"Action":"sendrawtransaction","data":"00"}', type), 415, 41003)
      await expectUnharmed()
    },
  )

  test.each([
    ['nothing', ''],
    ['half of it', '{"Action":"sendrawtransaction","data":"00"'],
    ['no JSON', 'Action=sendrawtransaction'],
    ['two values', '{}{}'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a byte order mark alone', '\ufeff'],
    ['two byte order marks', '\ufeff\ufeff{}'],
  ])('refuses a body of %s', async (_, body) => {
    expectFailure(await raw(body), 400, 41003)
    await expectUnharmed()
  })

  test('reads a body with a byte order mark, as editors of Windows save it', async () => {
    expectFailure(await raw('\ufeff{"Action":"none"}'), 400, 42001)
  })

  test('refuses a body over the limit, announced or not, and one of too many values, but takes the largest transaction', async () => {
    const body = Buffer.alloc(16_100_000, 0x20)
    expectFailure(await raw(body), 413, 41003)
    const chunked = await ask(server.port, '/api/v1/transaction', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      body,
    })
    expectFailure(chunked, 413, 41003)
    const manyValues = `{"Action":"sendrawtransaction","data":"00","more":[${'0,'.repeat(apiLimits.plainBody)}0]}`
    expectFailure(await raw(manyValues), 413, 41003)
    // Not for its length: the pool takes none as large.
    expectFailure(await send('00'.repeat(8_000_000)), 400, 45015)
    await expectUnharmed()
  })
})
