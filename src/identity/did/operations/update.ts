import { RuleError } from '../../../base/errors/rule-error.js'
import { knownControl } from '../known-document.js'
import { requireSameControl } from './controllers.js'
import { checkByDocument, parseDocumentPayload, withDocument } from './document-operation.js'
import type { OperationRow } from './operation-row.js'
import { checkByLast, requireValid } from './signing.js'

/**
 * Replaces the document; names the last operation, and is signed by an authentication key of the document before. That of a DID with a
 * name is signed by its controllers, and the operation by a key of one of them, or by an own one.
 */
export const update: OperationRow<'update'> = {
  *parse(operation, rules) {
    const { previousTxid = '' } = operation
    return { kind: 'update', previousTxid, ...(yield* parseDocumentPayload(operation, rules)) }
  },

  *apply(before, operation, reads) {
    const { did, previousTxid } = operation
    const previous = requireValid(before, did)
    if (previousTxid !== previous.lastTxid) {
      throw new RuleError(
        'did-previous-txid',
        `previousTxid is ${previousTxid}, but the last operation of ${did} is ${previous.lastTxid}`,
      )
    }
    const document = reads.own(previous, did)
    yield
    const control = knownControl(operation.document)
    if (control !== undefined) requireSameControl(document, control)
    const check = control === undefined ? checkByLast(operation, document) : checkByDocument(operation, reads)
    return yield* withDocument(previous, operation, check, reads)
  },
}
