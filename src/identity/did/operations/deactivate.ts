import { RuleError } from '../../../base/errors/rule-error.js'
import { idRules } from '../did-rules.js'
import type { SignatureCheck } from '../../../base/primitives/signature.js'
import { didPart, isDid } from '../identifier.js'
import type { KnownDocument } from '../known-document.js'
import type { DocumentReads } from './document-reads.js'
import type { OperationRow, ParsedAs } from './operation-row.js'
import { checkByLast, operationCheck, operationCost, requireValid } from './signing.js'

/** Ends a DID for ever; signed by an authentication or authorization key of the last document, or by a controller. */
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
    const check =
      document.control === undefined ? checkByLast(operation, document) : checkByController(operation, document, reads)
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
      issuerKeys: reads.issuerKeys,
    }
  },
}

/** One controller ends a DID with a name, however many of them change it: that way a DID ends too of which too many have lost their keys. */
function checkByController(
  operation: ParsedAs<'deactivate'>,
  { control, id }: KnownDocument,
  reads: DocumentReads,
): SignatureCheck {
  const { signer } = operation
  const did = didPart(signer)
  const isController = control?.controllers.includes(did) === true
  const key = isController ? reads.defaultKeyOfController(did, signer) : undefined
  return operationCheck(operation, key, `the controllers of ${id}`)
}

/** No rule reads the document of a deactivated DID, so nothing of it is kept. */
function noDocument(id: string): KnownDocument {
  const keys = { authentication: new Map(), authorization: new Map() }
  return { id, expiresAt: 0, ...keys, control: undefined, credentials: new Set() }
}
