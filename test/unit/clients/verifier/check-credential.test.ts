import { describe, expect, it } from 'vitest'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { type DidOperation, operationJson } from '../../../../src/base/primitives/did-operation.js'
import type { KeyPair, SigningAccount } from '../../../../src/clients/wallet/accounts.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import { buildDeclare, buildRevoke } from '../../../../src/clients/wallet/did-credential.js'
import { createIdentity, documentOf, signer, updateIdentity } from '../../../../src/clients/wallet/did-identity.js'
import { issueCredential, issueCredentialJwt, type SignedBy } from '../../../../src/clients/wallet/issue-credential.js'
import { presentCredentials } from '../../../../src/clients/wallet/present-credentials.js'
import { checkCredential } from '../../../../src/clients/verifier/check-credential.js'
import { checkPresentation } from '../../../../src/clients/verifier/check-presentation.js'
import type { CredentialSource } from '../../../../src/clients/verifier/credential-source.js'
import { makeJws } from '../../../../src/identity/credentials/compact-jws.js'
import { jwtCredentialPayload } from '../../../../src/identity/credentials/jwt-credential.js'
import type { CredentialResult, ResolvedTransaction, ResolveResult } from '../../../../src/identity/did/resolution.js'
import { withMembers } from '../../../support/builders/with-members.js'
import { created, credentialSpecification, expires, specification, txid } from '../../../support/builders/did.js'

const at = Date.parse('2026-06-01T00:00:00Z')

/** A DID of a wallet, and what it puts on a chain. */
class Person {
  readonly account: SigningAccount
  readonly recovery: KeyPair
  readonly created: DidOperation
  readonly document: ReturnType<typeof documentOf>
  readonly #context

  constructor(index: number) {
    this.account = devnetAccount(index)
    this.recovery = this.account.recovery as KeyPair
    this.#context = { account: this.account, specification: credentialSpecification }
    const recovery = { publicKey: this.recovery.publicKey }
    const context = { account: this.account, specification, created }
    this.created = createIdentity(context, { services: [], expires, recovery })
    this.document = documentOf(this.created.payload)
  }

  get did(): string {
    return this.account.did
  }

  withoutRecovery(): DidOperation {
    const context = { account: this.account, specification, created }
    return updateIdentity(context, { document: this.document, txid: txid(1) }, { removeKeys: ['recovery'] })
  }

  declare(credential: string): DidOperation {
    return buildDeclare(this.#context, this.document, credential)
  }

  revoke(id: string): DidOperation {
    return buildRevoke(this.#context, this.document, id)
  }
}

const [issuer, subject, stranger] = [new Person(0), new Person(1), new Person(2)]
const id = `${subject.did}#degree`
const claims = { degree: 'BSc', year: 2026, place: { city: 'Łódź', modules: ['a', 'b'] } }
const degree = { id, types: ['DegreeCredential'], subject: subject.did, claims, expires: '2028-01-01T00:00:00Z' }

/** A DID that signs, by its default key or another one. */
function by({ account, document }: Person, { privateKey }: Pick<KeyPair, 'privateKey'> = account): SignedBy {
  return { account, document, created, signWith: privateKey }
}

const entry = (operation: DidOperation, number: number): ResolvedTransaction => ({
  txid: txid(number),
  timestamp: '2026-03-01T00:00:00Z',
  operation: operationJson(operation),
})

/** Answers of a chain with these DIDs, and what it says of the credential. */
class Chain implements CredentialSource {
  readonly dids = new Map<string, ResolveResult>()
  credential: Omit<CredentialResult, 'id'> = { status: 3 }
  questions: string[] = []

  constructor(...people: Person[]) {
    for (const who of people) this.set(who, 0, entry(who.created, 1))
  }

  set({ did }: Person, status: 0 | 1 | 2 | 3, ...transaction: ResolvedTransaction[]): this {
    this.dids.set(did, { did, status, ...(status === 3 ? {} : { transaction }) })
    return this
  }

  resolve(did: string): Promise<ResolveResult> {
    this.questions.push(did)
    return Promise.resolve(this.dids.get(did) ?? { did, status: 3 })
  }

  resolveCredential(asked: string, options: { issuer: string }): Promise<CredentialResult> {
    this.questions.push(`${asked} by ${options.issuer}`)
    return Promise.resolve({ ...this.credential, id: asked })
  }
}

const chain = () => new Chain(issuer, subject, stranger)
const now = () => at
const forms = [
  ['JSON', issueCredential],
  ['a JWT', issueCredentialJwt],
] as const

/** Name and sentence of the check that does not hold; undefined if the credential is valid. */
async function fault(credential: string | object, source: CredentialSource, time = at): Promise<string | undefined> {
  const { valid, checks } = await checkCredential(credential, source, { now: () => time })
  const failed = checks.filter(({ holds }) => !holds)
  expect(failed.length).toBe(valid ? 0 : 1)
  return failed[0] && `${failed[0].name}: ${failed[0].says}`
}

describe.each(forms)('a credential as %s', (_, issue) => {
  const text = issue(by(issuer), degree)

  it('is valid, and is reported with all it says', async () => {
    const source = chain()
    const report = await checkCredential(text, source, { now })
    expect(report.valid).toBe(true)
    expect(report.checks.map(({ name }) => name)).toEqual(['form', 'dates', 'issuer', 'proof', 'status'])
    expect(report.credential).toMatchObject({ id, issuer: issuer.did, subject: subject.did, issued: created, claims })
    expect(source.questions).toEqual([issuer.did, `${id} by ${issuer.did}`])
  })

  it('is signed by another key of the issuer as well', async () => {
    expect(await fault(issue(by(issuer, issuer.recovery), degree), chain())).toBeUndefined()
  })

  it('is refused with any other text', async () => {
    const faults = new Set<string>()
    for (const [before, after] of [
      ['BSc', 'MSc'],
      [subject.did, stranger.did],
      [issuer.did, stranger.did],
      ['DegreeCredential', 'EgreeDCredential'],
    ] as const) {
      faults.add((await fault(replaced(text, before, after), chain()))?.split(':')[0] ?? 'taken')
    }
    expect(faults).not.toContain('taken')
  })

  it('is refused from an issuer that does not exist, was deactivated, or has expired, without any other question', async () => {
    for (const [status, word] of [
      [3, 'does not exist'],
      [2, 'is deactivated'],
      [1, 'has expired'],
    ] as const) {
      const source = chain().set(issuer, status, entry(issuer.created, 1))
      expect(await fault(text, source)).toContain(`issuer: the issuer ${issuer.did} ${word}`)
      expect(source.questions).toEqual([issuer.did])
    }
  })

  it('is refused when its key has left the document', async () => {
    const gone = issue(by(issuer, issuer.recovery), degree)
    const later = issuer.withoutRecovery()
    expect(await fault(gone, chain().set(issuer, 0, entry(later, 2)))).toContain('#recovery is no authentication key')
  })

  it('is refused outside of its dates, without a question', async () => {
    const source = chain()
    expect(await fault(text, source, Date.parse(degree.expires))).toMatch(/^dates: it has expired/)
    expect(await fault(text, source, Date.parse(created) - 301_000)).toMatch(/^dates: it is not valid before/)
    expect(source.questions).toEqual([])
    expect(await fault(text, source, Date.parse(degree.expires) - 1000)).toBeUndefined()
    expect(await fault(text, source, Date.parse(created) - 300_000)).toBeUndefined()
  })

  it('is refused once issuer or holder revoked it', async () => {
    for (const who of [issuer, subject]) {
      const source = chain()
      source.credential = { status: 2, transaction: [entry(who.revoke(id), 3)] }
      expect(await fault(text, source)).toBe(`status: it was revoked by ${who.did} on 2026-03-01T00:00:00Z`)
    }
  })

  it('is valid when the chain has it, and refused when the chain has one of another issuer under its id', async () => {
    const source = chain()
    const declared = issueCredential(by(issuer), degree)
    source.credential = { status: 0, transaction: [entry(subject.declare(declared), 3)] }
    expect(await fault(text, source)).toBeUndefined()
    const own = issueCredential(by(subject), degree)
    source.credential = { status: 0, transaction: [entry(subject.declare(own), 3)] }
    expect(await fault(text, source)).toContain(`status: its id is declared as a credential of ${subject.did}`)
  })

  it('cannot be checked with answers to other questions, or those of a node out of step', async () => {
    const other: CredentialSource = {
      resolve: () => chain().resolve(subject.did),
      resolveCredential: () => Promise.reject(),
    }
    await expect(checkCredential(text, other, { now })).rejects.toThrow(
      `the answer about ${issuer.did} is one about ${subject.did}`,
    )
    const wrongDocument = chain().set(issuer, 0, entry(subject.created, 1))
    await expect(checkCredential(text, wrongDocument, { now })).rejects.toThrow('has the document of')
    const source = chain()
    source.resolveCredential = () => Promise.resolve({ id: `${id}x`, status: 3 })
    await expect(checkCredential(text, source, { now })).rejects.toThrow(`the answer about ${id} is one about ${id}x`)
    const late = chain()
    late.resolveCredential = () => Promise.resolve({ id, status: 3, outOfStep: { height: 1, age: 99 } })
    await expect(checkCredential(text, late, { now })).rejects.toThrow('not in step')
  })

  it('is an error where the question fails, and never a verdict', async () => {
    const failing: CredentialSource = {
      ...chain(),
      resolve: () => Promise.reject(new UserError('no node listens')),
    } as never
    await expect(checkCredential(text, failing, { now })).rejects.toThrow('no node listens')
  })
})

/** A credential whose signed part has another text. */
function replaced(text: string, before: string, after: string): string {
  if (text.startsWith('{')) return text.replaceAll(before, after)
  const [header, payload, signature] = text.split('.') as [string, string, string]
  const decoded = Buffer.from(payload, 'base64url').toString()
  expect(decoded).toContain(before)
  return [header, Buffer.from(decoded.replaceAll(before, after)).toString('base64url'), signature].join('.')
}

describe('a JWT', () => {
  const plan = { ...degree, issuer: issuer.did, issued: created }
  const key = `${issuer.did}#primary`
  const sign = signer(issuer.account)
  const withClaims = (members: Record<string, unknown>) =>
    makeJws(withMembers(jwtCredentialPayload(plan), members), key, sign)

  it('is taken as it is made here', async () => {
    expect(await fault(withClaims({}), chain())).toBeUndefined()
  })

  it('that was wrapped or padded is named as a JWT that is damaged', async () => {
    const text = withClaims({})
    const wrapped = `${text.slice(0, 76)}\n${text.slice(76)}\n`
    expect(await fault(wrapped, chain())).toBe('form: the text is no JWT: "\\n" at character 77 is none of base64url')
    expect(await fault(`${text}=`, chain())).toMatch(/^form: the text is no JWT: "=" at character/)
  })

  it.each<[string, Record<string, unknown>]>([
    ['two subjects', { 'vc.credentialSubject.id': stranger.did }],
    ['two ids', { 'vc.id': `${subject.did}#other` }],
    ['two issuers', { 'vc.issuer': stranger.did }],
    ['two issuers, one an object', { 'vc.issuer': { id: stranger.did } }],
    ['two ends', { 'vc.expirationDate': '2029-01-01T00:00:00Z' }],
    ['an end inside alone', { 'vc.expirationDate': '2029-01-01T00:00:00Z', exp: undefined }],
    ['an audience', { aud: 'https://example.org' }],
    ['no date', { nbf: undefined }],
    ['no credential', { vc: undefined }],
    ['no W3C context', { 'vc.@context': ['https://example.org'] }],
    ['no W3C type', { 'vc.type': ['DegreeCredential'] }],
    ['the status of another credential', { 'vc.credentialStatus.id': `${subject.did}?credentialStatus=degreex` }],
    ['a status of another kind', { 'vc.credentialStatus.type': 'StatusList2021Entry' }],
    ['a status without an id on the chain', { jti: 'urn:uuid:1' }],
    ['an issuer of another method', { iss: 'did:example:1' }],
  ])('with %s is no credential', async (_, members) => {
    expect(await fault(withClaims(members), chain())).toMatch(/^form: /)
  })

  it('without a status is valid, and its report says that it cannot be revoked', async () => {
    const text = withClaims({ 'vc.credentialStatus': undefined })
    const { valid, checks } = await checkCredential(text, chain(), { now })
    expect(valid).toBe(true)
    expect(checks.at(-1)?.says).toContain('it names no status')
  })

  it('without the name of a key is signed by any authentication key, and by no other', async () => {
    const unnamed = (signing: typeof sign) => {
      const [, payload] = withClaims({}).split('.')
      const text = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${payload}`
      return `${text}.${Buffer.from(signing(text)).toString('base64url')}`
    }
    expect(await fault(unnamed(sign), chain())).toBeUndefined()
    const other = signer(stranger.account)
    expect(await fault(unnamed(other), chain())).toContain(`proof: no key of ${issuer.did} made the signature`)
  })
})

describe.each(forms)('a presentation of %s', (_, issue) => {
  const text = issue(by(issuer), degree)
  const realm = 'https://jobs.example'
  const asked = { realm, nonce: '6f1d', now: () => Date.parse(created) + 60_000 }
  const shown = presentCredentials(by(subject), { credentials: [text], realm, nonce: '6f1d' })
  const faultOf = async (presentation: string, source: CredentialSource = chain(), options = asked) => {
    const { valid, checks } = await checkPresentation(presentation, source, options)
    const failed = checks.filter(({ holds }) => !holds)
    expect(failed.length).toBe(valid ? 0 : 1)
    return failed[0] && `${failed[0].name}: ${failed[0].says}`
  }

  it('is valid for the verifier that asked, and reports each credential', async () => {
    const report = await checkPresentation(shown, chain(), asked)
    expect(report).toMatchObject({ valid: true, holder: subject.did, credentials: [{ valid: true }] })
  })

  it('is refused for another verifier and another nonce, before any question', async () => {
    const source = chain()
    expect(await faultOf(shown, source, { ...asked, realm: 'https://other.example' })).toMatch(/^realm: /)
    expect(await faultOf(shown, source, { ...asked, nonce: '6f1e' })).toMatch(/^nonce: /)
    // The text that JSON signs joins realm and nonce: moved letters keep the signature, and are another realm.
    expect(source.questions).toEqual([])
    await expect(checkPresentation(shown, source, { ...asked, nonce: '' })).rejects.toThrow(
      'realm and nonce are needed',
    )
  })

  it('is refused when it was taken over by another holder', async () => {
    expect(await faultOf(replaced(shown, '6f1d', '6f1e'), chain(), { ...asked, nonce: '6f1e' })).toMatch(/^proof: /)
    expect(() => presentCredentials(by(stranger), { credentials: [text], realm, nonce: 'n' })).toThrow(
      'cannot present it',
    )
    expect(await faultOf(replaced(shown, `"${subject.did}"`, `"${stranger.did}"`))).toMatch(/^(form|subjects|proof): /)
  })

  it('is refused for what is wrong with a credential in it', async () => {
    const source = chain()
    source.credential = { status: 2, transaction: [entry(issuer.revoke(id), 3)] }
    expect(await faultOf(shown, source)).toContain(`credentials: ${id}: it was revoked by ${issuer.did}`)
  })

  it('is refused from a holder that was deactivated, whatever the credentials are', async () => {
    expect(await faultOf(shown, chain().set(subject, 2))).toContain(`holder: the holder ${subject.did} is deactivated`)
  })

  it('is refused before it was made', async () => {
    expect(await faultOf(shown, chain(), { ...asked, now: () => Date.parse(created) - 301_000 })).toMatch(/^dates: /)
  })
})

it('a presentation in which one credential stands twice is not signed: no verifier takes it', () => {
  const credential = issueCredential(by(issuer), degree)
  const twice = { credentials: [credential, credential], realm: 'r', nonce: 'n' }
  expect(() => presentCredentials(by(subject), twice)).toThrow('two credentials of one id')
})

it('a presentation as JWT ends after ten minutes', async () => {
  const text = issueCredentialJwt(by(issuer), degree)
  const shown = presentCredentials(by(subject), { credentials: [text], realm: 'r', nonce: 'n' })
  const validAt = async (seconds: number) => {
    const options = { realm: 'r', nonce: 'n', now: () => Date.parse(created) + seconds * 1000 }
    return (await checkPresentation(shown, chain(), options)).valid
  }
  expect(await validAt(599)).toBe(true)
  expect(await validAt(600)).toBe(false)
})

describe('what issues and presents refuses', () => {
  it.each<[string, () => unknown, string]>([
    [
      'members that it does not know',
      () => issueCredential(by(issuer), { ...degree, type: 'T' } as never),
      'type is no option',
    ],
    [
      'an end before the beginning',
      () => issueCredential(by(issuer), { ...degree, expires: created }),
      'before it is issued',
    ],
    ['a name that is none', () => issueCredential(by(issuer), { ...degree, id: 'a b' }), 'no name of a credential'],
    [
      'an id of another DID',
      () => issueCredential(by(issuer), { ...degree, id: `${stranger.did}#x` }),
      'no fragment of its subject',
    ],
    [
      'the same in a JWT',
      () => issueCredentialJwt(by(issuer), { ...degree, id: `${stranger.did}#x` }),
      'neither to the subject nor',
    ],
    [
      'a key of another DID',
      () => issueCredential({ ...by(issuer), signWith: stranger.account.privateKey }, degree),
      'may not sign',
    ],
    [
      'a subject that only a JWT can have',
      () => issueCredential(by(issuer), { ...degree, subject: 'did:key:z6Mk' }),
      'the subject did:key:z6Mk is no DID of this chain',
    ],
    [
      'claims with an id',
      () => issueCredential(by(issuer), { ...degree, claims: { id: stranger.did } }),
      'the claims name an id',
    ],
    [
      'a type that is no ASCII',
      () => issueCredential(by(issuer), { ...degree, types: ['Zeugnis für Ärzte'] }),
      'not ASCII',
    ],
    [
      'more than a chain takes',
      () => issueCredential(by(issuer), { ...degree, claims: { a: 'x'.repeat(131_072) } }),
      'the chain takes',
    ],
    [
      'no credential',
      () => presentCredentials(by(subject), { credentials: [], realm: 'r', nonce: 'n' }),
      'needs a credential',
    ],
    [
      'no nonce',
      () => presentCredentials(by(subject), { credentials: ['{}'], realm: 'r', nonce: '' }),
      'needs a realm and a nonce',
    ],
  ])('%s', (_, run, message) => {
    expect(run).toThrow(message)
  })

  it.each([
    ['', 'the subject of the credential is empty'],
    [' ', 'the subject of the credential is empty'],
    [`${subject.did.slice(0, -1)}D`, 'D is not a DID of this chain'],
    ['did:ledger:NOPE', 'is not a DID of this chain'],
    [subject.did.replace('did', 'DID'), 'is not a DID of this chain'],
    [`${subject.did} `, 'is not a DID of this chain'],
    [`${subject.did}#primary`, 'is not a DID of this chain'],
  ])('the subject %j, in both forms', (mistyped, message) => {
    for (const issue of [issueCredential, issueCredentialJwt]) {
      expect(() => issue(by(issuer), { ...degree, id: 'degree', subject: mistyped })).toThrow(message)
    }
  })

  it('both forms in one presentation', () => {
    const credentials = forms.map(([, issue]) => issue(by(issuer), degree))
    expect(() => presentCredentials(by(subject), { credentials, realm: 'r', nonce: 'n' })).toThrow('not both')
  })
})

it.each(['did:key:z6Mk', 'Ada Lovelace', 'did:ledger'])(
  'a JWT can be about %s; its id is below the issuer',
  async (about) => {
    const text = issueCredentialJwt(by(issuer), { id: 'member', types: ['Member'], subject: about, claims: { a: 1 } })
    const { valid, credential } = await checkCredential(text, chain(), { now })
    expect({ valid, id: credential?.id, subject: credential?.subject }).toEqual({
      valid: true,
      id: `${issuer.did}#member`,
      subject: about,
    })
    expect(expires > created).toBe(true)
  },
)
