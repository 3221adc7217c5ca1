import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { W3cDocument } from '../../../src/identity/did/w3c.js'
import { TestChain } from '../../support/builders/chain.js'
import { type Holder, holder, txid } from '../../support/builders/did.js'
import { type Answer, ask, contextOf, type Question, serve } from '../../support/client/api.js'
import { behind } from '../../support/fakes/standing.js'

/** The HTTP binding of DID Resolution, over real HTTP; the statements of its official test suite are among the names. */

const resolution = 'application/did-resolution'
const dereferencing = 'application/did-url-dereferencing'
/** The type of a result that the Universal Resolver asks for. */
const earlier = 'application/ld+json;profile="https://w3id.org/did-resolution"'
const core = 'https://www.w3.org/ns/did#'

interface Result {
  readonly didDocument: W3cDocument | null
  readonly didResolutionMetadata: Record<string, unknown>
  readonly didDocumentMetadata: Record<string, unknown>
}
interface Dereferenced {
  readonly content: Record<string, unknown> | null
  readonly contentStream: Record<string, unknown> | null
  readonly dereferencingMetadata: Record<string, unknown>
  readonly contentMetadata: Record<string, unknown>
}

let node: TestChain
let server: ApiServer
const ada: Holder = holder()
const gone: Holder = holder()
const lapsed: Holder = holder()
const unknown: Holder = holder()
/** Txids of the operations of ada: create, update, update; and of gone: create, deactivate. */
const made: string[] = []
const ended: string[] = []
/** Times of the blocks with the operations of ada. */
const times: string[] = []

const home = { id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://ada.example/a/b?x=1' }
const blog = { id: '#blog', type: 'LinkedDomains', serviceEndpoint: 'https://blog.example/' }
const mail = { id: '#mail', type: 'Mail', serviceEndpoint: 'mailto:ada@example.com' }
const marked = { id: '#marked', type: 'Page', serviceEndpoint: 'https://ada.example/page#top' }
const odd = { id: '#odd', type: 'Odd', serviceEndpoint: 'https://ada.example/ä b\r\nX: y' }

function date(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

beforeAll(async () => {
  node = await TestChain.open()
  const publish = async (list: string[], person: Holder, operation: Parameters<TestChain['publish']>[0]) => {
    node.clock.time += 60_000
    list.push(await node.publish(operation, person.did))
    times.push(date(node.reader.chain.tip.header.time * 1000))
  }
  await publish(made, ada, ada.create({ services: [home] }))
  await publish(made, ada, ada.update(made[0] as string, { services: [home, blog, mail, marked, odd] }))
  await publish(made, ada, ada.update(made[1] as string, { services: [home, blog, mail, marked, odd] }))
  await publish(ended, gone, gone.create({ services: [home] }))
  await publish(ended, gone, gone.deactivate())
  await node.publish(lapsed.create({ expires: date(node.clock.time + 3600_000) }), lapsed.did)
  node.clock.time += 7200_000
  await node.mine()
  server = await serve(contextOf(node))
})

afterAll(async () => {
  await server.close()
  await node.close()
})

/** Asks for `target` as it stands below the path. */
function get(target: string, accept?: string, question: Question = {}): Promise<Answer> {
  const headers = { ...(accept === undefined ? {} : { accept }), ...question.headers }
  return ask(server.port, `/1.0/identifiers/${target}`, { ...question, headers })
}

const encoded = (target: string, accept?: string) => get(encodeURIComponent(target), accept)

function post(target: string, body: unknown, type: string = resolution): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return get(target, undefined, { method: 'POST', headers: { 'content-type': type }, body: text })
}

const resultOf = ({ body }: Answer) => body as Result
const dereferencedOf = ({ body }: Answer) => body as Dereferenced

/** Status and error of an answer, which has the whole form of an error. */
function refusalOf({ status, headers, body }: Answer): [number, string] {
  expect(headers.vary).toBe('Accept')
  expect(headers['cache-control']).toBe('no-cache')
  const isResolution = [resolution, earlier].includes(headers['content-type'] as string)
  const { error } = (
    isResolution ? (body as Result).didResolutionMetadata : (body as Dereferenced).dereferencingMetadata
  ) as {
    error: { type: string; title: string; detail: string }
  }
  expect(error).toEqual({ type: error.type, title: expect.stringMatching(/./), detail: expect.stringMatching(/./) })
  if (isResolution) {
    expect(body).toEqual({ didDocument: null, didResolutionMetadata: { error }, didDocumentMetadata: {} })
  } else {
    expect(headers['content-type']).toBe(dereferencing)
    expect(body).toEqual({
      content: null,
      contentStream: null,
      dereferencingMetadata: { error },
      contentMetadata: {},
    })
  }
  return [status, error.type.replace(core, '')]
}

const homeId = () => `${ada.did}#home`

describe('a DID', () => {
  it('is resolved to a result by GET, and HTTP status 200', async () => {
    for (const accept of [undefined, '*/*', resolution, 'application/*', `${resolution};profile=x`]) {
      const answer = await get(ada.did, accept)
      expect([accept, answer.status, answer.headers['content-type']]).toEqual([accept, 200, resolution])
      const { didDocument, didResolutionMetadata, didDocumentMetadata } = resultOf(answer)
      expect(didDocument?.id).toBe(ada.did)
      expect(didDocument?.service).toHaveLength(4)
      expect(didResolutionMetadata).toEqual({
        contentType: 'application/did',
        height: node.reader.height,
        blockHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      expect(didDocumentMetadata).toMatchObject({
        versionId: made[2],
        created: times[0],
        updated: times[2],
        expires: '2030-01-01T00:00:00Z',
      })
      expect(didDocumentMetadata).not.toHaveProperty('deactivated')
    }
  })

  it('is found where it is URL-encoded, decoded once', async () => {
    expect(resultOf(await encoded(ada.did)).didDocument?.id).toBe(ada.did)
    expect(resultOf(await get(ada.did.replace('d', '%64'))).didDocument?.id).toBe(ada.did)
    expect(refusalOf(await get(encodeURIComponent(encodeURIComponent(ada.did))))).toEqual([400, 'INVALID_DID'])
  })

  it('is its document alone where a document type is asked for, under that content type', async () => {
    for (const type of [
      'application/did',
      'application/did+json',
      'application/did+ld+json',
      'application/ld+json',
      'application/json',
    ]) {
      const answer = await get(ada.did, `text/html, ${type};q=0.8, */*;q=0.1`)
      expect([answer.status, answer.headers['content-type']]).toEqual([200, type])
      expect(answer.body).toEqual(resultOf(await get(ada.did)).didDocument)
    }
  })

  it('is 406 REPRESENTATION_NOT_SUPPORTED where nothing acceptable is asked for', async () => {
    for (const accept of ['application/did+cbor', 'text/uri-list', '*/*;q=0', 'text/html', 'text/html, nonsense']) {
      expect([accept, ...refusalOf(await get(ada.did, accept))]).toEqual([accept, 406, 'REPRESENTATION_NOT_SUPPORTED'])
    }
  })

  it('is its result where Accept has nothing that can be read', async () => {
    for (const accept of ['nonsense', '"', 'application/json application/did', ';q=0.5']) {
      const answer = await get(ada.did, accept)
      expect([accept, answer.status, answer.headers['content-type']]).toEqual([accept, 200, resolution])
    }
  })

  it('is its result under the type that clients from before 2025 ask for, errors too', async () => {
    const answer = await get(ada.did, earlier)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, earlier])
    expect(answer.body).toEqual((await get(ada.did)).body)
    const [of404, of410] = [await get(unknown.did, earlier), await get(gone.did, earlier)]
    expect([of404.status, of404.headers['content-type'], of410.status, of410.headers['content-type']]).toEqual([
      404,
      earlier,
      410,
      earlier,
    ])
    expect(of404.body).toEqual((await get(unknown.did)).body)
    expect(refusalOf(await encoded(homeId(), earlier))).toEqual([406, 'REPRESENTATION_NOT_SUPPORTED'])
  })

  it('is that of dereferencing as clients from before 2025 ask for it', async () => {
    const type = 'application/ld+json;profile="https://w3id.org/did-url-dereferencing"'
    for (const [url, accept] of [
      [homeId(), type],
      [`${ada.did}?service=home&relativeRef=c`, `${type}, text/html;q=0.1`],
      [ada.did, `application/ld+json; profile="x https://w3id.org/did-url-dereferencing"`],
    ] as const) {
      const answer = await encoded(url, accept)
      const plain = await encoded(url, 'application/did-url-dereferencing')
      expect([answer.status, answer.text, answer.headers.location]).toEqual([
        plain.status,
        plain.text,
        plain.headers.location,
      ])
      if (answer.status === 200) expect(answer.headers['content-type']).toBe(type)
    }
    const absent = await encoded(`${ada.did}#none`, type)
    expect([absent.status, absent.headers['content-type']]).toEqual([404, type])
    expect(JSON.parse(absent.text)).toMatchObject({ content: null, contentMetadata: {} })
  })

  it('answers HEAD like GET without the body', async () => {
    const [whole, head] = [await get(ada.did), await get(ada.did, undefined, { method: 'HEAD' })]
    const { date: _, ...headers } = whole.headers
    expect(head.headers).toMatchObject(headers)
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await get(unknown.did, undefined, { method: 'HEAD' })).status).toBe(404)
  })

  it('has an ETag of its body, by which GET is 304 until it changes', async () => {
    const { headers } = await get(ada.did)
    const etag = headers.etag as string
    expect(headers).toMatchObject({ vary: 'Accept', 'cache-control': 'no-cache', 'access-control-allow-origin': '*' })
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get(ada.did, undefined, { headers: { 'if-none-match': tag } })
      expect([tag, answer.status, answer.text, answer.headers.etag]).toEqual([tag, 304, '', etag])
      expect(answer.headers['content-type']).toBe(resolution)
    }
    expect((await get(ada.did, undefined, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    expect((await get(ada.did, 'application/did', { headers: { 'if-none-match': etag } })).status).toBe(200)
    expect((await get(gone.did, undefined, { headers: { 'if-none-match': '*' } })).status).toBe(410)
  })

  it('is 410 with a null document where it is deactivated, whatever form is asked for', async () => {
    for (const accept of [undefined, resolution, 'application/did']) {
      const answer = await get(gone.did, accept)
      expect([answer.status, answer.headers['content-type']]).toEqual([410, resolution])
      const { didDocument, didResolutionMetadata, didDocumentMetadata } = resultOf(answer)
      expect(didDocument).toBeNull()
      expect(didResolutionMetadata).not.toHaveProperty('error')
      expect(didDocumentMetadata).toMatchObject({ deactivated: true, versionId: ended[1] })
    }
    const answer = await encoded(`${gone.did}#home`)
    expect(answer.status).toBe(410)
    expect(dereferencedOf(answer)).toMatchObject({ content: null, contentMetadata: { deactivated: true } })
  })

  it('is 410 with the document of an earlier version of a DID that is deactivated since', async () => {
    const answer = await encoded(`${gone.did}?versionId=${ended[0]}`, 'application/did')
    expect([answer.status, answer.headers['content-type']]).toEqual([410, resolution])
    expect(resultOf(answer)).toMatchObject({
      didDocument: { id: gone.did },
      didDocumentMetadata: { deactivated: true, versionId: ended[0], nextVersionId: ended[1] },
    })
    const selected = await encoded(`${gone.did}?service=home&versionId=${ended[0]}`, dereferencing)
    expect([selected.status, selected.headers.location]).toEqual([410, undefined])
    expect(dereferencedOf(selected).content).toMatchObject({ service: [{ id: `${gone.did}#home` }] })
  })

  it('is 200 with expired: true where the document has expired', async () => {
    const answer = await get(lapsed.did)
    expect(answer.status).toBe(200)
    expect(resultOf(answer)).toMatchObject({ didDocument: { id: lapsed.did }, didDocumentMetadata: { expired: true } })
    expect(resultOf(await get(ada.did)).didDocumentMetadata).not.toHaveProperty('expired')
  })

  it('has expired by the clock of the node, in an earlier version too', async () => {
    const person = holder()
    const expires = date(node.clock.time + 100 * 86_400_000)
    const create = await node.publish(person.create({ expires }), person.did)
    await node.publish(person.update(create, { expires }), person.did)
    const expired = async (query: string) =>
      resultOf(await get(`${person.did}${query}`)).didDocumentMetadata['expired'] === true
    const both = async () => [await expired(''), await expired(`?versionId=${create}`)]
    expect(await both()).toEqual([false, false])
    const now = node.clock.time
    try {
      node.clock.time = Date.parse(expires) - 1000
      expect(await both()).toEqual([false, false])
      node.clock.time += 1000
      expect(await both()).toEqual([true, true])
    } finally {
      node.clock.time = now
    }
  })

  test.each([
    ['the DID input is REQUIRED', '', 400, 'INVALID_DID'],
    ['no DID', 'not-a-did', 400, 'INVALID_DID'],
    ['no identifier', 'did:example', 400, 'INVALID_DID'],
    ['an upper case method', 'did:LEDGER:x', 400, 'INVALID_DID'],
    ['percent signs that are no UTF-8', 'did%ff', 400, 'INVALID_DID'],
    ['broken percent signs', 'did:ledger:%', 400, 'INVALID_DID'],
    ['broken percent signs in a URL', 'did:ledger:x%2f%', 400, 'INVALID_DID_URL'],
    ['a URL of no DID', 'not-a-did%23key', 400, 'INVALID_DID_URL'],
    ['two fragments', 'did:ledger:x%23a%23b', 400, 'INVALID_DID_URL'],
    ['another method', 'did:unsupported:123456789abcdefghi', 501, 'METHOD_NOT_SUPPORTED'],
    ['another method of a URL', 'did:unsupported:123%23key', 501, 'METHOD_NOT_SUPPORTED'],
    ['an identifier of another form', 'did:ledger:Short', 400, 'INVALID_DID'],
  ])('is refused: %s', async (_, target, status, error) => {
    expect(refusalOf(await get(target))).toEqual([status, error])
  })

  it('is refused for a wrong checksum, and 404 NOT_FOUND where it does not exist', async () => {
    const wrong = `${ada.did.slice(0, -1)}${ada.did.endsWith('2') ? '3' : '2'}`
    expect(refusalOf(await get(wrong))).toEqual([400, 'INVALID_DID'])
    expect(refusalOf(await get(unknown.did))).toEqual([404, 'NOT_FOUND'])
    expect(refusalOf(await get(unknown.did, 'application/did'))).toEqual([404, 'NOT_FOUND'])
  })

  it('has the form of a dereferencing error where that was asked for, by Accept or by the URL', async () => {
    for (const answer of [
      await get(unknown.did, dereferencing),
      await get(unknown.did, 'text/uri-list'),
      await encoded(`${unknown.did}#key`),
      await encoded(`${unknown.did}/path`),
    ]) {
      expect(answer.headers['content-type']).toBe(dereferencing)
      refusalOf(answer)
    }
  })
})

describe('options', () => {
  /** Both places of the parameters: inside the encoded URL, and as the query of the request. */
  const places = (query: string) => [encoded(`${ada.did}?${query}`), get(`${ada.did}?${query}`)]

  it('name a version: versionId of any operation of the DID', async () => {
    for (const [i, id] of made.entries()) {
      for (const answer of await Promise.all(places(`versionId=${id}`))) {
        const { didDocument, didDocumentMetadata } = resultOf(answer)
        expect([answer.status, didDocument?.service?.length]).toEqual([200, i === 0 ? 1 : 4])
        expect(didDocumentMetadata['versionId']).toBe(id)
        expect(didDocumentMetadata['nextVersionId']).toBe(made[i + 1])
      }
    }
    for (const id of [ended[0], txid(1)]) {
      for (const answer of await Promise.all(places(`versionId=${id}`))) {
        expect(refusalOf(answer)).toEqual([404, 'NOT_FOUND'])
      }
    }
  })

  it('name a version: versionTime, the last operation of blocks not later', async () => {
    for (const [i, id] of made.entries()) {
      for (const answer of await Promise.all(places(`versionTime=${times[i]}`))) {
        expect(resultOf(answer).didDocumentMetadata['versionId']).toBe(id)
      }
    }
    expect(refusalOf(await get(`${ada.did}?versionTime=2000-01-01T00:00:00Z`))).toEqual([404, 'NOT_FOUND'])
  })

  it('ask for a form of the keys: transformKeys', async () => {
    for (const answer of await Promise.all(places('transformKeys=JsonWebKey'))) {
      const [key] = resultOf(answer).didDocument?.verificationMethod ?? []
      expect(key).toMatchObject({ type: 'JsonWebKey', publicKeyJwk: { kty: 'EC', crv: 'P-256' } })
    }
    const [key] = resultOf(await get(`${ada.did}?transformKeys=Multikey`)).didDocument?.verificationMethod ?? []
    expect(key?.type).toBe('Multikey')
  })

  it('may say what is so anyway: noCache, expandRelativeUrls', async () => {
    const plain = await get(ada.did)
    for (const query of ['noCache=true', 'noCache=false&expandRelativeUrls=true', '']) {
      for (const answer of await Promise.all(places(query))) expect(answer.body).toEqual(plain.body)
    }
  })

  test.each([
    ['a versionId in upper case', `versionId=${'AB'.repeat(32)}`],
    ['a short versionId', 'versionId=1'],
    ['two versions', `versionId=${'ab'.repeat(32)}&versionTime=2026-01-01T00:00:00Z`],
    ['a parameter twice', 'service=home&service=home'],
    ['an empty service', 'service='],
    ['a service that is no ASCII string', `service=${encodeURIComponent('Привет')}`],
    ['a serviceType that is no ASCII string', `serviceType=${encodeURIComponent('🔥')}`],
    ['a relativeRef that is no ASCII string', `service=home&relativeRef=${encodeURIComponent('foo\u200bbar')}`],
    ['a relativeRef without percent-encoding', 'service=home&relativeRef=my%20path/file'],
    ['a relativeRef that is absolute', 'service=home&relativeRef=https:%2f%2fevil.example'],
    ['a relativeRef without service', 'relativeRef=a'],
    ['bytes that are no UTF-8', 'service=%ff'],
    ['transformKeys of another form', 'transformKeys=PEM'],
    ['noCache of another value', 'noCache=1'],
    ['a relationship without a fragment', 'verificationRelationship=authentication'],
    ['another relationship', 'verificationRelationship=friendship'],
    ...[
      '2025-10-07 12:30:45',
      '2025/10/07T12:30:45',
      '2025-13-07T12:30:45Z',
      '2025-02-30T12:30:45Z',
      '2025-10-07T25:00:00Z',
      '2025-10-07',
      'T12:30:45',
      '2025-10-07T00:00:00+02:00',
      '2025-10-07T00:00:00',
      '2025-10-07T00:00:00.123Z',
    ].map((time) => [`the versionTime ${time}`, `versionTime=${encodeURIComponent(time)}`]),
  ])('with a bad value are refused: %s', async (_, query) => {
    expect(refusalOf(await get(`${ada.did}?${query}`))).toEqual([400, 'INVALID_OPTIONS'])
    expect(refusalOf(await encoded(`${ada.did}?${query}`))).toEqual([400, 'INVALID_DID_URL'])
  })

  test.each(['hl=abc', 'accept=application/did', 'versionHeight=1', '__proto__=1', 'toString=1', 'serviceId=x'])(
    'of no known name are 501 FEATURE_NOT_SUPPORTED: %s',
    async (query) => {
      for (const answer of await Promise.all(places(`versionId=bad&${query}`))) {
        expect(refusalOf(answer)).toEqual([501, 'FEATURE_NOT_SUPPORTED'])
      }
    },
  )

  it('that stand in the URL and in the query are given twice', async () => {
    const answer = await get(`${encodeURIComponent(`${ada.did}?service=home`)}?service=home`)
    expect(refusalOf(answer)).toEqual([400, 'INVALID_OPTIONS'])
  })

  it('are checked in this order: DID, method, checksum, names, values, Accept, existence', async () => {
    const short = 'did:ledger:Short'
    const all = '?x=1&versionId=bad'
    const steps: [string, string | undefined, [number, string]][] = [
      [`nothing${all}`, 'text/html', [400, 'INVALID_DID']],
      [`did:other:x${all}`, 'text/html', [501, 'METHOD_NOT_SUPPORTED']],
      [`${short}${all}`, 'text/html', [400, 'INVALID_DID']],
      [`${unknown.did}${all}`, 'text/html', [501, 'FEATURE_NOT_SUPPORTED']],
      [`${unknown.did}?versionId=bad`, 'text/html', [400, 'INVALID_OPTIONS']],
      [unknown.did, 'text/html', [406, 'REPRESENTATION_NOT_SUPPORTED']],
      [unknown.did, undefined, [404, 'NOT_FOUND']],
    ]
    for (const [target, accept, refusal] of steps) expect(refusalOf(await get(target, accept))).toEqual(refusal)
  })
})

describe('POST', () => {
  it('takes the options as a JSON object', async () => {
    const [first = ''] = made
    for (const type of [resolution, dereferencing, 'application/json', 'Application/JSON; charset=utf-8']) {
      const answer = await post(ada.did, { versionId: first, noCache: true, transformKeys: 'JsonWebKey' }, type)
      expect(resultOf(answer)).toMatchObject({ didDocumentMetadata: { versionId: first } })
    }
    const plain = (await get(ada.did)).body
    expect((await post(ada.did, {})).body).toEqual(plain)
    expect((await post(ada.did, '')).body).toEqual(plain)
    expect((await get(ada.did, undefined, { method: 'POST' })).body).toEqual(plain)
    const ref = await post(encodeURIComponent(homeId()), {}, dereferencing)
    expect(dereferencedOf(ref).content).toMatchObject({ id: homeId() })
  })

  it('takes them without a type, as the examples of the specification have none, and with a byte order mark', async () => {
    const [first = ''] = made
    const body = JSON.stringify({ versionId: first })
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const answer = await get(ada.did, undefined, { method: 'POST', headers, body })
      expect(resultOf(answer)).toMatchObject({ didDocumentMetadata: { versionId: first } })
    }
    expect(resultOf(await post(ada.did, `\ufeff${body}`))).toMatchObject({ didDocumentMetadata: { versionId: first } })
    const empty = await get(ada.did, undefined, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } })
    expect(empty.body).toEqual((await get(ada.did)).body)
  })

  test.each([
    ['no JSON', '{'],
    ['a blank', ' '],
    ['a list', '[]'],
    ['a number for text', '{"versionId":7}'],
    ['an object for text', '{"service":{"a":1}}'],
    ['null', '{"service":null}'],
    ['a member twice', '{"service":"home","service":"home"}'],
    ['many levels', `{"service":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('with a body that cannot be is 400 INVALID_OPTIONS: %s', async (_, body) => {
    expect(refusalOf(await post(ada.did, body))).toEqual([400, 'INVALID_OPTIONS'])
  })

  it('with a name that is not known is 501, and given in two places 400', async () => {
    expect(refusalOf(await post(ada.did, { accept: 'x' }))).toEqual([501, 'FEATURE_NOT_SUPPORTED'])
    expect(refusalOf(await post(`${ada.did}?service=home`, { service: 'home' }))).toEqual([400, 'INVALID_OPTIONS'])
  })

  test.each([
    ['deep', `{"accept":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['five levels deep', '{"accept":{"a":{"b":{"c":{"d":1}}}}}'],
    ['a number that no document may hold', '{"accept":1.0}'],
    ['a name twice', '{"accept":{"a":1,"a":2}}'],
    ['a bad value of a known name before', '{"service":7,"accept":[[[[[1]]]]]}'],
    ['a known name twice', '{"service":"home","service":"home","accept":"x"}'],
    ['in __proto__', '{"__proto__":{"a":1}}'],
    ['in constructor', '{"constructor":1}'],
    ['in a name of nothing', '{"":1}'],
  ])('with a name that is not known is 501, whatever its value: %s', async (_, body) => {
    expect(refusalOf(await post(ada.did, body))).toEqual([501, 'FEATURE_NOT_SUPPORTED'])
  })

  test.each([
    ['deep', `{"service":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['a prototype', '{"service":{"__proto__":1}}'],
    ['a number that no document may hold', '{"service":1.0}'],
  ])('with an impossible value of a known name is 400: %s', async (_, body) => {
    expect(refusalOf(await post(ada.did, body))).toEqual([400, 'INVALID_OPTIONS'])
    expect(refusalOf(await post(`${ada.did}?accept=x`, body))).toEqual([501, 'FEATURE_NOT_SUPPORTED'])
  })

  it('of another type is 415, larger than 16 KiB 413, by HTTP itself', async () => {
    for (const type of ['text/plain', 'application/did', 'multipart/form-data', '']) {
      const answer = await post(ada.did, {}, type)
      expect([type, ...refusalOf(answer)]).toEqual([type, 415, 'about:blank'])
    }
    const body = JSON.stringify({ service: 'x'.repeat(16 * 1024) })
    expect(refusalOf(await post(ada.did, body))).toEqual([413, 'about:blank'])
    const gzip = { 'content-type': resolution, 'content-encoding': 'gzip' }
    expect(refusalOf(await get(ada.did, undefined, { method: 'POST', headers: gzip, body: '{}' }))).toEqual([
      415,
      'about:blank',
    ])
    const fits = JSON.stringify({ service: 'x'.repeat(16 * 1024 - 20) })
    expect(refusalOf(await post(ada.did, fits))).toEqual([404, 'NOT_FOUND'])
  })
})

describe('a fragment', () => {
  it('is the method or the service with that id', async () => {
    const document = resultOf(await get(ada.did)).didDocument as W3cDocument
    for (const part of [...document.verificationMethod, ...(document.service ?? [])]) {
      const answer = await encoded(part.id)
      expect([answer.status, answer.headers['content-type']]).toEqual([200, dereferencing])
      const { content, contentStream, dereferencingMetadata, contentMetadata } = dereferencedOf(answer)
      expect(content).toEqual(part)
      expect(contentStream).toEqual(part)
      expect(dereferencingMetadata).toEqual({ contentType: 'application/did' })
      expect(contentMetadata).toMatchObject({ versionId: made[2] })
      const alone = await encoded(part.id, 'application/did+json')
      expect([alone.headers['content-type'], alone.body]).toEqual(['application/did+json', part])
    }
  })

  it('has a context as JSON-LD', async () => {
    const document = resultOf(await get(ada.did)).didDocument as W3cDocument
    for (const part of [...document.verificationMethod, ...(document.service ?? [])]) {
      for (const type of ['application/ld+json', 'application/did+ld+json']) {
        const answer = await encoded(part.id, type)
        expect(answer.headers['content-type']).toBe(type)
        expect(answer.body).toEqual({ '@context': document['@context'], ...part })
      }
    }
  })

  it('of nothing is 404 NOT_FOUND, also of an id in another version', async () => {
    expect(refusalOf(await encoded(`${ada.did}#nothing`))).toEqual([404, 'NOT_FOUND'])
    expect(refusalOf(await encoded(`${ada.did}#`))).toEqual([404, 'NOT_FOUND'])
    expect(refusalOf(await encoded(`${ada.did}?versionId=${made[0]}#blog`))).toEqual([404, 'NOT_FOUND'])
    expect((await encoded(`${ada.did}?versionId=${made[1]}#blog`)).status).toBe(200)
  })

  it('may have to stand in a relationship', async () => {
    for (const relationship of ['authentication', 'assertionMethod']) {
      const answer = await encoded(`${ada.did}?verificationRelationship=${relationship}#primary`)
      expect(dereferencedOf(answer).content).toMatchObject({ id: `${ada.did}#primary` })
    }
    for (const [relationship, id] of [
      ['authentication', 'home'],
      ['keyAgreement', 'primary'],
      ['capabilityInvocation', 'primary'],
      ['capabilityDelegation', 'primary'],
    ]) {
      const answer = await encoded(`${ada.did}?verificationRelationship=${relationship}#${id}`)
      const type = 'https://w3id.org/security#INVALID_RELATIONSHIP_FOR_VERIFICATION_METHOD'
      expect([relationship, ...refusalOf(answer)]).toEqual([relationship, 500, type])
    }
  })

  it('is no result of resolution', async () => {
    expect(refusalOf(await encoded(homeId(), resolution))).toEqual([406, 'REPRESENTATION_NOT_SUPPORTED'])
  })

  it('and nothing is at a path', async () => {
    for (const path of ['/', '/a/b', '/a?service=home', '/a#primary']) {
      expect([path, ...refusalOf(await encoded(ada.did + path))]).toEqual([path, 404, 'NOT_FOUND'])
    }
    expect(refusalOf(await get(`${ada.did}/a`))).toEqual([404, 'NOT_FOUND'])
  })
})

describe('services', () => {
  const selected = (answer: Answer) => resultOf(answer).didDocument?.service?.map(({ id }) => id.slice(ada.did.length))

  it('are selected by fragment, by id and by type', async () => {
    for (const [query, ids] of [
      ['service=home', ['#home']],
      ['service=%23home', ['#home']],
      [`service=${encodeURIComponent(homeId())}`, ['#home']],
      ['serviceType=LinkedDomains', ['#blog', '#home']],
      ['service=home&serviceType=LinkedDomains', ['#home']],
    ] as const) {
      for (const answer of [await get(`${ada.did}?${query}`), await encoded(`${ada.did}?${query}`)]) {
        expect(answer.status).toBe(200)
        expect([...(selected(answer) ?? [])].sort()).toEqual(ids)
        expect(resultOf(answer).didDocument?.verificationMethod).toHaveLength(2)
      }
    }
    for (const query of ['service=none', 'serviceType=None', 'service=mail&serviceType=LinkedDomains']) {
      expect(refusalOf(await get(`${ada.did}?${query}`))).toEqual([404, 'NOT_FOUND'])
    }
  })

  it('lead to their endpoint by 303 with an empty body, where a URI list or dereferencing is asked for', async () => {
    for (const accept of ['text/uri-list', dereferencing]) {
      const answer = await encoded(`${ada.did}?service=home`, accept)
      expect([answer.status, answer.headers.location, answer.text]).toEqual([303, home.serviceEndpoint, ''])
      expect(answer.headers).toMatchObject({ vary: 'Accept', 'cache-control': 'no-cache' })
      expect(answer.headers).not.toHaveProperty('content-type')
    }
  })

  test.each([
    ['relativeRef=c', 'https://ada.example/a/c'],
    ['relativeRef=/c%3Fy=2', 'https://ada.example/c?y=2'],
    ['relativeRef=../../c', 'https://ada.example/c'],
    ['relativeRef=%3Fz', 'https://ada.example/a/b?z'],
    ['relativeRef=my%2520path/file', 'https://ada.example/a/my%20path/file'],
    ['relativeRef=//other.example/c', 'https://other.example/c'],
    ['relativeRef=', 'https://ada.example/a/b?x=1'],
  ])('resolve %s by RFC 3986', async (query, location) => {
    const answer = await encoded(`${ada.did}?service=home&${query}`, 'text/uri-list')
    expect([answer.status, answer.headers.location]).toEqual([303, location])
    const plain = await get(`${ada.did}?service=home&${query}`, 'text/uri-list')
    expect([plain.status, plain.headers.location]).toEqual([303, location])
  })

  it('take the fragment of the URL along', async () => {
    const answer = await encoded(`${ada.did}?service=home&relativeRef=c#part`)
    expect([answer.status, answer.headers.location]).toEqual([303, 'https://ada.example/a/c#part'])
  })

  it('whose endpoint is no location are 404 NOT_FOUND', async () => {
    for (const query of ['service=mail', 'service=odd', 'service=marked#part', 'service=home&relativeRef=a%23b#part']) {
      const answer = await encoded(`${ada.did}?${query}`, dereferencing)
      expect(answer.headers.location).toBeUndefined()
      expect([query, ...refusalOf(answer)]).toEqual([query, 404, 'NOT_FOUND'])
    }
    expect((await encoded(`${ada.did}?service=marked`, dereferencing)).headers.location).toBe(marked.serviceEndpoint)
  })
})

describe('services of a node that answers their address', () => {
  let plain: ApiServer
  beforeAll(async () => {
    plain = await serve(contextOf(node, { dereference: 'url' }))
  })
  afterAll(() => plain.close())
  const asked = (url: string, accept: string, method = 'GET') =>
    ask(plain.port, `/1.0/identifiers/${encodeURIComponent(url)}`, { method, headers: { accept } })

  it('are the one line of a list of URIs, and redirect nowhere', async () => {
    const answer = await asked(`${ada.did}?service=home&relativeRef=c#part`, 'text/uri-list')
    expect([answer.status, answer.text]).toEqual([200, 'https://ada.example/a/c#part\r\n'])
    expect(answer.headers).toMatchObject({ 'content-type': 'text/uri-list', vary: 'Accept' })
    expect(answer.headers).not.toHaveProperty('location')
    const head = await asked(`${ada.did}?service=home`, 'text/uri-list', 'HEAD')
    expect([head.status, head.text, head.headers.location]).toEqual([200, '', undefined])
  })

  it('are the content of a result of dereferencing', async () => {
    const answer = await asked(`${ada.did}?service=home`, dereferencing)
    expect(answer.status).toBe(200)
    expect(answer.headers).not.toHaveProperty('location')
    expect(answer.body).toMatchObject({
      content: home.serviceEndpoint,
      contentStream: home.serviceEndpoint,
      dereferencingMetadata: { contentType: 'text/uri-list' },
      contentMetadata: { versionId: expect.any(String) },
    })
  })

  it('whose endpoint is no location are 404 as well, and documents are as they were', async () => {
    expect(refusalOf(await asked(`${ada.did}?service=mail`, dereferencing))).toEqual([404, 'NOT_FOUND'])
    const [own, other] = [await asked(ada.did, 'application/did'), await encoded(ada.did, 'application/did')]
    expect(own.text).toBe(other.text)
  })
})

describe('the node', () => {
  it('refuses other methods by HTTP itself, and names those it takes', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const answer = await get(ada.did, undefined, { method })
      expect(refusalOf(answer)).toEqual([405, 'about:blank'])
      expect(answer.headers.allow).toBe('GET, HEAD, POST')
    }
  })

  it('lets pages of every origin ask', async () => {
    const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
    const preflight = await get(ada.did, undefined, { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
  })

  it('lets pages of every origin read each answer, its ETag, Location and Retry-After', async () => {
    const origin = 'https://page.example'
    for (const [target, question, status] of [
      [ada.did, {}, 200],
      [ada.did, { method: 'PUT' }, 405],
      ['did:ledger:%zz', {}, 400],
      [unknown.did, {}, 404],
      [ada.did, { headers: { x: 'x'.repeat(20_000) } }, 431],
    ] as const) {
      const answer = await get(target, undefined, {
        ...question,
        headers: { origin, ...(question as Question).headers },
      })
      expect([target, answer.status]).toEqual([target, status])
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers['access-control-expose-headers']).toBe(
        'etag, location, retry-after, x-chain-height, x-chain-age',
      )
    }
  })

  it('answers headers over the limit, and too many requests, in the form of the path', async () => {
    const long = await get(ada.did, undefined, { headers: { x: 'x'.repeat(20_000) } })
    expect(long.status).toBe(431)
    expect(resultOf(long).didResolutionMetadata['error']).toMatchObject({ type: 'about:blank' })
    expect(long.headers['content-type']).toBe(resolution)
    const limits = { rateRequests: 1, rateSparesLoopback: false }
    const busy = await serve(contextOf(node, { limits }))
    try {
      const path = `/1.0/identifiers/${ada.did}`
      expect((await ask(busy.port, path)).status).toBe(200)
      expect(refusalOf(await ask(busy.port, path))).toEqual([429, 'about:blank'])
    } finally {
      await busy.close()
    }
  })

  it('is 503 INTERNAL_ERROR with the heights, and Retry-After, while it is out of step', async () => {
    const joining = await serve(contextOf(node, { standing: () => behind(5, 9) }))
    try {
      for (const did of [ada.did, unknown.did]) {
        const answer = await ask(joining.port, `/1.0/identifiers/${did}`)
        expect(refusalOf(answer)).toEqual([503, 'INTERNAL_ERROR'])
        expect(answer.headers['retry-after']).toBe('5')
        expect(answer.text).toMatch(/at height 5, .* up to height 9/)
      }
      expect((await ask(joining.port, '/1.0/identifiers/did:ledger:X')).status).toBe(400)
    } finally {
      await joining.close()
    }
  })

  it('says nothing of an unexpected failure but in its log', async () => {
    const context = contextOf(node)
    const resolve = () => Promise.reject(new Error('secret cause'))
    const broken = await serve({ ...context, resolver: { ...context.resolver, resolve, now: () => node.clock.time } })
    try {
      const answer = await ask(broken.port, `/1.0/identifiers/${ada.did}`)
      expect(refusalOf(answer)).toEqual([500, 'INTERNAL_ERROR'])
      expect(answer.text).not.toContain('secret')
      expect(node.log.errors.splice(0)).toHaveLength(1)
    } finally {
      await broken.close()
    }
    expect(node.log.errors).toEqual([])
  })

  it('does not serve the path on the port of JSON-RPC alone', async () => {
    const rpc = await serve(contextOf(node), { serves: 'rpc' })
    try {
      expect((await ask(rpc.port, `/1.0/identifiers/${ada.did}`)).status).not.toBe(200)
    } finally {
      await rpc.close()
    }
  })
})
