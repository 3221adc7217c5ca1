import {
  DIDBackend,
  DIDDocument,
  Issuer,
  VerifiableCredential,
  VerifiablePresentation,
} from '@elastosfoundation/did-js-sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HttpResolver } from 'didledger/resolver'
import { checkCredential, checkPresentation } from 'didledger/verify'
import { accountSource, documentOf, issueCredential, presentCredentials } from 'didledger/wallet'
import { runJson } from '../../support/process/spawn.js'
import { Sdk, storePassword } from './sdk.js'

let sdk: Sdk
let issuer: DIDDocument
let holder: DIDDocument
let serial = 0

beforeAll(async () => {
  sdk = await Sdk.start()
  issuer = await sdk.published()
  holder = await sdk.published()
})
afterAll(() => sdk.stop())

let credential: VerifiableCredential
beforeEach(async () => {
  credential = await issued()
})

/** A credential of the issuer about the holder, under an id of its own. */
async function issued(by = issuer, to = holder): Promise<VerifiableCredential> {
  const builder = (await Issuer.newWithDocument(by)).issueFor(to.getSubject())
  builder.id(`#email-${++serial}`).type('InternetAccountCredential').properties({ email: 'ada@example.org' })
  const made = await builder.seal(storePassword)
  await sdk.store.storeCredential(made)
  return made
}

const keyOf = (document: DIDDocument) => document.getDefaultPublicKeyId()
const declare = (made = credential) => made.declare(keyOf(holder), storePassword)
const revoke = (by: DIDDocument) => VerifiableCredential.revoke(credential.getId(), by, keyOf(by), storePassword)
/** As the chain has it, with the revokes of the issuer. */
const resolve = () => VerifiableCredential.resolve(credential.getId(), issuer.getSubject(), true)
const biography = async () => {
  const all = await DIDBackend.getInstance().resolveCredentialBiography(credential.getId(), issuer.getSubject(), true)
  const entries = all.getTransactionCount() === 0 ? [] : all.getAllTransactions()
  return {
    status: all.getStatus().toString(),
    operations: entries.map((entry) => entry.getRequest().getOperation().toString()),
  }
}

describe('a credential that is not declared', () => {
  it('is valid, not revoked, and unknown to the chain', async () => {
    expect(await credential.isValid()).toBe(true)
    expect(await credential.isRevoked()).toBe(false)
    expect(await credential.wasDeclared()).toBe(false)
    expect(await resolve()).toBeNull()
    expect(await biography()).toEqual({ status: 'not_found', operations: [] })
  })

  it.each([
    ['its issuer', () => issuer],
    ['its holder', () => holder],
  ])('is revoked by %s', async (_, by) => {
    await revoke(by())
    expect(await credential.isRevoked()).toBe(true)
    expect(await credential.isValid()).toBe(false)
    expect(await resolve()).toBeNull()
    expect(await biography()).toEqual({ status: 'revoked', operations: ['revoke'] })
    await expect(declare()).rejects.toThrow()
    expect(await biography()).toEqual({ status: 'revoked', operations: ['revoke'] })
  })

  it('is not revoked by a stranger', async () => {
    await revoke(await sdk.published())
    expect(await credential.isRevoked()).toBe(false)
    await declare()
    expect(await credential.isValid()).toBe(true)
  })
})

describe('a credential that is declared', () => {
  beforeEach(() => declare())

  it('is resolved as it was signed', async () => {
    const resolved = await resolve()
    expect(resolved.toString(true)).toBe(credential.toString(true))
    expect(await resolved.isValid()).toBe(true)
    expect(await credential.wasDeclared()).toBe(true)
    expect(await biography()).toEqual({ status: 'valid', operations: ['declare'] })
  })

  it.each([
    ['its issuer', () => issuer],
    ['its holder', () => holder],
  ])('is revoked by %s', async (_, by) => {
    await revoke(by())
    expect(await credential.isRevoked()).toBe(true)
    expect(await credential.isValid()).toBe(false)
    expect(await biography()).toEqual({ status: 'revoked', operations: ['revoke', 'declare'] })
  })

  it('is not revoked by a stranger', async () => {
    await expect(revoke(await sdk.published())).rejects.toThrow()
    expect(await credential.isRevoked()).toBe(false)
  })
})

it('lists the declared credentials of a holder in pages', async () => {
  const owner = await sdk.published()
  const made = [await issued(issuer, owner), await issued(owner, owner), await issued(issuer, owner)]
  for (const each of made) await each.declare(keyOf(owner), storePassword)
  const ids = made.map((each) => each.getId().toString())
  const listed = async (...page: number[]) => {
    const found = await VerifiableCredential.list(owner.getSubject(), ...page)
    return found.map((id) => id.toString())
  }
  expect(await listed()).toEqual(ids)
  expect(await listed(0, 2)).toEqual(ids.slice(0, 2))
  expect(await listed(2, 2)).toEqual(ids.slice(2))
  expect(await VerifiableCredential.list((await sdk.published()).getSubject())).toBeNull()
})

describe('a presentation', () => {
  async function presented(...credentials: VerifiableCredential[]): Promise<VerifiablePresentation> {
    const builder = await VerifiablePresentation.createFor(holder.getSubject(), null, sdk.store)
    return builder
      .credentials(...credentials)
      .realm('https://example.org')
      .nonce('873172f58701a9ee')
      .seal(storePassword)
  }

  it('of credentials, declared or not, is valid', async () => {
    await declare()
    const presentation = await presented(credential, await issued())
    expect(await presentation.isGenuine()).toBe(true)
    expect(await presentation.isValid()).toBe(true)
    const read = VerifiablePresentation.parse(presentation.toString(true))
    expect(await read.isValid()).toBe(true)
  })

  it('is not valid once a credential in it is revoked', async () => {
    const presentation = await presented(credential)
    await revoke(issuer)
    expect(await presentation.isValid()).toBe(false)
  })

  it('that another text was put in is not genuine', async () => {
    const text = (await presented(credential)).toString(true).replace('873172f58701a9ee', '873172f58701a9ef')
    expect(await VerifiablePresentation.parse(text).isGenuine()).toBe(false)
  })
})

it('a document carries credentials', async () => {
  const builder = DIDDocument.Builder.newFromDocument(holder)
  await builder.addCredential(credential)
  await (await sdk.sealed(builder)).publish(storePassword)
  const resolved = await holder.getSubject().resolve(true)
  expect(resolved.getCredential(credential.getId()).toString(true)).toBe(credential.toString(true))
  expect(await resolved.isValid()).toBe(true)
})

describe('credentials of this package and of the SDK', () => {
  const mnemonic = 'test test test test test test test test test test test junk'
  const [university, ada] = [0, 1].map(accountSource({ kind: 'mnemonic', mnemonic })) as [Account, Account]
  type Account = ReturnType<ReturnType<typeof accountSource>>
  const asked = { realm: 'https://jobs.example', nonce: '873172f58701a9ee' }
  let source: HttpResolver
  let made: string
  let shown: string
  beforeAll(async () => {
    source = new HttpResolver(sdk.node.line.rpc)
    const rest = ['--rest', sdk.node.line.rest]
    for (const account of ['0', '1']) {
      const specification = ['--specification', 'elastos/did/1.0']
      await runJson('did', 'create', '--devnet-account', account, ...specification, ...rest)
    }
    const by = async (account: Account) => {
      const { transaction } = await source.resolve(account.did)
      const document = documentOf(transaction?.[0]?.operation.payload ?? '')
      return { account, document, created: new Date().toISOString().replace(/\.\d+/, '') }
    }
    const claims = { degree: 'BSc', city: 'Łódź', marks: [1, { best: true }], a: { z: 1, b: '"<&>"' } }
    const degree = { id: 'degree', types: ['DegreeCredential'], subject: ada.did, claims }
    made = issueCredential(await by(university), { ...degree, expires: '2040-01-01T00:00:00Z' })
    shown = presentCredentials(await by(ada), { credentials: [made], ...asked })
  })

  it('that are made here are valid there', async () => {
    const read = VerifiableCredential.parse(made)
    expect(await read.isValid()).toBe(true)
    expect(read.toString(true)).toBe(made)
    const presentation = VerifiablePresentation.parse(shown)
    expect(await presentation.isValid()).toBe(true)
    expect(presentation.toString(true)).toBe(shown)
    expect(await VerifiablePresentation.parse(shown.replace('jobs', 'joke')).isValid()).toBe(false)
  })

  it('that are made there are valid here, and what the SDK finds revoked is revoked here', async () => {
    const builder = await VerifiablePresentation.createFor(holder.getSubject(), null, sdk.store)
    const presentation = await builder.credentials(credential).realm(asked.realm).nonce(asked.nonce).seal(storePassword)
    for (const form of [true, false]) {
      const { valid, holder: by } = await checkPresentation(presentation.toString(form), source, asked)
      expect({ valid, by }).toEqual({ valid: true, by: holder.getSubject().toString() })
      expect((await checkCredential(credential.toString(form), source)).valid).toBe(true)
    }
    await revoke(issuer)
    expect((await checkCredential(credential.toString(true), source)).valid).toBe(false)
    expect((await checkPresentation(presentation.toString(true), source, asked)).valid).toBe(false)
  })
})
