import { Resolver } from 'did-resolver'
import { describe, expect, it } from 'vitest'
import type { ResolvedTransaction, ResolveResult } from '../../../src/did/resolution.js'
import { RuleError } from '../../../src/errors/rule-error.js'
import { type DidSource, getResolver } from '../../../src/library/get-resolver.js'
import { type DidOperation, operationJson } from '../../../src/primitives/did-operation.js'
import { expires, holder, txid } from '../../support/builders/did.js'

const ada = holder()
const home = { id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://example.org' }

function entry(number: number, operation: DidOperation): ResolvedTransaction {
  return { txid: txid(number), timestamp: `2026-01-0${number}T00:00:00Z`, operation: operationJson(operation) }
}

const create = entry(1, ada.create())
const update = entry(2, ada.update(txid(1), { services: [home] }))
const deactivate = entry(3, ada.deactivate())

/** A source that gives one answer, and notes what it was asked. */
class Source implements DidSource {
  readonly asked: boolean[] = []
  constructor(
    private readonly status: ResolveResult['status'],
    private readonly history: readonly ResolvedTransaction[],
  ) {}

  async resolve(did: string, { all = false } = {}): Promise<ResolveResult> {
    this.asked.push(all)
    if (this.history.length === 0) return { did, status: 3 }
    return { did, status: this.status, transaction: all ? this.history : this.history.slice(0, 1) }
  }
}

function resolve(source: DidSource, query = '', accept?: string) {
  const options = accept === undefined ? {} : { accept }
  return new Resolver(getResolver(source)).resolve(ada.did + query, options)
}

describe('getResolver', () => {
  it('gives the document and its metadata, asking for the history only where there is one', async () => {
    const source = new Source(0, [create])
    const { didDocument, didDocumentMetadata, didResolutionMetadata } = await resolve(source)
    expect(didResolutionMetadata).toEqual({ contentType: 'application/did+ld+json' })
    expect(didDocument?.id).toBe(ada.did)
    expect(didDocument?.authentication).toEqual([`${ada.did}#primary`, `${ada.did}#recovery`])
    expect(didDocumentMetadata).toEqual({ created: create.timestamp, versionId: create.txid, expires })
    expect(source.asked).toEqual([false])
    const later = new Source(0, [update, create])
    expect((await resolve(later)).didDocumentMetadata).toEqual({
      created: create.timestamp,
      updated: update.timestamp,
      versionId: update.txid,
      expires,
    })
    expect(later.asked).toEqual([false, true])
  })

  it('takes a node as well as what resolves', async () => {
    const node = { resolver: new Source(0, [create]) }
    expect((await new Resolver(getResolver(node)).resolve(ada.did)).didDocument?.id).toBe(ada.did)
  })

  it('gives an expired document, which its metadata tells', async () => {
    const { didDocument, didDocumentMetadata } = await resolve(new Source(1, [create]))
    expect(didDocument?.id).toBe(ada.did)
    expect(didDocumentMetadata['expires']).toBe(expires)
  })

  it('says of a deactivated DID that it is, without a document', async () => {
    expect(await resolve(new Source(2, [deactivate, update, create]))).toEqual({
      didResolutionMetadata: {},
      didDocument: null,
      didDocumentMetadata: {
        deactivated: true,
        created: create.timestamp,
        updated: update.timestamp,
        versionId: deactivate.txid,
      },
    })
  })

  it('gives the version that is asked for, by id or by time', async () => {
    const source = new Source(2, [deactivate, update, create])
    const first = await resolve(source, `?versionId=${create.txid}`)
    expect(first.didDocument?.service).toBeUndefined()
    expect(first.didDocumentMetadata).toEqual({
      created: create.timestamp,
      versionId: create.txid,
      nextUpdate: update.timestamp,
      nextVersionId: update.txid,
      expires,
    })
    const second = await resolve(source, '?versionTime=2026-01-02T12:00:00Z')
    expect(second.didDocument?.service).toEqual([{ ...home, id: `${ada.did}#home` }])
    expect(second.didDocumentMetadata.versionId).toBe(update.txid)
    for (const query of [`?versionId=${txid(9)}`, '?versionTime=2025-12-31T00:00:00Z', '?versionTime=yesterday']) {
      const { didResolutionMetadata } = await resolve(source, query)
      expect([query, didResolutionMetadata.error]).toEqual([query, 'notFound'])
    }
  })

  it('offers the representations of JSON and no others', async () => {
    for (const accept of ['application/did', 'application/did+json', 'application/did+ld+json']) {
      const { didResolutionMetadata } = await resolve(new Source(0, [create]), '', accept)
      expect(didResolutionMetadata).toEqual({ contentType: accept })
    }
    const { didResolutionMetadata } = await resolve(new Source(0, [create]), '', 'application/did+cbor')
    expect(didResolutionMetadata.error).toBe('representationNotSupported')
  })

  it('tells DIDs that do not exist from those that cannot', async () => {
    const source = new Source(0, [])
    expect((await resolve(source)).didResolutionMetadata.error).toBe('notFound')
    for (const identifier of ['short', `${ada.did.slice(11, -1)}${ada.did.endsWith('2') ? '3' : '2'}`]) {
      const { didResolutionMetadata } = await new Resolver(getResolver(source)).resolve(`did:ledger:${identifier}`)
      expect([identifier, didResolutionMetadata.error]).toEqual([identifier, 'invalidDid'])
    }
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
    const broken = { ...create, operation: { ...create.operation, payload: 'e30' } }
    expect((await resolve(new Source(0, [broken]))).didResolutionMetadata.error).toBe('internalError')
  })
})
