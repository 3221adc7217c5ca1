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
import { type SigningKey, signingKey } from './document-keys.js'

/** Operations of a wallet on credentials. */

const rules = { method: didMethod, chain: true, names: true }

export interface CredentialContext {
  readonly account: SigningAccount
  /** The specification string of the chain for credentials. */
  readonly specification: string
  /** Private key for authentication of the DID that signs, in any form, instead of one of the account's. */
  readonly signWith?: KeyInput
}

/** Reads the JSON text of a signed credential whose id is in full; a {@link RuleError} for another text. Verifies nothing. */
export function readCredential(text: string): Credential {
  return credentialOfBytes(fromUtf8(text), rules)
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

/** The revoke of the credential with an id in full, in the name of the DID of `document`. Errors as for {@link buildDeclare}. */
export function buildRevoke(context: CredentialContext, document: DidDocument, id: string): DidOperation {
  requireOptions('the context of buildRevoke', context, contextMembers)
  requireCredentialId(id)
  const { pair, plan } = signing(context, document)
  return revokeOperation(id, plan, signer(pair))
}

/** Throws a {@link UserError} for a text that is no id of a credential in full. */
export function requireCredentialId(id: string): void {
  if (isCredentialId(id, rules)) return
  throw new UserError(`${id.slice(0, 200)} is no id of a credential: did:${didMethod}:<identifier>#<name> is needed`, 2)
}

/** The key that signs for the DID of a document, and how it is named. */
function signing(
  context: CredentialContext,
  document: DidDocument,
): { pair: KeyPair; plan: { specification: string; verificationMethod: string } } {
  const { pair, id } = credentialKey(context, document)
  return { pair, plan: { specification: context.specification, verificationMethod: id } }
}

/** The key of a document that signs for its DID: `signWith`, else one of the account. A {@link UserError} if it may not. */
export function credentialKey(
  { account, signWith }: Pick<CredentialContext, 'account' | 'signWith'>,
  document: DidDocument,
): SigningKey {
  if (signWith !== undefined) {
    return signingKey(signWith, document, { keys: document.authentication.values(), what: 'for credentials' })
  }
  for (const pair of [account, ...(account.recovery === undefined ? [] : [account.recovery])]) {
    for (const { id, publicKey } of document.authentication.values()) {
      if (equalBytes(publicKey, pair.publicKey)) return { pair, id }
    }
  }
  throw new UserError(`no key of this account may sign for ${document.id}: its document lists none for authentication`)
}
