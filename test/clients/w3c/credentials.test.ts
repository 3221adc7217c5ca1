import { createAgent, type IAgentPlugin, type ICredentialVerifier, type IResolver } from '@veramo/core'
import { CredentialProviderJWT } from '@veramo/credential-jwt'
import { CredentialPlugin } from '@veramo/credential-w3c'
import { DIDResolverPlugin } from '@veramo/did-resolver'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { WellKnownDidVerifier } from '@sphereon/wellknown-dids-client'
import { verifyJWT } from 'did-jwt'
import { normalizeCredential, verifyCredential, verifyPresentation } from 'did-jwt-vc'
import { Resolver } from 'did-resolver'
import { Resolver as Resolver4 } from 'did-resolver-4'
import { getResolver, HttpResolver } from 'didledger/resolver'
import { statusOf } from 'didledger/verify'
import { accountSource, documentOf, issueCredentialJwt, linkDomain, presentCredentials, sign } from 'didledger/wallet'
import { createHash, createPublicKey, randomBytes, verify as verifySignature } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NodeProcess, runJson } from '../../support/process/spawn.js'
import { issueByIntegrity, verifyByIntegrity } from './data-integrity.js'
import { isRevoked, type StatusSubject } from './ledger-status.js'

/** Credentials that this package issues, by verifiers of others; and their revocation, by a check that has nothing of this package. */

const mnemonic = 'test test test test test test test test test test test junk'
const [university, ada, stranger] = [0, 1, 2].map(accountSource({ kind: 'mnemonic', mnemonic })) as [
  Account,
  Account,
  Account,
]
type Account = ReturnType<ReturnType<typeof accountSource>>
const audience = 'https://jobs.example'
const degree = { types: ['DegreeCredential'], subject: ada.did, claims: { degree: 'BSc' } }

let node: NodeProcess
let http: HttpResolver
let resolver: Resolver4
let serial = 0
beforeAll(async () => {
  node = await NodeProcess.start('devnet')
  http = new HttpResolver(node.line.rpc)
  resolver = new Resolver4(getResolver(http))
  for (const account of ['0', '1', '2']) await command('create', '--devnet-account', account)
})
afterAll(() => node.stop())

const command = (...args: string[]) => runJson('did', ...args, '--rest', node.line.rest)
async function by(account: Account) {
  const { transaction } = await http.resolve(account.did)
  const document = documentOf(transaction?.[0]?.operation.payload ?? '')
  return { account, document, created: new Date().toISOString().replace(/\.\d+/, '') }
}
/** A JWT under an id of its own, and that id. */
async function issued(): Promise<{ jwt: string; id: string }> {
  const name = `degree-${++serial}`
  return { jwt: issueCredentialJwt(await by(university), { ...degree, id: name }), id: `${ada.did}#${name}` }
}
const revoke = (id: string, account: string) => command('revoke', id, '--devnet-account', account)

describe('did-jwt-vc', () => {
  it('verifies a credential and a presentation', async () => {
    const { jwt, id } = await issued()
    const { verifiableCredential } = await verifyCredential(jwt, resolver)
    expect(verifiableCredential).toMatchObject({
      id,
      issuer: { id: university.did },
      type: ['VerifiableCredential', 'DegreeCredential'],
      credentialSubject: { id: ada.did, degree: 'BSc' },
      credentialStatus: statusOf(id),
    })
    const shown = presentCredentials(await by(ada), { credentials: [jwt], realm: audience, nonce: '6f1d' })
    const options = { domain: audience, challenge: '6f1d' }
    expect((await verifyPresentation(shown, resolver, options)).verified).toBe(true)
    await expect(verifyPresentation(shown, resolver, { ...options, challenge: 'other' })).rejects.toThrow('auth_error')
    await expect(verifyPresentation(shown, resolver, { ...options, domain: 'https://other.example' })).rejects.toThrow()
  })
})

describe('Veramo', () => {
  const status: IAgentPlugin = {
    methods: {
      checkCredentialStatus: async ({ credential }: { credential: StatusSubject }) => ({
        revoked: await isRevoked(credential, node.line.rpc),
      }),
    },
  }
  const agent = () =>
    createAgent<IResolver & ICredentialVerifier>({
      plugins: [new DIDResolverPlugin({ resolver }), new CredentialPlugin([new CredentialProviderJWT()]), status],
    })
  // It looks at the status of the object alone; that of a text is not seen.
  const verify = async (jwt: string) =>
    (await agent().verifyCredential({ credential: normalizeCredential(jwt) as never })).verified

  it.each([
    ['its issuer', '0'],
    ['its holder', '1'],
  ])('refuses a credential once %s revoked it', async (_, account) => {
    const { jwt, id } = await issued()
    expect(await verify(jwt)).toBe(true)
    await revoke(id, '2')
    expect(await verify(jwt)).toBe(true)
    await revoke(id, account)
    expect(await verify(jwt)).toBe(false)
  })
})

describe('Digital Bazaar', () => {
  const latest = () => new Resolver(getResolver(http))
  const verify = (credential: object) =>
    verifyByIntegrity(credential, latest(), (checked) => isRevoked(checked as StatusSubject, node.line.rpc))
  const credentialOf = (id: string) => ({
    '@context': [
      'https://www.w3.org/2018/credentials/v1',
      { '@vocab': 'https://example.org/#', DidLedgerStatus2026: 'urn:didledger:DidLedgerStatus2026' },
    ],
    id,
    type: ['VerifiableCredential', 'DegreeCredential'],
    issuer: university.did,
    issuanceDate: '2026-01-01T00:00:00Z',
    credentialSubject: { id: ada.did, degree: 'BSc' },
    credentialStatus: statusOf(id),
  })

  it('verifies a proof by a key of a DID, and refuses another text, and a credential that was revoked', async () => {
    const id = `${ada.did}#integrity`
    const signed = await issueByIntegrity(university, credentialOf(id), latest())
    expect(await verify(signed)).toMatchObject({ verified: true })
    expect(await verify({ ...signed, credentialSubject: { id: ada.did, degree: 'MSc' } })).toMatchObject({
      verified: false,
    })
    await revoke(id, '0')
    expect(await verify(signed)).toMatchObject({ verified: false })
  })

  it('refuses a proof by a key of another DID, and the status of another credential', async () => {
    const forged = await issueByIntegrity(stranger, credentialOf(`${ada.did}#forged`), latest())
    expect(await verify(forged)).toMatchObject({ verified: false })
    const other = { ...credentialOf(`${ada.did}#one`), credentialStatus: statusOf(`${ada.did}#two`) }
    expect(await verify(await issueByIntegrity(university, other, latest()))).toMatchObject({ verified: false })
  })
})

describe('@sd-jwt/sd-jwt-vc', () => {
  it('issues with a key of a DID, shows a part, and verifies by the resolved document', async () => {
    const signer = (text: string) => Buffer.from(sign(Buffer.from(text), university.privateKey)).toString('base64url')
    const verifier = async (text: string, signature: string) => {
      const { didDocument } = await resolver.resolve(`${university.did}?transformKeys=JsonWebKey`)
      const key = createPublicKey({ format: 'jwk', key: didDocument?.verificationMethod?.[0]?.publicKeyJwk as never })
      const given = Buffer.from(signature, 'base64url')
      return verifySignature('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, given)
    }
    const hasher = (data: string | ArrayBuffer) =>
      createHash('sha256')
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest()
    const saltGenerator = (length: number) => randomBytes(length).toString('hex')
    const library = new SDJwtVcInstance({
      signer,
      signAlg: 'ES256',
      verifier,
      hasher,
      hashAlg: 'sha-256',
      saltGenerator,
    })
    const claims = {
      iss: university.did,
      iat: 1_790_000_000,
      vct: 'https://example.org/degree',
      name: 'Ada',
      degree: 'BSc',
    }
    const credential = await library.issue(claims, { _sd: ['name', 'degree'] })
    const shown = await library.present(credential, { degree: true } as never)
    const { payload } = await library.verify(shown)
    expect(payload).toMatchObject({ iss: university.did, degree: 'BSc' })
    expect(payload).not.toHaveProperty('name')
    const [token = '', ...disclosures] = shown.split('~')
    const forged = `${token.slice(0, -6)}AAAAAA~${disclosures.join('~')}`
    await expect(library.verify(forged)).rejects.toThrow()
  })
})

describe('the client of DID configurations', () => {
  it('takes the file of an origin, and refuses one of another key', async () => {
    const origin = 'https://example.org'
    const verifySignatureCallback = async ({ credential }: { credential: unknown }) => {
      const verified = await verifyJWT(String(credential), { resolver }).then(
        () => true,
        () => false,
      )
      return { verified }
    }
    const verifier = new WellKnownDidVerifier({ verifySignatureCallback: verifySignatureCallback as never })
    const check = (configuration: object) => verifier.verifyResource({ configuration: configuration as never })
    const file = linkDomain(await by(university), { origin, expires: '2040-01-01T00:00:00Z' })
    expect((await check(file)).status).toBe('valid')
    const [jwt = ''] = file.linked_dids
    const other = { ...file, linked_dids: [`${jwt.slice(0, jwt.lastIndexOf('.'))}.${'A'.repeat(86)}`] }
    expect((await check(other)).status).toBe('invalid')
  })
})
