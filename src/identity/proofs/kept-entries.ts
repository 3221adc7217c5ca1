import { formOfNumber } from '../../base/primitives/did-operation.js'
import type { Entry } from './history.js'

/**
 * Positions of the operations of a DID whose transactions its latest state needs: the one that holds the document, and the one that
 * deactivated it. `entries`: all, oldest first, or those from any that holds a document on.
 */
export function keptEntries(entries: readonly Pick<Entry, 'operation'>[]): number[] {
  const isEnd = ({ operation }: Pick<Entry, 'operation'>) => formOfNumber(operation)?.effect === 'end'
  const document = entries.findLastIndex((entry) => !isEnd(entry))
  return [...entries.keys()].filter((i) => i === document || isEnd(entries[i] as Entry))
}
