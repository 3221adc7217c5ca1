import { RuleError } from '../../../base/errors/rule-error.js'
import { ownText } from '../../../base/primitives/bytes.js'
import { idRules } from '../did-rules.js'
import { didPart } from '../identifier.js'
import type { Credential } from '../model.js'
import { signingKeyOfKnown } from './controllers.js'
import { credentialBytesSteps, refuseRevoked, signerOf, type Signer, withCredential } from './credential-operation.js'
import type { DocumentReads } from './document-reads.js'
import { credentialCheck } from './issued-credential.js'
import type { OperationRow } from './operation-row.js'
import { declaredBytes } from './payload-bytes.js'

/** Puts a credential on the chain, once; signed by its holder. The proof of its issuer is always verified. */
export const declare: OperationRow<'declare'> = {
  *parse({ payload }, rules) {
    const bytes = declaredBytes(payload, rules.limits.payloadBytes)
    yield
    const credential = yield* credentialBytesSteps(bytes, idRules(rules))
    return { kind: 'declare', owner: didPart(credential.id), credential }
  },

  *apply(before, operation, reads) {
    const { did, credential } = operation
    const { id, issuer } = credential
    const holder = didPart(id)
    if (did !== holder)
      throw new RuleError('did-signer', `${did} signs, but only the holder ${holder} can declare ${id}`)
    const signer = signerOf(before, operation, reads)
    yield
    const { context } = reads
    const own = context.credential(id, holder)
    if (own?.declared) throw new RuleError('credential-declared', `${id} is declared already`)
    if (own?.revoked) refuseRevoked(id, holder)
    if (issuer !== holder && context.otherCredential(id, issuer)?.revoked) refuseRevoked(id, issuer)
    const key = issuerKey(credential, signer, reads)
    yield
    const check = credentialCheck(credential, key)
    // A part of a text keeps all of it in memory, and the pool keeps this for long.
    const said = { id: ownText(id), signer: ownText(did), action: 'declare', issuer: ownText(issuer) } as const
    return withCredential(signer, { before: own, change: said }, reads, [check])
  },
}

function issuerKey(credential: Credential, { document }: Signer, reads: DocumentReads): Uint8Array | undefined {
  const { issuer, proof } = credential
  return issuer === document.id
    ? signingKeyOfKnown(proof.verificationMethod, document, reads)
    : reads.keyOfIssuer(credential)
}
