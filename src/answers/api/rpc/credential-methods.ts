import { type Static, type TObject, Type } from '@sinclair/typebox'
import { didPart } from '../../../identity/did/identifier.js'
import type { CredentialResult } from '../../../identity/did/resolution.js'
import { credentialIdText } from '../../resolver/did-key.js'
import { withAbsoluteKey } from '../../../identity/did/shown-operation.js'
import type { ApiContext } from '../api-context.js'
import { closed } from '../schemas/common-schemas.js'
import { credentialResult } from '../schemas/did-schemas.js'
import { proofParams } from '../schemas/proof-schemas.js'
import { method, type MethodRow, objectOrList, type RpcCaller, type RpcMethod } from './method.js'

const did = Type.String({ description: 'did:ledger:… or the identifier alone' })
const place = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const credentialId = Type.String({ description: credentialIdText })

/** Credentials that holders declare on the chain, and holders and issuers revoke. */
export const credentialMethods: readonly RpcMethod[] = [
  fromObjectOrList(
    {
      name: 'did_resolveCredential',
      summary:
        'State of a credential on the chain, with the transactions that decide it; an array of one object is answered in the shape that SDKs read.',
      params: Type.Object({
        id: credentialId,
        issuer: Type.Optional({ ...did, description: 'whose revocation counts besides those of holder and issuer' }),
        ...proofParams,
      }),
      result: credentialResult,
      run: ({ resolver }, params, { showsAge = false }) =>
        resolver.credentials.resolve(params.id, params, { showsAge }),
    },
    clientsShape,
  ),
  fromObjectOrList({
    name: 'did_listCredentials',
    lasts: 'chain',
    summary:
      'Ids of the credentials that a DID has declared on the chain, oldest first; the parameters may come as an array of one object.',
    params: Type.Object({
      did,
      skip: Type.Optional({ ...place, description: 'ids to leave out first', default: 0 }),
      limit: Type.Optional({ ...place, description: 'ids to list; 0 is 128, more than 256 are 256', default: 128 }),
    }),
    result: closed({ did: Type.String({ description: 'in full' }), credentials: Type.Array(credentialId) }),
    run: ({ resolver }, params) => resolver.credentials.list(params.did, params),
  }),
]

/** The shape of existing clients: they check the expiry themselves and know no status 1, and read full ids of keys. */
function clientsShape({ id, status, transaction }: CredentialResult): CredentialResult {
  if (transaction === undefined) return { id, status }
  const absolute = transaction.map((tx) => withAbsoluteKey(tx, didPart(id)))
  return { id, status: status === 1 ? 0 : status, transaction: absolute }
}

type ResolverRow<P extends TObject, R> = Omit<MethodRow<P>, 'listed' | 'decimalText' | 'run'> & {
  run(context: ApiContext, params: Static<P>, caller: RpcCaller): Promise<R>
}

/** A method whose parameters are an object, or as the clients' SDKs send them, an array of that object: answered in `shape`. */
function fromObjectOrList<P extends TObject, R>(row: ResolverRow<P, R>, shape = (result: R): R => result): RpcMethod {
  const objectOnly = { ...row, listed: false, decimalText: false }
  const run: typeof row.run = async (context, params, caller) => shape(await row.run(context, params, caller))
  return objectOrList(method(objectOnly), method({ ...objectOnly, run }))
}
