import type { Command } from 'commander'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { strictValue } from '../../identity/did/plain-json.js'
import { isUri } from '../../identity/did/uri.js'
import { defined } from '../../base/primitives/defined.js'
import type { AddedAgreementKey } from '../../clients/wallet/core-members.js'
import type { DocumentChanges, NewIdentity } from '../../clients/wallet/did-identity.js'
import { parseJsonToSign } from '../../clients/wallet/parse-json.js'
import { collect } from './command-options.js'
import { changedExpiry, type ExpiryOptions, withExpiry } from './expiry.js'
import { jsonCredential } from './json-credential.js'
import { type KeyOptions, withCoreMembers } from './key-options.js'

/** Options that say what a document holds, or what changes in it. */

export interface NewDocumentOptions extends ExpiryOptions {
  readonly service?: ServiceEntry[]
  readonly keyAgreement?: AddedAgreementKey[]
  readonly alsoKnownAs?: string[]
}

export interface ChangeOptions extends ExpiryOptions, KeyOptions {
  readonly addService?: ServiceEntry[]
  readonly removeService?: string[]
  readonly addKeyAgreement?: AddedAgreementKey[]
  readonly removeKeyAgreement?: string[]
  readonly addAlsoKnownAs?: string[]
  readonly removeAlsoKnownAs?: string[]
  readonly addCredential?: string[]
  readonly removeCredential?: string[]
}

interface ServiceEntry {
  readonly id: string
  readonly type: string
  /** A text, an object, or a list of these. */
  readonly serviceEndpoint: unknown
}

/** Options of a command that makes a document. */
export function withNewDocument(command: Command): Command {
  return withCoreMembers(withExpiry(command, 'default: 5'), undefined).option(
    '--service <id,type,endpoint>',
    'a service; the endpoint is a URI, or JSON; may be given several times',
    collect(serviceOption),
  )
}

/** Options of a command that changes a document. */
export function withDocumentChanges(command: Command): Command {
  return withCoreMembers(withExpiry(command, 'default: the expiry stays'), 'add')
    .option('--add-service <id,type,endpoint>', 'a service to add; may be given several times', collect(serviceOption))
    .option('--remove-service <id>', 'a service to remove; may be given several times', collect(String))
    .option('--remove-key-agreement <name>', 'such a key to remove; may be given several times', collect(String))
    .option('--remove-also-known-as <uri>', 'such a name to remove; may be given several times', collect(String))
    .option('--add-credential <file>', 'a signed credential to add; may be given several times', collect(String))
    .option('--remove-credential <id>', 'a credential to remove; may be given several times', collect(String))
}

/** The members of a new document that the options name. */
export function newMembers({
  service,
  keyAgreement,
  alsoKnownAs,
}: NewDocumentOptions): Omit<NewIdentity, 'expires' | 'recovery'> {
  return { services: service ?? [], ...defined({ keyAgreement, alsoKnownAs }) }
}

/** The changes that the options name, at a time in Unix seconds; a {@link UserError} where they name none. */
export function askedChanges(options: ChangeOptions, now: number): DocumentChanges {
  const expires = changedExpiry(options, now)
  const { addService, removeService, addCredential, removeCredential } = options
  const { addKey, removeKey, authorize, revokeAuthorization } = options
  const keys = [addKey, removeKey, authorize, revokeAuthorization]
  const { addKeyAgreement, removeKeyAgreement, addAlsoKnownAs, removeAlsoKnownAs } = options
  const members = { addKeyAgreement, removeKeyAgreement, addAlsoKnownAs, removeAlsoKnownAs }
  const asked = [
    addService,
    removeService,
    addCredential,
    removeCredential,
    ...keys,
    ...Object.values(members),
    expires,
  ]
  if (asked.every((change) => change === undefined)) {
    throw new UserError('what shall change? Give --add-service, --add-key, --years … (see --help)', 2)
  }
  return {
    addServices: addService ?? [],
    removeServices: removeService ?? [],
    addCredentials: (addCredential ?? []).map(readCredential),
    removeCredentials: removeCredential ?? [],
    ...defined({
      addKeys: addKey,
      removeKeys: removeKey,
      authorize,
      revokeAuthorizations: revokeAuthorization,
      ...members,
      expires,
    }),
  }
}

function serviceOption(text: string): ServiceEntry {
  const match = /^([^,]+),([^,]+),(.+)$/.exec(text)
  if (match === null) throw new UserError(`not a service of the form id,type,endpoint: ${text}`, 2)
  const serviceEndpoint = endpointIn(match[3] as string)
  return { id: idOption(match[1] as string), type: match[2] as string, serviceEndpoint }
}

/** An endpoint as a text, or as JSON of an object or a list. */
function endpointIn(text: string): unknown {
  if (!/^[{[]/.test(text)) return textEndpoint(text)
  try {
    return strictValue(text)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(`the endpoint begins as JSON and is none to sign: ${error.message}: ${text.slice(0, 200)}`, 2)
  }
}

/** A text as it is; one as browsers show it, with blanks or letters of other alphabets, is refused with the URI that it means. */
function textEndpoint(text: string): string {
  const meant = isUri(text) || !URL.canParse(text) ? text : new URL(text).href
  if (meant === text || !isUri(meant)) return text
  throw new UserError(
    `the endpoint ${text.slice(0, 200)} is no URI as it stands; written as one it is ${meant.slice(0, 200)}`,
    2,
  )
}

/** An id of a document, from one in full or a name. */
function idOption(text: string): string {
  return text.includes('#') ? text : `#${text}`
}

/** The text of a credential file, checked to be JSON within the document limits. */
function readCredential(file: string): string {
  const text = jsonCredential(file)
  parseJsonToSign(text, `the credential ${file}`)
  return text
}
