import { UserError } from '../../base/errors/rule-error.js'
import { toHex } from '../../base/primitives/bytes.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import type { KeyInput } from '../../base/crypto/key-forms.js'
import type { Random } from '../../base/runtime/env.js'
import { makeJws } from '../../identity/credentials/compact-jws.js'
import { type CredentialPlan, membersOf, requireCredential } from '../../identity/credentials/credential-plan.js'
import { jwtCredentialPayload, readJwtCredential } from '../../identity/credentials/jwt-credential.js'
import { signCredential } from '../../identity/did/build.js'
import { defaultDidLimits } from '../../identity/did/did-rules.js'
import { didPart, isDid } from '../../identity/did/identifier.js'
import { requirePlain } from '../../identity/did/plain-json.js'
import type { DidDocument } from '../../identity/did/model.js'
import { isCredentialId } from '../../identity/did/operations/credential-operation.js'
import type { SigningAccount } from './accounts.js'
import { credentialKey, ownKeysOnly, readCredential } from './did-credential.js'
import { signer } from './did-identity.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Credentials that a DID of a wallet issues. */

/** The DID in whose name something is signed, and its key. */
export interface SignedBy {
  readonly account: SigningAccount
  /** The document of the DID as it is now. */
  readonly document: DidDocument
  /** Time of the signature, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly created: string
  /** Private key for authentication of the DID, in any form, instead of one of the account's. */
  readonly signWith?: KeyInput
  /** Documents of the controllers of a DID with a name, as they are now: their keys issue JSON credentials for it too. */
  readonly controllers?: readonly DidDocument[]
}

/** Members of {@link SignedBy}. */
export const signedByMembers = {
  account: 'account',
  document: 'object',
  created: 'text',
  signWith: 'key',
  controllers: 'list',
} as const
export const neededOfSignedBy = ['account', 'document', 'created'] as const

/** A credential to be issued: the word of an issuer about a subject. */
export interface NewCredential {
  /** A name such as `degree`, or an absolute id. The name is one below the DID of the subject. */
  readonly id: string
  readonly types: readonly string[]
  /** The DID that the credential is about; absent: that of the issuer. */
  readonly subject?: string
  /** JSON values by name. */
  readonly claims: Readonly<Record<string, unknown>>
  /** `YYYY-MM-DDTHH:MM:SSZ`; absent: it does not expire. */
  readonly expires?: string
  /** JSON-LD contexts. */
  readonly context?: readonly string[]
}

/** Members of {@link NewCredential}. */
export const credentialMembers = {
  id: 'text',
  types: 'list',
  subject: 'text',
  claims: 'object',
  expires: 'text',
  context: 'list',
} as const
export const neededOfCredential = ['id', 'types', 'claims'] as const

/**
 * The plan of a credential that the DID of a document issues: what {@link issueCredential} signs, with the defaults. Throws a RuleError
 * where no chain takes it, and a {@link UserError} for unknown members.
 */
export function buildCredential(by: Pick<SignedBy, 'document' | 'created'>, credential: NewCredential): CredentialPlan {
  const plan = planOf(by, credential)
  const { subject } = plan
  if (!isDid(subject, chainIds))
    throw new UserError(`the subject ${shown(subject)} is no DID of this chain; a JWT is about any text`, 2)
  requireCredential(plan, chainIds)
  return plan
}

function planOf(
  { document, created }: Pick<SignedBy, 'document' | 'created'>,
  credential: NewCredential,
): CredentialPlan {
  requireMembers('the credential', credential, credentialMembers, neededOfCredential)
  const { id, subject = document.id, types, claims, expires, context } = credential
  requireSubject(subject)
  requirePlain(claims, 'claims')
  if (expires !== undefined && expires <= created) {
    throw new UserError(`the credential would expire on ${expires}, before it is issued on ${created}`, 2)
  }
  return {
    id: fullId(id, isDid(subject, chainIds) ? subject : document.id),
    types,
    issuer: document.id,
    subject,
    claims,
    issued: created,
    ...(expires === undefined ? {} : { expires }),
    ...(context === undefined ? {} : { context }),
  }
}

/** Refuses a subject that is empty, or begins as a DID of this chain and can be none. */
function requireSubject(subject: string): void {
  if (subject.trim() === '') throw new UserError('the subject of the credential is empty', 2)
  if (!subject.trim().toLowerCase().startsWith(`did:${didMethod}:`) || isDid(subject, chainIds)) return
  throw new UserError(`the subject ${shown(subject)} is not a DID of this chain`, 2)
}

function shown(text: string): string {
  return text.slice(0, 200)
}

function fullId(id: string, did: string): string {
  const full = id.startsWith('did:') ? id : `${did}#${id.replace(/^#/, '')}`
  if (isCredentialId(full, chainIds)) return full
  throw new UserError(`${shown(id)} is no name of a credential: 1 to 128 letters, digits and . _ - are`, 2)
}

/** A name for a credential that has none: `degree-1f6b3a90` for a DegreeCredential. */
export function newCredentialName(types: readonly string[], random: Random): string {
  const word = (types.find((type) => type !== 'VerifiableCredential') ?? '').replace(/Credential$/, '')
  const plain = word.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()
  return `${plain || 'credential'}-${toHex(random.bytes(4))}`
}

/**
 * The JSON text of a credential with the proof of this family, canonical. Its holder, the DID in its id, can declare it. Throws as
 * {@link buildCredential} does, and a {@link UserError} if the key may not sign for the issuer.
 */
export function issueCredential(by: SignedBy, credential: NewCredential): string {
  requireMembers('the first argument of issueCredential', by, signedByMembers, neededOfSignedBy)
  const plan = buildCredential(by, credential)
  const { pair, id: key } = credentialKey(by, by.document)
  const signed = signCredential(membersOf(plan), { method: didMethod, key, created: by.created }, signer(pair))
  const { text } = readCredential(signed)
  const most = defaultDidLimits.payloadBytes
  if (text.length <= most) return text
  throw new UserError(`the credential has ${text.length} characters, and the chain takes ${most} bytes`)
}

/**
 * The JWT of a credential by the W3C data model 1.1, whose status is what the chain says of its id. Its subject can be any text; the id is one
 * below the DID of the subject, or of the issuer where the subject has none of this chain. Throws as {@link issueCredential} does.
 */
export function issueCredentialJwt(by: SignedBy, credential: NewCredential): string {
  requireMembers('the first argument of issueCredentialJwt', by, signedByMembers, neededOfSignedBy)
  const plan = planOf(by, credential)
  const { pair, id: key } = credentialKey(by, by.document, ownKeysOnly)
  if (![plan.subject, plan.issuer].includes(didPart(plan.id))) {
    throw new UserError(`the id ${plan.id} belongs neither to the subject nor to the issuer of the credential`, 2)
  }
  const text = makeJws(jwtCredentialPayload(plan), key, signer(pair), { typ: 'JWT' })
  readJwtCredential(text, chainIds)
  return text
}
