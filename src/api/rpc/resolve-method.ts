import { Type } from '@sinclair/typebox'
import type { ResolveOptions, ResolveResult } from '../../did/resolution.js'
import { RuleError } from '../../errors/rule-error.js'
import { didOf, identifierOf } from '../../resolver/did-key.js'
import { historyLimits } from '../../resolver/history-limits.js'
import { readResolveRequest } from '../../resolver/resolve-request.js'
import { resultJson } from '../../resolver/resolver-answer.js'
import { withAbsoluteKey } from '../../resolver/shown-operation.js'
import type { ApiContext } from '../api-context.js'
import { chainKey, PartsAnswer, type Sink } from '../parts.js'
import { resolveResult } from '../schemas/did-schemas.js'
import { JsonText, method, type RpcMethod } from './method.js'

const did = Type.String({ description: 'did:ledger:… or the identifier alone' })
const all = Type.Boolean({ description: 'every operation, newest first, or only the last' })
const { slice, sliceUnasked } = historyLimits

function count(description: string, most = Number.MAX_SAFE_INTEGER) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: most, description }))
}

const options = {
  skip: count('with `all`: operations to leave out first; 0 when only `limit` is given'),
  limit: count(
    `with \`all\`: operations to return, 0 to count only; ${sliceUnasked} when only \`skip\` is given`,
    slice,
  ),
  context: Type.Optional(Type.Boolean({ description: 'whether the answer says where it stands', default: false })),
  versionId: Type.Optional(
    Type.String({ description: 'without `all`: the version that this transaction made, 64 lowercase hex digits' }),
  ),
  versionTime: Type.Optional(
    Type.String({ description: 'without `all`: the last version of blocks not later than YYYY-MM-DDTHH:MM:SSZ' }),
  ),
  versionHeight: count('without `all`: the last version as of this height', 0xffffffff),
}

/** `resolvedid {did, all, …}` → the resolve result. */
export const resolveDid: RpcMethod = method({
  name: 'resolvedid',
  summary: 'Resolves a DID: its status and the transactions that hold its operations.',
  params: Type.Object({ did, all, ...options }),
  result: resolveResult,
  listed: false,
  decimalText: false,
  run: (context, params) => resolve(context, params),
})

/** The same request under the name that existing clients use, where `all` may be missing. */
const resolveOldName = {
  name: 'did_resolveDID',
  summary:
    'resolvedid under the name that existing clients know; an array of one object is answered in the shape that they read.',
  params: Type.Object({ did, all: Type.Optional(Type.Boolean({ ...all, default: false })), ...options }),
  result: resolveResult,
  listed: false,
  decimalText: false,
}

/** Params in an object: the answer of `resolvedid`. */
const byObject = method({
  ...resolveOldName,
  run: (context, params) => resolve(context, { ...params, all: params.all ?? false }),
})

/** Params in an array of one object: the answer in the shape that those clients read. */
const byArray = method({
  ...resolveOldName,
  run: (context, params) => {
    const request = { did: params.did, all: params.all ?? false }
    const kind = request.all ? 'clients history' : 'clients last'
    // In that shape a deactivated DID has two transactions, so every answer may be large.
    return inParts(context, kind, request.did, (signal) => clientsShape(context, request, signal))
  },
})

export const didResolveDid: RpcMethod = {
  ...byObject,
  run: (context, params, caller) => {
    if (!Array.isArray(params)) return byObject.run(context, params, caller)
    if (params.length === 1) return byArray.run(context, params[0], caller)
    throw new RuleError('request-parameter', 'params: an array of one object is needed')
  },
}

type ResolveParams = ResolveOptions & { readonly did: string; readonly all: boolean }

/** Answers with the resolve result: one version is a few point reads. */
function resolve(context: ApiContext, params: ResolveParams): PartsAnswer | Promise<JsonText> {
  const { resolver } = context
  const { did, all, skip, limit } = params
  if (!all) return resolver.resolve(did, params).then((result) => new JsonText(resultJson(result)))
  // Options that cannot be are refused before anything waits or becomes a key.
  readResolveRequest(params)
  const kind = `history ${JSON.stringify([skip, limit, params.context])}`
  return inParts(context, kind, did, (signal) => resolver.resolve(did, params, { signal }))
}

/** Operations of a DID, perhaps all: no point read, so the answer queues among the searches. */
function inParts(
  { reader }: ApiContext,
  kind: string,
  did: string,
  find: (signal: AbortSignal) => Promise<ResolveResult>,
): PartsAnswer {
  const full = didOf(identifierOf(did))
  // A second production continues with the result of the first.
  let found: ResolveResult | undefined
  return new PartsAnswer({
    key: chainKey(reader, kind, full),
    repeatable: true,
    search: historyMemory,
    write: async (sink) => writeResult(sink, (found ??= await find(sink.signal))),
  })
}

/** Bytes counted for the operations of an answer and its text. */
const historyMemory = 2 * historyLimits.bytes

/** Writes the text of a resolve result operation by operation. */
async function writeResult(sink: Sink, result: ResolveResult): Promise<void> {
  const { did, status, transaction, ...rest } = result
  if (transaction === undefined) return sink.add(JSON.stringify(result))
  sink.add(`{"did":${JSON.stringify(did)},"status":${status},"transaction":[`)
  let separator = ''
  for (const entry of transaction) {
    sink.add(separator + JSON.stringify(entry))
    separator = ','
    if (sink.due) await sink.drain()
  }
  const members = JSON.stringify(rest)
  sink.add(members === '{}' ? ']}' : `],${members.slice(1)}`)
}

/**
 * The shape of existing clients: they check `expires` themselves and know no status 1; of a deactivated DID they expect the
 * deactivation and the last document alone; and keys by their full ids.
 */
async function clientsShape(
  { resolver }: ApiContext,
  { did: asked, all }: { readonly did: string; readonly all: boolean },
  signal: AbortSignal,
): Promise<ResolveResult> {
  const last = await resolver.resolve(asked, {}, { signal, withDocument: true })
  const isLong = all && last.status < 2
  const { did, status, transaction } = isLong ? await resolver.resolve(asked, { all }, { signal }) : last
  if (transaction === undefined) return { did, status }
  const isGone = status === 2
  // It may have been deactivated since.
  const shown = isGone ? transaction.slice(0, 2) : transaction
  return { did, status: isGone ? 2 : 0, transaction: shown.map((entry) => withAbsoluteKey(entry, did)) }
}
