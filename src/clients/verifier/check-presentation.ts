import { requireKnown } from '../../base/primitives/known-members.js'
import { chainIds } from '../../identity/did/chain-ids.js'
import { UserError } from '../../base/errors/rule-error.js'
import { formatDate } from '../../identity/did/date.js'
import type { DidDocument } from '../../identity/did/model.js'
import { readSignedPresentation } from '../../identity/credentials/read-presentation.js'
import type { SignedPresentation } from '../../identity/credentials/signed-presentation.js'
import {
  type CheckOptions,
  checkRead,
  clockSkew,
  type CredentialCheck,
  type CredentialReport,
  form,
} from './check-credential.js'
import { askingOnce, type CredentialSource, validDocument } from './credential-source.js'
import { type Check, CheckList, Invalid } from './report.js'
import { keyThatSigned } from './signature.js'

export type PresentationCheck = 'form' | 'realm' | 'nonce' | 'dates' | 'subjects' | 'holder' | 'proof' | 'credentials'

/** The verifier's request, which a presentation answers. */
export interface PresentationOptions extends CheckOptions {
  /** Its own name, as it was asked for. */
  readonly realm: string
  /** Text that the verifier chose for this one presentation, unpredictable and not used before. */
  readonly nonce: string
}

export interface PresentationReport {
  /** Every check holds, those of its credentials too. */
  readonly valid: boolean
  readonly checks: readonly Check<PresentationCheck>[]
  /** Absent if it could not be read. */
  readonly holder?: string
  /** Reports of its credentials, up to the first that is not valid. */
  readonly credentials: readonly CredentialReport[]
}

/**
 * Checks a presentation, JSON text, a plain object or a JWT, against what was asked for, and each credential in it. Rejects with a UserError
 * where it cannot be checked.
 */
export async function checkPresentation(
  presentation: string | object,
  source: CredentialSource,
  options: PresentationOptions,
): Promise<PresentationReport> {
  requireKnown('checkPresentation', options, ['realm', 'nonce', 'now'])
  const { realm, nonce, now = Date.now } = options
  if (!realm || !nonce)
    throw new UserError('realm and nonce are needed: a presentation that answers no request can be a copy', 2)
  const list = new CheckList<PresentationCheck>()
  const read = await list.run('form', () => readable(presentation))
  if (read === undefined) return { valid: false, checks: list.checks, credentials: [] }
  const once = askingOnce(source)
  await list.run('realm', () => realmOf(read, realm))
  await list.run('nonce', () => nonceOf(read, nonce))
  await list.run('dates', () => dates(read, Math.floor(now() / 1000)))
  await list.run('subjects', () => subjects(read))
  const holder = await list.run('holder', () => holderOf(read, once))
  if (holder !== undefined) await list.run('proof', () => proof(read, holder))
  const credentials: CredentialReport[] = []
  await list.run('credentials', () => credentialsOf(read, once, options, credentials))
  return { valid: list.valid, checks: list.checks, holder: read.holder, credentials }
}

function readable(presentation: string | object): readonly [SignedPresentation, string] {
  const read = readSignedPresentation(presentation, chainIds)
  const form = read.format === 'jwt' ? 'a JWT' : 'JSON'
  if (read.credentials.length === 0) throw new Invalid('it holds no credential')
  return [
    read,
    `it is ${form}, with ${read.credentials.length === 1 ? 'one credential' : `${read.credentials.length} credentials`}`,
  ]
}

function realmOf({ realms }: SignedPresentation, realm: string): readonly [void, string] {
  if (realms.includes(realm)) return [undefined, `it is for ${realm}`]
  throw new Invalid(`it is for ${realms.join(', ').slice(0, 200)}, not for ${realm}`)
}

function nonceOf({ nonce }: SignedPresentation, asked: string): readonly [void, string] {
  if (nonce === asked) return [undefined, 'it answers the nonce that was asked']
  throw new Invalid(nonce === undefined ? 'it has no nonce' : 'it answers another nonce')
}

function dates({ from, until }: SignedPresentation, now: number): readonly [void, string] {
  if (from !== undefined && from > now + clockSkew) throw new Invalid(`it is not valid before ${formatDate(from)}`)
  if (until !== undefined && until <= now) throw new Invalid(`it has expired on ${formatDate(until)}`)
  return [undefined, from === undefined ? 'it has no date' : `made on ${formatDate(from)}`]
}

function subjects({ holder, credentials }: SignedPresentation): readonly [void, string] {
  const other = credentials.find(({ subject }) => subject !== holder)
  if (other === undefined) return [undefined, `its credentials are about ${holder}`]
  throw new Invalid(`a credential in it is about ${other.subject.slice(0, 200)}, not about ${holder}`)
}

async function holderOf({ holder }: SignedPresentation, source: CredentialSource): Promise<[DidDocument, string]> {
  return [await validDocument(holder, 'holder', source), `the holder ${holder} is valid`]
}

function proof(read: SignedPresentation, holder: DidDocument): readonly [void, string] {
  return [undefined, `signed by ${keyThatSigned(holder, read).id}`]
}

/** Checks one credential after the other into `reports`. */
async function credentialsOf(
  { credentials }: SignedPresentation,
  source: CredentialSource,
  options: CheckOptions,
  reports: CredentialReport[],
): Promise<[void, string]> {
  for (const read of credentials) {
    const list = new CheckList<CredentialCheck>()
    await list.run('form', () => form(read))
    const report = await checkRead(read, list, source, options)
    reports.push(report)
    const failed = report.checks.find(({ holds }) => !holds)
    if (failed !== undefined) throw new Invalid(`${read.id ?? 'a credential'}: ${failed.says}`)
  }
  return [undefined, 'each of them is valid']
}
