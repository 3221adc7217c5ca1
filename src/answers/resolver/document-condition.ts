import { RuleError } from '../../base/errors/rule-error.js'
import type { DocumentSelection } from '../../base/primitives/chain-event.js'
import { type DocumentCondition, didsCondition, queryCondition } from '../../ledger/events/document-conditions.js'
import { didKey } from '../../ledger/storage/rows/did-reader.js'
import { readQuery } from './document-search.js'

/** Longest text of a refused DID in a message. */
const shown = 100

/** The condition of a subscription to documents; undefined without them. `query-invalid` or `request-parameter`, with what is wrong. */
export function documentCondition(wanted: boolean, selection: DocumentSelection): DocumentCondition | undefined {
  const names = Object.keys(selection)
  if (!wanted) {
    if (names.length === 0) return undefined
    throw new RuleError('request-parameter', `${names[0]}: only with the topic documents`)
  }
  const { dids, ...search } = selection
  if (names.length === 0) {
    throw new RuleError('query-invalid', 'exactly one of service, credential, query and dids is needed')
  }
  if (dids === undefined) return queryCondition(readQuery(search).matcher)
  if (names.length > 1) {
    throw new RuleError(
      'request-parameter',
      `exactly one of service, credential, query and dids is needed, not ${names.join(' and ')}`,
    )
  }
  const wrong = dids.find((did) => didKey(did) === undefined)
  if (wrong !== undefined)
    throw new RuleError('request-parameter', `dids: ${JSON.stringify(wrong.slice(0, shown))} is no DID in full`)
  return didsCondition(dids)
}
