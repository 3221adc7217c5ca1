import { Resolver } from 'did-resolver'
import { describe, expect, it } from 'vitest'
import { parseDate } from '../../../../src/identity/did/date.js'
import type { ResolvedTransaction, ResolveOptions, ResolveResult } from '../../../../src/identity/did/resolution.js'
import { RuleError } from '../../../../src/base/errors/rule-error.js'
import type { DidResolutionResult } from '../../../../src/node/library/did-resolver-types.js'
import { type DidSource, getResolver, type GetResolverOptions } from '../../../../src/node/library/get-resolver.js'
import { type DidOperation, operationJson } from '../../../../src/base/primitives/did-operation.js'
import { expires, holder, txid } from '../../../support/builders/did.js'

const ada = holder()
const home = { id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://example.org' }
const shop = { id: '#shop', type: 'Shop', serviceEndpoint: 'https://example.org/shop' }
const tip = { height: 9, blockHash: 'ab'.repeat(32) }

/** An operation in the block of its number. */
function entry(number: number, operation: DidOperation): ResolvedTransaction {
  return { txid: txid(number), timestamp: `2026-01-0${number}T00:00:00Z`, operation: operationJson(operation) }
}

const create = entry(1, ada.create())
const update = entry(2, ada.update(txid(1), { services: [home, shop] }))
const deactivate = entry(3, ada.deactivate())
const blockOf = ({ txid: id }: ResolvedTransaction) => {
  const height = Number.parseInt(id, 16)
  return { height, blockHash: id, confirmations: tip.height - height + 1 }
}
const momentOf = ({ txid: id, timestamp }: ResolvedTransaction) => ({ txid: id, timestamp })
const metadataOf = (version: ResolvedTransaction) => ({
  created: create.timestamp,
  versionId: version.txid,
  ...blockOf(version),
})

/** A source with one DID, and what it was asked. */
class Source implements DidSource {
  readonly asked: ResolveOptions[] = []
  constructor(
    private readonly status: 0 | 1 | 2,
    /** Newest first. */
    private readonly history: readonly ResolvedTransaction[],
  ) {}

  async resolve(did: string, options: ResolveOptions = {}): Promise<ResolveResult> {
    this.asked.push(options)
    const { history, status } = this
    if (history.length === 0 || did !== ada.did) return { did, status: 3 }
    const { versionId, versionTime = '9999-12-31T23:59:59Z' } = options
    const isMeant = ({ txid: id, timestamp }: ResolvedTransaction) =>
      (versionId === undefined || id === versionId) && Number(parseDate(timestamp)) <= Number(parseDate(versionTime))
    const at = history.findIndex(isMeant)
    const transaction = history.slice(at, at + 1)
    const updated = history.slice(at).find(({ operation }) => operation.header.operation === 'update')
    const context = {
      ...tip,
      time: 0,
      count: history.length,
      created: momentOf(create),
      ...(updated && { updated: momentOf(updated) }),
      ...(at > 0 && { next: momentOf(history[at - 1] as ResolvedTransaction) }),
      expires,
      at: transaction.map(blockOf),
    }
    return { did, status, transaction, ...(options.context && { context }) }
  }
}

function resolve(
  source: DidSource,
  after = '',
  options: Record<string, unknown> = {},
  settings: GetResolverOptions = {},
): Promise<DidResolutionResult> {
  return new Resolver(getResolver(source, settings)).resolve(ada.did + after, options) as Promise<DidResolutionResult>
}

async function errorOf(result: Promise<DidResolutionResult>): Promise<string | undefined> {
  const { didResolutionMetadata, didDocument } = await result
  const { error, message } = didResolutionMetadata
  if (error !== undefined) expect([didDocument, typeof message]).toEqual([null, 'string'])
  return error
}

describe('getResolver', () => {
  it('gives the document and its metadata, and asks once', async () => {
    const source = new Source(0, [create])
    const { didDocument, didDocumentMetadata, didResolutionMetadata } = await resolve(source)
    expect(didResolutionMetadata).toEqual({ contentType: 'application/did+ld+json', ...tip })
    expect(didDocument?.id).toBe(ada.did)
    expect(didDocument?.authentication).toEqual([`${ada.did}#primary`, `${ada.did}#recovery`])
    expect(didDocumentMetadata).toEqual({ ...metadataOf(create), expires })
    const later = new Source(0, [update, create])
    expect((await resolve(later)).didDocumentMetadata).toEqual({
      ...metadataOf(update),
      updated: update.timestamp,
      expires,
    })
    expect([source.asked, later.asked]).toEqual([[{ context: true }], [{ context: true }]])
  })

  it('takes a node as well as what resolves, and refuses options that it does not have', async () => {
    const node = { resolver: new Source(0, [create]) }
    expect((await new Resolver(getResolver(node)).resolve(ada.did)).didDocument?.id).toBe(ada.did)
    expect(() => getResolver(node, { expired: 'maybe' as 'give' })).toThrow('refuse or give')
    expect(() => getResolver(node, { expird: 'give' } as GetResolverOptions)).toThrow('expird is no option')
  })

  it('refuses an expired document when its last version is asked for, unless told otherwise', async () => {
    const source = new Source(1, [update, create])
    const refused = await resolve(source)
    expect(refused).toMatchObject({
      didResolutionMetadata: { error: 'expired', message: expect.stringContaining(expires) as string },
      didDocument: null,
      didDocumentMetadata: { expired: true, expires, versionId: update.txid },
    })
    const given = await resolve(source, '', {}, { expired: 'give' })
    expect(given.didDocument?.id).toBe(ada.did)
    expect(given.didDocumentMetadata).toMatchObject({ expired: true, expires })
    // However it is named.
    for (const version of [`versionId=${update.txid}`, 'versionTime=2026-06-01T00:00:00Z']) {
      const named = await resolve(source, `?${version}`)
      expect([version, named]).toEqual([version, refused])
      const giving = await resolve(source, `?${version}`, {}, { expired: 'give' })
      expect([version, giving.didDocument?.id, giving.didDocumentMetadata.expired]).toEqual([version, ada.did, true])
    }
    // By the clock: it expires years from now.
    const earlier = await resolve(source, `?versionId=${create.txid}`)
    expect(earlier.didDocumentMetadata).not.toHaveProperty('expired')
    expect((await resolve(new Source(0, [create]), '', {}, { expired: 'refuse' })).didDocument?.id).toBe(ada.did)
  })

  it('says of a deactivated DID that it is, without a document', async () => {
    expect(await resolve(new Source(2, [deactivate, update, create]))).toEqual({
      didResolutionMetadata: tip,
      didDocument: null,
      didDocumentMetadata: { ...metadataOf(deactivate), deactivated: true, updated: update.timestamp },
    })
  })

  it('gives the version that is asked for, by id or by time, in the DID URL or as an option', async () => {
    const source = new Source(2, [deactivate, update, create])
    for (const [query, options] of [
      [`?versionId=${create.txid}`, {}],
      ['', { versionId: create.txid }],
      ['?versionTime=2026-01-01T23:59:59Z', {}],
      ['?versionTime=2026-01-01T23%3A59%3A59Z#primary', { versionId: undefined }],
      ['', { versionTime: '2026-01-01T00:00:00Z' }],
    ] as const) {
      const { didDocument, didDocumentMetadata } = await resolve(source, query, options)
      expect(didDocument?.service).toBeUndefined()
      expect(didDocumentMetadata).toEqual({
        ...metadataOf(create),
        nextUpdate: update.timestamp,
        nextVersionId: update.txid,
        deactivated: true,
        expires,
      })
    }
    for (const query of [`?versionId=${txid(9)}`, '?versionTime=2025-12-31T00:00:00Z']) {
      expect([query, await errorOf(resolve(source, query))]).toEqual([query, 'notFound'])
    }
  })

  it('selects services, and gives keys in the form that is asked for', async () => {
    const source = new Source(0, [update, create])
    const servicesFor = async (query: string, options = {}) =>
      (await resolve(source, query, options)).didDocument?.service?.map(({ id }) => id)
    expect(await servicesFor('')).toEqual([`${ada.did}#home`, `${ada.did}#shop`])
    expect(await servicesFor('?service=home')).toEqual([`${ada.did}#home`])
    expect(await servicesFor('', { service: `${ada.did}#shop` })).toEqual([`${ada.did}#shop`])
    expect(await servicesFor('?service=%23shop')).toEqual([`${ada.did}#shop`])
    expect(await servicesFor('?serviceType=LinkedDomains')).toEqual([`${ada.did}#home`])
    for (const query of ['?service=none', '?serviceType=none', '?service=home&serviceType=Shop']) {
      expect([query, await errorOf(resolve(source, query))]).toEqual([query, 'notFound'])
    }
    const { didDocument } = await resolve(source, '', { transformKeys: 'JsonWebKey' })
    expect(didDocument?.verificationMethod[0]?.publicKeyJwk).toMatchObject({ kty: 'EC', crv: 'P-256' })
    expect((await resolve(source)).didDocument?.verificationMethod[0]?.publicKeyJwk).toBeUndefined()
  })

  it('ignores no option: it refuses what it does not know, and values that cannot be', async () => {
    const source = new Source(0, [create])
    const cases: [string, Record<string, unknown>, string][] = [
      ['?hl=abc', {}, 'featureNotSupported'],
      ['?relativeRef=a', {}, 'featureNotSupported'],
      ['?toString=a', {}, 'featureNotSupported'],
      ['', { verificationRelationship: 'authentication' }, 'featureNotSupported'],
      ['?versionTime=yesterday', {}, 'invalidDidUrl'],
      ['?versionTime=2026-02-30T00:00:00Z', {}, 'invalidDidUrl'],
      [`?versionId=${'AB'.repeat(32)}`, {}, 'invalidDidUrl'],
      ['?versionId=%ff', {}, 'invalidDidUrl'],
      [`?versionId=${txid(1)}&versionTime=2026-01-01T00:00:00Z`, {}, 'invalidDidUrl'],
      [`?versionId=${txid(1)}&versionId=${txid(1)}`, {}, 'invalidDidUrl'],
      [`?versionId=${txid(1)}`, { versionId: txid(1) }, 'invalidOptions'],
      [`?versionId=${txid(1)}`, { versionTime: '2026-01-01T00:00:00Z' }, 'invalidOptions'],
      ['', { versionId: 7 }, 'invalidOptions'],
      ['', { versionTime: new Date() }, 'invalidOptions'],
      ['', { service: '' }, 'invalidOptions'],
      ['', { noCache: 'maybe' }, 'invalidOptions'],
      ['', { transformKeys: 'PEM' }, 'invalidOptions'],
      ['', { cache: 1 }, 'invalidOptions'],
      ['', { accept: 'application/did+cbor' }, 'representationNotSupported'],
      ['/path', {}, 'notFound'],
    ]
    for (const [after, options, error] of cases) {
      expect([after, options, await errorOf(resolve(source, after, options))]).toEqual([after, options, error])
    }
    expect(source.asked).toEqual([])
    for (const options of [{ noCache: true, expandRelativeUrls: 'false', cache: false }, { accept: undefined }]) {
      expect(await errorOf(resolve(source, '?', options))).toBeUndefined()
    }
  })

  it('takes the one matrix parameter that did-resolver had before version 6', async () => {
    const { ledger } = getResolver(new Source(0, [create]))
    const parsed = { did: ada.did, method: 'ledger', id: ada.did.slice(11) }
    const resolved = await ledger(ada.did, { ...parsed, params: { 'no-cache': 'true' } }, undefined, {})
    expect(resolved.didDocument?.id).toBe(ada.did)
    const refused = await ledger(ada.did, { ...parsed, params: { service: 'home' } }, undefined, {})
    expect(refused.didResolutionMetadata.error).toBe('featureNotSupported')
    const other = await ledger('did:other:x', { ...parsed, method: 'other' }, undefined, {})
    expect(other.didResolutionMetadata.error).toBe('unsupportedDidMethod')
  })

  it('offers the representations of JSON and no others', async () => {
    for (const [accept, type] of [
      ['application/did+ld+json;q=0.5, application/did+json', 'application/did+json'],
      ['text/html, */*;q=.2', 'application/did+ld+json'],
    ] as const) {
      const { didResolutionMetadata } = await resolve(new Source(0, [create]), '', { accept })
      expect(didResolutionMetadata.contentType).toBe(type)
    }
    for (const accept of ['application/did', 'application/did+json', 'application/did+ld+json']) {
      const { didResolutionMetadata } = await resolve(new Source(0, [create]), '', { accept })
      expect(didResolutionMetadata.contentType).toBe(accept)
    }
  })

  it('gives each caller a document of its own', async () => {
    const answer = await new Source(0, [update, create]).resolve(ada.did, { context: true })
    let asked = 0
    const source = { resolve: async () => (asked++, answer) }
    const resolver = new Resolver(getResolver(source))
    const first = await resolver.resolve(ada.did)
    const second = await resolver.resolve(ada.did)
    expect(second).toEqual(first)
    first.didDocument?.verificationMethod?.pop()
    Object.assign(first.didDocumentMetadata, { deactivated: true })
    expect(await resolver.resolve(ada.did)).toEqual(second)
    expect((await resolver.resolve(`${ada.did}?service=home`)).didDocument?.service).toHaveLength(1)
    expect(await resolver.resolve(ada.did)).toEqual(second)
    const { didDocument } = await resolver.resolve(ada.did, { transformKeys: 'JsonWebKey' })
    expect(didDocument?.verificationMethod?.[0]?.type).toBe('JsonWebKey')
    expect(asked).toBe(6)
  })

  it('tells DIDs that do not exist from those that cannot', async () => {
    const source = new Source(0, [])
    expect(await errorOf(resolve(source))).toBe('notFound')
    for (const identifier of ['Short', `${ada.did.slice(11, -1)}${ada.did.endsWith('2') ? '3' : '2'}`]) {
      const { didResolutionMetadata } = await new Resolver(getResolver(source)).resolve(`did:ledger:${identifier}`)
      expect([identifier, didResolutionMetadata.error]).toEqual([identifier, 'invalidDid'])
    }
    expect(source.asked).toHaveLength(1)
    const { didResolutionMetadata } = await new Resolver(getResolver(source)).resolve('did:other:abc')
    expect(didResolutionMetadata.error).toBe('unsupportedDidMethod')
  })

  it('never says of a node that is catching up, or cannot be asked, that there is nothing', async () => {
    for (const failure of [new RuleError('resolver-behind', 'at height 3 of 9'), new Error('no node'), 'odd']) {
      const resolver = { resolve: () => Promise.reject(failure as Error) }
      const { didResolutionMetadata, didDocument } = await resolve(resolver)
      const message = failure instanceof Error ? failure.message : failure
      expect({ ...didResolutionMetadata, didDocument }).toEqual({ error: 'internalError', message, didDocument: null })
    }
  })

  it('believes no answer about another DID, and none that does not say where it stands', async () => {
    const broken = { ...create, operation: { ...create.operation, payload: 'e30' } }
    const strange = { ...deactivate, operation: { ...deactivate.operation, payload: holder().did } }
    const other = entry(1, holder().create())
    for (const last of [broken, strange, other]) {
      expect(await errorOf(resolve(new Source(0, [last])))).toBe('internalError')
    }
    const old = { resolve: async () => ({ did: ada.did, status: 0 as const, transaction: [create] }) }
    const { didResolutionMetadata } = await resolve(old, `?versionId=${txid(7)}`)
    expect(didResolutionMetadata).toMatchObject({
      error: 'internalError',
      message: expect.stringContaining('context') as string,
    })
  })
})
