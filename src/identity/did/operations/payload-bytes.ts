import { brokenRule } from '../../../base/errors/broken-rule.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { decodeBase64url, decodedLength, isBase64url } from '../base64url.js'

/** The bytes of a payload in base64url, at most `limit`; `did-payload-size`, then `did-payload-encoding`, otherwise. */
export function payloadBytes(payload: string, limit: number): Uint8Array {
  if (decodedLength(payload.length) > limit) {
    throw new RuleError('did-payload-size', `the payload decodes to more than ${limit} bytes`)
  }
  const bytes = decodeBase64url(payload)
  if (bytes === undefined) throw brokenRule('did-payload-encoding')
  return bytes
}

/** {@link payloadBytes} of a declare, whose encoding is checked before its size: what is too large is looked at, not decoded. */
export function declaredBytes(payload: string, limit: number): Uint8Array {
  if (!isBase64url(payload)) throw brokenRule('did-payload-encoding')
  return payloadBytes(payload, limit)
}
