import { Type } from '@sinclair/typebox'
import type { ResolvedTransaction } from '../../did/resolution.js'
import { RuleError } from '../../errors/rule-error.js'
import { didOf, identifierOf } from '../../resolver/did-key.js'
import { resultJson } from '../../resolver/resolver-answer.js'
import { withAbsoluteKey } from '../../resolver/shown-operation.js'
import type { ApiContext } from '../api-context.js'
import { chainKey, PartsAnswer, type Sink } from '../parts.js'
import { resolveResult } from '../schemas/did-schemas.js'
import { JsonText, method, type RpcMethod } from './method.js'

const did = Type.String({ description: 'did:ledger:… or the identifier alone' })
const all = Type.Boolean({ description: 'every operation, newest first, or only the last' })

/** `resolvedid {did, all}` → the resolve result. */
export const resolveDid: RpcMethod = method({
  name: 'resolvedid',
  summary: 'Resolves a DID: its status and the transactions that hold its operations.',
  params: Type.Object({ did, all }),
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
  params: Type.Object({ did, all: Type.Optional(Type.Boolean({ ...all, default: false })) }),
  result: resolveResult,
  listed: false,
  decimalText: false,
}

/** Params in an object: the answer of `resolvedid`. */
const byObject = method({
  ...resolveOldName,
  run: (context, params) => resolve(context, { did: params.did, all: params.all ?? false }),
})

/** Params in an array of one object: the answer in the shape that those clients read. */
const byArray = method({
  ...resolveOldName,
  run: (context, params) => {
    const request = { did: params.did, all: params.all ?? false }
    const kind = request.all ? 'clients history' : 'clients last'
    // In that shape a deactivated DID needs its history too.
    return inParts(context, kind, request.did, () => clientsShape(context, request))
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

interface ResolveRequest {
  readonly did: string
  readonly all: boolean
}

/** Data of an answer before its operations are read. */
interface Found {
  readonly did: string
  readonly status: 0 | 1 | 2
  pages(): AsyncIterable<readonly ResolvedTransaction[]> | Iterable<readonly ResolvedTransaction[]>
}

/** Answers with the resolve result: the last operation alone is a point read. */
function resolve(context: ApiContext, { did, all }: ResolveRequest): PartsAnswer | Promise<JsonText> {
  const { resolver } = context
  if (all) return inParts(context, 'history', did, () => resolver.history(did))
  return resolver.resolve(did, { all }).then((result) => new JsonText(resultJson(result)))
}

/** Operations of a DID, perhaps all: no point read, so the answer queues among the searches. */
function inParts(
  { reader }: ApiContext,
  kind: string,
  did: string,
  find: () => Promise<Found | undefined>,
): PartsAnswer {
  // Text that is no DID is refused before anything waits or becomes a key.
  const full = didOf(identifierOf(did))
  // A second production continues with the result of the first.
  let finding: Promise<Found | undefined> | undefined
  return new PartsAnswer({
    key: chainKey(reader, kind, full),
    repeatable: true,
    search: historyMemory,
    write: async (sink) => {
      const found = await (finding ??= find())
      if (found === undefined) sink.add(JSON.stringify({ did: full, status: 3 }))
      else await writeFound(sink, found)
    },
  })
}

/** Bytes counted for the operations read in one go. */
const historyMemory = 16 * 1024 * 1024

/** Writes the text of a resolve result operation by operation. */
async function writeFound(sink: Sink, found: Found): Promise<void> {
  const { did, status } = found
  sink.add(`{"did":${JSON.stringify(did)},"status":${status},"transaction":[`)
  let separator = ''
  for await (const page of found.pages()) {
    for (const transaction of page) {
      sink.add(separator + JSON.stringify(transaction))
      separator = ','
      if (sink.due) await sink.drain()
    }
  }
  sink.add(']}')
}

/**
 * The shape of existing clients: they check `expires` themselves and know no status 1; of a deactivated DID they expect the
 * deactivation and the last document alone; and keys by their full ids.
 */
async function clientsShape({ resolver }: ApiContext, { did, all }: ResolveRequest): Promise<Found | undefined> {
  if (!all) {
    const { status, transaction = [], did: full } = await resolver.resolve(did, { all })
    if (status === 3) return undefined
    if (status !== 2) return { did: full, status: 0, pages: () => [transaction.map((tx) => withAbsoluteKey(tx, full))] }
  }
  const history = await resolver.history(did)
  if (history === undefined) return undefined
  const deactivated = history.status === 2
  return {
    did: history.did,
    status: deactivated ? 2 : 0,
    pages: async function* () {
      for await (const page of history.pages(deactivated ? 2 : all ? undefined : 1)) {
        yield page.map((tx) => withAbsoluteKey(tx, history.did))
      }
    },
  }
}
