import { LightError, type LightOptions, LightResolver } from '../../../src/node/library/light-entry.js'

/** Questions to a light resolver, answers of servers, and the outcome: recorded in one place, and replayed in another. */

export interface LightRecord {
  readonly name: string
  readonly trust: unknown
  /** Options that are JSON; the clock stands still. */
  readonly options: Pick<LightOptions, 'servers' | 'maxAge' | 'checkpoint'> & { readonly now: number }
  /** Calls of the resolver, in turn. */
  readonly calls: readonly { readonly method: 'resolve' | 'resolveCredential'; readonly args: readonly unknown[] }[]
  readonly exchanges: readonly { readonly url: string; readonly status: number; readonly text: string }[]
  /** The result of the last call as JSON, or the name of its failure. */
  readonly outcome: string
}

/** Asks a resolver again, with the answers of then; returns what comes of it now. */
export async function replay({ trust, options, calls, exchanges }: LightRecord): Promise<string> {
  const left = [...exchanges]
  const fetch = (url: string): Promise<Response> => {
    const place = left.findIndex((one) => one.url === url)
    const [exchange] = place < 0 ? [] : left.splice(place, 1)
    if (exchange === undefined) return Promise.reject(new Error(`nothing was asked of ${url} then`))
    return Promise.resolve(new Response(exchange.text, { status: exchange.status }))
  }
  const light = new LightResolver({ ...options, trust, fetch, now: () => options.now })
  return outcomeOf(async () => {
    let result: unknown
    for (const { method, args } of calls) result = await (light[method] as (...all: unknown[]) => unknown)(...args)
    return result
  })
}

export async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await work())
  } catch (error) {
    if (error instanceof LightError) return error.failure
    throw error
  }
}

/** In a page: asks all again, and posts what comes of each. */
export async function replayPage(): Promise<void> {
  const records = (await (await fetch('/input')).json()) as { readonly records: readonly LightRecord[] }
  const outcomes: string[] = []
  for (const record of records.records) outcomes.push(await replay(record))
  await fetch('/result', { method: 'POST', body: JSON.stringify(outcomes) })
}
