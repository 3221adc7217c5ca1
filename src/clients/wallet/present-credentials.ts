import { UserError } from '../../base/errors/rule-error.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import { isJwt, makeJws } from '../../identity/credentials/compact-jws.js'
import { didConfiguration, linkagePayload } from '../../identity/credentials/domain-linkage.js'
import { jwtPresentationPayload, readJwtPresentation } from '../../identity/credentials/jwt-presentation.js'
import {
  presentationText,
  presentationType,
  requireFew,
  sortedById,
  withProof,
} from '../../identity/credentials/presentation.js'
import { readSignedCredential } from '../../identity/credentials/read-credential.js'
import { encodeBase64url } from '../../identity/did/base64url.js'
import { parseDate } from '../../identity/did/date.js'
import { absoluteId } from '../../identity/did/identifier.js'
import { credentialKey, ownKeysOnly, readCredential } from './did-credential.js'
import { signer } from './did-identity.js'
import { neededOfSignedBy, type SignedBy, signedByMembers } from './issue-credential.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Presentations of credentials to a verifier, and of a DID to the visitors of an origin, signed by a wallet. */

export interface NewPresentation {
  /** All JSON texts, or all JWT. Their subject is the DID that presents them. */
  readonly credentials: readonly string[]
  /** Name of the verifier, as it calls itself: an address of the web, in most cases. */
  readonly realm: string
  /** Text of the verifier's choice, for one use. */
  readonly nonce: string
  /** A name, for JSON; absent: it has no id. */
  readonly id?: string
  /** End of a JWT, `YYYY-MM-DDTHH:MM:SSZ`; absent: ten minutes after it is made. */
  readonly expires?: string
}

/** Members of {@link NewPresentation}. */
export const presentationMembers = {
  credentials: 'list',
  realm: 'text',
  nonce: 'text',
  id: 'text',
  expires: 'text',
} as const
export const neededOfPresentation = ['credentials', 'realm', 'nonce'] as const

/** @tuning s: a presentation as JWT holds, by default */
const presentationLife = 600

/**
 * A presentation of credentials in the form that they have, JSON or JWT, signed by their holder. Throws a {@link UserError} for credentials of
 * another subject or of both forms, and a RuleError for texts that are none.
 */
export function presentCredentials(by: SignedBy, presentation: NewPresentation): string {
  requireMembers('the first argument of presentCredentials', by, signedByMembers, neededOfSignedBy)
  requireMembers('the presentation', presentation, presentationMembers, neededOfPresentation)
  const { credentials, realm, nonce } = presentation
  if (credentials.length === 0) throw new UserError('a presentation needs a credential', 2)
  if (realm === '' || nonce === '')
    throw new UserError('a presentation needs a realm and a nonce, those of the verifier', 2)
  requireFew(credentials.length)
  const texts = credentials.map((text) => text.trim())
  requireHolder(by, texts)
  const tokens = texts.filter(isJwt).length
  if (tokens === texts.length) return jwtPresentation(by, presentation, texts)
  if (tokens === 0) return jsonPresentation(by, presentation, texts)
  throw new UserError('a presentation holds JSON credentials or JWT, not both; present them apart', 2)
}

function requireHolder({ document }: SignedBy, texts: readonly string[]): void {
  for (const text of texts) {
    const { subject, id = 'a credential' } = readSignedCredential(text, chainIds)
    if (subject !== document.id) throw new UserError(`${id} is about ${subject}; ${document.id} cannot present it`)
  }
}

function jsonPresentation(by: SignedBy, presentation: NewPresentation, texts: readonly string[]): string {
  const { document, created } = by
  const { realm, nonce, expires } = presentation
  if (expires !== undefined) throw new UserError('expires is for a presentation of JWT', 2)
  const credentials = sortedById(texts.map(readCredential))
  const id = presentation.id === undefined ? undefined : presentationId(presentation.id, document.id)
  const unsigned = {
    context: [],
    ...(id && { id }),
    types: [presentationType],
    holder: document.id,
    created,
    credentials,
  }
  const text = presentationText(unsigned)
  const { pair, id: verificationMethod } = credentialKey(by, document, ownKeysOnly)
  const signatureText = encodeBase64url(signer(pair)(text + realm + nonce))
  return withProof(text, { created, verificationMethod, realm, nonce, signatureText })
}

function presentationId(name: string, did: string): string {
  const id = absoluteId(`#${name.replace(/^#/, '')}`, did, chainIds)
  if (id !== undefined) return id
  throw new UserError(`${name.slice(0, 200)} is no name of a presentation: 1 to 128 letters, digits and . _ - are`, 2)
}

function jwtPresentation(by: SignedBy, presentation: NewPresentation, credentials: readonly string[]): string {
  const { document } = by
  const { realm, nonce, id } = presentation
  if (id !== undefined) throw new UserError('id is for a presentation of JSON credentials', 2)
  const created = secondsOf(by.created)
  const expires = presentation.expires === undefined ? created + presentationLife : secondsOf(presentation.expires)
  const payload = jwtPresentationPayload({ holder: document.id, credentials, realm, nonce, created, expires })
  const { pair, id: key } = credentialKey(by, document, ownKeysOnly)
  const text = makeJws(payload, key, signer(pair), { typ: 'JWT' })
  readJwtPresentation(text, chainIds)
  return text
}

/** The file that links an origin of the web with the DID of a document: for `/.well-known/did-configuration.json` there. */
export function linkDomain(
  by: SignedBy,
  { origin, expires }: { readonly origin: string; readonly expires: string },
): ReturnType<typeof didConfiguration> {
  requireMembers('the first argument of linkDomain', by, signedByMembers, neededOfSignedBy)
  requireOrigin(origin)
  const { document } = by
  const { pair, id: key } = credentialKey(by, document, ownKeysOnly)
  const plan = { did: document.id, origin, issued: secondsOf(by.created), expires: secondsOf(expires) }
  return didConfiguration([makeJws(linkagePayload(plan), key, signer(pair))])
}

/** Throws a {@link UserError} for a text that is no origin of the web in the form in which browsers write it. */
export function requireOrigin(text: string): void {
  if (originOf(text) === text) return
  const meant = originOf(text) ?? originOf(`https://${text}`) ?? 'https://example.org'
  throw new UserError(`${text.slice(0, 200)} is no origin of the web; ${meant} is one`, 2)
}

function originOf(text: string): string | undefined {
  const { protocol, origin } = URL.canParse(text) ? new URL(text) : { protocol: '', origin: '' }
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined
}

function secondsOf(date: string): number {
  const seconds = parseDate(date)
  if (seconds !== undefined) return seconds
  throw new UserError(`${date.slice(0, 80)} is no date of the form YYYY-MM-DDTHH:MM:SSZ`, 2)
}
