import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CredentialList, CredentialResult } from '../../../src/identity/did/resolution.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { contextOf } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'
import { behind } from '../../support/fakes/standing.js'

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
    ['of a holder with a wrong checksum', { id: `${did.replace(/.$/, '0')}#email` }],
    ['an issuer with a wrong checksum', { id, issuer: did.replace(/.$/, '0') }],
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
    ['an issuer of another method', { id, issuer: 'did:other:x' }],
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

describe('a chain with declares and revokes', () => {
  const [ada, bob] = [holder(), holder()]
  const credential = (name: string, changes = {}) => bob.issue(ada.did, { id: `${ada.did}#${name}`, ...changes })
  const idsFrom = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${ada.did}#n${from + i}`)
  let chain: TestChain
  let ask: RpcClient

  beforeAll(async () => {
    chain = await TestChain.open(withoutValidators)
    ask = new RpcClient(contextOf(chain))
    for (const each of [ada, bob]) await chain.publish(each.create(), each.did)
  })
  afterAll(() => chain.close())

  test('say in each form what that form has', async () => {
    const about = `${ada.did}#degree`
    const declare = await chain.publish(ada.declare(credential('degree')), ada.did)
    const shown = { txid: declare, timestamp: expect.any(String) as unknown }
    const proof = { type: 'ECDSAsecp256r1', signature: expect.any(String) as unknown }
    const header = { specification: 'ledger/credential/1.0', operation: 'declare' }
    const payload = Buffer.from(credential('degree')).toString('base64url')
    const read = await ask.call<{ transaction: { operation: { payload: string } }[] }>('did_resolveCredential', {
      id: about,
    })
    expect(read).toEqual({
      id: about,
      status: 0,
      transaction: [
        {
          ...shown,
          operation: {
            header,
            payload: expect.any(String) as unknown,
            proof: { ...proof, verificationMethod: '#primary' },
          },
        },
      ],
    })
    expect(read.transaction[0]?.operation.payload.length).toBe(payload.length)
    const absolute = { ...proof, verificationMethod: `${ada.did}#primary` }
    expect(await ask.call('did_resolveCredential', [{ id: about }])).toMatchObject({
      status: 0,
      transaction: [{ ...shown, operation: { proof: absolute } }],
    })

    const revoke = await chain.publish(bob.revoke(about), bob.did)
    for (const params of [{ id: about }, [{ id: about }]]) {
      const { status, transaction } = await ask.call<CredentialResult>('did_resolveCredential', params)
      expect([status, transaction?.map(({ txid }) => txid)]).toEqual([2, [revoke, declare]])
    }
  })

  test('shows from its last moment on that a credential has expired, but not to SDKs', async () => {
    const about = `${ada.did}#short`
    await chain.publish(ada.declare(credential('short', { expirationDate: '2031-01-01T00:00:00Z' })), ada.did)
    const statuses = async () => [
      (await ask.call<CredentialResult>('did_resolveCredential', { id: about })).status,
      (await ask.call<CredentialResult>('did_resolveCredential', [{ id: about }])).status,
    ]
    const before = chain.clock.time
    chain.clock.time = Date.UTC(2031, 0, 1) - 1
    expect(await statuses()).toEqual([0, 0])
    chain.clock.time += 1
    expect(await statuses()).toEqual([1, 0])
    chain.clock.time = before
  })

  test('lists 128 at once, or up to 256, in the order of the chain', async () => {
    for (const all = idsFrom(0, 258); all.length > 0;) {
      for (const one of all.splice(0, 8)) {
        await chain.send(await chain.carry(ada.declare(ada.issue(ada.did, { id: one })), ada.did))
      }
      await chain.mine()
    }
    const list = async (page: object) =>
      (await ask.call<CredentialList>('did_listCredentials', { did: ada.did, ...page })).credentials
    expect(await list({ skip: 2 })).toEqual(idsFrom(0, 128))
    expect(await list({ skip: 2, limit: 0 })).toEqual(idsFrom(0, 128))
    expect(await list({ skip: 2, limit: 256 })).toEqual(idsFrom(0, 256))
    expect(await list({ skip: 2, limit: 9000 })).toEqual(idsFrom(0, 256))
    expect(await list({ skip: 2 + 256, limit: 5 })).toEqual(idsFrom(256, 258))
    expect(await list({ limit: 2 })).toEqual([`${ada.did}#degree`, `${ada.did}#short`])
  })
})

test('a node that catches up says so', async () => {
  const joining = new RpcClient(contextOf(node, { standing: () => behind(0, 5) }))
  expect(await joining.refusal('did_resolveCredential', { id })).toMatchObject({ code: -32001 })
  expect(await joining.refusal('did_listCredentials', { did })).toMatchObject({ code: -32001 })
})
