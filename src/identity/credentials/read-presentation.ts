import { defined } from '../../base/primitives/defined.js'
import { parseDate } from '../did/date.js'
import type { IdRules } from '../did/identifier.js'
import { fromPlain } from '../did/plain-json.js'
import { isJwt } from './compact-jws.js'
import { readJwtPresentation } from './jwt-presentation.js'
import { parsePresentation } from './presentation.js'
import { signedJson } from './read-credential.js'
import type { SignedPresentation } from './signed-presentation.js'

/** Reads a presentation: JSON text, a plain object, or the text of a JWT. Throws a RuleError; verifies nothing. */
export function readSignedPresentation(presentation: string | object, rules: IdRules): SignedPresentation {
  if (typeof presentation === 'string' && isJwt(presentation.trim())) {
    return readJwtPresentation(presentation.trim(), rules)
  }
  const { holder, created, credentials, proof, signedText } = parsePresentation(fromPlain(presentation), rules)
  const from = parseDate(proof.created ?? created ?? '')
  return {
    format: 'ledger',
    holder,
    realms: [proof.realm],
    nonce: proof.nonce,
    credentials: credentials.map(signedJson),
    ...defined({ from }),
    key: proof.verificationMethod,
    signedText,
    signature: proof.signature,
  }
}
