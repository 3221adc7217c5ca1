import { type Static, type TObject, Type } from '@sinclair/typebox'
import { RuleError } from '../../errors/rule-error.js'
import { credentialIdOf, credentialIdText, didOf, identifierOf } from '../../resolver/did-key.js'
import type { ApiContext } from '../api-context.js'
import { closed } from '../schemas/common-schemas.js'
import { method, type MethodRow, type RpcMethod } from './method.js'

const did = Type.String({ description: 'did:ledger:… or the identifier alone' })
const place = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const credentialId = Type.String({ description: credentialIdText })

/**
 * Credentials that holders declare or revoke on the chain. It accepts neither operation so far, so that every credential is one
 * of which the chain says nothing: clients need that answer before they verify any credential or presentation.
 */
export const credentialMethods: readonly RpcMethod[] = [
  fromObjectOrList({
    name: 'did_resolveCredential',
    summary: 'State of a credential on the chain: 3, nothing is known of it.',
    params: Type.Object({
      id: credentialId,
      issuer: Type.Optional({ ...did, description: 'whose revocations count besides' }),
    }),
    result: closed({ id: credentialId, status: Type.Literal(3, { description: 'neither declared nor revoked' }) }),
    run: (context, { id, issuer }) => {
      const full = credentialIdOf(id)
      if (issuer !== undefined) identifierOf(issuer, 'issuer')
      context.resolver.requireSynced()
      return { id: full, status: 3 }
    },
  }),
  fromObjectOrList({
    name: 'did_listCredentials',
    summary: 'Ids of the credentials that a DID has declared on the chain, oldest first.',
    params: Type.Object({
      did,
      skip: Type.Optional({ ...place, description: 'ids to leave out first', default: 0 }),
      limit: Type.Optional({ ...place, description: 'ids to list; 0 is 128, more than 256 are 256', default: 128 }),
    }),
    result: closed({ did: Type.String({ description: 'in full' }), credentials: Type.Array(credentialId) }),
    run: (context, params) => {
      const full = didOf(identifierOf(params.did))
      context.resolver.requireSynced()
      return { did: full, credentials: [] }
    },
  }),
]

type ResolverRow<P extends TObject> = Omit<MethodRow<P>, 'listed' | 'decimalText' | 'run'> & {
  run(context: ApiContext, params: Static<P>): unknown
}

/** A method whose parameters are an object, or as the clients' SDKs send them, an array of that object. */
function fromObjectOrList<P extends TObject>(row: ResolverRow<P>): RpcMethod {
  const byObject = method({ ...row, listed: false, decimalText: false })
  return {
    ...byObject,
    run: (context, params, caller) => {
      if (!Array.isArray(params)) return byObject.run(context, params, caller)
      if (params.length === 1) return byObject.run(context, params[0], caller)
      throw new RuleError('request-parameter', 'params: an array of one object is needed')
    },
  }
}
