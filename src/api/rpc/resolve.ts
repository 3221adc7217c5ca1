import { Type } from '@sinclair/typebox'
import { RuleError } from '../../errors.js'
import type { ResolvedTransaction, ResolveResult } from '../../did/resolution.js'
import { resultJson } from '../../resolver/answer.js'
import type { ApiContext } from '../context.js'
import { chainKey, PartsAnswer, writeText } from '../parts.js'
import { resolveResult } from '../schemas/did.js'
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
  run: (context, params) => {
    const answer = async () => resultJson(await context.resolver.resolve(params.did, params))
    return params.all ? history(context, params, false, answer) : answer().then((text) => new JsonText(text))
  },
})

/** `listed`: the params are an array of one object, which is answered in the shape that existing clients read. */
const underOldName = (listed: boolean) =>
  method({
    name: 'did_resolveDID',
    summary:
      'resolvedid under the name that existing clients know; an array of one object is answered in the shape that they read.',
    params: Type.Object({ did, all: Type.Optional(Type.Boolean({ ...all, default: false })) }),
    result: resolveResult,
    listed: false,
    run: (context, params) => {
      const asked = { did: params.did, all: params.all ?? false }
      const answer = async () => {
        const result = await context.resolver.resolve(asked.did, { all: asked.all })
        return resultJson(listed ? await inClientsShape(context, result) : result)
      }
      // In that shape a deactivated DID takes its history too.
      return listed || asked.all ? history(context, asked, listed, answer) : answer().then((text) => new JsonText(text))
    },
  })

const byObject = underOldName(false)
const byArray = underOldName(true)

/**
 * The same question under the name that existing clients know, where `all` may be missing. With an object it answers like
 * `resolvedid`; with an array of one object, as those clients send it, in the shape they read.
 */
export const didResolveDid: RpcMethod = {
  ...byObject,
  run: (context, params, caller) => {
    if (!Array.isArray(params)) return byObject.run(context, params, caller)
    if (params.length === 1) return byArray.run(context, params[0], caller)
    throw new RuleError('request-parameter', 'params: an array of one object is needed')
  },
}

/** All operations of a DID: no point read, so it waits for its turn among the searches. */
function history(
  { reader }: ApiContext,
  asked: { readonly did: string; readonly all: boolean },
  listed: boolean,
  answer: () => Promise<string>,
): PartsAnswer {
  return new PartsAnswer({
    // Of what was checked alone: members that are ignored may be nested too deep for a text.
    key: chainKey(reader, 'history', JSON.stringify([asked.did, asked.all, listed])),
    repeatable: false,
    search: historyMemory,
    write: async (sink) => writeText(sink, await answer()),
  })
}

/** Bytes counted for a history of unknown length. */
const historyMemory = 16 * 1024 * 1024

/**
 * Those clients look at `expires` themselves and know no status 1; of a deactivated DID they want the deactivation and the
 * last document, nothing else; and keys by their full ids.
 */
async function inClientsShape({ resolver }: ApiContext, found: ResolveResult): Promise<ResolveResult> {
  if (found.status === 3) return found
  const whole = found.status === 2 ? await resolver.resolve(found.did, { all: true }) : found
  const list = found.status === 2 ? whole.transaction?.slice(0, 2) : found.transaction
  return {
    did: found.did,
    status: found.status === 1 ? 0 : found.status,
    transaction: (list ?? []).map((tx) => absolute(tx, found.did)),
  }
}

function absolute(transaction: ResolvedTransaction, did: string): ResolvedTransaction {
  const { operation } = transaction
  const { verificationMethod } = operation.proof
  if (!verificationMethod.startsWith('#')) return transaction
  const proof = { ...operation.proof, verificationMethod: did + verificationMethod }
  return { ...transaction, operation: { ...operation, proof } }
}
