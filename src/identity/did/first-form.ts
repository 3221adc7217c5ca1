import { RuleError } from '../../base/errors/rule-error.js'
import type { JsonObject } from '../../base/primitives/strict-json.js'
import type { Service } from './model.js'

const laterMembers = ['alsoKnownAs', 'keyAgreement']

/**
 * Refuses what a document may have from the height of an upgrade on: endpoints that are no texts, `keyAgreement` and `alsoKnownAs`. Bytes do
 * not show the height: the code is one of its own, which costs no peer points.
 */
export function refuseLater(document: JsonObject, services: readonly Service[]): void {
  const later = laterMembers.find((member) => document.has(member))
  if (later !== undefined) throw new RuleError('document-core', later)
  const service = services.find(({ serviceEndpoint }) => typeof serviceEndpoint !== 'string')
  if (service !== undefined) throw new RuleError('document-core', `an endpoint that is no text: ${service.id}`)
}
