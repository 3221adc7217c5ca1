import { formatDate } from '../../identity/did/date.js'
import type { OperationMoment, ResolveContext, ResolveOptions, ResolveResult } from '../../identity/did/resolution.js'
import { fromBase64url, utf8 } from '../../base/primitives/bytes.js'
import type { LightResolver } from './light-resolver.js'
import type { LightResult, ProvedEntry } from './proved-answer.js'

/** Context of a proved answer, in the form of a node's answers: the members that DID Resolution shows beside a document. */

/** The version asked for, with its context; the block hash of an operation is left out: its height is proved alone. */
export async function resolveProved(
  light: Pick<LightResolver, 'resolve'>,
  did: string,
  asked: ResolveOptions = {},
): Promise<ResolveResult & Pick<LightResult, 'proved'>> {
  const { versionId, versionTime } = asked
  const result = await light.resolve(did, { versionId, versionTime, history: true })
  return result.status === 3 ? result : { ...result, context: contextOf(result) }
}

/** Context of the version shown, from the proved history. */
function contextOf({ proved, transaction: [shown] = [], status }: LightResult): ResolveContext {
  const { height, hash, time, history } = proved
  const entries = history?.entries ?? []
  const last = entries.length - 1
  const place = shown === undefined ? last : entries.findIndex(({ txid }) => txid === shown.txid)
  const document = status === 2 && place === last ? place - 1 : place
  const [next, found] = [entries[place + 1], entries[place] as ProvedEntry]
  return {
    height,
    blockHash: hash,
    time,
    count: history?.count ?? 0,
    created: momentOf(entries[0] as ProvedEntry),
    ...(document > 0 && { updated: momentOf(entries[document] as ProvedEntry) }),
    ...(next && { next: momentOf(next) }),
    expires: shown === undefined || document !== place ? '' : expiresIn(shown.operation.payload),
    at: shown === undefined ? [] : [{ height: found.height, confirmations: height - found.height + 1 }],
  }
}

function momentOf({ txid, time }: ProvedEntry): OperationMoment {
  return { txid, timestamp: formatDate(time) }
}

function expiresIn(payload: string): string {
  return (JSON.parse(utf8(fromBase64url(payload)) ?? '') as { expires: string }).expires
}
