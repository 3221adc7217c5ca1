import { tokensOf } from '../builders/tokens.js'
import type { ChunkSource, PlanRows } from '../../../src/identity/did-index/plan-part.js'
import { notRead } from '../../../src/identity/did-index/plan-part.js'
import { chunkOf, chunkPosting, decodeChunk, encodeChunk } from '../../../src/identity/did-index/posting-chunk.js'
import type { Token } from '../../../src/identity/did-index/token.js'
import type { Members } from '../../../src/identity/did-query/member-path.js'

/** The postings of documents in memory. Every second step of a source lacks its rows, as one over a database does. */
export class PostingLists implements PlanRows {
  readonly #chunks = new Map<Token, Map<number, number[]>>()
  readonly #ordinals = new Map<string, number>()

  constructor(documents: Iterable<readonly [ordinal: number, document: Members]>) {
    for (const [ordinal, document] of documents) this.#add(ordinal, document)
  }

  #add(ordinal: number, document: Members): void {
    this.#ordinals.set(document['id'] as string, ordinal)
    for (const [token, elements] of tokensOf(JSON.stringify(document))) {
      const chunks = this.#chunks.get(token) ?? new Map<number, number[]>()
      const held = chunks.get(chunkOf(ordinal)) ?? []
      held.push(...elements.map((element) => chunkPosting(ordinal, element)))
      this.#chunks.set(token, chunks.set(chunkOf(ordinal), held))
    }
  }

  source(token: Token): ChunkSource {
    const rows = [...(this.#chunks.get(token) ?? [])]
      .sort(([a], [b]) => a - b)
      .map(([chunk, postings]) => ({ chunk, row: encodeChunk(postings.sort((a, b) => a - b)) }))
    let at = 0
    let isRead = false
    return {
      seek: (chunk) => {
        const before = at
        while (at < rows.length && (rows[at]?.chunk as number) < chunk) at++
        isRead &&= at === before
        if (!isRead) {
          isRead = true
          return notRead
        }
        return rows[at]?.chunk ?? Infinity
      },
      postings: () => decodeChunk(rows[at]?.row as Uint8Array),
    }
  }

  count(token: Token): number {
    return this.#chunks.get(token)?.size ?? 0
  }

  ordinal(did: string): number | undefined {
    return this.#ordinals.get(did)
  }
}
