import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HttpPort } from '../../../src/answers/api/http/http-port.js'
import { RegistrarMetrics } from '../../../src/answers/api/metrics/registrar-metrics.js'
import { openRegistrar, openRegistrarMetrics } from '../../../src/answers/api/servers/registrar-server.js'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { PaymentLane } from '../../../src/clients/registrar/payment-lane.js'
import { readClients, RegistrarClients, type Spent } from '../../../src/clients/registrar/registrar-clients.js'
import { Registrar, type RegistrarNode } from '../../../src/clients/registrar/registrar.js'
import { Refused } from '../../../src/clients/registrar/registration.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { multikeyText } from '../../../src/identity/did/agreement-key.js'
import { buildCreate, buildDocument } from '../../../src/identity/did/build.js'
import { formatPublicKey } from '../../../src/base/crypto/key-forms.js'
import { didFromPublicKey } from '../../../src/base/primitives/address.js'
import { operationJson } from '../../../src/base/primitives/did-operation.js'
import { contextIn } from '../../../src/program/cli/cli-context.js'
import { registrarNode } from '../../../src/program/cli/registrar-node.js'
import { createNode, type LedgerNode } from '../../../src/index.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { quietLog } from '../../support/builders/chain.js'
import { holder, signer, specification } from '../../support/builders/did.js'
import { type QuickSigner, quickSigner } from '../../support/builders/signatures.js'
import { ask, askWith } from '../../support/client/api.js'
import { parseMetrics, sampleOf } from '../../support/assert/prometheus.js'
import { type Registered, RegistrarUser } from '../../support/client/registrar.js'

const token = 'token-of-the-first-client'
const poor = 'token-of-the-poor-client'
const slow = 'token-of-the-slow-client'
const terms = {
  clients: [
    { name: 'app', token, budget: '1', perMinute: 100_000 },
    { name: 'poor', token: poor, budget: '0.00000050', perMinute: 1000 },
    { name: 'slow', token: slow, budget: '1', perMinute: 2 },
  ],
}
const clock = { time: Date.now(), now: () => clock.time }

let node: LedgerNode
let server: HttpPort
let measured: HttpPort
let metrics: RegistrarMetrics
let isReachable = true
let kept: Spent = new Map()
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  const client = new NodeClient({ rest: node.api?.rest ?? '' })
  const outside = { clock, env: {}, out: () => {}, err: () => {}, prompt: undefined }
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const context = contextIn({ ...outside, random })
  const clients = new RegistrarClients(readClients(terms), { spent: new Map(), keep: (spent) => (kept = spent), clock })
  const paid = { account: node.wallet.account(9), clients, chain: {}, log: quietLog(), lane: new PaymentLane() }
  const chain = registrarNode(context, client, paid)
  const registrar = new Registrar(chain, { clock, random })
  metrics = new RegistrarMetrics({
    waiting: () => registrar.waiting,
    payments: () => paid.lane.waiting,
    budgets: () => clients.budgets(),
  })
  const place = { hosts: ['127.0.0.1'], port: 0, log: quietLog() }
  const ask = () => (isReachable ? chain.now() : Promise.reject(new UserError('http://10.0.0.1 does not answer')))
  server = await openRegistrar({ registrar, clients, metrics, ask, ...place })
  measured = await openRegistrarMetrics({ metrics, ...place })
})
afterAll(async () => {
  await server.close()
  await measured.close()
  await node.close()
})

/** Posts the text of a create. */
const posted = (body: string) => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return ask(server.port, '/1.0/create', { method: 'POST', headers, body })
}
const user = (key = quickSigner(), own: string | undefined = token) => new RegistrarUser(server.port, own, key)
const method = (key: QuickSigner, id = '#primary') => {
  return { id, type: 'JsonWebKey', publicKeyJwk: JSON.parse(formatPublicKey(key.publicKey, 'jwk')) as object }
}
const documentOf = (key: QuickSigner, more: object = {}) => ({
  verificationMethod: [method(key)],
  authentication: ['#primary'],
  ...more,
})
const site = { id: '#site', type: 'LinkedDomains', serviceEndpoint: 'https://example.org' }
const didOf = (key: QuickSigner) => didFromPublicKey(key.publicKey, { method: 'ledger' })
const history = async (did: string) => (await node.resolver.resolve(did, { all: true })).transaction ?? []
const resolved = async (did: string) => (await node.resolver.resolve(did, { all: false })).status

describe('a client that signs itself', () => {
  it('creates, updates and ends a DID, with two, two and one signature', async () => {
    const ada = user()
    const did = didOf(ada.key)
    const first = await ada.post('create', { options: { clientSecretMode: true }, didDocument: documentOf(ada.key) })
    expect(first).toMatchObject({ status: 200, body: { didState: { state: 'action', action: 'signPayload', did } } })
    expect(Object.values(first.body.didState.signingRequest ?? {})).toMatchObject([
      { alg: 'ES256', kid: `${did}#primary` },
    ])
    const second = await ada.post('create', ada.signed(first))
    expect(Object.keys(second.body.didState.signingRequest ?? {})).toEqual(['operation'])
    const created = await ada.post('create', ada.signed(second))
    expect(created).toMatchObject({
      status: 201,
      body: {
        jobId: null,
        didState: { state: 'finished', did, didDocument: { id: did, authentication: [`${did}#primary`] } },
      },
    })
    expect(created.body.didDocumentMetadata).toEqual({ versionId: created.body.didRegistrationMetadata['txid'] })
    expect(await resolved(did)).toBe(0)

    const updated = await ada.finish('update', {
      did,
      didDocumentOperation: ['addToDidDocument'],
      didDocument: [{ service: [site], alsoKnownAs: ['https://ada.example'] }],
    })
    expect(updated).toMatchObject({
      status: 200,
      body: { didState: { state: 'finished', didDocument: { service: [{ type: 'LinkedDomains' }] } } },
    })
    const ended = await ada.finish('deactivate', { did })
    expect(ended).toMatchObject({ status: 200, body: { didState: { state: 'finished', did } } })
    expect(await resolved(did)).toBe(2)
  })

  it('sets a whole document as it was resolved, and what that form does not show stays', async () => {
    const [ada, second, encrypting] = [
      user(),
      quickSigner(),
      multikeyText({ curve: 'X25519', publicKey: new Uint8Array(32).fill(9) }),
    ]
    const did = didOf(ada.key)
    const created = await ada.finish('create', { didDocument: documentOf(ada.key, { service: [site] }) })
    const shown = created.body.didState['didDocument'] as Record<string, object[]>
    const changed = {
      ...shown,
      verificationMethod: [...(shown['verificationMethod'] ?? []), method(second, `${did}#second`)],
      authentication: [...(shown['authentication'] ?? []), `${did}#second`],
      assertionMethod: [],
      keyAgreement: [{ id: `${did}#enc`, type: 'Multikey', controller: did, publicKeyMultibase: encrypting }],
      service: [{ ...site, serviceEndpoint: 'https://other.example' }],
    }
    const updated = await ada.finish('update', { did, didDocument: [changed] })
    expect(updated.body.didState['didDocument']).toMatchObject({
      authentication: [`${did}#primary`, `${did}#second`],
      keyAgreement: [{ id: `${did}#enc` }],
      service: [{ id: `${did}#site`, serviceEndpoint: 'https://other.example' }],
    })
    const removed = await ada.finish('update', {
      did,
      didDocumentOperation: ['removeFromDidDocument', 'addToDidDocument'],
      didDocument: [
        { verificationMethod: [{ id: '#second' }], keyAgreement: ['#enc'] },
        { service: [{ ...site, id: '#more' }] },
      ],
    })
    expect(removed.body.didState['didDocument']).toMatchObject({
      authentication: [`${did}#primary`],
      service: [{ id: `${did}#more` }, { id: `${did}#site` }],
    })
    expect(removed.body.didState['didDocument']).not.toHaveProperty('keyAgreement')
    const same = await ada.post('update', { did, didDocument: [removed.body.didState['didDocument']] })
    expect(same.body.didState.reason).toContain('nothing changes')
  })

  it('keeps endpoints that the form of the W3C hides, and may change the expiry alone', async () => {
    const ada = holder()
    const services = [
      { id: '#old', type: 'T', serviceEndpoint: 'nowhere' },
      { id: '#mix', type: 'T', serviceEndpoint: ['https://a.example', 'relative'] },
    ]
    const create = ada.create({ services })
    await user().finish('create', { secret: { operation: operationJson(create) } })
    const one = user(ada.primary)
    const shown = await fetch(`${node.api?.rest}/1.0/identifiers/${ada.did}`)
    const { didDocument } = (await shown.json()) as { didDocument: object }
    const unchanged = await one.post('update', { did: ada.did, didDocument: [didDocument] })
    expect(unchanged.body.didState.reason).toContain('nothing changes')
    const expires = new Date(clock.time + 86_400_000 * 300).toISOString().replace(/\.\d+/, '')
    expect((await one.finish('update', { did: ada.did, options: { expires } })).status).toBe(200)
    const [last] = await history(ada.did)
    const text = Buffer.from(last?.operation.payload ?? '', 'base64url').toString()
    expect(JSON.parse(text)).toMatchObject({
      expires,
      service: [{ serviceEndpoint: ['https://a.example', 'relative'] }, { serviceEndpoint: 'nowhere' }],
    })
  })

  it('may have an operation signed elsewhere', async () => {
    const ada = holder()
    const document = buildDocument(ada.plan, signer(ada.primary))
    const operation = buildCreate(document, { specification, verificationMethod: '#primary' }, signer(ada.primary))
    const created = await user().finish('create', { did: ada.did, secret: { operation: operationJson(operation) } })
    expect(created).toMatchObject({ status: 201, body: { didState: { state: 'finished', did: ada.did } } })
    const before = kept.get('app')
    const forged = {
      ...operationJson(operation),
      proof: { ...operationJson(operation).proof, signature: 'A'.repeat(86) },
    }
    const refused = await user().post('create', { secret: { operation: forged } })
    expect(refused.body.didState).toMatchObject({ error: 'invalidSignature' })
    expect(kept.get('app')).toBe(before)
    const other = await user().post('update', { did: ada.did, secret: { operation: operationJson(operation) } })
    expect(other).toMatchObject({
      status: 400,
      body: { didState: { reason: 'secret.operation is create, not update' } },
    })
  })

  it.each([
    ['by another key', (text: string) => Buffer.from(quickSigner().sign(fromUtf8(text))).toString('base64')],
    ['that is short', () => 'AAAA'],
    ['that is no text', () => 7],
  ])('begins again after a signature %s, and nothing is paid', async (_, signatureOf) => {
    const ada = user()
    const before = kept.get('app')
    const first = await ada.post('create', { didDocument: documentOf(ada.key) })
    const signingResponse = { document: { signature: signatureOf('x') } }
    const wrong = await ada.post('create', { jobId: first.body.jobId, secret: { signingResponse } })
    expect(wrong).toMatchObject({
      status: 400,
      body: { jobId: null, didState: { state: 'failed', error: 'invalidSignature' } },
    })
    expect((await ada.post('create', ada.signed(first))).body.didState).toMatchObject({ error: 'unknownJob' })
    expect(kept.get('app')).toBe(before)
  })

  it('has one job until its end, however often a request comes, and pays once', async () => {
    const ada = user()
    const first = await ada.post('create', { didDocument: documentOf(ada.key) })
    const { jobId } = first.body
    const second = await ada.post('create', ada.signed(first))
    // The answer was lost: the same request comes again.
    expect((await ada.post('create', ada.signed(first))).body).toEqual(second.body)
    expect(second.body.jobId).toBe(jobId)
    const before = kept.get('app') ?? 0n
    const both = await Promise.all([ada.post('create', ada.signed(second)), ada.post('create', ada.signed(second))])
    expect(both.map(({ status }) => status)).toEqual([201, 201])
    expect((await ada.post('create', { jobId })).body).toEqual(both[0]?.body)
    const { length } = await history(didOf(ada.key))
    expect(length).toBe(1)
    expect((kept.get('app') ?? 0n) - before).toBeLessThan(10_000n)
  })

  it('is told again what to sign where it does not answer', async () => {
    const ada = user()
    const first = await ada.post('create', { didDocument: documentOf(ada.key) })
    expect((await ada.post('create', { jobId: first.body.jobId })).body).toEqual(first.body)
  })
})

describe('a request is refused', () => {
  const ada = quickSigner()
  it('that would have another document signed than the one given', async () => {
    const body = JSON.stringify({ didDocument: documentOf(ada, { service: [{ ...site, n: 1 }] }) })
    expect(await posted(body)).toMatchObject({ status: 200, body: { didState: { state: 'action' } } })
    for (const [members, fault] of [
      ['"n":1,"n":2', 'the name "n" again'],
      ['"n":1e400', 'the number 1e400'],
    ] as const) {
      const reason = expect.stringContaining(`the body is no JSON that can be signed: ${fault}`) as string
      const { status, body: answer } = await posted(body.replace('"n":1', members))
      expect([status, answer]).toMatchObject([400, { didState: { state: 'failed', reason } }])
    }
  })

  it.each<[string, string, object, string]>([
    ['without a document', 'create', {}, 'didDocument is no object'],
    ['without a key', 'create', { didDocument: {} }, 'authentication names no key: the DID is made of one'],
    [
      'with a key that is in no list',
      'create',
      { didDocument: { verificationMethod: [method(ada)] } },
      'stands in none of',
    ],
    [
      'with a list that names no key',
      'create',
      { didDocument: { authentication: ['#a'] } },
      'names #a, which is no verification method',
    ],
    [
      'with a key that does both',
      'create',
      { didDocument: documentOf(ada, { keyAgreement: ['#primary'] }) },
      'a key of this chain has one use',
    ],
    [
      'with a member that the chain has not',
      'create',
      { didDocument: documentOf(ada, { capabilityInvocation: ['#primary'] }) },
      'capabilityInvocation is no member',
    ],
    [
      'with an endpoint that is no URI',
      'create',
      { didDocument: documentOf(ada, { service: [{ ...site, serviceEndpoint: 'x' }] }) },
      'is no absolute URI',
    ],
    [
      'with the DID of another key',
      'create',
      { did: didOf(quickSigner()), didDocument: documentOf(ada) },
      'none of the keys in didDocument is the one',
    ],
    [
      'with a private key',
      'create',
      { didDocument: documentOf(ada), secret: { verificationMethod: [{ privateKeyJwk: { d: 'x' } }] } },
      'secret.verificationMethod is not taken',
    ],
    [
      'that wants keys to be made',
      'create',
      { options: { clientSecretMode: false }, didDocument: documentOf(ada) },
      'never holds keys',
    ],
    [
      'with an option that is none',
      'create',
      { options: { keyType: 'x' }, didDocument: documentOf(ada) },
      'keyType is none that a create of this registrar has',
    ],
    [
      'that wants its keys back',
      'create',
      { options: { storeSecrets: false, returnSecrets: true }, didDocument: documentOf(ada) },
      'returnSecrets is false',
    ],
    ['with a member that is none', 'create', { document: {} }, 'document is no option of a registration'],
    [
      'with a private key in a method',
      'create',
      { didDocument: { ...documentOf(ada), verificationMethod: [{ ...method(ada), privateKeyHex: '00' }] } },
      'has privateKeyHex, which no public key has',
    ],
    [
      'with a reference to a key of another DID',
      'create',
      { didDocument: documentOf(ada, { authentication: ['did:key:z#primary'] }) },
      'did: none of the keys',
    ],
    [
      'with a controller that is another DID',
      'create',
      {
        did: didOf(ada),
        didDocument: documentOf(ada, {
          keyAgreement: [{ ...method(quickSigner(), '#e'), controller: 'did:web:evil' }],
        }),
      },
      'it names did:web:evil, and is about',
    ],
    [
      'with an expiry that is over',
      'create',
      { options: { expires: '2020-01-01T00:00:00Z' }, didDocument: documentOf(ada) },
      'options.expires is no time of the next 5 years',
    ],
    [
      'with a key to sign a create',
      'create',
      { options: { key: 'a' }, didDocument: documentOf(ada) },
      'key is none that a create',
    ],
    ['about a DID that is not there', 'update', { did: didOf(ada), didDocument: [{}] }, 'does not exist on this chain'],
    ['about a DID with a name', 'deactivate', { did: 'did:ledger:shop' }, 'has a name'],
    ['about no DID', 'deactivate', { did: 'did:ledger:X' }, 'is no DID of this chain'],
    ['about nothing', 'update', {}, 'did: missing'],
    ['about nothing', 'deactivate', {}, 'did: missing'],
    ['with a job that is not there', 'create', { jobId: 'x' }, 'there is no create with the jobId x'],
  ])('%s', async (_, kind, body, reason) => {
    const { status, body: answer } = await user(ada).post(kind, body)
    expect(answer).toMatchObject({
      jobId: null,
      didState: { state: 'failed', reason: expect.stringContaining(reason) },
    })
    expect(status).toBe(400)
  })

  it('without a token, with another one, in another form, and of another path', async () => {
    for (const own of [undefined, 'another-token-long-enough']) {
      const { status, body } = await new RegistrarUser(server.port, own, ada).post('create', {
        didDocument: documentOf(ada),
      })
      expect([status, body.didState.state]).toEqual([401, 'failed'])
    }
    expect((await askWith(server.port, '/1.0/create', {}, { 'content-type': 'text/plain' })).status).toBe(415)
    expect(await posted('{')).toMatchObject({ status: 400, body: { didState: { state: 'failed' } } })
    expect((await ask(server.port, '/1.0/create')).status).toBe(405)
    expect((await ask(server.port, '/1.0/destroy', { method: 'POST', body: '{}' })).status).toBe(404)
  })

  it('of another method, as the Universal Registrar names it', async () => {
    const status = async (method: string) => (await user(ada).post(`create?method=${method}`, {})).body.didState.reason
    expect([await status('ledger'), await status('web')]).toEqual([
      'didDocument is no object',
      'this registrar has the method ledger, not web',
    ])
  })

  it('of another client than the one that began', async () => {
    const first = await user(ada).post('create', { didDocument: documentOf(ada) })
    const other = new RegistrarUser(server.port, slow, ada)
    expect((await other.post('create', user(ada).signed(first))).body.didState).toMatchObject({ error: 'unknownJob' })
  })
})

describe('a client', () => {
  it('spends no more than its budget, also with two at once', async () => {
    const answers = await Promise.all(
      [0, 1].map(() => {
        const one = user(quickSigner(), poor)
        return one.finish('create', { didDocument: documentOf(one.key) })
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect(answers[0]?.body.didState.reason).toContain('the budget of poor has 0.00000050 left')
    expect(kept.get('poor') ?? 0n).toBe(0n)
  })

  it('begins no more in a minute than it may, and goes on with what it began', async () => {
    clock.time += 120_000
    const one = user(quickSigner(), slow)
    const ask = async () => (await one.post('create', {})).status
    const first = await one.post('create', { didDocument: documentOf(one.key) })
    expect([await ask(), await ask()]).toEqual([400, 429])
    expect((await one.finish('create', one.signed(first))).status).toBe(201)
    clock.time += 30_000
    expect([await ask(), await ask()]).toEqual([400, 429])
  })

  it('has a hundred registrations that wait, and not one more, until they are too old', async () => {
    const waiting = async () => {
      const one = user()
      return (await one.post('create', { didDocument: documentOf(one.key) })).status
    }
    clock.time += 700_000
    // At once: all of them have asked before the first one has a place.
    const statuses = await Promise.all(Array.from({ length: 101 }, waiting))
    expect(statuses.toSorted()).toEqual([...Array.from({ length: 100 }, () => 200), 503])
    clock.time += 600_000
    expect(await waiting()).toBe(200)
    clock.time += 700_000
  })

  it('has several operations of a block paid one after another by one account', async () => {
    const all = Array.from({ length: 12 }, () => user())
    const ended = await Promise.all(all.map((one) => one.finish('create', { didDocument: documentOf(one.key) })))
    expect(ended.map(({ status }) => status)).toEqual(all.map(() => 201))
  })
})

describe('a devnet', () => {
  const here = (key = quickSigner()) => new RegistrarUser(Number(new URL(node.api?.rest ?? '').port), undefined, key)

  it('registers DIDs itself, and its faucet pays', async () => {
    const ada = here()
    const did = didOf(ada.key)
    const created = await ada.finish('create', { didDocument: documentOf(ada.key, { service: [site] }) })
    expect(created).toMatchObject({ status: 201, body: { didState: { state: 'finished', did } } })
    const updated = await ada.finish('update', {
      did,
      didDocumentOperation: ['removeFromDidDocument'],
      didDocument: [{ service: ['#site'] }],
    })
    expect(updated.body.didState['didDocument']).not.toHaveProperty('service')
    expect((await ada.finish('deactivate', { did })).body.didDocumentMetadata).toEqual({ deactivated: true })
    const again = await ada.post('update', { did, didDocument: [{}] })
    expect(again).toMatchObject({ status: 400, body: { didState: { error: 'did-deactivated' } } })
  })

  it('refuses pages of other sites', async () => {
    const { status, body } = await here().post('create', {}, { origin: 'https://evil.example' })
    expect([status, body.didState.state]).toEqual([403, 'failed'])
  })

  it('refuses a body that is longer than 64 KiB', async () => {
    const of = (length: number) => here().post('create', { did: 'x'.repeat(length - '{"did":""}'.length) })
    expect([(await of(65_536)).status, (await of(65_537)).status]).toEqual([400, 413])
  })
})

describe('what an operator asks', () => {
  const get = (path: string, port = server.port) => ask(port, path)

  it('says whether it lives, and whether its node answers', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await get('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
    isReachable = false
    const { status, body } = await get('/readyz')
    isReachable = true
    expect([status, body]).toEqual([503, { status: 'unreachable', reason: 'the node does not answer' }])
    expect((await get('/healthz')).status).toBe(200)
  })

  it('has figures on a port of their own alone', async () => {
    expect((await get('/metrics')).status).toBe(404)
    const figures = async () => parseMetrics(await metrics.text())
    const waiting = 'didledger_registrar_waiting'
    const before = sampleOf(await figures(), waiting)
    const ada = user()
    const first = await ada.post('create', { didDocument: documentOf(ada.key) })
    expect(sampleOf(await figures(), waiting)).toBe((before ?? 0) + 1)
    const spentOf = async () => sampleOf(await figures(), 'didledger_registrar_spent_coins', { client: 'app' })
    const spent = await spentOf()
    await ada.post('create', ada.signed(await ada.post('create', ada.signed(first))))
    expect(await spentOf()).toBeGreaterThan(spent ?? NaN)
    const text = await (await fetch(`http://127.0.0.1:${measured.port}/metrics`)).text()
    const shown = parseMetrics(text)
    const finished = sampleOf(shown, 'didledger_registrar_answers_total', { kind: 'create', status: 'finished' })
    expect(finished).toBeGreaterThan(0)
    expect(sampleOf(shown, 'didledger_registrar_budget_coins', { client: 'app' })).toBe(1)
    expect(sampleOf(shown, 'didledger_registrar_payments_waiting')).toBe(0)
    for (const secret of [token, poor, slow]) expect(text).not.toContain(secret)
  })
})

it('payments beyond the longest chain of change wait for a block, are paid once, and need no new signature', async () => {
  const quiet = await createNode({ network: 'devnet', api: { portBase: 0 }, mining: 'manual' })
  const client = new NodeClient({ rest: quiet.api?.rest ?? '' })
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const context = contextIn({ clock, env: {}, out: () => {}, err: () => {}, prompt: undefined, random })
  let spent: Spent = new Map()
  const clients = new RegistrarClients(readClients(terms), { spent, keep: (all) => (spent = all), clock })
  const account = quiet.wallet.account(7)
  const before = quiet.chain.balance(account.address)
  const paid = { account, clients, chain: {}, log: quietLog(), lane: new PaymentLane() }
  const registrar = new Registrar(registrarNode(context, client, paid), { clock, random })
  const keys = Array.from({ length: 30 }, () => quickSigner())
  const ask = async (request: object, i: number) => {
    const name = i % 2 === 0 ? 'app' : 'slow'
    const answer = await registrar.handle('create', request, { name, begin: () => {} }, 100)
    return answer.body as Registered['body']
  }
  const signed = async (key: QuickSigner, i: number) => {
    const signer = new RegistrarUser(0, undefined, key)
    let body = await ask({ didDocument: documentOf(key) }, i)
    for (let round = 0; round < 2; round++) body = await ask(signer.signed({ status: 200, body }), i)
    return body
  }
  let bodies = await Promise.all(keys.map(signed))
  const states = () => bodies.map(({ didState: { state, wait } }) => [state, wait].filter(Boolean).join(' '))
  // The one coin of the account makes a chain of 26 transactions that wait: 25 are ancestors of the last one.
  expect(states().filter((state) => state === 'wait block')).toHaveLength(26)
  expect(states().filter((state) => state === 'wait payment')).toHaveLength(4)
  expect(quiet.mempool.size).toBe(26)
  for (let block = 0; block < 4 && states().some((state) => state !== 'finished'); block++) {
    await quiet.devnet?.mine()
    const last = bodies
    bodies = await Promise.all(
      last.map(async (body, i) => (body.jobId === null ? body : ask({ jobId: body.jobId }, i))),
    )
  }
  expect(new Set(states())).toEqual(new Set(['finished']))
  const txids = new Set(bodies.map(({ didRegistrationMetadata: { txid } }) => txid))
  expect(txids.size).toBe(keys.length)
  const fees = [...spent.values()].reduce((sum, units) => sum + units, 0n)
  const created = await Promise.all(keys.map((key) => quiet.resolver.resolve(didOf(key), { all: true })))
  expect(created.map(({ transaction = [] }) => transaction.length)).toEqual(keys.map(() => 1))
  // Blocks of a devnet pay others.
  expect(before - quiet.chain.balance(account.address)).toBe(fees)
  await quiet.close()
})

it('a registration that cannot be paid for now waits, and is not signed again', async () => {
  const ada = quickSigner()
  const did = didOf(ada)
  let [isDown, sent] = [true, 0]
  const chain: RegistrarNode = {
    now: async () => Math.floor(clock.time / 1000),
    specification: async () => specification,
    current: async () => Promise.reject(new UserError('not asked')),
    publish: async () => {
      if (isDown) throw new Refused('unpaid', 'not now', 503)
      sent++
      return { txid: 'ab'.repeat(32), again: async () => true }
    },
    stateOf: async () => (sent > 0 ? 'mined' : 'unknown'),
  }
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const registrar = new Registrar(chain, { clock, random })
  const client = { name: 'app', begin: () => {} }
  const ask = async (request: object) =>
    (await registrar.handle('create', request, client, 100)).body as Registered['body']
  const signer = new RegistrarUser(0, undefined, ada)
  let body = await ask({ didDocument: documentOf(ada) })
  for (let i = 0; i < 2; i++) body = await ask(signer.signed({ status: 200, body }))
  const { jobId } = body
  expect(body.didState).toMatchObject({ state: 'wait', wait: 'payment', reason: 'not now', did })
  // A client that asks each minute for hours keeps its job.
  for (let i = 0; i < 200; i++) {
    clock.time += 60_000
    expect((await ask({ jobId })).didState.state).toBe('wait')
  }
  isDown = false
  expect((await ask({ jobId })).didState).toMatchObject({ state: 'finished', did })
  expect((await ask({ jobId })).didState).toMatchObject({ state: 'finished', did })
  expect(sent).toBe(1)
})

it('a transaction that a node takes and never has is sent once for each request', async () => {
  const ada = quickSigner()
  let again = 0
  const payment = { txid: 'cd'.repeat(32), again: async () => ++again > 0 }
  const chain: RegistrarNode = {
    now: async () => Math.floor(clock.time / 1000),
    specification: async () => specification,
    current: async () => Promise.reject(new UserError('not asked')),
    publish: async () => payment,
    stateOf: async () => 'unknown',
  }
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const registrar = new Registrar(chain, { clock, random })
  const ask = async (request: object) =>
    (await registrar.handle('create', request, { name: 'app', begin: () => {} }, 100)).body as Registered['body']
  const signer = new RegistrarUser(0, undefined, ada)
  let body = await ask({ didDocument: documentOf(ada) })
  for (let i = 0; i < 2; i++) body = await ask(signer.signed({ status: 200, body }))
  for (let i = 0; i < 3; i++) {
    expect([body.didState, again]).toMatchObject([{ state: 'wait', wait: 'payment' }, i])
    body = await ask({ jobId: body.jobId })
  }
})

describe('a payment whose outcome is not known', () => {
  /** A registrar before a node, by way of a wire that may lose a request, or its answer. */
  async function behindWire() {
    let lose: 'nothing' | 'request' | 'answer' = 'nothing'
    let spends = 0
    const rest = node.api?.rest ?? ''
    const wire = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        const body = Buffer.concat(chunks)
        const losing = body.includes('sendrawtransaction') ? lose : 'nothing'
        if (losing === 'request') return void request.socket.destroy()
        const headers = { 'content-type': 'application/json' }
        const sent = request.method === 'POST' ? { method: 'POST', body, headers } : {}
        const answer = await fetch(`${rest}${request.url}`, sent)
        const text = await answer.text()
        if (losing === 'answer') return void request.socket.destroy()
        response.writeHead(answer.status, headers).end(text)
      })()
    })
    await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve))
    const client = new NodeClient({ rest: `http://127.0.0.1:${(wire.address() as AddressInfo).port}` })
    const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
    const context = contextIn({ clock, env: {}, out: () => {}, err: () => {}, prompt: undefined, random })
    let spent: Spent = new Map()
    const keep = (all: Spent) => {
      spends++
      spent = all
    }
    const clients = new RegistrarClients(readClients(terms), { spent, keep, clock })
    const account = node.wallet.account(8)
    const lane = new PaymentLane()
    const chain = registrarNode(context, client, { account, clients, chain: {}, log: quietLog(), lane })
    const registrar = new Registrar(chain, { clock, random })
    const key = quickSigner()
    const ask = async (request: object) =>
      (await registrar.handle('create', request, { name: 'app', begin: () => {} }, 100)).body as Registered['body']
    return {
      did: didOf(key),
      ask,
      lose: (what: typeof lose) => (lose = what),
      spends: () => spends,
      spent: () => spent.get('app') ?? 0n,
      signed: async () => {
        const body = await ask({ didDocument: documentOf(key) })
        const signer = new RegistrarUser(0, undefined, key)
        return signer.signed({ status: 200, body: await ask(signer.signed({ status: 200, body })) })
      },
      close: () => new Promise<unknown>((resolve) => wire.close(resolve)),
    }
  }

  it.each(['answer', 'request'] as const)('is sent again where its %s was lost, and paid once', async (lost) => {
    const wire = await behindWire()
    try {
      const last = await wire.signed()
      wire.lose(lost)
      const waits = await wire.ask(last)
      expect(waits.didState).toMatchObject({ state: 'wait', wait: 'payment', did: wire.did })
      const { jobId } = waits
      expect((await wire.ask({ jobId })).didState).toMatchObject({ state: 'wait', wait: 'payment' })
      wire.lose('nothing')
      let ended = await wire.ask({ jobId })
      while (ended.didState.state === 'wait') ended = await wire.ask({ jobId })
      expect(ended.didState).toMatchObject({ state: 'finished', did: wire.did })
      expect(await history(wire.did)).toMatchObject([{ txid: ended.didRegistrationMetadata['txid'] }])
      expect(wire.spends()).toBe(1)
    } finally {
      await wire.close()
    }
  })

  it('is given back, and another one made, where the node takes it no more', async () => {
    const wire = await behindWire()
    try {
      const last = await wire.signed()
      wire.lose('request')
      const { jobId } = await wire.ask(last)
      const first = wire.spent()
      expect(first).toBeGreaterThan(0n)
      // All coins of the account go elsewhere.
      const account = node.wallet.account(8)
      await node.wallet.transfer({ from: account, to: account.address, amount: 'all' })
      wire.lose('nothing')
      let ended = await wire.ask({ jobId })
      while (ended.didState.state === 'wait') ended = await wire.ask({ jobId })
      expect(ended.didState).toMatchObject({ state: 'finished', did: wire.did })
      expect(wire.spends()).toBe(3)
      // One fee, of another nonce in decimal digits, and not two.
      const other = wire.spent() - first
      expect(other > -19n && other < 19n && first > 100n).toBe(true)
    } finally {
      await wire.close()
    }
  })
})

it('a budget is that of a name alone, and is not used up by what could not be kept', () => {
  const client = { name: 'constructor', token, budget: '0.00000010', perMinute: 1 }
  let isFull = true
  const keep = () => {
    if (isFull) throw new UserError('the disk is full')
  }
  const clients = new RegistrarClients(readClients({ clients: [client] }), { spent: new Map(), keep, clock })
  for (let i = 0; i < 3; i++) expect(() => clients.spend('constructor', 10n)).toThrow('the disk is full')
  isFull = false
  clients.spend('constructor', 10n)
  expect(() => clients.spend('constructor', 1n)).toThrow('has 0.00000000 left')
})
