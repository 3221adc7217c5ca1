import type { KeyInput } from '../../base/crypto/key-forms.js'
import { declareOperation, revokeOperation } from '../../identity/did/build.js'
import { didPart } from '../../identity/did/identifier.js'
import type { Credential, DidDocument } from '../../identity/did/model.js'
import { credentialOfBytes, isCredentialId } from '../../identity/did/operations/credential-operation.js'
import { UserError } from '../../base/errors/rule-error.js'
import { equalBytes, fromUtf8 } from '../../base/primitives/bytes.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { requireOptions } from '../../base/primitives/known-members.js'
import type { KeyPair, SigningAccount } from './accounts.js'
import { contextMembers, signer } from './did-identity.js'
import { authenticationKeys, type SigningKey, signingKey } from './document-keys.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Operations of a wallet on credentials. */

export interface CredentialContext {
  readonly account: SigningAccount
  /** The specification string of the chain for credentials. */
  readonly specification: string
  /** Private key for authentication of the DID that signs, in any form, instead of one of the account's. */
  readonly signWith?: KeyInput
  /** Documents of the controllers of a DID with a name, as they are now: their keys declare for it too, but revoke nothing. */
  readonly controllers?: readonly DidDocument[]
}

/** Reads the JSON text of a signed credential whose id is in full; a {@link RuleError} for another text. Verifies nothing. */
export function readCredential(text: string): Credential {
  return credentialOfBytes(fromUtf8(text), chainIds)
}

/**
 * The declare of a credential, JSON text, by its holder: `document` is the holder's as it is now. A {@link UserError} for a credential
 * of another holder, or if the document lists no key of the account for authentication.
 */
export function buildDeclare(context: CredentialContext, document: DidDocument, credential: string): DidOperation {
  requireOptions('the context of buildDeclare', context, contextMembers)
  const read = readCredential(credential)
  const holder = didPart(read.id)
  if (holder !== document.id)
    throw new UserError(`only its holder ${holder} can declare ${read.id}, not ${document.id}`)
  const { pair, plan } = signing(context, document)
  return declareOperation(read, plan, signer(pair))
}

/**
 * The revoke of the credential with an id in full, in the name of the DID of `document`, by a key of that document. Errors as for {@link
 * buildDeclare}.
 */
export function buildRevoke(context: CredentialContext, document: DidDocument, id: string): DidOperation {
  requireOptions('the context of buildRevoke', context, contextMembers)
  requireCredentialId(id)
  const { pair, plan } = signing(context, document, ownKeysOnly)
  return revokeOperation(id, plan, signer(pair))
}

/** Throws a {@link UserError} for a text that is no id of a credential in full. */
export function requireCredentialId(id: string): void {
  if (isCredentialId(id, chainIds)) return
  throw new UserError(`${id.slice(0, 200)} is no id of a credential: did:${didMethod}:<identifier>#<name> is needed`, 2)
}

/** The key that signs for the DID of a document, and how it is named. */
function signing(
  context: CredentialContext,
  document: DidDocument,
  options: KeyRight = {},
): { pair: KeyPair; plan: { specification: string; verificationMethod: string } } {
  const { pair, id } = credentialKey(context, document, options)
  return { pair, plan: { specification: context.specification, verificationMethod: id } }
}

/** Which keys may sign something in the name of a DID. */
interface KeyRight {
  /** Readers look for the key in the document of the DID alone, or would take that of a controller for one that signs in its own name. */
  readonly ownOnly?: boolean
}

/** The right to sign what a controller's key cannot sign in the name of a DID: a revoke, a presentation, a JWT. */
export const ownKeysOnly: KeyRight = { ownOnly: true }

/**
 * The key that signs in the name of the DID of a document: `signWith`, else one of the account, of the document first, then of a
 * controller. A {@link UserError} if it may not.
 */
export function credentialKey(
  { account, signWith, controllers }: Pick<CredentialContext, 'account' | 'signWith' | 'controllers'>,
  document: DidDocument,
  { ownOnly = false }: KeyRight = {},
): SigningKey {
  const keys = authenticationKeys({ document, controllers: ownOnly ? [] : controllers })
  const hint = ownOnly && document.controllers.length > 0 ? `; ${ownKeyHint}` : ''
  try {
    if (signWith !== undefined) return signingKey(signWith, document, { keys, what: 'for credentials' })
  } catch (error) {
    throw error instanceof UserError ? new UserError(error.message + hint) : error
  }
  for (const { id, publicKey } of keys) {
    for (const pair of [account, ...(account.recovery === undefined ? [] : [account.recovery])]) {
      if (equalBytes(publicKey, pair.publicKey)) return { pair, id }
    }
  }
  const lists =
    ownOnly || document.controllers.length === 0 ? 'its document lists' : 'its document and its controllers list'
  throw new UserError(`no key of this account may sign for ${document.id}: ${lists} none for authentication${hint}`)
}

const ownKeyHint = 'this takes a key of its own, not one of a controller: "did name update NAME --add-key" adds one'
