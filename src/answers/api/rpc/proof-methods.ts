import { Type } from '@sinclair/typebox'
import { credentialIdText } from '../../resolver/did-key.js'
import { maxHeaders } from '../../../identity/proofs/work.js'
import { changeList, headerList, historyProof } from '../results/proof-results.js'
import { uint32 } from '../schemas/common-schemas.js'
import { blockParams, change, changes, headers, stateProof, trust } from '../schemas/proof-schemas.js'
import { method, type RpcMethod } from './method.js'

const did = Type.String({ description: 'did:ledger:… or the identifier alone' })

/** Proofs without answers, and what light resolvers follow a chain by. */
export const proofMethods: readonly RpcMethod[] = [
  method({
    name: 'did_prove',
    lasts: 'chain',
    summary: 'Proves the latest state of a DID, or that it does not exist, for a document that comes from anywhere.',
    params: Type.Object({
      did,
      history: Type.Optional(Type.Boolean({ description: 'by all operations instead of the last', default: false })),
      ...blockParams,
    }),
    result: stateProof,
    run: async (context, { did: asked, history, ...block }) =>
      history === true ? historyProof(context, asked, block) : context.resolver.proofs.did(asked, block),
  }),
  method({
    name: 'did_proveCredential',
    lasts: 'chain',
    summary: 'Proves what its owner, its issuer and a DID that is named said of a credential.',
    params: Type.Object({
      id: Type.String({ description: credentialIdText }),
      issuer: Type.Optional({ ...did, description: 'whose revocation counts besides those of owner and issuer' }),
      ...blockParams,
    }),
    result: stateProof,
    run: ({ resolver }, params) => resolver.proofs.credential(params.id, params),
  }),
  method({
    name: 'light_trust',
    lasts: 'chain',
    summary:
      'The trust root of the chain as this node has it; a light resolver that is not to believe the node needs it from elsewhere.',
    result: trust,
    run: ({ resolver }) => resolver.proofs.trust(),
  }),
  method({
    name: 'light_anchor',
    lasts: 'chain',
    summary: 'The validators after a block, by default the tip, and what proves that it names them.',
    params: Type.Object({ height: blockParams.height }),
    result: change,
    run: ({ resolver }, params) => resolver.proofs.anchor(params),
  }),
  method({
    name: 'light_changes',
    lasts: 'chain',
    summary: 'The changes of validators above a height, each proved by the validators before it.',
    params: Type.Object({ from: uint32('height after which changes are listed') }),
    result: changes,
    run: (context, { from }) => changeList(context, from),
  }),
  method({
    name: 'light_headers',
    lasts: 'chain',
    summary: 'Headers with their work, for chains without validators; fewer than asked for where they are large.',
    params: Type.Object({
      from: uint32('height of the first one'),
      count: Type.Integer({ minimum: 0, maximum: maxHeaders, description: 'headers' }),
    }),
    result: headers,
    run: (context, { from, count }) => headerList(context, from, count),
  }),
]
