import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { ApiContext } from '../../../src/answers/api/api-context.js'
import { type ApiLimits } from '../../../src/answers/api/api-limits.js'
import type { ResolveResult } from '../../../src/identity/did/resolution.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'

const opened: { close(): Promise<void> | void }[] = []
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close()
})

/** A node with a DID, served, and a count of what its resolver is asked. */
async function scene(limits: Partial<ApiLimits> = {}) {
  const node = await TestChain.open()
  opened.push(node)
  const person = holder()
  await node.publish(person.create(), person.did)
  const context = contextOf(node, { limits })
  const state = { asked: 0, catchingUp: false, time: undefined as number | undefined }
  const real = context.resolver
  const resolver: ApiContext['resolver'] = {
    resolve: (...asked) => {
      state.asked++
      return real.resolve(...asked)
    },
    resolveShort: (...asked) => real.resolveShort(...asked),
    queryJson: (...asked) => real.queryJson(...asked),
    now: () => state.time ?? real.now(),
    credentials: real.credentials,
    proofs: real.proofs,
    get standing() {
      return real.standing
    },
    get answersAt() {
      return state.catchingUp ? undefined : real.answersAt
    },
  }
  const server = await serve({ ...context, resolver })
  opened.push(server)
  const call = { jsonrpc: '2.0', id: 7, method: 'resolvedid', params: { did: person.did, all: false } }
  const metrics = async () => (await ask(server.port, '/metrics')).text
  return { node, person, port: server.port, state, body: JSON.stringify(call), metrics }
}

/** The bytes of one answer but for its date. */
function exchange(port: number, ...parts: (string | number)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('end', () => resolve(text.replace(/Date: [^\r]*\r\n/g, '')))
    socket.on('error', reject)
    void (async () => {
      for (const part of parts) {
        if (typeof part === 'number') await sleep(part)
        else socket.write(part)
      }
    })()
  })
}

const post = (body: string, headers = '', path = '/rpc') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n` +
  `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const resultOf = (text: string) =>
  JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { result?: ResolveResult; error?: { code: number } }

describe('A call that was answered before', () => {
  it('gets the same bytes, headers and counts, and the resolver is not asked again', async () => {
    const { port, body, state, metrics } = await scene()
    const first = await exchange(port, post(body))
    expect(resultOf(first).result?.status).toBe(0)
    expect(state.asked).toBe(1)
    expect(await exchange(port, post(body))).toBe(first)
    expect(await exchange(port, post(body, '', '/'))).toBe(first)
    expect(state.asked).toBe(1)
    const text = await metrics()
    expect(text).toContain('didledger_http_requests_total{path="/rpc",status="200"} 2')
    expect(text).toContain('didledger_http_requests_total{path="/",status="200"} 1')
    expect(text).toContain('didledger_rpc_calls_total{interface="http",method="resolvedid",status="ok"} 3')
  })

  it.each([
    ['of another id', (body: string) => body.replace('"id":7', '"id":8'), '8'],
    [
      'with the longest id',
      (body: string) => body.replace('"id":7', `"id":"${'7'.repeat(62)}"`),
      `"${'7'.repeat(62)}"`,
    ],
    [
      'with an id beyond the exact numbers',
      (body: string) => body.replace('"id":7', '"id":12345678901234567890'),
      '12345678901234567890',
    ],
    ['with spaces', (body: string) => ` ${body.replace(':', ' : ')}`, '7'],
    ['in a batch', (body: string) => `[${body}]`, '7'],
    [
      'with members that the method ignores',
      (body: string) => body.replace('false', `false,"x":["${'x'.repeat(5000)}"]`),
      '7',
    ],
  ])('gets the same result %s', async (_, change, id) => {
    const { port, body, state } = await scene()
    const first = resultOf(await exchange(port, post(body)))
    for (let i = 0; i < 2; i++) {
      const text = await exchange(port, post(change(body)))
      expect([resultOf(text)].flat()).toEqual([{ ...first, id: JSON.parse(id) as unknown }])
      expect(text).toContain(`"id":${id},`)
    }
    expect(state.asked).toBe(1)
  })

  it('is answered anew after a block', async () => {
    const { node, person, port, body } = await scene()
    const first = resultOf(await exchange(port, post(body)))
    await node.publish(person.update(first.result?.transaction?.[0]?.txid as string), person.did)
    const second = resultOf(await exchange(port, post(body)))
    expect(second.result?.transaction?.[0]?.txid).not.toBe(first.result?.transaction?.[0]?.txid)
    expect(second.result?.transaction?.[0]?.operation.header.operation).toBe('update')
  })

  it('is answered anew once the document has expired', async () => {
    const { port, body, state } = await scene()
    await exchange(port, post(body))
    state.time = Date.parse('2999-01-01T00:00:00Z')
    await exchange(port, post(body))
    expect(state.asked).toBe(2)
  })

  it('is answered anew by a node that catches up', async () => {
    const { port, body, state } = await scene()
    await exchange(port, post(body))
    state.catchingUp = true
    await exchange(port, post(body))
    await exchange(port, post(body))
    expect(state.asked).toBe(3)
  })

  it('may come in pieces, or behind another one on its connection', async () => {
    const { port, body } = await scene()
    const first = await exchange(port, post(body))
    const whole = post(body)
    expect(await exchange(port, whole.slice(0, -30), 50, whole.slice(-30, -10), 50, whole.slice(-10))).toBe(first)
    expect(await exchange(port, whole.slice(0, 40), 50, whole.slice(40))).toBe(first)
    const open = whole.replace('Connection: close\r\n', '')
    const both = await exchange(port, open + whole)
    expect(both.split('HTTP/1.1 200 OK')).toHaveLength(3)
    expect(both.endsWith(first.slice(first.indexOf('\r\n\r\n')))).toBe(true)
  })
})

describe('A call that is not kept', () => {
  it.each([
    ['without an id', (body: string) => body.replace('"id":7,', '')],
    ['with an id that is long', (body: string) => body.replace('"id":7', `"id":"${'7'.repeat(63)}"`)],
    ['with a parameter of another value', (body: string) => body.replace('"all":false', '"all":false,"context":true')],
    ['of a DID that does not exist', (body: string) => body.replace(/did:ledger:\w+/, `did:ledger:i${'1'.repeat(33)}`)],
  ])('is answered by its method: %s', async (_, change) => {
    const { port, body, state } = await scene()
    await exchange(port, post(body))
    const before = state.asked
    await exchange(port, post(change(body)))
    expect(state.asked).toBeGreaterThan(before)
  })

  it('is refused as before: malformed, too long for its length, empty, of a wrong path or method', async () => {
    const { port, body } = await scene()
    await exchange(port, post(body))
    expect(resultOf(await exchange(port, post('{"id":1'))).error?.code).toBe(-32700)
    expect((await ask(port, '/nowhere', { method: 'POST', body })).status).toBe(404)
    expect((await ask(port, '/rpc', { method: 'PUT', body })).status).toBe(405)
    const longer = post(body).replace(/Content-Length: (\d+)/, (_, length) => `Content-Length: ${Number(length) - 1}`)
    expect(resultOf(await exchange(port, longer)).error?.code).toBe(-32700)
    expect(await exchange(port, post(''))).toMatch(/^HTTP\/1\.1 \d+ /)
  })
})

describe('A port that limits the requests of an address', () => {
  it('counts calls that were answered before too', async () => {
    const { port, body } = await scene({ rateSparesLoopback: false, rateRequests: 3 })
    for (let i = 0; i < 3; i++) expect(await exchange(port, post(body))).toContain('200 OK')
    expect(await exchange(port, post(body))).not.toContain('200 OK')
  })
})
