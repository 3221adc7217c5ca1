import type { ResolveResult } from '../../identity/did/resolution.js'

/** The proof of an answer in the metadata of a result of DID Resolution. */

/** The type of the proof; `answer` is the resolve result, with its own `proof`. */
export const stateProofType = 'DidLedgerStateProof'

/** A member of metadata; none where no proof was asked for. */
export interface MetadataProof {
  readonly proof?: readonly [{ readonly type: typeof stateProofType; readonly answer: ResolveResult }]
}

export function metadataProof(result: ResolveResult): MetadataProof {
  if (result.proof === undefined) return {}
  const { did, status, transaction, proof } = result
  const answer = { did, status, ...(transaction && { transaction }), proof }
  return { proof: [{ type: stateProofType, answer }] }
}
