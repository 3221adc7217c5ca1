import { RuleError } from '../../../base/errors/rule-error.js'
import { idRules } from '../did-rules.js'
import { isDid } from '../identifier.js'
import type { KnownDocument } from '../known-document.js'
import type { OperationRow } from './operation-row.js'
import { checkByLast, operationCost, requireValid } from './signing.js'

/** Ends a DID for ever; signed by an authentication or authorization key of the last document. */
export const deactivate: OperationRow<'deactivate'> = {
  *parse({ payload }, rules) {
    if (isDid(payload, idRules(rules))) return { kind: 'deactivate', owner: payload }
    throw new RuleError('did-payload-did', `the payload of a deactivate is not a DID: ${payload.slice(0, 80)}`)
  },

  *apply(before, operation, reads) {
    const { did } = operation
    const previous = requireValid(before, did)
    const document = reads.own(previous, did)
    yield
    const check = checkByLast(operation, document)
    const { operationCount, documentTxid, documentPayloadSize } = previous
    return {
      next: {
        status: 'deactivated',
        operationCount: operationCount + 1,
        lastTxid: reads.context.txid,
        documentTxid,
        documentPayloadSize,
        document: noDocument(did),
      },
      checks: [check],
      cost: operationCost,
      reads: reads.documents,
      issuerKeys: [],
    }
  },
}

/** No rule reads the document of a deactivated DID, so nothing of it is kept. */
function noDocument(id: string): KnownDocument {
  return { id, authentication: new Map(), authorization: new Map(), credentials: new Set() }
}
