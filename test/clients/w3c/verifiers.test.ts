import { createAgent, type ICredentialVerifier, type IResolver } from '@veramo/core'
import { CredentialProviderJWT } from '@veramo/credential-jwt'
import { CredentialPlugin } from '@veramo/credential-w3c'
import { DIDResolverPlugin } from '@veramo/did-resolver'
import { createJWT, type Signer, verifyJWT } from 'did-jwt'
import {
  createVerifiableCredentialJwt,
  createVerifiablePresentationJwt,
  verifyCredential,
  verifyPresentation,
} from 'did-jwt-vc'
import { Resolver } from 'did-resolver'
import { Resolver as Resolver4 } from 'did-resolver-4'
import { getResolver, HttpResolver } from 'didledger/resolver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QuickSigner } from '../../support/builders/signatures.js'
import { type Actors, startActors } from './actors.js'

const audience = 'https://example.org'

let actors: Actors
let resolver: Resolver4
let latest: Resolver
let agent: ReturnType<typeof createAgent<IResolver & ICredentialVerifier>>
beforeAll(async () => {
  actors = await startActors()
  const source = new HttpResolver(actors.node.line.rpc)
  resolver = new Resolver4(getResolver(source))
  latest = new Resolver(getResolver(source))
  agent = createAgent<IResolver & ICredentialVerifier>({
    plugins: [new DIDResolverPlugin({ resolver }), new CredentialPlugin([new CredentialProviderJWT()])],
  })
})
afterAll(() => actors.node.stop())

const signerOf =
  (key: QuickSigner): Signer =>
  (data) =>
    Promise.resolve(Buffer.from(key.sign(Buffer.from(data))).toString('base64url'))
const issuerOf = (did: string, key: QuickSigner) => ({ did, signer: signerOf(key), alg: 'ES256' })
const token = (did: string, key: QuickSigner) => {
  const { signer, alg } = issuerOf(did, key)
  return createJWT({ aud: audience, claim: 'a' }, { issuer: did, signer }, { alg })
}
const credential = (did: string, key: QuickSigner) =>
  createVerifiableCredentialJwt(
    {
      sub: actors.ada.did,
      nbf: 1_780_000_000,
      vc: {
        '@context': ['https://www.w3.org/2018/credentials/v1'],
        type: ['VerifiableCredential'],
        credentialSubject: { name: 'Ada' },
      },
    },
    issuerOf(did, key),
  )
const presentation = (did: string, key: QuickSigner, credentials: string[]) =>
  createVerifiablePresentationJwt(
    {
      aud: audience,
      vp: {
        '@context': ['https://www.w3.org/2018/credentials/v1'],
        type: ['VerifiablePresentation'],
        verifiableCredential: credentials,
      },
    },
    issuerOf(did, key),
  )

/** The text with another letter in its payload. */
function tampered(jwt: string): string {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const text = Buffer.from(payload, 'base64url')
    .toString()
    .replace(/"(a|Ada)"/, '"b"')
  return [header, Buffer.from(text).toString('base64url'), signature].join('.')
}

type Row = readonly [what: string, did: () => string, key: () => QuickSigner]
const accepted: Row[] = [
  ['the default key', () => actors.ada.did, () => actors.ada.primary],
  ['another key for authentication', () => actors.ada.did, () => actors.second],
  ['an own key of a DID with a name', () => actors.shop.did, () => actors.shop.key],
]
const refused: Row[] = [
  ['the key of a delegate', () => actors.ada.did, () => actors.delegate],
  ['a key under publicKey alone', () => actors.ada.did, () => actors.unused],
  ['a key of another DID', () => actors.ada.did, () => actors.late.primary],
  ['the key of a controller in the name of another DID', () => actors.shop.did, () => actors.ada.primary],
  ['a deactivated DID', () => actors.deactivated.did, () => actors.deactivated.primary],
  ['a DID that has expired', () => actors.late.did, () => actors.late.primary],
]

describe('did-resolver', () => {
  it.each([
    ['4.1', (url: string) => resolver.resolve(url)],
    ['6', (url: string) => latest.resolve(url)],
  ])('%s gives documents and refusals', async (_, resolve) => {
    const { ada, late, deactivated } = actors
    const { didDocument, didDocumentMetadata } = await resolve(ada.did)
    const keys = ['#primary', '#recovery', '#second'].map((fragment) => ada.did + fragment)
    expect(didDocument?.verificationMethod?.map(({ id }) => id)).toEqual(keys)
    expect(didDocument?.authentication).toEqual(keys)
    expect(didDocument?.assertionMethod).toEqual(keys)
    const first = await resolve(`${ada.did}?versionId=${didDocumentMetadata.versionId}`)
    expect(first.didDocument).toEqual(didDocument)
    expect((await resolve(late.did)).didResolutionMetadata.error).toBe('expired')
    expect(await resolve(deactivated.did)).toMatchObject({
      didDocument: null,
      didDocumentMetadata: { deactivated: true },
    })
    expect((await resolve(`${ada.did}x`)).didResolutionMetadata.error).toBe('invalidDid')
  })
})

// The types of did-jwt, did-jwt-vc and Veramo are those of did-resolver 4.1, which a Resolver of version 6 does not fit.
describe('did-jwt', () => {
  const verify = (jwt: string) => verifyJWT(jwt, { resolver, audience })

  it.each(accepted)('verifies a JWT by %s', async (_, did, key) => {
    const { verified, issuer } = await verify(await token(did(), key()))
    expect({ verified, issuer }).toEqual({ verified: true, issuer: did() })
  })

  it.each(refused)('refuses a JWT by %s', async (_, did, key) => {
    await expect(verify(await token(did(), key()))).rejects.toThrow()
  })

  it('refuses a JWT that was tampered with', async () => {
    const jwt = await token(actors.ada.did, actors.ada.primary)
    await expect(verify(tampered(jwt))).rejects.toThrow('invalid_signature')
  })
})

describe('did-jwt-vc', () => {
  it.each(accepted)('verifies a credential, and a presentation, by %s', async (_, did, key) => {
    const jwt = await credential(did(), key())
    expect(await verifyCredential(jwt, resolver)).toMatchObject({ verified: true, issuer: did() })
    const shown = await presentation(did(), key(), [jwt])
    expect(await verifyPresentation(shown, resolver, { audience })).toMatchObject({ verified: true, issuer: did() })
  })

  it.each(refused)('refuses a credential, and a presentation, by %s', async (_, did, key) => {
    await expect(verifyCredential(await credential(did(), key()), resolver)).rejects.toThrow()
    const shown = await presentation(did(), key(), [await credential(actors.ada.did, actors.ada.primary)])
    await expect(verifyPresentation(shown, resolver, { audience })).rejects.toThrow()
  })

  it('refuses a credential that was tampered with', async () => {
    const jwt = await credential(actors.ada.did, actors.ada.primary)
    await expect(verifyCredential(tampered(jwt), resolver)).rejects.toThrow('invalid_signature')
  })
})

describe('Veramo', () => {
  it('resolves a DID', async () => {
    const { didDocument } = await agent.resolveDid({ didUrl: actors.ada.did })
    expect(didDocument?.authentication).toEqual(
      ['#primary', '#recovery', '#second'].map((fragment) => actors.ada.did + fragment),
    )
  })

  it.each(accepted)('verifies a credential and a presentation by %s', async (_, did, key) => {
    const jwt = await credential(did(), key())
    expect(await agent.verifyCredential({ credential: jwt })).toMatchObject({ verified: true })
    const shown = await presentation(did(), key(), [jwt])
    expect(await agent.verifyPresentation({ presentation: shown, domain: audience })).toMatchObject({ verified: true })
  })

  it.each(refused)('refuses a credential, and a presentation, by %s', async (_, did, key) => {
    const jwt = await credential(did(), key())
    expect(await agent.verifyCredential({ credential: jwt })).toMatchObject({ verified: false })
    const shown = await presentation(did(), key(), [await credential(actors.ada.did, actors.ada.primary)])
    expect(await agent.verifyPresentation({ presentation: shown, domain: audience })).toMatchObject({ verified: false })
  })

  it('refuses a credential that was tampered with', async () => {
    const jwt = tampered(await credential(actors.ada.did, actors.ada.primary))
    expect(await agent.verifyCredential({ credential: jwt })).toMatchObject({ verified: false })
  })
})
