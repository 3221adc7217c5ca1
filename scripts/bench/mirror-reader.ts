import { LightResolver } from '../../src/node/library/light-entry.js'
import type { TrustJson } from '../../src/identity/proofs/make-trust.js'
import { spentOn } from './measure.js'

/** A process that reads DIDs as light resolvers do that know a mirror alone: it is told which, and says what that takes. */

/** The mirror, and its DIDs: so many new readers ask for those at first, then one reader for so many, and for those that are measured. */
export interface MirrorQuestion {
  readonly base: string
  readonly trust: TrustJson
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly dids: readonly string[]
  readonly cold: number
  readonly before: number
  readonly next: number
}

/** Means of a question. */
interface Reading {
  readonly requests: number
  /** Without those of documents. */
  readonly bytes: number
  /** Milliseconds of processor time of all threads, where the files are there already. */
  readonly checks: number
}

export interface MirrorReadings {
  readonly cold: Reading
  readonly next: Reading
  /** Requests to others than the mirror. */
  readonly elsewhere: number
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

async function read({ base, trust, now, dids, ...counts }: MirrorQuestion): Promise<MirrorReadings> {
  const files = new Map<string, Uint8Array>()
  const seen = { requests: 0, bytes: 0, elsewhere: 0 }
  const resolver = (fetch: Fetch) => new LightResolver({ mirrors: [base], trust, now: () => now, fetch })
  const fromServer: Fetch = async (url, init) => {
    const response = await fetch(url, init)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (!url.startsWith(`${base}/`)) seen.elsewhere++
    seen.requests++
    seen.bytes += bytes.length
    files.set(url, bytes)
    return new Response(bytes, { status: response.status })
  }
  const known: Fetch = (url) => Promise.resolve(new Response(Uint8Array.from(files.get(url) ?? [])))
  /** Asks for DIDs, for each by another resolver or all by one; returns the bytes of a document in its transaction. */
  const ask = async (some: readonly string[], of: () => LightResolver) => {
    let documents = 0
    for (const did of some) {
      const { status, transaction } = await of().resolve(did)
      if (status !== 0) throw new Error(`${did} has the status ${status}`)
      documents += transaction?.[0]?.operation.payload.length ?? 0
    }
    return documents / some.length
  }
  const measured = async (some: readonly string[], of: (fetch: Fetch) => () => LightResolver): Promise<Reading> => {
    Object.assign(seen, { requests: 0, bytes: 0 })
    const document = await ask(some, of(fromServer))
    const { requests, bytes } = seen
    const { main, others } = await spentOn(() => ask(some, of(known)))
    return {
      requests: requests / some.length,
      bytes: bytes / some.length - document,
      checks: (main + others) / some.length,
    }
  }
  const cold = await measured(dids.slice(0, counts.cold), (fetch) => () => resolver(fetch))
  let from: Fetch = fromServer
  const one = resolver((url, init) => from(url, init))
  await ask(dids.slice(counts.cold, counts.cold + counts.before), () => one)
  const next = await measured(dids.slice(counts.cold + counts.before), (fetch) => {
    from = fetch
    return () => one
  })
  return { cold, next, elsewhere: seen.elsewhere }
}

process.on('disconnect', () => process.exit())
process.once('message', (question: MirrorQuestion) => {
  void read(question).then((readings) => process.send?.(readings))
})
