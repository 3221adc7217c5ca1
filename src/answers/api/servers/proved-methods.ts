import { type TSchema, Type } from '@sinclair/typebox'
import { credentialIdText } from '../../resolver/did-key.js'
import type { ProvedAnswers } from './proved-answers.js'
import { credentialResult, resolveResult } from '../schemas/did-schemas.js'
import { method, type RpcMethod } from '../rpc/method.js'
import type { RpcContext } from '../rpc/rpc-core.js'

/** Methods of a light resolver: those of a node that can be proved, under the names that they have there. */

export interface ProvedContext extends RpcContext {
  readonly answers: Pick<ProvedAnswers, 'did' | 'credential'>
}

const strict = { additionalProperties: false }
const did = Type.String({ description: 'did:ledger:… or the identifier alone' })

const didParams = Type.Object(
  {
    did,
    all: Type.Optional(Type.Boolean({ description: 'every operation, newest first, or only the last' })),
    versionId: Type.Optional(Type.String({ description: 'the version that this transaction made, 64 hex digits' })),
    versionTime: Type.Optional(Type.String({ description: 'the last version not later than YYYY-MM-DDTHH:MM:SSZ' })),
  },
  strict,
)

export const provedMethods: readonly RpcMethod<ProvedContext>[] = [
  ...['resolvedid', 'did_resolveDID'].map((name) =>
    method({
      name,
      summary: 'Resolves a DID by nodes that are not believed.',
      params: didParams,
      result: resolveResult as TSchema,
      listed: false,
      decimalText: false,
      run: ({ answers }: ProvedContext, params, { client }) => answers.did(params, client.signal),
    }),
  ),
  method({
    name: 'did_resolveCredential',
    summary: 'State of a credential by nodes that are not believed.',
    params: Type.Object({ id: Type.String({ description: credentialIdText }), issuer: Type.Optional(did) }, strict),
    result: credentialResult as TSchema,
    listed: false,
    decimalText: false,
    run: ({ answers }: ProvedContext, { id, issuer }, { client }) => answers.credential(id, issuer, client.signal),
  }),
]
