import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { utf8 } from '../../base/primitives/bytes.js'
import { type DidOperation, operationForm } from '../../base/primitives/did-operation.js'
import { parseStrictJson } from '../../base/primitives/strict-json.js'
import { decodeBase64url, decodedLength } from '../../identity/did/base64url.js'
import { defaultDidLimits } from '../../identity/did/did-rules.js'
import { documentJsonLimits } from '../../identity/did/document.js'
import { entryLimit } from '../../identity/did/entry-limit.js'

const advice = {
  document: 'remove services or credentials from it; what is large can stand behind an endpoint',
  credential: 'it can name the address and the hash of what is large',
} as const

/** Refuses a document or a credential that no chain takes for its size, before it is sent, or written to be sent later. */
export function requireRoom(operation: DidOperation): void {
  const subject = operationForm(operation)?.payload
  if (subject !== 'document' && subject !== 'credential') return
  const fault = sizeFault(operation) ?? (subject === 'document' ? entriesFault(operation) : undefined)
  if (fault !== undefined) throw new UserError(`the ${subject} has ${fault}: ${advice[subject]}`)
}

function sizeFault({ payload }: DidOperation): string | undefined {
  const size = decodedLength(payload.length)
  const most = defaultDidLimits.payloadBytes
  return size > most ? `${size} bytes, and the chain takes at most ${most}` : undefined
}

/** The fault of a document with too many entries; whatever else is wrong with it is for the node to say. */
function entriesFault({ payload }: DidOperation): string | undefined {
  try {
    const text = utf8(decodeBase64url(payload) ?? new Uint8Array(0)) ?? ''
    const document = parseStrictJson(text, documentJsonLimits)
    if (document instanceof Map) entryLimit(defaultDidLimits.entries)(document)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    if (error.code === 'document-entries') return error.message
  }
  return undefined
}
