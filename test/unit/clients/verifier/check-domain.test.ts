import { describe, expect, it } from 'vitest'
import type { SigningAccount } from '../../../../src/clients/wallet/accounts.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { createIdentity, documentOf, signer } from '../../../../src/clients/wallet/did-identity.js'
import { linkDomain } from '../../../../src/clients/wallet/present-credentials.js'
import { checkDomain } from '../../../../src/clients/verifier/check-domain.js'
import type { CredentialSource } from '../../../../src/clients/verifier/credential-source.js'
import { operationJson } from '../../../../src/base/primitives/did-operation.js'
import { makeJws } from '../../../../src/identity/credentials/compact-jws.js'
import { didConfiguration, linkagePayload } from '../../../../src/identity/credentials/domain-linkage.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { withMembers } from '../../../support/builders/with-members.js'
import { created, expires, specification, txid } from '../../../support/builders/did.js'

const origin = 'https://example.org'
const now = () => Date.parse('2026-06-01T00:00:00Z')
const [ada, bob] = [0, 1].map(devnetAccount) as [SigningAccount, SigningAccount]

function createOf(account: SigningAccount, endpoint?: string) {
  const service = { id: '#web', type: 'LinkedDomains', serviceEndpoint: endpoint }
  return createIdentity(
    { account, specification, created },
    { services: endpoint === undefined ? [] : [service], expires },
  )
}

/** A chain on which `ada` has a document, with a service where an endpoint is given. */
function chain(endpoint?: string): CredentialSource {
  const operation = operationJson(createOf(ada, endpoint))
  return {
    resolve: (did) =>
      Promise.resolve(
        did === ada.did
          ? { did, status: 0, transaction: [{ txid: txid(1), timestamp: created, operation }] }
          : { did, status: 3 },
      ),
    resolveCredential: () => Promise.reject(new Error('a linkage has no status')),
  }
}

const by = (account: SigningAccount) => ({ account, document: documentOf(createOf(account).payload), created })
const file = (...accounts: SigningAccount[]) =>
  JSON.stringify(
    didConfiguration(accounts.flatMap((account) => linkDomain(by(account), { origin, expires }).linked_dids)),
  )
const check = async (text: string, source = chain(), of = origin) => (await checkDomain(of, text, source, { now })).dids

describe('a DID configuration', () => {
  it('links an origin with a DID, whose document leads there or not', async () => {
    expect(await check(file(ada))).toEqual([{ did: ada.did, linked: true, listed: false }])
    for (const endpoint of [origin, `${origin}/`, `${origin}/about`]) {
      expect(await check(file(ada), chain(endpoint))).toEqual([{ did: ada.did, linked: true, listed: true }])
    }
    expect(await check(file(ada), chain('https://example.com'))).toMatchObject([{ listed: false }])
  })

  it('does not link another origin, a DID that does not exist, or one whose key did not sign', async () => {
    expect(await check(file(ada), chain(), 'https://example.com')).toMatchObject([
      { linked: false, reason: expect.stringContaining('it claims') },
    ])
    expect(await check(file(bob))).toMatchObject([
      { did: bob.did, linked: false, reason: expect.stringContaining('does not exist') },
    ])
    const payload = linkagePayload({ did: ada.did, origin, issued: 1_780_000_000, expires: 1_900_000_000 })
    const forged = makeJws(payload, `${ada.did}#primary`, signer(bob))
    expect(await check(JSON.stringify(didConfiguration([forged])))).toMatchObject([
      { linked: false, reason: expect.stringContaining('did not make') },
    ])
  })

  it('names several DIDs, each with its own result, and leaves those of other methods and forms to others', async () => {
    const other = makeJws({ iss: 'did:key:z6Mk' }, 'did:key:z6Mk#z6Mk', signer(bob))
    const both = JSON.parse(file(ada, bob)) as { linked_dids: unknown[] }
    const text = JSON.stringify({ ...both, linked_dids: [...both.linked_dids, other, { issuer: 'did:key:z6Mk' }, 'x'] })
    expect((await check(text)).map(({ linked }) => linked)).toEqual([true, false])
  })

  it.each<[string, Record<string, unknown>, object]>([
    ['an id', { jti: `${ada.did}#x` }, {}],
    ['no end', { exp: undefined, 'vc.expirationDate': undefined }, {}],
    ['another type', { 'vc.type': ['VerifiableCredential'] }, {}],
    ['another subject', { sub: bob.did, 'vc.credentialSubject.id': bob.did }, {}],
    ['no origin', { 'vc.credentialSubject.origin': undefined }, {}],
    ['another member in its header', {}, { typ: 'JWT' }],
  ])('with a credential that has %s does not link', async (_, members, header) => {
    const plan = { did: ada.did, origin, issued: 1_780_000_000, expires: 1_900_000_000 }
    const jwt = makeJws(withMembers(linkagePayload(plan), members), `${ada.did}#primary`, signer(ada), header)
    expect(await check(JSON.stringify(didConfiguration([jwt])))).toMatchObject([{ linked: false }])
  })

  it.each([
    ['no JSON', 'x', 'json-syntax'],
    ['another context', JSON.stringify({ '@context': 'x', linked_dids: [] }), 'document-form'],
    ['another member', JSON.stringify({ ...didConfiguration([]), more: 1 }), 'document-member'],
    ['no list', JSON.stringify({ ...didConfiguration([]), linked_dids: {} }), 'document-form'],
  ])('of another form is refused: %s', async (_, text, code) => {
    await expect(check(text)).rejects.toMatchObject({ code })
  })

  it('is made for origins alone', () => {
    for (const wrong of [
      'example.org',
      `${origin}/`,
      `${origin}/a`,
      'https://EXAMPLE.org',
      'ftp://example.org',
      'null',
    ]) {
      expect(() => linkDomain(by(ada), { origin: wrong, expires }), wrong).toThrow('is no origin')
    }
    expect(codeOf(() => linkDomain(by(ada), { origin: 'http://localhost:8080', expires }))).toBeUndefined()
  })
})
