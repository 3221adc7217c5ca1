import { tokensOf } from '../builders/tokens.js'
import { chunkOf, chunkPosting, encodeChunk } from '../../../src/identity/did-index/posting-chunk.js'
import { isCounted } from '../../../src/identity/did-index/token.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { type Key, type Location, rangeOf, tables } from '../../../src/ledger/storage/rows/tables.js'

/** Rows in hex, by key. */
export type HexRows = Readonly<Record<string, string>>

/** The rows of the index, in the order of creation, for DIDs with their latest document; undefined once deactivated. */
export function indexRowsOf(
  dids: readonly { readonly create: Location; readonly text: string | undefined }[],
): HexRows {
  const rows: Record<string, string> = {}
  const put = (key: Key, value: Uint8Array) => (rows[key.toString('hex')] = Buffer.from(value).toString('hex'))
  const chunks = new Map<string, { key: Key; postings: number[] }>()
  const counts = new Map<string, number>()
  dids.forEach(({ create, text }, ordinal) => {
    put(tables.ordinal.key(ordinal), tables.location.encode(create))
    for (const [token, elements] of text === undefined ? [] : tokensOf(text)) {
      const key = tables.posting.key(token, chunkOf(ordinal))
      const chunk = chunks.get(key.toString('hex')) ?? { key, postings: [] }
      chunk.postings.push(...elements.map((element) => chunkPosting(ordinal, element)))
      chunks.set(key.toString('hex'), chunk)
      if (isCounted(token)) counts.set(token, (counts.get(token) ?? 0) + 1)
    }
  })
  for (const { key, postings } of chunks.values()) put(key, encodeChunk(postings.sort((a, b) => a - b)))
  for (const [token, count] of counts) put(tables.tokenCount.key(token), tables.tokenCount.encode(count))
  return rows
}

/** The rows of the index in a database, without those that take it back. */
export async function heldIndexRows(database: Database): Promise<HexRows> {
  const found = await Promise.all(
    [tables.ordinal.number, tables.posting.number, tables.tokenCount.number].map((number) =>
      database.rows(rangeOf(number)),
    ),
  )
  return Object.fromEntries(found.flat().map(([key, value]) => [key.toString('hex'), value.toString('hex')]))
}
