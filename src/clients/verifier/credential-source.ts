import { UserError } from '../../base/errors/rule-error.js'
import { effectOf } from '../../base/primitives/did-operation.js'
import { decodeBase64url } from '../../identity/did/base64url.js'
import { parseDocumentBytes } from '../../identity/did/document.js'
import type { DidDocument } from '../../identity/did/model.js'
import type { AnswerAge, CredentialResult, ResolveResult } from '../../identity/did/resolution.js'
import { Invalid } from './report.js'
import { chainIds } from '../../identity/did/chain-ids.js'

/** Answers for a verifier: an `HttpResolver`, a `LightResolver`, the resolver of a node, or proofs in files. */
export interface CredentialSource {
  resolve(did: string): Promise<ResolveResult>
  resolveCredential(id: string, options: { readonly issuer: string }): Promise<CredentialResult>
}

/** A source that asks for each DID once. */
export function askingOnce(source: CredentialSource): CredentialSource {
  const answers = new Map<string, Promise<ResolveResult>>()
  return {
    resolve: (did) => {
      const asked = answers.get(did) ?? source.resolve(did)
      answers.set(did, asked)
      return asked
    },
    resolveCredential: (id, options) => source.resolveCredential(id, options),
  }
}

/** The document of a DID that may sign now. Throws {@link Invalid} for one that may not, a {@link UserError} for an answer to another question. */
export async function validDocument(did: string, role: string, source: CredentialSource): Promise<DidDocument> {
  const { document, expired } = await standingDocument(did, role, source)
  if (expired) throw new Invalid(`the ${role} ${did} has expired on ${document.expires}`)
  return document
}

/** The document of a DID that has not ended, and whether it has expired. Throws as {@link validDocument} does. */
export async function standingDocument(
  did: string,
  role: string,
  source: CredentialSource,
): Promise<{ readonly document: DidDocument; readonly expired: boolean }> {
  const { did: answered, status, transaction = [], outOfStep } = await source.resolve(did)
  if (answered !== did) throw new UserError(`the answer about ${did} is one about ${answered}`)
  requireInStep(outOfStep)
  if (status === 3) throw new Invalid(`the ${role} ${did} does not exist`)
  if (status === 2) throw new Invalid(`the ${role} ${did} is deactivated`)
  const last = transaction.find(({ operation }) => effectOf(operation.header) === 'document')
  const bytes = last && decodeBase64url(last.operation.payload)
  if (bytes === undefined) throw new UserError(`the answer about ${did} has no document`)
  const document = parseDocumentBytes(bytes, chainIds)
  if (document.id !== did) throw new UserError(`the answer about ${did} has the document of ${document.id}`)
  return { document, expired: status === 1 }
}

/** Throws a {@link UserError} for an answer of a node that is not in step with its chain. */
export function requireInStep(outOfStep: AnswerAge | undefined): void {
  if (outOfStep === undefined) return
  throw new UserError(`the node is not in step with its chain: its last block is ${outOfStep.age} s old`)
}
