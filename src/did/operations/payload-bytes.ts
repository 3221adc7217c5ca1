import { brokenRule } from '../../errors/broken-rule.js'
import { RuleError } from '../../errors/rule-error.js'
import { decodeBase64url, decodedLength } from '../base64url.js'

/** The bytes of a payload in base64url, at most `limit`; `did-payload-size` or `did-payload-encoding` otherwise. */
export function payloadBytes(payload: string, limit: number): Uint8Array {
  if (decodedLength(payload.length) > limit) {
    throw new RuleError('did-payload-size', `the payload decodes to more than ${limit} bytes`)
  }
  const bytes = decodeBase64url(payload)
  if (bytes === undefined) throw brokenRule('did-payload-encoding')
  return bytes
}
