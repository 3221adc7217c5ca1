import { idRules } from '../did-rules.js'
import { parseTicket } from '../ticket.js'
import { requireControllers, ticketChecks } from './controllers.js'
import { checkByDocument, parseDocumentPayload, withDocument } from './document-operation.js'
import type { OperationRow } from './operation-row.js'
import { requireValid } from './signing.js'

/** Gives a DID with a name to other controllers, or to the same ones with another m: those before sign the ticket, those after the document. */
export const transfer: OperationRow<'transfer'> = {
  *parse(operation, rules) {
    const ticket = parseTicket(operation.ticket ?? '', idRules(rules))
    yield
    return { kind: 'transfer', ticket, ...(yield* parseDocumentPayload(operation, rules)) }
  },

  *apply(previous, operation, reads) {
    const { did, document, ticket } = operation
    const before = requireValid(previous, did)
    const known = reads.own(before, did)
    yield
    const checks = ticketChecks(ticket, { document, before: known, lastTxid: before.lastTxid }, reads)
    yield
    const lookups = requireControllers(document, reads)
    const applied = yield* withDocument(before, operation, checkByDocument(operation, reads), reads)
    return { ...applied, checks: [...applied.checks, ...checks], cost: applied.cost + checks.length + lookups }
  },
}
