import type { ApiContext } from '../api-context.js'
import { chainKey, jsonAnswer, type StreamedAnswer } from '../streams/streamed-answer.js'

/** Bytes of operations in a proof that is answered like a single version. */
const shortProof = 64 * 1024

/** A proof by all operations of a DID: that of a short history at once. */
export async function historyProof(
  context: ApiContext,
  did: string,
  block: { readonly depth?: number | undefined; readonly height?: number | undefined },
): Promise<object> {
  const { proofs } = context.resolver
  const short = await proofs.did(did, { history: true, most: shortProof, ...block })
  if (short !== undefined) return short
  const make = () => proofs.did(did, { history: true, ...block })
  const key = chainKey(context.reader, 'history proof', did, block.depth ?? '', block.height ?? '')
  return jsonAnswer(key, make)
}

/** Changes of validators above a height. */
export function changeList({ reader, resolver }: ApiContext, from: number): StreamedAnswer {
  return jsonAnswer(chainKey(reader, 'changes', from), () => resolver.proofs.changes(from))
}

/** Headers with their work. */
export function headerList({ reader, resolver }: ApiContext, from: number, count: number): StreamedAnswer {
  return jsonAnswer(chainKey(reader, 'headers', from, count), () => resolver.proofs.headers(from, count))
}
