import { RuleError } from '../../../base/errors/rule-error.js'
import { idRules } from '../did-rules.js'
import { didPart } from '../identifier.js'
import { isCredentialId, refuseRevoked, signerOf, withCredential } from './credential-operation.js'
import type { OperationRow } from './operation-row.js'

/**
 * Ends a credential for ever, in the name of the DID that signs. Before a declare any DID may do so, since the issuer is not
 * known yet; readers count the revokes of holder and issuer alone.
 */
export const revoke: OperationRow<'revoke'> = {
  *parse({ payload }, rules) {
    if (isCredentialId(payload, idRules(rules))) {
      return { kind: 'revoke', owner: didPart(payload), credentialId: payload }
    }
    const found = payload.slice(0, 80)
    throw new RuleError('did-payload-credential', `the payload of a revoke is no absolute id of a credential: ${found}`)
  },

  *apply(before, operation, reads) {
    const { did, credentialId: id } = operation
    const signer = signerOf(before, operation, reads)
    yield
    const { context } = reads
    const holder = didPart(id)
    const own = context.credential(id, did)
    if (own?.revoked) refuseRevoked(id, did)
    const declared = did === holder ? undefined : context.otherCredential(id, holder)?.declared
    if (declared !== undefined && declared.issuer() !== did) {
      throw new RuleError('credential-revoker', `${did} is neither holder nor issuer of ${id}, which is declared`)
    }
    return withCredential(signer, { before: own, change: { id, signer: did, action: 'revoke' } }, reads)
  },
}
