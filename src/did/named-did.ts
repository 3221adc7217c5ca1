import { utf8 } from '../primitives/bytes.js'
import { type DidOperation, operationForm } from '../primitives/did-operation.js'
import { decodeBase64url } from './base64url.js'

/**
 * The DID that an operation names: its payload, or the `id` of the document in it; undefined if there is none. Checks nothing
 * else. Every JSON parser reads an accepted document the same way, so the fastest one is used.
 */
export function namedDid(operation: DidOperation): string | undefined {
  const { payload } = operation
  const form = operationForm(operation)
  if (form?.subject !== 'did') return undefined
  if (form.payload === 'did') return payload
  const bytes = decodeBase64url(payload)
  try {
    const value: unknown = JSON.parse((bytes && utf8(bytes)) ?? '')
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
