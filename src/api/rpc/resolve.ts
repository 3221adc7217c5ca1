import { RuleError } from '../../errors.js'
import type { ResolvedTransaction, ResolveResult } from '../../did/resolution.js'
import { resultJson } from '../../resolver/answer.js'
import { JsonText, type RpcMethod } from './core.js'
import { booleanParam, named, type NamedParams, textParam } from './params.js'

type Resolve = (did: string, options: { all: boolean }) => Promise<ResolveResult>

/** `resolvedid {did, all}` → the resolve result. */
export const resolveDid: RpcMethod = {
  name: 'resolvedid',
  run: async ({ resolver }, params) => {
    const members = named(params)
    const did = textParam(members, 'did')
    return new JsonText(resultJson(await resolver.resolve(did, { all: booleanParam(members, 'all') })))
  },
}

/**
 * The same question under the name that existing clients know, where `all` may be missing. With an object it answers like
 * `resolvedid`; with an array of one object, as those clients send it, in the shape they read.
 */
export const didResolveDid: RpcMethod = {
  name: 'did_resolveDID',
  run: ({ resolver }, params) => {
    const resolve: Resolve = (did, options) => resolver.resolve(did, options)
    if (!Array.isArray(params)) return ask(resolve, named(params))
    if (params.length !== 1) throw new RuleError('request-parameter', 'params: an array of one object is needed')
    return askForClient(resolve, named(params[0]))
  },
}

function ask(resolve: Resolve, params: NamedParams): Promise<ResolveResult> {
  return resolve(textParam(params, 'did'), { all: booleanParam(params, 'all', false) })
}

/**
 * Those clients look at `expires` themselves and know no status 1; of a deactivated DID they want the deactivation and the
 * last document, nothing else; and keys by their full ids.
 */
async function askForClient(resolve: Resolve, params: NamedParams): Promise<ResolveResult> {
  const found = await ask(resolve, params)
  if (found.status === 3) return found
  const { did } = found
  const list = found.status === 2 ? (await resolve(did, { all: true })).transaction?.slice(0, 2) : found.transaction
  return {
    did,
    status: found.status === 1 ? 0 : found.status,
    transaction: (list ?? []).map((tx) => absolute(tx, did)),
  }
}

function absolute(transaction: ResolvedTransaction, did: string): ResolvedTransaction {
  const { operation } = transaction
  const { verificationMethod } = operation.proof
  if (!verificationMethod.startsWith('#')) return transaction
  const proof = { ...operation.proof, verificationMethod: did + verificationMethod }
  return { ...transaction, operation: { ...operation, proof } }
}
