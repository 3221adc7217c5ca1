/**
 * Checks credentials, presentations and DID configurations. The first check that does not hold is the last one: what costs a question
 * comes after what costs nothing.
 *
 *   credential -> form -> dates -> issuer -> proof -> status -> CredentialReport
 *
 * Imports credentials, crypto, did, errors, primitives; used by cli, library, light.
 * - Opens no connection: issuers and states come from a {@link CredentialSource}, and each answer is held against its question.
 * - A report names the check that does not hold. An answer that does not come is an error, never a verdict.
 */
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { effectOf } from '../../base/primitives/did-operation.js'
import { requireKnown } from '../../base/primitives/known-members.js'
import { canonicalJson } from '../../base/primitives/strict-json.js'
import { readSignedCredential } from '../../identity/credentials/read-credential.js'
import type { CredentialFormat, SignedCredential } from '../../identity/credentials/signed-credential.js'
import { decodeBase64url } from '../../identity/did/base64url.js'
import { formatDate } from '../../identity/did/date.js'
import { didPart } from '../../identity/did/identifier.js'
import type { DidDocument } from '../../identity/did/model.js'
import { namedCredential } from '../../identity/did/named-did.js'
import { readOperationJson } from '../../identity/did/operation.js'
import { credentialOfBytes } from '../../identity/did/operations/credential-operation.js'
import type { ResolvedTransaction } from '../../identity/did/resolution.js'
import { type CredentialSource, requireInStep, standingDocument, validDocument } from './credential-source.js'
import { type Check, CheckList, Invalid } from './report.js'
import { keyThatSigned } from './signature.js'
import { chainIds } from '../../identity/did/chain-ids.js'

export type CredentialCheck = 'form' | 'dates' | 'issuer' | 'proof' | 'status'

/** A credential as it was read. */
export interface CheckedCredential {
  readonly format: CredentialFormat
  /** Absolute; a JWT need not have one. */
  readonly id?: string
  readonly types: readonly string[]
  readonly issuer: string
  readonly subject: string
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly issued: string
  readonly expires?: string
  /** Members of `credentialSubject` without its id. */
  readonly claims: Readonly<Record<string, unknown>>
}

export interface CredentialReport {
  /** Every check holds. */
  readonly valid: boolean
  readonly checks: readonly Check<CredentialCheck>[]
  /** Absent if it could not be read. */
  readonly credential?: CheckedCredential
}

export interface CheckOptions {
  /** Milliseconds since 1970; the clock of this machine when absent. */
  readonly now?: () => number
}

/** @tuning s: clocks of issuers and verifiers may differ */
export const clockSkew = 300

/**
 * Checks a credential, JSON text, a plain object or a JWT, by what a source says of its issuer and of its id. Rejects with a
 * {@link UserError} where it cannot be checked: an answer does not come, or is one to another question.
 */
export async function checkCredential(
  credential: string | object,
  source: CredentialSource,
  options: CheckOptions = {},
): Promise<CredentialReport> {
  requireKnown('checkCredential', options, ['now'])
  const list = new CheckList<CredentialCheck>()
  const read = await list.run('form', () => form(readSignedCredential(credential, chainIds)))
  if (read === undefined) return { valid: false, checks: list.checks }
  return checkRead(read, list, source, options)
}

/** The other checks of a credential that was read. */
export async function checkRead(
  read: SignedCredential,
  list: CheckList<CredentialCheck>,
  source: CredentialSource,
  { now = Date.now }: CheckOptions,
): Promise<CredentialReport> {
  await list.run('dates', () => dates(read, Math.floor(now() / 1000)))
  const issuer = await list.run('issuer', () => issuerOf(read, source))
  if (issuer !== undefined) await list.run('proof', () => proof(read, issuer, source))
  await list.run('status', () => status(read, source))
  return { valid: list.valid, checks: list.checks, credential: shown(read) }
}

/** The sentence of a credential that could be read. */
export function form(read: SignedCredential): readonly [SignedCredential, string] {
  const form = read.format === 'jwt' ? 'a JWT' : 'JSON'
  return [read, `it is ${form}, ${read.id ?? 'without an id'}`]
}

function dates({ issued, expires }: SignedCredential, now: number): readonly [void, string] {
  if (issued > now + clockSkew) throw new Invalid(`it is not valid before ${formatDate(issued)}`)
  if (expires === undefined) return [undefined, `issued on ${formatDate(issued)}, without an end`]
  if (expires <= now) throw new Invalid(`it has expired on ${formatDate(expires)}`)
  return [undefined, `issued on ${formatDate(issued)}, valid until ${formatDate(expires)}`]
}

async function issuerOf({ issuer }: SignedCredential, source: CredentialSource): Promise<[DidDocument, string]> {
  return [await validDocument(issuer, 'issuer', source), `the issuer ${issuer} is valid`]
}

async function proof(read: SignedCredential, issuer: DidDocument, source: CredentialSource): Promise<[void, string]> {
  return [undefined, `signed by ${keyThatSigned(await signingDocument(read, issuer, source), read).id}`]
}

/** The document that has the key: that of the issuer or, of one with a name, that of a controller, whose expiry counts for nothing. */
async function signingDocument(
  { key, issuer: did }: SignedCredential,
  issuer: DidDocument,
  source: CredentialSource,
): Promise<DidDocument> {
  const by = key === undefined ? did : didPart(key)
  if (by === did || !issuer.controllers.includes(by)) return issuer
  return (await standingDocument(by, 'controller', source)).document
}

/** The word of the chain about the id: a revoke by holder or issuer ends it, and so does another credential of that id. */
async function status(read: SignedCredential, source: CredentialSource): Promise<[void, string]> {
  const { id, issuer, statusOnChain } = read
  if (!statusOnChain || id === undefined) return [undefined, 'it names no status: nobody can revoke it']
  const { id: answered, status: state, transaction = [], outOfStep } = await source.resolveCredential(id, { issuer })
  if (answered !== id) throw new UserError(`the answer about ${id} is one about ${answered}`)
  requireInStep(outOfStep)
  if (state === 2) throw new Invalid(revokedText(transaction))
  const declared = transaction.find(({ operation }) => effectOf(operation.header) === 'credential')
  if (declared === undefined) return [undefined, 'neither declared nor revoked']
  return [undefined, declaredText(read, declared)]
}

function revokedText(transaction: readonly ResolvedTransaction[]): string {
  const revoke = transaction.find(({ operation }) => effectOf(operation.header) === 'end')
  if (revoke === undefined) return 'it is revoked'
  const by = namedCredential(readOperationJson(JSON.stringify(revoke.operation)))?.signer
  return `it was revoked${by === undefined ? '' : ` by ${by}`} on ${revoke.timestamp}`
}

/** Throws {@link Invalid} where the id was taken for a credential of another issuer: the issuer of this one cannot revoke it any more. */
function declaredText({ id = '', issuer, text }: SignedCredential, declared: ResolvedTransaction): string {
  const bytes = decodeBase64url(declared.operation.payload)
  if (bytes === undefined) throw new UserError(`the answer about ${id} has no credential`)
  const onChain = declaredCredential(bytes, id)
  if (onChain.id !== id) throw new UserError(`the answer about ${id} has the credential ${onChain.id}`)
  if (onChain.issuer !== issuer) {
    throw new Invalid(
      `its id is declared as a credential of ${onChain.issuer}; this one by ${issuer} cannot be revoked`,
    )
  }
  const other = text === undefined || onChain.text === text ? '' : ', with another text'
  return `declared on ${declared.timestamp}${other}, not revoked`
}

function declaredCredential(bytes: Uint8Array, id: string): ReturnType<typeof credentialOfBytes> {
  try {
    return credentialOfBytes(bytes, chainIds)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the answer about ${id} has a credential that no chain takes: ${error.message}`)
  }
}

function shown(read: SignedCredential): CheckedCredential {
  const { format, id, types, issuer, subject, issued, expires, claims } = read
  return {
    format,
    ...(id === undefined ? {} : { id }),
    types,
    issuer,
    subject,
    issued: formatDate(issued),
    ...(expires === undefined ? {} : { expires: formatDate(expires) }),
    claims: JSON.parse(canonicalJson(claims)) as Record<string, unknown>,
  }
}
