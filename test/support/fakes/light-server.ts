import type { Fetch } from '../../../src/clients/light/ask-server.js'
import type { ProofBook } from '../builders/proof-book.js'

/** A server of proofs over a book, which can be made to lie. */

/** Changes by a liar; each takes the answer of an honest server. */
export interface Lies {
  /** Answer of JSON-RPC. */
  readonly answer?: (right: Json, params: Json) => unknown
  readonly changes?: (right: Json) => unknown
  readonly anchor?: (right: Json) => unknown
  readonly headers?: (right: string[], from: number) => unknown
  /** Instead of all of it. */
  readonly response?: (url: string) => Response | undefined | Promise<Response | undefined>
}

// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** A server over a book. */
export interface ProofServer {
  readonly book: ProofBook
  readonly lies?: Lies
  readonly now?: () => number
  /** Lines of witnesses that it has over the block of a height. */
  readonly cosigned?: (height: number) => readonly string[]
}

/** The `fetch` of a world in which each host is a server; the last one answers for hosts that are not named. */
export function lightServers(servers: Readonly<Record<string, ProofServer>>): Fetch {
  return async (url, init) => {
    const { hostname, pathname } = new URL(url)
    const server = servers[hostname]
    if (server === undefined) throw new TypeError('fetch failed')
    const { book, lies = {}, now = () => book.tip.time, cosigned = () => [] } = server
    const instead = await lies.response?.(url)
    if (instead !== undefined) return instead
    if (init.method === 'POST') {
      const { method, params } = JSON.parse(init.body as string) as { method: string; params: Json }
      const result = (right: unknown) => json({ jsonrpc: '2.0', id: 1, result: right })
      if (method === 'light_changes') {
        return result(lies.changes?.(copy(book.changes(params.from))) ?? book.changes(params.from))
      }
      if (method === 'light_headers') {
        const right = book.headers(params.from, params.count)
        return result(lies.headers?.(right, params.from) ?? right)
      }
      if (pathname.endsWith('/light/1/heads')) {
        const { anchor } = JSON.parse(init.body as string) as Json
        return json(book.change(Math.min(heightOf(anchor), book.tip.height) + 1))
      }
      const right =
        method === 'resolvedid'
          ? book.answer(params.did, { ...params }, now())
          : book.credential(params.id, { issuer: params.issuer, height: params.height }, now())
      const lines = cosigned(heightOf(right.proof.anchor))
      if (lines.length > 0) Object.assign(right.proof.anchor, { cosignatures: lines })
      return result(copy(lies.answer?.(copy(right), params) ?? right))
    }
    const [, , , kind, ...rest] = pathname.split('/')
    const [first = kind === 'anchor' ? book.tip.height : 0, second = 0] = rest.map(Number)
    if (kind === 'witnessed') return json({ format: 'didledger/witnessed/1', heads: witnessedBy(book, cosigned) })
    if (kind === 'changes') return json(lies.changes?.(copy(book.changes(first))) ?? book.changes(first))
    if (kind === 'anchor') return json(lies.anchor?.(copy(book.change(first + 1))) ?? book.change(first + 1))
    if (kind === 'headers')
      return json(lies.headers?.(book.headers(first, second), first) ?? book.headers(first, second))
    return new Response('', { status: 404 })
  }
}

function heightOf(anchor: Json): number {
  return Buffer.from(anchor.header, 'base64url').readUInt32LE(80)
}

/** The newest sixteen blocks with cosignatures, as a node shows them. */
function witnessedBy(book: ProofBook, cosigned: (height: number) => readonly string[]) {
  const heights = Array.from({ length: book.tip.height }, (_, i) => book.tip.height - i)
  const heads = heights.map((height) => ({ height, cosignatures: cosigned(height) }))
  return heads.filter(({ cosignatures }) => cosignatures.length > 0).slice(0, 16)
}

function json(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })
}

function copy(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
