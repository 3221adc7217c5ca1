import { RuleError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { JsonObject } from '../../base/primitives/strict-json.js'
import { type IdRules } from '../did/identifier.js'
import { asObject, didText, optionalText, requiredText, textList } from '../did/member-readers.js'
import { keyOfHeader, optionalTime, readJws } from './compact-jws.js'
import { readJwtCredential, requireW3c, signedParts, w3cContext } from './jwt-credential.js'
import { presentationType, requireFew } from './presentation.js'
import type { SignedPresentation } from './signed-presentation.js'

/** Presentations as JWT, by §6.3.1 of the W3C data model 1.1; the credentials in them are JWT too. */

export function jwtPresentationPayload(plan: {
  readonly holder: string
  readonly credentials: readonly string[]
  readonly realm: string
  readonly nonce: string
  /** Unix seconds. */
  readonly created: number
  readonly expires: number
}): object {
  const { holder, credentials, realm, nonce, created, expires } = plan
  return {
    iss: holder,
    aud: realm,
    nonce,
    nbf: created,
    exp: expires,
    vp: { '@context': [w3cContext], type: [presentationType], verifiableCredential: credentials },
  }
}

/** Reads a presentation from the text of a JWT. Throws a {@link RuleError}; verifies nothing. */
export function readJwtPresentation(text: string, rules: IdRules): SignedPresentation {
  const jws = readJws(text)
  const { payload } = jws
  const presentation = asObject(payload.get('vp') ?? null, 'vp')
  requireW3c(presentation, 'vp', presentationType)
  const holder = didText(requiredText(payload, 'iss', ''), 'iss', rules)
  const tokens = textList(presentation, 'verifiableCredential', 'vp')
  requireFew(tokens.length)
  const [from, until] = [optionalTime(payload, 'nbf'), optionalTime(payload, 'exp')]
  return {
    format: 'jwt',
    holder,
    realms: audiences(payload),
    nonce: optionalText(payload, 'nonce', ''),
    credentials: tokens.map((token) => readJwtCredential(token, rules)),
    ...defined({ from, until, key: keyOfHeader(jws, holder, rules) }),
    ...signedParts(jws),
  }
}

function audiences(payload: JsonObject): readonly string[] {
  const audience = payload.get('aud')
  if (audience === undefined) throw new RuleError('document-form', 'aud is missing: for whom the presentation is')
  return typeof audience === 'string' ? [audience] : textList(payload, 'aud', '')
}
