import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestChain } from '../../support/builders/chain.js'
import { contextOf } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'

const did = 'did:ledger:iYgD4kpWakQiBB9a3MBTUx8W2E2qeojdN5'
const id = `${did}#email`

let node: TestChain
let rpc: RpcClient

beforeAll(async () => {
  node = await TestChain.open()
  rpc = new RpcClient(contextOf(node))
})
afterAll(() => node.close())

describe('did_resolveCredential', () => {
  test.each([
    ['an object', { id }],
    ['an issuer in full', { id, issuer: did }],
    ['a bare issuer', { id, issuer: 'x' }],
    ['an array of one object, as SDKs send it', [{ id, issuer: did }]],
    ['256 characters', { id: `${did}#`.padEnd(256, 'x') }],
  ])('knows nothing of a credential: %s', async (_, params) => {
    const [first = params] = Array.isArray(params) ? params : []
    expect(await rpc.call('did_resolveCredential', params)).toEqual({ id: (first as { id: string }).id, status: 3 })
  })

  test.each([
    ['a bare fragment', { id: '#email' }],
    ['no fragment', { id: did }],
    ['an empty fragment', { id: `${did}#` }],
    ['another method', { id: 'did:other:x#email' }],
    ['257 characters', { id: `${did}#`.padEnd(257, 'x') }],
    ['nothing', { id: '' }],
    ['an issuer that is none', { id, issuer: 'a b' }],
    ['two objects', [{ id }, { id }]],
    ['no object', []],
  ])('refuses %s', async (_, params) => {
    expect(await rpc.refusal('did_resolveCredential', params)).toMatchObject({ code: -32602 })
  })
})

describe('did_listCredentials', () => {
  test.each([
    ['an object', { did }],
    ['the identifier alone', { did: did.slice('did:ledger:'.length) }],
    ['a page, as SDKs ask for it', [{ did, skip: 5, limit: 7 }]],
  ])('lists none: %s', async (_, params) => {
    expect(await rpc.call('did_listCredentials', params)).toEqual({ did, credentials: [] })
  })

  test.each([
    ['a text for a number', { did, skip: '5' }],
    ['a negative number', { did, limit: -1 }],
    ['a fraction', { did, limit: 0.5 }],
    ['no DID', {}],
  ])('refuses %s', async (_, params) => {
    expect(await rpc.refusal('did_listCredentials', params)).toMatchObject({ code: -32602 })
  })
})

test('a node that catches up says so', async () => {
  const sync = () => ({ catchingUp: true, height: 0, target: 5 })
  const behind = new RpcClient(contextOf(node, { sync }))
  expect(await behind.refusal('did_resolveCredential', { id })).toMatchObject({ code: -32001 })
  expect(await behind.refusal('did_listCredentials', { did })).toMatchObject({ code: -32001 })
})
