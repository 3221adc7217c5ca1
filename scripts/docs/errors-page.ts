import { restDescriptions } from '../../src/answers/api/http/error-mapping.js'
import { type CodeEntry, codes } from '../../src/node/library/codes.js'
import { code, filled, tableRow } from './shown.js'

/** docs/errors.md: every code of src/base/errors/error-codes.ts. */
export function errorsPage(): string {
  const rows = Object.entries<CodeEntry>(codes).map(([name, { rest, http, rpc, penalty, pinned, meaning }]) =>
    tableRow(code(name), meaning, rest, http, rpc, pinned, penalty || ''),
  )
  const numbers = Object.entries(restDescriptions).map(([number, text]) => tableRow(number, text))
  return filled('errors.md', { rows, numbers })
}
