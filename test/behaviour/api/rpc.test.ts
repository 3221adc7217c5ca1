import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { apiLimits } from '../../../src/answers/api/api-limits.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { DevnetControl } from '../../../src/answers/api/node-handles.js'
import { conditionLimits } from '../../../src/identity/did-query/condition.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { devnetAccount, devnetMnemonic } from '../../../src/clients/wallet/devnet-accounts.js'
import { type Answer, ask, contextOf, serve } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'
import { behind, inStep } from '../../support/fakes/standing.js'

const did = holder().did
const known = '"method":"resolvedid","params":{"did":"x","all":false}'
const deep = `"method":"resolvedid","params":{"did":"x","all":false,"more":${'['.repeat(60_000)}${']'.repeat(60_000)}}`
const absent = { did: 'did:ledger:x', status: 3 }

let node: TestChain
let server: ApiServer
let context: ApiContext
let isBehind = false
const calls: unknown[][] = []

const devnet: DevnetControl = {
  accounts: [{ ...devnetAccount(0), address: testAddress(3) }],
  mnemonic: devnetMnemonic,
  snapshot: async () => 1,
  revert: async () => {},
  setTime: async (time) => (calls.push(['setTime', time]), time),
  reorg: async (blocks, { drop }) => {
    calls.push(['reorg', blocks, drop])
    return { disconnected: ['22'.repeat(32)], connected: ['33'.repeat(32)] }
  },
  dropTransaction: async (txid) => (calls.push(['dropTransaction', toHex(txid)]), ['44'.repeat(32)]),
  dumpState: async () => (calls.push(['dumpState']), 'a state of any "length" '.repeat(20_000)),
  loadState: async (state) => void calls.push(['loadState', state]),
  mine: async (blocks) => {
    calls.push(['mine', blocks])
    if (blocks === 13) throw new RuleError('tx-fee', 'the fee is too low')
    if (blocks === 14) throw new Error('a secret at /home/of/someone')
    if (blocks === 15) throw new RuleError('busy', 'later')
    return ['00'.repeat(32)]
  },
  increaseTime: async (seconds) => (calls.push(['increaseTime', seconds]), 1000 + seconds),
  setNextBlockTime: async (time) => void calls.push(['setNextBlockTime', time]),
  faucet: async (address, amount) => (calls.push(['faucet', address, amount]), '11'.repeat(32)),
}

beforeAll(async () => {
  node = await TestChain.open()
  const standing = () => (isBehind ? behind(3, 77) : inStep(3))
  context = contextOf(node, { devnet, standing })
  server = await serve(context)
})
afterAll(async () => {
  await server.close()
  await node.close()
})

const json = { 'content-type': 'application/json' }

function post(body: string | Uint8Array, headers: Record<string, string> = json, path = '/rpc'): Promise<Answer> {
  return ask(server.port, path, { method: 'POST', headers, body })
}

const messages: Record<number, string> = {
  [-32700]: 'Parse error',
  [-32600]: 'Invalid Request',
  [-32601]: 'Method not found',
  [-32602]: 'Invalid params',
  [-32603]: 'Internal error',
  [-32001]: 'Resolver internal error.',
}

/** An error answer: its code, the message that belongs to it, data that is text, and nothing else. */
function expectError(answer: unknown, code: number, id: unknown): string {
  expect(Object.keys(answer as object)).toEqual(['id', 'jsonrpc', 'error'])
  const { error, ...rest } = answer as { error: Record<string, unknown> }
  expect(rest).toEqual({ id, jsonrpc: '2.0' })
  expect(Object.keys(error)).toEqual(['code', 'message', 'data'])
  expect(error['code']).toBe(code)
  expect(error['message']).toBe(messages[code] ?? 'Server error')
  expect(typeof error['data']).toBe('string')
  return error['data'] as string
}

describe('what a request may look like', () => {
  test.each([
    ['the full form', `{"jsonrpc":"2.0","id":1,${known}}`, '1'],
    ['no jsonrpc member', `{"id":"a",${known}}`, '"a"'],
    ['neither jsonrpc nor id: the minimal form', `{${known}}`, 'null'],
    ['id null is a request', `{"jsonrpc":"2.0","id":null,${known}}`, 'null'],
    ['an empty text as id', `{"jsonrpc":"2.0","id":"",${known}}`, '""'],
    ['a text with everything in it', `{"id":"\\u0000\\ud800é\\"",${known}}`, '"\\u0000\\ud800é\\""'],
    ['zero', `{"id":0,${known}}`, '0'],
    ['a negative integer', `{"id":-7,${known}}`, '-7'],
    ['2^53 + 1', `{"id":9007199254740993,${known}}`, '9007199254740993'],
    ['a hundred digits', `{"id":${'9'.repeat(100)},${known}}`, '9'.repeat(100)],
    ['an integer with an exponent', `{"id":1e3,${known}}`, '1e3'],
    ['an integer that no double holds', `{"id":1E400,${known}}`, '1E400'],
    ['minus zero', `{"id":-0,${known}}`, '-0'],
    ['an id with an escaped name', `{"\\u0069d":9007199254740993,${known}}`, '9007199254740993'],
    ['an id after one in params', '{"method":"resolvedid","params":{"id":1.5,"did":"x","all":false},"id":2}', '2'],
    ['a number that counts after a text', `{"id":"5",${known},"id":9007199254740993}`, '9007199254740993'],
    ['white space in between', `{ "id"\n:\t9007199254740993 ,${known}}`, '9007199254740993'],
    ['params nested deep, numeric id', `{"id":9007199254740993,${deep}}`, '9007199254740993'],
    ['params nested deep, text as id', `{"id":"x",${deep}}`, '"x"'],
    ['unknown members of the request', `{"id":1,"more":[1.5],${known}}`, '1'],
    ['__proto__ is data', `{"id":1,"__proto__":{"method":"no"},${known}}`, '1'],
    ['constructor is data', `{"id":1,"constructor":{"prototype":1},${known}}`, '1'],
    ['white space around', ` \n\t{"id":1,${known}}\r\n `, '1'],
    ['an id that comes last and twice: the last one counts', `{"id":5,${known},"id":6}`, '6'],
  ])('%s', async (_, body, id) => {
    const { status, text, headers } = await post(body)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(text).toBe(`{"id":${id},"jsonrpc":"2.0","result":${JSON.stringify(absent)}}`)
  })

  test('unknown members of params are ignored, __proto__ among them', async () => {
    const body = '{"id":1,"method":"resolvedid","params":{"did":"x","all":false,"more":1,"__proto__":{"did":"y"}}}'
    expect((await post(body)).body).toEqual({ id: 1, jsonrpc: '2.0', result: absent })
  })

  test.each([
    ['an empty version', `{"jsonrpc":"","id":1,${known}}`, '1'],
    ['version 1.0', `{"jsonrpc":"1.0","id":"x",${known}}`, '"x"'],
    ['any other version', `{"jsonrpc":"ping","id":1,${known}}`, '1'],
    ['no id and an empty version: no notification', `{"jsonrpc":"",${known}}`, 'null'],
    ['no id and version 1.0', `{"jsonrpc":"1.0",${known}}`, 'null'],
  ])('clients of the family: %s', async (_, body, id) => {
    expect((await post(body)).text).toBe(`{"id":${id},"jsonrpc":"2.0","result":${JSON.stringify(absent)}}`)
  })

  test.each(['/', '/rpc'])('%s answers', async (path) => {
    expect((await post(`{"id":1,${known}}`, json, path)).body).toEqual({ id: 1, jsonrpc: '2.0', result: absent })
  })

  test.each([
    ['none', {}],
    ['text', { 'content-type': 'text/plain;charset=UTF-8' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type at all', { 'content-type': 'nonsense' }],
    ['JSON with a parameter', { 'content-type': 'Application/JSON; charset=utf-8' }],
  ])('the content type is not checked for reading: %s', async (_, headers: Record<string, string>) => {
    expect((await post(`{"id":1,${known}}`, headers)).body).toEqual({ id: 1, jsonrpc: '2.0', result: absent })
  })
})

test.each([
  ['', 'the body is empty'],
  [Buffer.from('\ufeff{}', 'utf16le'), 'the body is not UTF-8'],
])('a body that cannot be read is told from one that is not there: %j', async (body, data) => {
  expect((await post(body)).body).toMatchObject({ error: { code: -32700, data } })
})

test('a byte order mark before the body, as editors of Windows save it, is no part of it', async () => {
  for (const id of ['1', '12345678901234567890']) {
    const { text } = await post(`\ufeff{"id":${id},${known}}`)
    expect(text).toBe((await post(`{"id":${id},${known}}`)).text)
  }
  expect((await post(`\ufeff[{"id":1,${known}}]`)).body).toEqual([{ id: 1, jsonrpc: '2.0', result: absent }])
})

describe('the order of checks', () => {
  test.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['no JSON', '{"id":1,'],
    ['two values', '{} {}'],
    ['two byte order marks', `\ufeff\ufeff{"id":1,${known}}`],
    ['half of a byte order mark', Buffer.from([0xef, 0xbb])],
    ['single quotes', "{'id':1}"],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['nesting that is not closed', `{"id":1,"params":${'['.repeat(60_000)}${']'.repeat(59_999)}}`],
  ])('unreadable: %s', async (_, body) => {
    const answer = await post(body)
    expect(answer.status).toBe(200)
    expectError(answer.body, -32700, null)
  })

  test.each([
    ['null', 'null'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['a boolean', 'true'],
    ['an empty batch', '[]'],
    ['an empty object', '{}'],
    ['no method', '{"jsonrpc":"2.0","id":1}'],
    ['a method that is no text', '{"id":1,"method":1}'],
    ['a version that is a number', `{"jsonrpc":2.0,"id":1,${known}}`],
    ['a version that is null', `{"jsonrpc":null,"id":1,${known}}`],
    ['a fractional id', `{"id":1.5,${known}}`],
    ['an id with decimals', `{"id":1.0,${known}}`],
    ['a fraction in other words', `{"id":1e-3,${known}}`],
    ['a fraction that counts, being the last', `{"id":1,${known},"id":1.0}`],
    ['a negative exponent of an integer', `{"id":10e-1,${known}}`],
    ['a boolean id', `{"id":true,${known}}`],
    ['an object as id', `{"id":{},${known}}`],
    ['a list as id', `{"id":[1],${known}}`],
    ['params that are a text', '{"id":1,"method":"resolvedid","params":"x"}'],
    ['params that are a number', '{"id":1,"method":"resolvedid","params":1}'],
    ['params that are a boolean', '{"id":1,"method":"resolvedid","params":false}'],
    ['wrong params of an unknown method', '{"id":1,"method":"nothing","params":1}'],
    ['a broken notification', '{"jsonrpc":"2.0","method":1}'],
  ])('no request: %s', async (_, body) => {
    const answer = await post(body)
    expect(answer.status).toBe(200)
    expectError(answer.body, -32600, null)
  })

  test.each([
    'nothing',
    '',
    'ResolveDid',
    'toString',
    '__proto__',
    'constructor',
    'resolvedid ',
    'rpc.x',
    'é'.repeat(500),
  ])('no such method: %j', async (method) => {
    const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 'here', method, params: { did: 1 } }))
    expect(answer.status).toBe(200)
    expectError(answer.body, -32601, 'here')
  })

  test('an unknown method comes before its parameters, and bad parameters before a node that is catching up', async () => {
    isBehind = true
    try {
      expectError((await post('{"id":1,"method":"no","params":[]}')).body, -32601, 1)
      expectError((await post('{"id":1,"method":"resolvedid","params":{"did":"x"}}')).body, -32602, 1)
      const data = expectError((await post(`{"id":1,${known}}`)).body, -32001, 1)
      expect(data).toMatch(/height 3, .* 77/)
    } finally {
      isBehind = false
    }
  })

  test.each([
    [13, -32000, /^45006 .*the fee is too low/],
    [14, -32603, /^an unforeseen failure; the log says more$/],
    [15, -32005, /^later$/],
  ])('a method that fails (%i) is %i', async (blocks, code, data) => {
    const answer = await post(`{"id":9007199254740993,"method":"dev_mine","params":{"blocks":${blocks}}}`)
    expect(answer.status).toBe(200)
    expect(answer.text.startsWith('{"id":9007199254740993,')).toBe(true)
    expect(expectError({ ...(answer.body as object), id: 1 }, code, 1)).toMatch(data)
    expect(answer.text).not.toContain('secret')
  })

  test('what was unforeseen is in the log', () => {
    expect(node.log.errors.map(({ fields }) => fields['error'])).toContain('a secret at /home/of/someone')
  })
})

describe('notifications and batches', () => {
  test('a notification is executed and has no answer', async () => {
    calls.length = 0
    const answer = await post('{"jsonrpc":"2.0","method":"dev_mine","params":{"blocks":2}}')
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(calls).toEqual([['mine', 2]])
  })

  test('neither has one that fails', async () => {
    const broken = [
      '"dev_mine","params":{"blocks":13}',
      '"dev_mine","params":{"blocks":14}',
      '"nothing"',
      '"resolvedid"',
    ]
    for (const method of broken) {
      const body = `{"jsonrpc":"2.0","method":${method}}`
      const answer = await post(body)
      expect([body, answer.status, answer.text]).toEqual([body, 204, ''])
    }
  })

  test('a batch is answered in the order of its requests, notifications left out', async () => {
    const body = `[{"id":"b",${known}},{"jsonrpc":"2.0",${known}},1,{"id":9007199254740993,"method":"no"},{${known}},[]]`
    const { status, text, body: answers } = await post(body)
    expect(status).toBe(200)
    const list = answers as Record<string, unknown>[]
    expect(list).toHaveLength(5)
    expect(list[0]).toEqual({ id: 'b', jsonrpc: '2.0', result: absent })
    expectError(list[1], -32600, null)
    expect(text).toContain('{"id":9007199254740993,"jsonrpc":"2.0","error":{"code":-32601,')
    expect(list[3]).toEqual({ id: null, jsonrpc: '2.0', result: absent })
    expectError(list[4], -32600, null)
  })

  test('a batch of notifications has no body', async () => {
    const answer = await post(`[{"jsonrpc":"2.0",${known}},{"jsonrpc":"2.0","method":"no"}]`)
    expect([answer.status, answer.text]).toEqual([204, ''])
  })

  test('a hundred requests are a batch, one more is none', async () => {
    const batch = (count: number) => `[${Array.from({ length: count }, (_, i) => `{"id":${i},${known}}`).join(',')}]`
    const most = (await post(batch(100))).body as { id: number }[]
    expect(most.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect(expectError((await post(batch(101))).body, -32600, null)).toContain('100')
  })
})

describe('over HTTP', () => {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s is not how to ask', async (method) => {
    for (const path of ['/', '/rpc']) {
      const answer = await ask(server.port, path, { method })
      expect(answer.status).toBe(405)
      expect(answer.headers['allow']).toBe('POST')
      expectError(answer.body, -32600, null)
    }
  })

  test('a body over the limit is refused, announced or not', async () => {
    const body = `{"id":1,${known},"more":"${'x'.repeat(apiLimits.rpcBody)}"}`
    for (const headers of [json, { ...json, 'transfer-encoding': 'chunked' }]) {
      const answer = await post(body, headers)
      expect(answer.status).toBe(413)
      expectError(answer.body, -32600, null)
    }
  })

  test('one just below it is not', async () => {
    const head = `{"id":1,${known},"more":"`
    const body = `${head}${'x'.repeat(apiLimits.rpcBody - head.length - 2)}"}`
    expect(body.length).toBe(apiLimits.rpcBody)
    expect((await post(body)).body).toEqual({ id: 1, jsonrpc: '2.0', result: absent })
  })

  test.each([
    ['[', 'values'],
    ['1,', 'values'],
    ['[],', 'values'],
    ['{},', 'values'],
    ['"",', 'values'],
    ['":",', 'values'],
    ['{"a":', 'names'],
    ['{"a"\n :', 'names'],
    [`{"${'a'.repeat(apiLimits.bodyName + 1)}":`, 'name of more'],
  ])('a large one of many small values, or of many or long names, is refused: %s', async (part, reason) => {
    const many = part.repeat(Math.ceil(apiLimits.plainBody / part.length))
    const answer = await post(`{"id":1,${known},"more":[${many}0]}`)
    expect(answer.status).toBe(200)
    expect(expectError(answer.body, -32600, null)).toContain(reason)
  })

  describe('a large one of as much as the methods take', () => {
    const inputs = Array.from({ length: apiLimits.listedInputs }, (_, i) => {
      return { txid: i.toString(16).padStart(64, '0'), vout: i }
    })
    const outputs = Array.from({ length: apiLimits.listedInputs }, (_, i) => {
      return { address: testAddress(i % 10), amount: `${i + 1}.12345678` }
    })

    test.each([
      ['arrays', { inputs, outputs, locktime: 0 }],
      ['texts', { inputs: JSON.stringify(inputs), outputs: JSON.stringify(outputs), locktime: 0 }],
    ])('is answered: the longest lists of a transaction, as %s', async (_, params) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'createrawtransaction', params })
      expect(body.length).toBeGreaterThan(apiLimits.plainBody)
      const { result } = (await post(body)).body as { result: string }
      const built = Transaction.fromHex(result)
      expect([built.inputs, built.outputs].map(({ length }) => length)).toEqual([1000, 1000])
    })

    test('is answered: a full batch of conditions with as many values as they may have', async () => {
      // Two of the values are the object and its array, and two are in each branch.
      const branches = Array.from({ length: conditionLimits.nodes / 2 - 1 }, (_, i) => ({ 'service.type': `Type${i}` }))
      const params = { query: JSON.stringify({ $or: branches }), skip: 0, limit: 0, context: false }
      const batch = Array.from({ length: apiLimits.batch }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'query',
        params,
      }))
      const { body } = await post(JSON.stringify(batch))
      expect(body).toHaveLength(apiLimits.batch)
      for (const answer of body as unknown[]) expect(answer).toMatchObject({ result: { total: 0 } })
      const more = batch.map((one) => ({ ...one, params: { query: JSON.stringify({ $or: [...branches, {}] }) } }))
      const refused = await post(JSON.stringify(more.slice(0, 1)))
      expect(refused.body).toMatchObject([{ error: { data: expect.stringContaining('256') } }])
    })
  })

  test('a small one of many small values is not', async () => {
    const body = `{"id":1,${known},"more":[${'0,'.repeat(65_000)}0]}`
    expect(body.length).toBeLessThan(apiLimits.plainBody)
    expect((await post(body)).body).toEqual({ id: 1, jsonrpc: '2.0', result: absent })
  })

  test('the JSON-RPC port has the same methods at every path, and nothing else', async () => {
    const only = await serve(context, { serves: 'rpc' })
    try {
      const paths = ['/', '/rpc', '/eid', '/api/v1/block/height', '/a/b?c=%20', '//', `/${'x'.repeat(5000)}`, '/eid%zz']
      for (const path of paths) {
        const answer = await ask(only.port, path, { method: 'POST', body: `{"id":1,${known}}` })
        expect(answer.body).toEqual({ id: 1, jsonrpc: '2.0', result: absent })
        for (const method of ['GET', 'PUT', 'HEAD']) {
          const other = await ask(only.port, path, { method })
          expect([path, method, other.status, other.headers.allow]).toEqual([path, method, 405, 'POST'])
          if (method !== 'HEAD') expectError(other.body, -32600, null)
        }
      }
    } finally {
      await only.close()
    }
  })
})

describe('resolvedid', () => {
  test.each([
    ['no params', undefined],
    ['null', null],
    ['a list', ['x', false]],
    ['a list of one object', [{ did: 'x', all: false }]],
    ['nothing in it', {}],
    ['no did', { all: false }],
    ['a number', { did: 1, all: false }],
    ['null as did', { did: null, all: false }],
    ['an empty did', { did: '', all: false }],
    ['another method', { did: 'did:web:x', all: false }],
    ['a method of another case', { did: 'did:Ledger:x', all: false }],
    ['no identifier', { did: 'did:ledger:', all: false }],
    ['a fragment', { did: `${did}#primary`, all: false }],
    ['a path', { did: '../../x', all: false }],
    ['a blank', { did: 'x y', all: false }],
    ['not ASCII', { did: 'ü', all: false }],
    ['257 characters', { did: 'x'.repeat(257), all: false }],
    ['no all', { did: 'x' }],
    ['all as text', { did: 'x', all: 'true' }],
    ['all as number', { did: 'x', all: 1 }],
    ['all as null', { did: 'x', all: null }],
  ])('refuses %s', async (_, params) => {
    const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resolvedid', params }))
    expectError(answer.body, -32602, 1)
  })

  test('answers with the resolve result, members in their order', async () => {
    const person = holder()
    const txid = await node.publish(person.create(), person.did)
    const { text, body } = await post(
      JSON.stringify({ id: 1, method: 'resolvedid', params: { did: person.did, all: true } }),
    )
    expect(text.startsWith('{"id":1,"jsonrpc":"2.0","result":{"did":"did:ledger:i')).toBe(true)
    const { result } = body as { result: Record<string, unknown> }
    expect(Object.keys(result)).toEqual(['did', 'status', 'transaction'])
    const [transaction] = result['transaction'] as Record<string, unknown>[]
    expect(Object.keys(transaction as object)).toEqual(['txid', 'timestamp', 'operation'])
    expect(transaction?.['txid']).toBe(txid)
    const operation = transaction?.['operation'] as Record<string, object>
    expect(Object.keys(operation)).toEqual(['header', 'payload', 'proof'])
    expect(Object.keys(operation['header'] as object)).toEqual(['specification', 'operation'])
    expect(Object.keys(operation['proof'] as object)).toEqual(['type', 'verificationMethod', 'signature'])
  })
})

describe('did_resolveDID', () => {
  const resolve = async (params: unknown) =>
    (await post(JSON.stringify({ id: 'x', method: 'did_resolveDID', params }))).body as { result: never; error: never }
  const result = async (params: unknown) =>
    (await resolve(params)).result as {
      status: number
      did: string
      transaction?: { txid: string; operation: never }[]
    }

  test('with an object it is resolvedid, but all may be missing', async () => {
    const person = holder()
    const create = await node.publish(person.create(), person.did)
    await node.publish(person.update(create), person.did)
    expect((await result({ did: person.did })).transaction).toHaveLength(1)
    expect((await result({ did: person.did, all: true })).transaction).toHaveLength(2)
    const same = await post(JSON.stringify({ id: 'x', method: 'resolvedid', params: { did: person.did, all: true } }))
    expect(await resolve({ did: person.did, all: true })).toEqual(same.body)
  })

  test('with a list of one object it answers in the shape that clients read', async () => {
    const person = holder()
    const soon = new Date(node.clock.time + 3_600_000).toISOString().replace(/\.\d+/, '')
    const create = await node.publish(person.create({ expires: soon }), person.did)
    const methods = (answer: { transaction?: { operation: never }[] }) =>
      answer.transaction?.map(
        ({ operation }) => (operation as { proof: { verificationMethod: string } }).proof.verificationMethod,
      )
    const valid = await result([{ did: person.did }])
    expect([valid.status, methods(valid)]).toEqual([0, [`${person.did}#primary`]])

    const before = node.clock.time
    node.clock.time += 7_200_000
    try {
      expect((await result({ did: person.did })).status).toBe(1)
      // Clients look at `expires` themselves.
      expect((await result([{ did: person.did, all: false }])).status).toBe(0)
    } finally {
      node.clock.time = before
    }

    const update = await node.publish(person.update(create, { expires: soon }), person.did)
    expect((await result([{ did: person.did, all: true }])).transaction).toHaveLength(2)
    const deactivate = await node.publish(person.deactivate(), person.did)
    for (const all of [true, false, undefined]) {
      const gone = await result([{ did: person.did, all }])
      expect([gone.status, gone.transaction?.map(({ txid }) => txid)]).toEqual([2, [deactivate, update]])
      expect(methods(gone)).toEqual([`${person.did}#recovery`, `${person.did}#primary`])
    }
    expect((await result({ did: person.did })).transaction).toHaveLength(1)
    expect(await result([{ did: 'x' }])).toEqual(absent)
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty list', []],
    ['two objects', [{ did }, { did }]],
    ['a list of text', [did]],
    ['no did', {}],
    ['no did in the list', [{}]],
    ['all that is no boolean', { did, all: null }],
    ['the same in a list', [{ did, all: 'yes' }]],
    ['another method', [{ did: 'did:web:x' }]],
  ])('refuses %s', async (_, params) => {
    expectError(await resolve(params), -32602, 'x')
  })
})

describe('dev_ methods', () => {
  const call = (method: string, params: unknown, headers: Record<string, string> = json) =>
    post(JSON.stringify({ id: 1, method, params }), headers)

  test.each([
    ['dev_mine', { blocks: 3 }, ['mine', 3], ['00'.repeat(32)]],
    ['dev_mine', [3], ['mine', 3], ['00'.repeat(32)]],
    ['dev_mine', undefined, ['mine', 1], ['00'.repeat(32)]],
    ['dev_increaseTime', { seconds: 60 }, ['increaseTime', 60], 1060],
    ['dev_setTime', { time: 1_800_000_000 }, ['setTime', 1_800_000_000], 1_800_000_000],
    ['dev_reorg', {}, ['reorg', 1, false], { disconnected: ['22'.repeat(32)], connected: ['33'.repeat(32)] }],
    [
      'dev_reorg',
      { blocks: 7, transactions: 'drop' },
      ['reorg', 7, true],
      { disconnected: ['22'.repeat(32)], connected: ['33'.repeat(32)] },
    ],
    [
      'dev_reorg',
      [2, 'return'],
      ['reorg', 2, false],
      { disconnected: ['22'.repeat(32)], connected: ['33'.repeat(32)] },
    ],
    [
      'dev_dropTransaction',
      { txid: `${'00'.repeat(31)}ff` },
      ['dropTransaction', `ff${'00'.repeat(31)}`],
      ['44'.repeat(32)],
    ],
    ['dev_dumpState', {}, ['dumpState'], 'a state of any "length" '.repeat(20_000)],
    ['dev_loadState', { state: 'AAAA' }, ['loadState', 'AAAA'], true],
    ['dev_setNextBlockTime', [1_800_000_000], ['setNextBlockTime', 1_800_000_000], 1_800_000_000],
    [
      'dev_faucet',
      { address: testAddress(3), amount: '1.5' },
      ['faucet', testAddress(3), 150_000_000n],
      '11'.repeat(32),
    ],
    ['dev_faucet', [testAddress(3), 2], ['faucet', testAddress(3), 200_000_000n], '11'.repeat(32)],
    ['dev_faucet', [testAddress(3), 0.00000001], ['faucet', testAddress(3), 1n], '11'.repeat(32)],
  ])('%s %j', async (method, params, made, answered) => {
    calls.length = 0
    const { body } = await call(method, params)
    expect(body).toEqual({ id: 1, jsonrpc: '2.0', result: answered })
    expect(calls).toEqual([made])
  })

  test.each([{}, [], undefined])('dev_accounts %j: the public part of each, with its balance', async (params) => {
    const { did: holderDid, publicKey, privateKey, recovery } = devnetAccount(0)
    const { body, text } = await call('dev_accounts', params)
    const account = { index: 0, address: testAddress(3), did: holderDid, publicKey: toHex(publicKey) }
    expect(body).toEqual({ id: 1, jsonrpc: '2.0', result: [{ ...account, balance: '0.00000000' }] })
    for (const secret of [privateKey, recovery?.privateKey ?? privateKey]) expect(text).not.toContain(toHex(secret))
  })

  test('dev_keys: the mnemonic, and the private keys of each', async () => {
    const { privateKey, recovery = { privateKey } } = devnetAccount(0)
    const keys = [{ index: 0, privateKey: toHex(privateKey), recoveryKey: toHex(recovery.privateKey) }]
    expect((await call('dev_keys', {})).body).toEqual({
      id: 1,
      jsonrpc: '2.0',
      result: { mnemonic: devnetMnemonic, keys },
    })
  })

  test.each([
    ['dev_accounts', [1]],
    ['dev_keys', { index: 0 }],
    ['dev_mine', { blocks: 1.5 }],
    ['dev_mine', { blocks: '1' }],
    ['dev_mine', { blocks: null }],
    ['dev_mine', [1, 2]],
    ['dev_increaseTime', {}],
    ['dev_increaseTime', { seconds: 1, second: 2 }],
    ['dev_mine', { block: 3 }],
    ['dev_snapshot', { id: 1 }],
    ['dev_increaseTime', { seconds: 1e30 }],
    ['dev_setTime', {}],
    ['dev_reorg', { blocks: '3' }],
    ['dev_reorg', { transactions: 'keep' }],
    ['dev_dropTransaction', {}],
    ['dev_dropTransaction', { txid: '00' }],
    ['dev_loadState', {}],
    ['dev_loadState', { state: 7 }],
    ['dev_setNextBlockTime', {}],
    ['dev_setNextBlockTime', { time: 'tomorrow' }],
    ['dev_faucet', {}],
    ['dev_faucet', { address: 'E', amount: '1' }],
    ['dev_faucet', { address: testAddress(3) }],
    ['dev_faucet', { address: testAddress(3), amount: '0' }],
    ['dev_faucet', { address: testAddress(3), amount: '-1' }],
    ['dev_faucet', { address: testAddress(3), amount: -1 }],
    ['dev_faucet', { address: testAddress(3), amount: '1.123456789' }],
    ['dev_faucet', { address: testAddress(3), amount: '33000000.00000001' }],
    ['dev_faucet', { address: testAddress(3), amount: {} }],
  ])('%s refuses %j', async (method, params) => {
    calls.length = 0
    expectError((await call(method, params)).body, -32602, 1)
    expect(calls).toEqual([])
  })

  test.each([
    ['no content type', {}],
    ['text', { 'content-type': 'text/plain' }],
    ['JSON only by name', { 'content-type': 'application/json-patch+json' }],
    ['a page of another site', { ...json, 'sec-fetch-site': 'cross-site' }],
    ['a page of another origin', { ...json, origin: 'https://example.com' }],
    ['a page of another port', { ...json, origin: 'http://127.0.0.1:3000', host: '127.0.0.1:1' }],
    ['a name that was pointed here, without Origin', { ...json, host: 'evil.example' }],
    ['an origin that is nobody', { ...json, origin: 'null' }],
    ['a name that was pointed here', { ...json, host: 'evil.example', origin: 'http://evil.example' }],
  ])('refuse %s', async (_, headers: Record<string, string>) => {
    calls.length = 0
    for (const method of ['dev_mine', 'dev_keys']) expectError((await call(method, {}, headers)).body, -32010, 1)
    expect(calls).toEqual([])
  })

  test.each([
    [
      'a page of the same origin',
      { ...json, origin: 'http://127.0.0.1:1', host: '127.0.0.1:1', 'sec-fetch-site': 'same-origin' },
    ],
    ['a program', { 'content-type': 'application/json; charset=utf-8' }],
  ])('take %s', async (_, headers: Record<string, string>) => {
    expect((await call('dev_mine', { blocks: 1 }, headers)).body).toMatchObject({ result: ['00'.repeat(32)] })
  })

  test('do not exist where the node is no devnet', async () => {
    const plain = await serve(contextOf(node))
    try {
      for (const method of [
        'dev_accounts',
        'dev_keys',
        'dev_mine',
        'dev_increaseTime',
        'dev_setNextBlockTime',
        'dev_faucet',
      ]) {
        const body = JSON.stringify({ id: 1, method, params: {} })
        expectError((await ask(plain.port, '/rpc', { method: 'POST', headers: json, body })).body, -32601, 1)
      }
    } finally {
      await plain.close()
    }
  })
})
