import { RuleError } from '../../../base/errors/rule-error.js'
import { parseDocumentPayload, withDocument } from './document-operation.js'
import type { OperationRow } from './operation-row.js'
import { checkByLast, requireValid } from './signing.js'

/** Replaces the document; names the last operation, and is signed by an authentication key of the document before. */
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
    return yield* withDocument(previous, operation, checkByLast(operation, document), reads)
  },
}
