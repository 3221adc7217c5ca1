import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openRegistrar } from '../../../src/answers/api/servers/registrar-server.js'
import type { HttpPort } from '../../../src/answers/api/http/http-port.js'
import { formatPublicKey } from '../../../src/base/crypto/key-forms.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { PaymentLane } from '../../../src/clients/registrar/payment-lane.js'
import { readClients, RegistrarClients } from '../../../src/clients/registrar/registrar-clients.js'
import { Registrar } from '../../../src/clients/registrar/registrar.js'
import { createNode, type LedgerNode } from '../../../src/index.js'
import { contextIn } from '../../../src/program/cli/cli-context.js'
import { registrarNode } from '../../../src/program/cli/registrar-node.js'
import { quietLog } from '../../support/builders/chain.js'
import { quickSigner } from '../../support/builders/signatures.js'

/**
 * Requests of the HTTP driver of the Universal Registrar 1.15, byte for byte: they were recorded between its own classes and a registrar
 * (`test/clients/registrar` runs these where they are). Only keys, signatures, DIDs and ids of jobs are those of the run.
 */

const token = 'token-of-the-universal-registrar'
const clock = { now: () => Date.now() }
let node: LedgerNode
let server: HttpPort
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  const outside = { clock, env: {}, out: () => {}, err: () => {}, prompt: undefined }
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const terms = { clients: [{ name: 'universal', token, budget: '1', perMinute: 1000 }] }
  const clients = new RegistrarClients(readClients(terms), { spent: new Map(), keep: () => {}, clock })
  const paid = { account: node.wallet.account(9), clients, chain: {}, log: quietLog(), lane: new PaymentLane() }
  const chain = registrarNode(contextIn({ ...outside, random }), new NodeClient({ rest: node.api?.rest ?? '' }), paid)
  const place = { hosts: ['127.0.0.1'], port: 0, log: quietLog() }
  server = await openRegistrar({
    registrar: new Registrar(chain, { clock, random }),
    clients,
    ask: () => chain.now(),
    ...place,
  })
})
afterAll(async () => {
  await server.close()
  await node.close()
})

interface State {
  readonly jobId: string | null
  readonly didState: Readonly<Record<string, unknown>> & {
    readonly state: string
    readonly did: string
    readonly signingRequest?: Readonly<Record<string, { readonly serializedPayload: string; readonly alg: string }>>
  }
}

/** Sends the bytes of one request of the driver, and reads the answer. Its headers come in this order, those of its library last. */
async function send(
  path: string,
  body: string,
  authorization?: string,
  more: readonly string[] = [],
): Promise<{ head: string; body: string }> {
  const lines = [
    `POST /1.0/${path} HTTP/1.1`,
    'Accept: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Content-Type: application/json; charset=UTF-8',
    `Host: 127.0.0.1:${server.port}`,
    'Connection: Keep-Alive',
    'User-Agent: Apache-HttpClient/4.5.14 (Java/17.0.15)',
    'Accept-Encoding: gzip,deflate',
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
    ...more,
  ]
  const socket = connect(server.port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  let read = Buffer.alloc(0)
  for await (const chunk of socket) {
    read = Buffer.concat([read, chunk as Buffer])
    const end = read.indexOf('\r\n\r\n')
    const [head, answer] = [read.subarray(0, Math.max(0, end)).toString(), read.subarray(end + 4)]
    if (answer.length !== Number(/content-length: (\d+)/i.exec(head)?.[1])) continue
    return { head, body: (/content-encoding: gzip/i.test(head) ? gunzipSync(answer) : answer).toString() }
  }
  throw new Error(`the answer is not whole: ${read.toString()}`)
}

/** The driver without a header of its own: it has the token in its address, and shows it once it was asked to. */
async function ask(path: string, body: string): Promise<State> {
  const refused = await send(path, body)
  expect(refused.head).toMatch(/^HTTP\/1\.1 401 /)
  expect(refused.head).toMatch(/\r\nwww-authenticate: Basic realm="registrar"/i)
  const { head, body: answer } = await send(path, body, `Basic ${Buffer.from(`any:${token}`).toString('base64')}`)
  expect(head).toMatch(/\r\ncontent-type: application\/json; charset=utf-8\r\n/i)
  return readable(JSON.parse(answer) as State)
}

/** Members that the classes of the Universal Registrar have for a state, with their types: they refuse others, but for those within `didState`. */
function readable(state: State): State {
  expect(Object.keys(state).toSorted()).toEqual(['didDocumentMetadata', 'didRegistrationMetadata', 'didState', 'jobId'])
  const { didState, jobId } = state
  expect(jobId === null || typeof jobId === 'string').toBe(true)
  expect(['finished', 'failed', 'action', 'wait']).toContain(didState.state)
  for (const text of ['did', 'action', 'error', 'reason', 'wait', 'waittime']) {
    expect(['string', 'undefined']).toContain(typeof didState[text])
  }
  for (const request of Object.values(didState.signingRequest ?? {})) {
    expect(request).toEqual({
      kid: expect.any(String) as string,
      alg: 'ES256',
      serializedPayload: expect.any(String) as string,
    })
  }
  return state
}

const key = quickSigner()
const { x, y } = JSON.parse(formatPublicKey(key.publicKey, 'jwk')) as { x: string; y: string }

/** Signs what is asked, by requests whose members come in the order of the driver. */
async function finish(path: string, first: string, did?: string): Promise<State> {
  let state = await ask(path, first)
  while (state.didState.state === 'action' || state.didState.state === 'wait') {
    const [asked] = Object.entries(state.didState.signingRequest ?? {})
    const known = did === undefined ? '' : `"did":"${did}",`
    const signature = (text: string) => Buffer.from(key.sign(fromUtf8(text))).toString('base64')
    const signed =
      asked &&
      `,"secret":{"signingResponse":{"${asked[0]}":{"signature":"${signature(Buffer.from(asked[1].serializedPayload, 'base64').toString())}"}}}`
    state = await ask(path, `{${known}"jobId":"${state.jobId}"${signed ?? ''}}`)
  }
  return state
}

it('requests of the Universal Registrar create, update and end a DID', async () => {
  const method = `{"id":"#primary","type":"JsonWebKey","publicKeyJwk":{"kty":"EC","crv":"P-256","x":"${x}","y":"${y}"}}`
  const document = `{"verificationMethod":[${method}],"@context":["https://www.w3.org/ns/did/v1"],"authentication":["#primary"]}`
  const create = `{"didDocument":${document},"options":{"clientSecretMode":true},"secret":{}}`
  const { didState } = await finish('create?method=ledger', create)
  expect(didState).toMatchObject({ state: 'finished', didDocument: { id: didState.did } })

  const { did } = didState
  const service = '{"service":[{"id":"#site","type":"LinkedDomains","serviceEndpoint":"https://example.org"}]}'
  const options = '"options":{"clientSecretMode":true},"secret":{}'
  const update = `{"did":"${did}","didDocumentOperation":["addToDidDocument"],"didDocument":[${service}],${options}}`
  expect((await finish('update', update, did)).didState.state).toBe('finished')
  expect((await finish('deactivate', `{"did":"${did}",${options}}`, did)).didState.state).toBe('finished')
  const { status, transaction = [] } = await node.resolver.resolve(did, { all: true })
  expect([status, transaction.length]).toEqual([2, 3])
})

it('refusals are states that the Universal Registrar reads', async () => {
  const failed = async (path: string, body: string) => (await ask(path, body)).didState
  expect(await failed('create', '{"jobId":"none"}')).toMatchObject({ state: 'failed', error: 'unknownJob' })
  // Told before the token is asked for.
  const other = await send('create?method=key', '{}')
  expect(readable(JSON.parse(other.body) as State).didState).toMatchObject({ error: 'methodNotSupported' })
  const withSecret = '{"didDocument":{},"secret":{"seed":"x"}}'
  expect(await failed('create', withSecret)).toMatchObject({ state: 'failed', error: 'invalidRequest' })
  const keeping = '{"didDocument":{},"options":{"storeSecrets":true},"secret":{}}'
  expect((await failed('create', keeping))['reason']).toContain('storeSecrets is false')
})

it('a page is not asked for a password by its browser', async () => {
  const { head } = await send('create', '{}', undefined, ['Sec-Fetch-Mode: cors'])
  expect(head).toMatch(/^HTTP\/1\.1 401 /)
  expect(head).toMatch(/\r\nwww-authenticate: Bearer\r\n/i)
})
