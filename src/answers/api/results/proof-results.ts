import { RuleError } from '../../../base/errors/rule-error.js'
import { displayHash, utf8 } from '../../../base/primitives/bytes.js'
import type { Hash } from '../../../base/primitives/hash.js'
import { parse } from '../../../clients/light/json-scan.js'
import { witnessedFormat } from '../../../clients/light/witnessed-heads.js'
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

/** The answer of a node that names no witnesses. */
export function noneWitnessed(genesis: Hash): object {
  return { format: witnessedFormat, chain: displayHash(genesis), heads: [] }
}

/** @limit bytes: a head that is sent to be compared: its coinbase has 64 KiB at most */
export const longestHead = 128 * 1024

/** The own block at the height of a head that was sent, after the two were compared. */
export async function exchangeHead({ compareHeads }: ApiContext, body: Uint8Array | undefined): Promise<object> {
  if (compareHeads === undefined) throw new RuleError('request-method', 'this node compares no heads')
  return compareHeads.exchange(jsonOf(body))
}

function jsonOf(body: Uint8Array | undefined): unknown {
  const sent = body === undefined ? undefined : utf8(body)
  try {
    return parse(sent ?? '')
  } catch {
    throw new RuleError('request-json', 'the body is not one JSON value in UTF-8')
  }
}

/** Changes of validators above a height. */
export function changeList({ reader, resolver }: ApiContext, from: number): StreamedAnswer {
  return jsonAnswer(chainKey(reader, 'changes', from), () => resolver.proofs.changes(from))
}

/** Headers with their work. */
export function headerList({ reader, resolver }: ApiContext, from: number, count: number): StreamedAnswer {
  return jsonAnswer(chainKey(reader, 'headers', from, count), () => resolver.proofs.headers(from, count))
}
