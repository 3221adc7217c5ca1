import { RuleError } from '../../../base/errors/rule-error.js'
import { parseDocumentPayload, withDocument } from './document-operation.js'
import type { OperationRow } from './operation-row.js'
import { operationCheck, refuseDeactivated } from './signing.js'

/** Makes a DID that does not exist, signed by an authentication key of its own document. */
export const create: OperationRow<'create'> = {
  *parse(operation, rules) {
    return { kind: 'create', ...(yield* parseDocumentPayload(operation, rules)) }
  },

  *apply(previous, operation, reads) {
    const { did, document, signer } = operation
    if (previous !== undefined) {
      refuseDeactivated(previous, did)
      throw new RuleError(
        'did-exists',
        `${did} is created already, on the chain or by an operation before this one; an update can change it`,
      )
    }
    const key = document.authentication.get(signer)?.publicKey
    const check = operationCheck(operation, key, 'authentication of the document')
    return yield* withDocument(undefined, operation, check, reads)
  },
}
