import type { Code } from '../../base/errors/error-codes.js'
import type { RuleError } from '../../base/errors/rule-error.js'
import { isAboutCredential } from '../../base/primitives/did-operation.js'
import { txType } from '../../base/primitives/payload.js'
import { payloadOf } from '../../base/primitives/transaction-parts.js'

/** Errors that a later block or transaction may resolve. */
const resolvable: ReadonlySet<Code> = new Set<Code>([
  'tx-input-unknown',
  'tx-immature',
  'tx-not-final',
  'did-unknown',
  'did-previous-txid',
  'did-signer',
  'credential-issuer-unknown',
  'credential-key',
])
/** Further ones of declares and revokes: an update that they do not name may put another key under the same id. */
const resolvableByUpdate: ReadonlySet<Code> = new Set<Code>(['did-signature', 'credential-proof'])

/** Whether a later block or transaction may resolve the error of a transaction. */
export function mayBecomeValid(bytes: Uint8Array, { code }: RuleError): boolean {
  if (!resolvableByUpdate.has(code)) return resolvable.has(code)
  const payload = payloadOf(bytes)
  return payload.type === txType.did && isAboutCredential(payload.operation)
}
