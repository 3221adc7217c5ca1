import { RuleError } from '../../base/errors/rule-error.js'
import type { JsonObject } from '../../base/primitives/strict-json.js'
import { list } from './member-readers.js'

/** Refuses a document with more than so many keys, services, credentials and other names together. */
export function entryLimit(most: number): (document: JsonObject) => void {
  return (document) => {
    const embedded = ['authentication', 'authorization'].flatMap((name) =>
      list(document, name, '').filter((entry) => entry instanceof Map),
    )
    const lists = counted.map((name) => list(document, name, '').length)
    const entries = lists.reduce((sum, length) => sum + length, embedded.length)
    if (entries <= most) return
    throw new RuleError(
      'document-entries',
      `${entries} keys, services, credentials and other names, of which at most ${most} are allowed`,
    )
  }
}

const counted = ['publicKey', 'keyAgreement', 'service', 'verifiableCredential', 'alsoKnownAs']
