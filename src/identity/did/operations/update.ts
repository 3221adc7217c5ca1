import { RuleError } from '../../../base/errors/rule-error.js'
import { keyOf } from '../known-document.js'
import { parseDocumentPayload, withDocument } from './document-operation.js'
import type { OperationRow } from './operation-row.js'
import { operationCheck, requireValid } from './signing.js'

/** Replaces the document; names the last operation, and is signed by an authentication key of the document before. */
export const update: OperationRow<'update'> = {
  *parse(operation, rules) {
    const { previousTxid = '' } = operation
    return { kind: 'update', previousTxid, ...(yield* parseDocumentPayload(operation, rules)) }
  },

  *apply(before, operation, reads) {
    const { did, signer, previousTxid } = operation
    const previous = requireValid(before, did)
    if (previousTxid !== previous.lastTxid) {
      throw new RuleError(
        'did-previous-txid',
        `previousTxid is ${previousTxid}, but the last operation of ${did} is ${previous.lastTxid}`,
      )
    }
    const { authentication } = reads.own(previous, did)
    yield
    const key = keyOf(authentication, signer)
    const check = operationCheck(operation, key, 'authentication of the last document on the chain')
    return yield* withDocument(previous, operation, check, reads)
  },
}
