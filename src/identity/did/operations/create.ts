import { defined } from '../../../base/primitives/defined.js'
import { nameLengthOf } from '../../../base/primitives/did-name.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { requireControllers } from './controllers.js'
import { checkByDocument, parseDocumentPayload, withDocument } from './document-operation.js'
import type { OperationRow } from './operation-row.js'
import { refuseDeactivated } from './signing.js'

/** Makes a DID that does not exist, signed by an authentication key of its own document, or of a controller. */
export const create: OperationRow<'create'> = {
  *parse(operation, rules) {
    return { kind: 'create', ...(yield* parseDocumentPayload(operation, rules)) }
  },

  *apply(previous, operation, reads) {
    const { did, document } = operation
    if (previous !== undefined) {
      refuseDeactivated(previous, did)
      throw new RuleError(
        'did-exists',
        `${did} is created already, on the chain or by an operation before this one; an update can change it`,
      )
    }
    const lookups = requireControllers(document, reads)
    const applied = yield* withDocument(undefined, operation, checkByDocument(operation, reads), reads)
    return { ...applied, cost: applied.cost + lookups, ...defined({ nameLength: nameLengthOf(did) }) }
  },
}
