import { keysOf } from './key-uses.js'
import { type Members, objectsIn, textIn } from './payload.js'

/** Kind of what an id names within a normalised document; undefined: nothing has it. Pure. */
export function documentPart(document: Members, id: string): 'key' | 'service' | 'credential' | undefined {
  if (keysOf(document).some((key) => key.id === id)) return 'key'
  const isIn = (list: string) => objectsIn(document, list).some((one) => textIn(one, 'id') === id)
  if (isIn('service')) return 'service'
  return isIn('verifiableCredential') ? 'credential' : undefined
}
