import type { ApiContext } from '../api-context.js'
import { chainKey, StreamedAnswer, writeText } from '../streams/streamed-answer.js'

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
  return inParts(context, ['history proof', did, block.depth ?? '', block.height ?? ''], make)
}

/** Changes of validators above a height. */
export function changeList(context: ApiContext, from: number): StreamedAnswer {
  return inParts(context, ['changes', from], () => context.resolver.proofs.changes(from))
}

/** Headers with their work. */
export function headerList(context: ApiContext, from: number, count: number): StreamedAnswer {
  return inParts(context, ['headers', from, count], () => context.resolver.proofs.headers(from, count))
}

/** An answer that takes memory, which is made once there is room. */
function inParts(
  { reader }: ApiContext,
  names: readonly (string | number)[],
  make: () => Promise<object | undefined>,
): StreamedAnswer {
  return new StreamedAnswer({
    key: chainKey(reader, ...names),
    repeatable: false,
    write: async (sink) => writeText(sink, JSON.stringify(await make())),
  })
}
