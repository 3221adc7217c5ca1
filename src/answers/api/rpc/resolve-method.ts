import { Type } from '@sinclair/typebox'
import type { ResolveOptions, ResolveResult } from '../../../identity/did/resolution.js'
import { defined } from '../../../base/primitives/defined.js'
import { didOf } from '../../../base/primitives/did-key.js'
import { identifierOf } from '../../resolver/did-key.js'
import { historyLimits } from '../../resolver/history-limits.js'
import { ResolverAnswer, resultJson } from '../../resolver/resolver-answer.js'
import { withAbsoluteKey } from '../../../identity/did/shown-operation.js'
import type { ApiContext } from '../api-context.js'
import { chainKey, StreamedAnswer, type Sink, writeText } from '../streams/streamed-answer.js'
import { resolveResult } from '../schemas/did-schemas.js'
import { proofParams } from '../schemas/proof-schemas.js'
import { JsonText, method, objectOrList, type RpcCaller, type RpcMethod } from './method.js'

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
  ...proofParams,
}

/** `resolvedid {did, all, …}` → the resolve result. */
export const resolveDid: RpcMethod = method({
  name: 'resolvedid',
  lasts: 'said',
  summary: 'Resolves a DID: its status and the transactions that hold its operations.',
  params: Type.Object({ did, all, ...options }),
  result: resolveResult,
  listed: false,
  decimalText: false,
  run: (context, params, caller) => resolve(context, params, caller),
})

/** The same request under the name that existing clients use, where `all` may be missing. */
const resolveOldName = {
  name: 'did_resolveDID',
  lasts: 'said' as const,
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
  run: (context, params, caller) => resolve(context, { ...params, all: params.all ?? false }, caller),
})

/** Params in an array of one object: the answer in the shape that those clients read. */
const byArray = method({
  ...resolveOldName,
  run: (context, params, caller) => clientsShape(context, { did: params.did, all: params.all ?? false }, caller),
})

export const didResolveDid = objectOrList(byObject, byArray)

type ResolveParams = ResolveOptions & { readonly did: string; readonly all: boolean }

/** Answers with the resolve result: one version is a few point reads. */
async function resolve(
  context: ApiContext,
  params: ResolveParams,
  caller: RpcCaller,
): Promise<StreamedAnswer | JsonText> {
  const { resolver } = context
  const { did, all, proof } = params
  const { showsAge } = caller
  if (!all && proof === undefined) return jsonOf(await resolver.resolve(did, params, defined({ showsAge })))
  return history(context, { kind: () => kindOf(params), did, options: params, shape: (result) => result }, caller)
}

/** A result as text, for as long as it holds. */
function jsonOf(result: ResolveResult): JsonText {
  return new JsonText(resultJson(result), result instanceof ResolverAnswer ? (result.until ?? 0) : 0)
}

/** Names what is asked for beside the DID. */
function kindOf({ did: _, all, skip, limit, context, proof, depth, height, ...version }: ResolveParams): string {
  const { versionId, versionTime, versionHeight } = version
  const asked = [all, skip, limit, context, proof, depth, height, versionId, versionTime, versionHeight]
  return `history ${JSON.stringify(asked)}`
}

interface HistoryQuestion {
  /** Names what is asked for beside the DID; equal kinds → equal answers. */
  kind(): string
  readonly did: string
  readonly options: ResolveOptions
  readonly shape: (result: ResolveResult) => ResolveResult
}

/** Operations of a DID, perhaps all, or a proof by them: a short history is answered like a version, a long one takes its place among the answers. */
async function history(
  { resolver, reader }: ApiContext,
  { kind, did, options, shape }: HistoryQuestion,
  caller: RpcCaller,
): Promise<StreamedAnswer | JsonText> {
  // One version is a few reads, which nothing needs to stop.
  const signal = options.all === true ? caller.client.signal : undefined
  const { showsAge } = caller
  const short = await resolver.resolveShort(did, options, { signal, ...defined({ showsAge }) })
  if (short !== undefined) return jsonOf(shape(short))
  // A second production continues with the result of the first.
  let found: ResolveResult | undefined
  let isLarge = false
  return new StreamedAnswer({
    key: chainKey(reader, kind(), didOf(identifierOf(did))),
    repeatable: true,
    write: async (sink) => {
      let release = () => {}
      const reserve = async () => {
        release()
        isLarge = true
        release = await sink.reserve(largeHistory)
      }
      try {
        if (isLarge) await reserve()
        found ??= shape(
          await resolver.resolve(did, options, { signal: sink.signal, reserve, ...defined({ showsAge }) }),
        )
        await writeResult(sink, found)
      } finally {
        release()
      }
    },
  })
}

/** Bytes counted for the operations of a history that does not fit into the memory of every answer, and their text. */
const largeHistory = 2 * historyLimits.bytes

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
  await writeText(sink, members === '{}' ? ']}' : `],${members.slice(1)}`)
}

/**
 * The shape of existing clients: they check `expires` themselves and know no status 1; of a deactivated DID they expect the
 * deactivation and the last document alone; and keys by their full ids.
 */
async function clientsShape(
  context: ApiContext,
  { did, all }: { readonly did: string; readonly all: boolean },
  caller: RpcCaller,
): Promise<StreamedAnswer | JsonText> {
  const last = await context.resolver.resolve(
    did,
    {},
    { withDocument: true, ...defined({ showsAge: caller.showsAge }) },
  )
  if (!all || last.status >= 2) return new JsonText(JSON.stringify(inClientsShape(last)))
  return history(context, { kind: () => 'clients history', did, options: { all }, shape: inClientsShape }, caller)
}

function inClientsShape({ did, status, transaction }: ResolveResult): ResolveResult {
  if (transaction === undefined) return { did, status }
  const isGone = status === 2
  // It may have been deactivated since its last version was asked for.
  const shown = isGone ? transaction.slice(0, 2) : transaction
  return { did, status: isGone ? 2 : 0, transaction: shown.map((entry) => withAbsoluteKey(entry, did)) }
}
