import type { ResolvedTransaction } from '../../identity/did/resolution.js'
import { type KeyForm, w3cDocument } from '../../identity/did/w3c.js'
import { stateProofType } from '../../answers/identifiers/metadata-proof.js'
import { LightError } from '../../clients/light/light-error.js'
import type { LightResolver } from '../../clients/light/light-resolver.js'
import type { LightResult } from '../../clients/light/proved-answer.js'
import { fromBase64url, utf8 } from '../../base/primitives/bytes.js'
import { effectOf } from '../../base/primitives/did-operation.js'

export interface VerifyResolutionOptions {
  /** The version that was asked for, by its txid. */
  readonly versionId?: string
  /** The version that was asked for, by a date. */
  readonly versionTime?: string
  /** The form of keys that was asked for. */
  readonly transformKeys?: KeyForm
}

type Members = Readonly<Record<string, unknown>>

/**
 * Holds a result of W3C DID Resolution that was asked for with `proof` against that proof: its document, `deactivated`, `versionId` and
 * `expires`, or that the DID or the version does not exist. Other metadata are not checked. Rejects with a {@link LightError}:
 * `proof-missing` for a result without proof, whatever its error; `answer-document` for what is unlike the proved operation.
 */
export async function verifyResolution(
  light: LightResolver,
  did: string,
  result: unknown,
  { transformKeys = 'Multikey', ...version }: VerifyResolutionOptions = {},
): Promise<LightResult> {
  const { didDocument, didDocumentMetadata, didResolutionMetadata } = membersOf(result)
  const metadata = membersOf(didDocumentMetadata)
  const answer = answerIn(metadata) ?? answerIn(membersOf(didResolutionMetadata))
  if (answer === undefined) throw new LightError('proof-missing', 'a result without a proof is not believed')
  const proved = await light.verifyAnswer(did, answer, version)
  const { document, expires } = shownIn(proved.transaction?.[0], transformKeys)
  requireSame('the document', didDocument, document)
  if (proved.transaction?.[0] === undefined) return proved
  requireSame('deactivated', metadata['deactivated'] === true, proved.status === 2)
  requireSame('versionId', metadata['versionId'], proved.transaction[0].txid)
  requireSame('expires', metadata['expires'], expires)
  return proved
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

/** The resolve result in a proof of metadata. */
function answerIn({ proof }: Members): unknown {
  const proofs = Array.isArray(proof) ? proof.map(membersOf) : []
  return proofs.find(({ type }) => type === stateProofType)?.['answer']
}

/** Members that a proved operation has to show; none for a deactivation, or without one. */
function shownIn(
  shown: ResolvedTransaction | undefined,
  keys: KeyForm,
): { readonly document: unknown; readonly expires: string | null } {
  if (shown === undefined || effectOf(shown.operation.header) === 'end') return { document: null, expires: null }
  return w3cDocument(utf8(fromBase64url(shown.operation.payload)) ?? '', { keys })
}

function requireSame(what: string, given: unknown, proved: unknown): void {
  if (textOf(given) === textOf(proved)) return
  throw new LightError('answer-document', `${what} is not that of the proved operation`)
}

/** One text for equal values, whatever the order of members. */
function textOf(value: unknown): string {
  const sorted = (_: string, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member
  return JSON.stringify(value ?? null, sorted)
}
