import { operationSteps } from '../../../identity/did/apply-operation.js'
import { defaultDidLimits, type DidRules } from '../../../identity/did/did-rules.js'
import { parseOperationSteps } from '../../../identity/did/operation.js'
import { operationCost } from '../../../identity/did/operations/signing.js'
import type { ReadDocument } from '../../../identity/did/state.js'
import type { DidOperation } from '../../../base/primitives/did-operation.js'
import { didMethod } from '../../../base/primitives/did-method.js'
import { paramsAt } from '../../../base/primitives/spec.js'
import { BlockBudget } from '../block-budget.js'
import type { ConnectContext } from '../rule-context.js'
import type { TypeRules } from './type-rules.js'

/** Type 10: an operation on a DID or a credential (format 9); its rules are those of the room `did`. */
export const did: TypeRules<{ readonly type: 10; readonly operation: DidOperation }> = {
  accepted: true,
  cost: operationCost,

  parse: ({ operation }, context) => parseOperationSteps(operation, didRules(context)),

  *apply({ txid }, operation, state, context) {
    const budget = context.budget ?? new BlockBudget(context.spec.limits)
    const reads: ReadDocument[] = []
    return yield* operationSteps(state.did(operation.did), operation, {
      ...didRules(context),
      txid,
      time: state.time,
      issuer: (id) => state.issuer(id),
      credential: (id, signer) => state.credential(id, signer),
      otherCredential: (id, signer) => state.otherCredential(id, signer),
      reading: (document) => {
        reads.push(document)
        budget.require(reads)
      },
    })
  },
}

function didRules({ spec, height }: ConnectContext): DidRules {
  const { specifications, didCore, didNames: names } = paramsAt(spec, height)
  return { method: didMethod, specifications, didCore, names, limits: defaultDidLimits }
}
