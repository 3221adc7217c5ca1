import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PassedOn } from '../../../src/answers/api/http/passed-on.js'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { TestChain } from '../../support/builders/chain.js'
import { testAddress } from '../../support/builders/spec.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'

/** A server that passes transactions on to another one. */

let node: TestChain
let first: ApiServer
let second: ApiServer
beforeEach(async () => {
  node = await TestChain.open()
  await node.mine(2)
  first = await serve(contextOf(node))
  second = await serve(contextOf(node, { followed: new PassedOn(`http://127.0.0.1:${first.port}`) }))
})
afterEach(async () => {
  await second.close()
  await first.close()
  await node.close()
})

const path = '/api/v1/transaction'
const call = (port: number, params: unknown, more: object = {}) =>
  askJson(port, '/rpc', { jsonrpc: '2.0', id: 1e3, method: 'sendrawtransaction', params, ...more })

it('takes a transaction of REST and of JSON-RPC', async () => {
  const [one, two] = [await node.transfer(testAddress(1), 5n), await node.transfer(testAddress(2), 5n)]
  const posted = await askJson(second.port, path, { Action: 'sendrawtransaction', data: one.toHex() })
  expect(posted).toMatchObject({ status: 200, body: { Error: 0, Result: one.txid } })
  expect(node.mempool.size).toBe(1)
  expect((await call(second.port, [two.toHex()])).body).toMatchObject({ id: 1000, error: { code: -32000 } })
})

describe('a refusal', () => {
  it('is that of the other node, byte for byte', async () => {
    for (const data of ['00', 'zz', 5, undefined]) {
      const bodies = await Promise.all(
        [first, second].map(async ({ port }) => [
          (await askJson(port, path, { Action: 'sendrawtransaction', data })).text,
          (await askJson(port, path, { Action: 'other', data })).text,
          (await call(port, { data })).text,
          (await call(port, { data }, { id: undefined })).text,
        ]),
      )
      expect(bodies[1]).toEqual(bodies[0])
    }
  })

  it('is its own for a body that is not JSON, or too long', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await ask(second.port, path, { method: 'POST', headers, body: '{}' })).status).toBe(415)
    const json = { 'content-type': 'application/json' }
    const body = new Uint8Array([0xff])
    expect((await ask(second.port, path, { method: 'POST', headers: json, body })).body).toMatchObject({ Error: 41003 })
  })

  it('says that the other node does not answer, and no address of it', async () => {
    await first.close()
    const { status, text } = await askJson(second.port, path, { Action: 'sendrawtransaction', data: '00' })
    expect([status, text.includes(String(first.port))]).toEqual([502, false])
    expect((await call(second.port, { data: '00' })).body).toMatchObject({ error: { code: -32023 } })
  })
})
